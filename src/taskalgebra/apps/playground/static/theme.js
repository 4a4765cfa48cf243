// Light and dark: the system's choice, until the reader chooses.

import { byId } from "./dom.js";

const KEY = "taskalgebra-theme";

// In a frame of another page, such as a notebook's, the browser may forbid to keep anything.

function kept() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function keep(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then it is chosen for this visit
  }
}

export function startTheme() {
  let own = null;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => own ?? kept();
  const show = () => {
    const theme = chosen() ?? (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
    byId("theme").setAttribute("aria-label", `Use ${theme === "dark" ? "light" : "dark"} colours`);
  };
  byId("theme").addEventListener("click", () => {
    own = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    keep(own);
    show();
  });
  system.addEventListener("change", show);
  show();
}
