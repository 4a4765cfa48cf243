// Light and dark: the system's choice, until the reader chooses.

import { byId } from "./dom.js";

const KEY = "taskalgebra-theme";

export function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem(KEY);
  const show = () => {
    const theme = chosen() ?? (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
    byId("theme").setAttribute("aria-label", `Use ${theme === "dark" ? "light" : "dark"} colours`);
  };
  byId("theme").addEventListener("click", () => {
    localStorage.setItem(KEY, document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    show();
  });
  system.addEventListener("change", show);
  show();
}
