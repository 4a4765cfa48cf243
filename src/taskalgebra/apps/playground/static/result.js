// The parts of the page that show an answer: all of the newest one, all dimmed, or all gone.

import { byId, h } from "./dom.js";

const PARTS = ["map", "automaton", "automaton-state", "screen", "legend", "slices", "slices-legend", "choice", "meaning", "lines", "notes", "caption", "figures", "certificate", "losses", "repaired", "composition-body", "others-body", "learning-body"];
const EMPTIED = ["legend", "slices", "slices-legend", "choice", "meaning", "lines", "notes"];
const BUTTONS = ["png", "svg", "python", "copy"];

function dimmed(old) {
  for (const id of PARTS) byId(id).classList.toggle("stale", old);
}

function usable(current) {
  for (const id of BUTTONS) byId(id).disabled = !current;
}

/** The answer is the newest. */
export function current(answer) {
  dimmed(false);
  usable(true);
  document.body.dataset.answer = answer.expression;
  byId("lines").textContent = answer.python;
}

/** Another answer was asked for; what is shown is not called the answer any more. */
export function asked() {
  delete document.body.dataset.answer;
}

/** What is shown is old. */
export function old() {
  asked();
  dimmed(true);
  usable(false);
}

/** There is nothing to show, and a word about why, if that lasts. */
export function nothing(why = "") {
  asked();
  dimmed(false);
  usable(false);
  for (const id of EMPTIED) byId(id).replaceChildren();
  if (why) for (const id of ["meaning", "slices"]) byId(id).append(h("p", { class: "note" }, why));
}
