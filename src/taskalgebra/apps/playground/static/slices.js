// The slices of Figure 2: for each goal, the value of every cell if the agent must end there.

import { byId, h } from "./dom.js";
import { inParts, labelsOf } from "./labels.js";
import { drawSmall, rangeOfAll, showLegend, smallMap } from "./small_map.js";

const MANY = 12;
export const MOST_NUMBERS = 200_000; // cells times goals: more would take longer than 100 ms

let drawn = null; // the world whose slices are on the page, and their frames

export function showSlices(world, solution) {
  const root = byId("slices");
  if (!solution.slices) {
    drawn = null;
    root.replaceChildren(h("p", { class: "note" }, "This world is too large for one slice per goal."));
    byId("slices-legend").replaceChildren();
    return;
  }
  const range = rangeOfAll(solution.slices.map((slice) => slice.values));
  if (drawn?.world !== world || !root.contains(drawn.frames[0].figure)) {
    const { numbered } = labelsOf(world);
    drawn = { world, frames: world.goals.map((goal, i) => frameOf(world, goal, numbered ? `${i + 1} ` : "")) };
    root.classList.toggle("many", drawn.frames.length > MANY);
    root.replaceChildren(...drawn.frames.map((frame) => frame.figure));
  }
  solution.slices.forEach((slice, i) => {
    const { canvas, dot, goal } = drawn.frames[i];
    const desired = solution.desired.includes(slice.goal);
    dot.className = desired ? "dot desired" : "dot";
    drawSmall(canvas, world, goal, slice.values, range, `Values for ending in ${slice.goal}, ${desired ? "desired" : "not desired"}`);
  });
  showLegend(byId("slices-legend"), range);
}

/** The frame of one slice: {figure, canvas, dot, goal}. */
function frameOf(world, goal, number) {
  const canvas = smallMap(world);
  const dot = h("span", { style: { color: goal.color } });
  const figure = h("figure", {}, canvas, h("figcaption", { title: goal.name }, dot, ` ${number}`, inParts(goal.name)));
  return { figure, canvas, dot, goal };
}
