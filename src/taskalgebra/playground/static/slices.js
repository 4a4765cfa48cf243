// The slices of Figure 2: for each goal, the value of every cell if the agent must end there.

import { byId, figure, h } from "./dom.js";
import { gradient, level, rangeOf, rgb } from "./ramp.js";
import { WALL, nColumns, nRows } from "./world.js";

const WALL_COLOUR = [58, 63, 68];
const FLOOR_COLOUR = [150, 156, 160];
const MANY = 12;
export const MOST_NUMBERS = 200_000; // cells times goals: more would take longer than 100 ms

export function showSlices(world, solution) {
  const root = byId("slices");
  if (!solution.slices) {
    root.replaceChildren(h("p", { class: "note" }, "This world is too large for a slice a goal."));
    byId("slices-legend").replaceChildren();
    return;
  }
  const ends = solution.slices.map((slice) => rangeOf(slice.values)).filter(Boolean).flat();
  const range = rangeOf(ends) ?? [0, 0];
  root.classList.toggle("many", solution.slices.length > MANY);
  root.replaceChildren(...solution.slices.map((slice) => {
    const goal = world.goals.find((one) => one.name === slice.goal);
    const wanted = solution.desired.includes(slice.goal);
    const best = rangeOf(slice.values);
    const label = `Values for ending in ${slice.goal}, ${wanted ? "desired" : "not desired"}: ${best ? `${figure(best[0])} to ${figure(best[1])}` : "none"}`;
    const dot = h("span", { class: wanted ? "dot wanted" : "dot", style: { color: goal.color } });
    return h("figure", {},
      draw(h("canvas", { role: "img", "aria-label": label, title: label }), world, slice.values, range, goal),
      h("figcaption", { title: slice.goal }, dot, " ", slice.goal));
  }));
  showLegend(byId("slices-legend"), range);
}

function draw(canvas, world, values, range, goal) {
  const [rows, columns] = [nRows(world), nColumns(world)];
  const [across, down] = [columns, rows];
  canvas.width = across;
  canvas.height = down;
  const context = canvas.getContext("2d");
  const image = context.createImageData(across, down);
  for (let at = 0; at < rows * columns; at += 1) {
    const wall = world.map[Math.floor(at / columns)][at % columns] === WALL;
    const value = values[at];
    const shade = wall ? WALL_COLOUR : value === null ? FLOOR_COLOUR : rgb(level(value, range));
    image.data.set([...shade, 255], at * 4);
  }
  const mark = (goal.cell[0] * columns + goal.cell[1]) * 4;
  image.data.set([255, 255, 255, 255], mark);
  context.putImageData(image, 0, 0);
  return canvas;
}

/** A ramp between two numbers. */
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
