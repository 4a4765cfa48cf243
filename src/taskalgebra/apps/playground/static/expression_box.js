// The expression: typed or built from buttons, with mistakes underlined in a mirror behind it.

import { byId, capitalised, h } from "./dom.js";
import { examples, quoted } from "./names.js";

const OPERATORS = [
  ["~", "not"], ["&", "and"], ["|", "or"], ["^", "exclusive or"],
  ["nand", "not both"], ["nor", "neither"], ["->", "implies"], ["<->", "if and only if"],
  ["(", "open parenthesis"], [")", "close parenthesis"],
  ["true", "every goal"], ["false", "no goal"],
];
const OVER_TIME = [
  ["then", "the one, and later the other"], ["avoid", "never"], ["until", "the one, until the other"],
  ["F", "some time"], ["G", "at every step"], ["X", "at the next step"], ["!", "not, like ~"],
];

export class ExpressionBox {
  /** changed(text) at every change; entered() on Enter; chosen(text) for an example. */
  constructor({ changed, entered, chosen }) {
    this.input = byId("expression");
    this.changed = changed;
    this.chosen = chosen;
    this.input.addEventListener("input", () => {
      this.caret = [this.input.selectionStart, this.input.selectionEnd];
      this.#grow();
      byId("mirror").replaceChildren(); // it underlines another text
      changed(this.input.value);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      entered();
    });
    // A field without the focus forgets its caret, so the buttons must not take the focus.
    this.caret = [0, 0];
    document.addEventListener("selectionchange", () => {
      if (document.activeElement === this.input) this.caret = [this.input.selectionStart, this.input.selectionEnd];
    });
    byId("keys").addEventListener("mousedown", (event) => event.preventDefault());
    new ResizeObserver(() => this.#grow()).observe(byId("editor"));
  }

  /** Show a text that came from elsewhere. */
  set text(text) {
    if (this.input.value === text) return;
    this.input.value = text;
    this.caret = [text.length, text.length];
    byId("mirror").replaceChildren();
    this.#grow();
  }

  /** Offer keys and examples for some task names; overTime: whether formulas over time are understood. */
  offer(names, overTime, tried = []) {
    const list = JSON.stringify([names, overTime, tried]);
    if (this.offered === list) return;
    this.offered = list;
    const key = (text, label, kind) =>
      h("button", { type: "button", class: kind, title: label ?? text, "aria-label": label && `${text}, ${label}`, onclick: () => this.#insert(text) }, text);
    byId("keys").replaceChildren(
      ...names.map((name) => key(quoted(name), null, "name")),
      h("span", { class: "gap" }),
      ...[...OPERATORS, ...(overTime ? OVER_TIME : [])].map(([text, label]) => key(text, label, "operator")),
      h("span", { class: "gap" }),
      h("button", { type: "button", "aria-label": "Delete the last word", title: "Delete the last word", onclick: () => this.#deleteWord() }, "⌫"),
    );
    byId("examples").replaceChildren(
      h("span", { class: "label" }, "Try"),
      ...(tried.length ? tried : examples(names, overTime)).map((text) => h("button", { type: "button", title: text, onclick: () => this.chosen(text) }, text)),
    );
  }

  /** Underline a mistake and say what it is; null clears it. */
  mark(error) {
    const place = byId("error");
    const mirror = byId("mirror");
    const wrong = error !== null && error.start !== null;
    this.input.setAttribute("aria-invalid", String(wrong));
    if (error === null) {
      mirror.replaceChildren();
      place.replaceChildren();
      return;
    }
    // The server counts characters, the browser UTF-16 code units.
    const letters = [...this.input.value];
    const start = wrong ? Math.min(error.start, letters.length) : 0;
    const end = wrong ? Math.max(Math.min(error.end ?? start + 1, letters.length), start) : 0;
    const part = letters.slice(start, end).join("");
    const underlined = h("mark", {}, part || " ");
    mirror.replaceChildren(letters.slice(0, start).join(""), wrong ? underlined : "", letters.slice(end).join(""));
    const caret = h("span", { class: "caret", "aria-hidden": "true" }, "▲");
    const sentence = error.message.split("\n")[0];
    const text = h("span", { class: "sentence" }, capitalised(sentence));
    if (this.said !== sentence || !place.firstChild) place.replaceChildren(wrong ? caret : "", text);
    this.said = sentence;
    if (!wrong) return;
    const from = place.getBoundingClientRect();
    const box = underlined.getClientRects()[0] ?? from;
    const mine = place.querySelector(".caret");
    const left = Math.max(0, Math.min(box.left - from.left, from.width - 16));
    if (mine) mine.style.marginLeft = `${left}px`;
    const room = from.width - text.getBoundingClientRect().width;
    text.style.marginLeft = `${Math.max(0, Math.min(left, room))}px`;
  }

  #grow() {
    this.input.style.height = "auto";
    this.input.style.height = `${this.input.scrollHeight + 4}px`;
  }

  #insert(text) {
    const { value } = this.input;
    const [start, end] = this.caret;
    const before = text === ")" ? value.slice(0, start).trimEnd() : value.slice(0, start);
    const after = value.slice(end);
    const tightBefore = before === "" || /[\s(~]$/.test(before) || text === ")";
    const tightAfter = text === "~" || text === "(" || /^[\s)]/.test(after);
    const added = (tightBefore ? "" : " ") + text + (tightAfter ? "" : " ");
    this.#replace(before + added + after, before.length + added.length);
  }

  #deleteWord() {
    const { value } = this.input;
    const [, start] = this.caret;
    const before = value.slice(0, start).replace(/(?:[\p{ID_Continue}]+|'[^']*'|"[^"]*"|<->|->|\S)?\s*$/u, "");
    this.#replace(before + value.slice(start), before.length);
  }

  #replace(text, caret) {
    this.input.value = text;
    this.caret = [caret, caret];
    if (document.activeElement === this.input) this.input.setSelectionRange(caret, caret);
    this.#grow();
    this.changed(text);
  }
}
