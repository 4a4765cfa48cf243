// What is written at the goals of a map: their names where these fit beside each other, else names
// of one or two letters, or numbers, inside the marks.

import { h } from "./dom.js";
import { nColumns, nRows } from "./world.js";

const SIZE = 0.44; // of letters, in cells
const INSIDE = 0.42;
const [TALL, WIDE] = [0.027, 0.018]; // at least, as parts of the rows and the columns: large maps have small cells
const LETTER = 0.68; // the width of a letter, in sizes

const boxOf = ({ x, y, anchor, text, size }) => {
  const width = text.length * LETTER * size;
  const left = { start: x, middle: x - width / 2, end: x - width }[anchor];
  return [left, y - 0.8 * size, left + width, y + 0.2 * size];
};
const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/** A text below its goal, or above it: at the lower edge, or if asked for. */
function beside(world, goal, text, size, above = false) {
  const [row, column] = goal.cell;
  const half = (text.length * LETTER * size) / 2;
  const centre = column + 0.5;
  const anchor = centre < half ? "start" : centre > nColumns(world) - half ? "end" : "middle";
  const x = { start: column + 0.1, middle: centre, end: column + 0.9 }[anchor];
  const below = row + 0.95 + 0.95 * size;
  const y = above || below + 0.2 * size > nRows(world) ? row - 0.05 : below;
  return { text, x, y, anchor, size };
}

/** The texts of goals, in order, that are on the map and meet neither an earlier one nor another mark. */
function clear(world, texts, size) {
  const marks = world.goals.map(({ cell: [row, column] }) => [column + 0.1, row + 0.1, column + 0.9, row + 0.9]);
  const kept = [];
  const fits = (box, i) =>
    box[0] >= 0 && box[1] >= 0 && box[2] <= nColumns(world) && box[3] <= nRows(world) &&
    !marks.some((mark, k) => k !== i && meet(box, mark)) && !kept.some((one) => meet(box, one.box));
  world.goals.forEach((goal, i) => {
    const places = [false, true].map((above) => beside(world, goal, texts[i], size, above));
    const label = places.find((one) => fits(boxOf(one), i));
    if (label) kept.push({ ...label, box: boxOf(label) });
  });
  return kept;
}

const known = new WeakMap();

/** The labels of a world: {inside, numbered, shown: [{text, x, y, anchor, size}]}. */
export function labelsOf(world) {
  if (!known.has(world.goals) || known.get(world.goals).map !== world.map) known.set(world.goals, { map: world.map, ...made(world) });
  return known.get(world.goals);
}

function made(world) {
  const size = Math.max(SIZE, TALL * nRows(world), WIDE * nColumns(world));
  const names = clear(world, world.goals.map((goal) => goal.name), size);
  if (names.length === world.goals.filter((goal) => goal.cell[0] >= 0).length) return { inside: false, numbered: false, shown: names };
  const numbered = world.goals.some((goal) => [...goal.name].length > 2);
  const texts = world.goals.map((goal, i) => (numbered ? String(i + 1) : goal.name));
  if (size > INSIDE + 0.1) {
    const shown = clear(world, texts, size);
    return { inside: false, numbered: numbered && shown.length > 0, shown };
  }
  const shown = world.goals.map(({ cell: [row, column] }, i) =>
    ({ text: texts[i], x: column + 0.5, y: row + 0.5 + 0.36 * INSIDE, anchor: "middle", size: INSIDE }));
  return { inside: true, numbered, shown };
}

/** A name that may go on in a new line after each of its parts. */
export const inParts = (name) => name.split(/(?<=[_\-. ])/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));
