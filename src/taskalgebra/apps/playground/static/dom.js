// Make elements in one expression, and rebuild a part of the page without losing the focus.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false));
  return element;
}

/** An HTML element: h("p", {class: "note"}, "text", h("b", {}, "more")). */
export const h = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** An SVG element, made the same way. */
export const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export const byId = (id) => document.getElementById(id);

/** Replace the children of an element; the one with the focus keeps it, found by `data-key`. */
export function rebuild(container, ...children) {
  const active = document.activeElement;
  const key = container.contains(active) ? active.dataset.key : undefined;
  const selection = key && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  container.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (!key) return;
  const again = container.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (selection && selection[0] !== null) again.setSelectionRange(...selection);
}

/** A number for people: two digits, a true minus sign, no -0. */
export function figure(value, digits = 2) {
  if (value === null || value === undefined) return "none";
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? (0).toFixed(digits) : text).replace("-", "−");
}

/** Words joined as in a sentence: "a, b and c". */
export function listed(words, joint = "and") {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${joint} ${words.at(-1)}`;
}

export const capitalised = (text) => text.replace(/^./, (letter) => letter.toUpperCase());

export const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** Say something on a button for a while. */
export function flash(button, words) {
  button.dataset.label ??= button.textContent;
  button.textContent = words;
  clearTimeout(Number(button.dataset.timer));
  button.dataset.timer = setTimeout(() => (button.textContent = button.dataset.label), 2500);
}
