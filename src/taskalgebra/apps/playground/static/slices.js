// The slices of Figure 2: for each goal, the value of every cell if the agent must end there.

import { byId, figure, h } from "./dom.js";
import { labelsOf } from "./labels.js";
import { gradient, level, rangeOf, rgb } from "./ramp.js";
import { WALL, nColumns, nRows } from "./world.js";

const WALL_COLOUR = [58, 63, 68];
const FLOOR_COLOUR = [150, 156, 160];
const GOAL_COLOUR = [255, 255, 255];
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
  const ends = solution.slices.map((slice) => rangeOf(slice.values)).filter(Boolean).flat();
  const range = rangeOf(ends) ?? [0, 0];
  if (drawn?.world !== world || !root.contains(drawn.frames[0].figure)) {
    const { numbered } = labelsOf(world);
    drawn = { world, frames: world.goals.map((goal, i) => frameOf(world, goal, numbered ? `${i + 1} ` : "")) };
    root.classList.toggle("many", drawn.frames.length > MANY);
    root.replaceChildren(...drawn.frames.map((frame) => frame.figure));
  }
  solution.slices.forEach((slice, i) => show(drawn.frames[i], world, slice, range, solution.desired.includes(slice.goal)));
  showLegend(byId("slices-legend"), range);
}

/** The frame of one slice: {figure, canvas, dot, goal}. */
function frameOf(world, goal, number) {
  const canvas = h("canvas", { role: "img", width: nColumns(world), height: nRows(world) });
  const dot = h("span", { style: { color: goal.color } });
  const figure = h("figure", {}, canvas, h("figcaption", { title: goal.name }, dot, ` ${number}${goal.name}`));
  return { figure, canvas, dot, goal };
}

function show({ canvas, dot, goal }, world, slice, range, desired) {
  const ends = rangeOf(slice.values);
  const words = ends ? `${figure(ends[0])} to ${figure(ends[1])}` : "none";
  canvas.setAttribute("aria-label", `Values for ending in ${slice.goal}, ${desired ? "desired" : "not desired"}: ${words}`);
  canvas.title = canvas.ariaLabel;
  dot.className = desired ? "dot desired" : "dot";
  const columns = nColumns(world);
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const paint = (at, [red, green, blue]) => image.data.set([red, green, blue, 255], at * 4);
  slice.values.forEach((value, at) => {
    if (value !== null) paint(at, rgb(level(value, range)));
    else paint(at, world.map[Math.floor(at / columns)][at % columns] === WALL ? WALL_COLOUR : FLOOR_COLOUR);
  });
  paint(goal.cell[0] * columns + goal.cell[1], GOAL_COLOUR);
  context.putImageData(image, 0, 0);
}

/** A colour ramp between two numbers. */
export function showLegend(root, range) {
  if (!range) {
    root.replaceChildren();
    return;
  }
  root.replaceChildren(
    h("span", {}, `value ${figure(range[0])}`),
    h("span", { class: "ramp", style: { background: gradient() } }),
    h("span", {}, figure(range[1])),
  );
}
