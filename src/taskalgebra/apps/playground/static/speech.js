// What the page says in words about the agent: the caption, the line under the picture, and what
// screen readers hear.

import { byId } from "./dom.js";

const LATER = 700; // milliseconds; captions change with every letter that is typed

let announcing = 0;

/** Tell screen readers something; what waits to be told is old. */
export function announce(text) {
  clearTimeout(announcing);
  byId("announce").textContent = text;
}

/** Say what the agent does with the task. */
export function showCaption(text) {
  byId("caption").textContent = text;
  clearTimeout(announcing);
  announcing = setTimeout(() => announce(text), LATER);
}

/** Say what has just happened. */
export function say(sentence) {
  byId("readout").textContent = sentence;
  announce(sentence);
}
