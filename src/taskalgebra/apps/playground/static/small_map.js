// Small maps of values, one pixel per cell, and the colour ramp under them.

import { figure, h } from "./dom.js";
import { gradient, level, rangeOf, rgb } from "./ramp.js";
import { WALL, indexOf, nColumns, nRows } from "./world.js";

const WALL_COLOUR = [58, 63, 68];
const FLOOR_COLOUR = [150, 156, 160];
const GOAL_COLOUR = [255, 255, 255];

/** A canvas for a world. */
export const smallMap = (world) => h("canvas", { role: "img", width: nColumns(world), height: nRows(world) });

/** Draw the values of ending in a goal; `name` is what the map shows, for those who do not see it. */
export function drawSmall(canvas, world, goal, values, range, name) {
  const ends = rangeOf(values);
  const words = ends ? `${figure(ends[0])} to ${figure(ends[1])}` : "none";
  canvas.setAttribute("aria-label", `${name}: ${words}`);
  canvas.title = canvas.ariaLabel;
  const columns = nColumns(world);
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const paint = (at, [red, green, blue]) => image.data.set([red, green, blue, 255], at * 4);
  values.forEach((value, at) => {
    if (value !== null) paint(at, rgb(level(value, range)));
    else paint(at, world.map[Math.floor(at / columns)][at % columns] === WALL ? WALL_COLOUR : FLOOR_COLOUR);
  });
  if (goal && goal.cell[0] >= 0) paint(indexOf(world, goal.cell), GOAL_COLOUR);
  context.putImageData(image, 0, 0);
}

/** The lowest and the highest of many lists of values; [0, 0] where there are none. */
export const rangeOfAll = (lists) => rangeOf(lists.map((values) => rangeOf(values)).filter(Boolean).flat()) ?? [0, 0];

/** A colour ramp between two numbers; none where there is no range. */
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
