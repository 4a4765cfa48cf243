// Fields that say below them what is wrong with them, as long as it is wrong.

import { byId, h } from "./dom.js";

let count = 0;

/** A field with room for a message; `outer` is its label, if that encloses it. */
export function withMessage(input, outer = input) {
  count += 1;
  const id = `message-${count}`;
  input.setAttribute("aria-describedby", id);
  return h("div", { class: "asked" }, outer, h("p", { class: "wrong", id, role: "status" }));
}

/** Say what is wrong with a field; null or "" takes it back. */
export function complain(input, sentence) {
  input.setAttribute("aria-invalid", String(Boolean(sentence)));
  const place = byId(input.getAttribute("aria-describedby"));
  place.textContent = sentence ?? "";
  if (sentence) place.scrollIntoView({ block: "nearest" });
}

/**
 * Check a field when it was changed: `mistake(input)` is a sentence or null, `accept(input)` follows
 * if there is none.  While a message stands it follows the typing; Escape brings back the old value.
 */
export function check(input, mistake, accept) {
  const old = input.value;
  const wrong = () => input.getAttribute("aria-invalid") === "true";
  input.addEventListener("change", () => {
    const sentence = mistake(input);
    complain(input, sentence);
    if (!sentence) accept(input);
  });
  input.addEventListener("input", () => wrong() && complain(input, mistake(input)));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !wrong()) return;
    input.value = old;
    complain(input, null);
  });
  return input;
}
