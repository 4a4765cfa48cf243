// What others do on the same task with the same base tasks: maps, arrows, and exact figures.

import { byId, figure, h, s } from "./dom.js";
import { offer } from "./offers.js";
import { drawGoals, drawMap } from "./picture.js";
import { rangeOf } from "./ramp.js";
import { nColumns, nRows } from "./world.js";

/** Why a method fails where it does. */
const WHY = {
  max: "A plain value does not say which goal it leads to: a minimum compares the ways to different goals, and the agent is drawn to where both look good, not to a goal that both desire.",
  average: "A plain value does not say which goal it leads to: an average is high between the goals of both, and the agent is drawn there, or to a goal that only one desires.",
};
const WELL = {
  max: "Here it does well: up to a goal all tasks pay the same, so that the maximum is exact.",
  average: "Here it does well: operands agree on where to go.",
};
const CLOSE = 1e-9; // of figures that are rounded

/** What there is to say of ours. */
function oursIn({ failures, mean_loss: lost }) {
  const why = "There is a value for each goal, so operands are compared goal by goal, and the agent goes to the best one.";
  if (lost > CLOSE) return `${why} Moves slip, so that a plan for one goal at a time loses a little.`;
  return failures > CLOSE ? `${why} It loses nothing: from some starts the way to a desired goal is not worth its cost.` : why;
}

export class Others {
  /** chosen(text): someone wants to see another task. */
  constructor(chosen) {
    this.root = byId("others-body");
    this.chosen = chosen;
  }

  show(world, answer) {
    const { others, notes, desired } = answer;
    if (!others) {
      this.#nothing(world, answer.expression, notes.at(-1));
      return;
    }
    const endless = others.some((method) => method.mean_return === null) ? " −∞ is what an agent earns that may walk on for ever." : "";
    const task = h("p", { class: "note" }, "The same base tasks, planned exactly, put together for ", h("code", {}, answer.expression), `. The figures are exact, over all starts.${endless}`);
    this.filled = true;
    this.root.replaceChildren(task, h("div", { class: "methods" }, others.map((method) => card(world, method, others[0], desired))));
  }

  /** A sentence in place of the methods. */
  say(sentence) {
    this.filled = false;
    this.root.replaceChildren(sentence ? h("p", { class: "note" }, sentence) : "");
  }

  /** No other method applies: why, and, if the task is to blame, one to which they apply. */
  #nothing(world, expression, why) {
    const blamed = why.startsWith("No other method applies");
    this.say("");
    this.root.append(h("p", {}, why), blamed ? h("p", {}, offer("Plain values know ∨, and perhaps ∧, but no ¬.", world, expression, this.chosen)) : "");
  }
}

/** One method: its map, its figures beside ours, and why. */
function card(world, { id, title, how, values, actions, ...figures }, ours, desired) {
  const solution = { values, actions, desired, range: rangeOf(values) };
  const percent = (share) => `${figure(100 * share, share === 0 || share === 1 ? 0 : 1)} %`;
  const shown = [
    ["Starts that fail", percent(figures.failures), figures.failures > ours.failures + CLOSE],
    ["Success", percent(figures.desired_reached), figures.desired_reached < ours.desired_reached - CLOSE],
    ["Mean return", figures.mean_return === null ? "−∞" : figure(figures.mean_return), false],
    ["Mean loss", figures.mean_loss === null ? "∞" : figure(figures.mean_loss), (figures.mean_loss ?? 1) > CLOSE],
  ];
  const worse = shown.some(([, , bad]) => bad);
  const why = id === "extended" ? oursIn(figures) : worse ? WHY[id] : WELL[id];
  const map = s("svg", { viewBox: `0 0 ${nColumns(world)} ${nRows(world)}`, role: "img", "aria-label": `${title}: what it believes a cell is worth, and where it goes` },
    drawMap(world, solution, "arrows"), drawGoals(world, solution, false));
  return h("section", { class: "method", "data-method": id },
    h("h3", {}, title),
    map,
    h("dl", {}, shown.map(([term, text, bad]) => h("div", { class: bad ? "bad" : null }, h("dt", {}, term), h("dd", {}, text)))),
    h("p", { class: "note" }, `${how[0].toUpperCase()}${how.slice(1)}.`),
    h("p", {}, why));
}
