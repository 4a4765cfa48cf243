// The picture of a task on its map, as SVG in units of cells: values, arrows, walls, goals, and the
// agent with its path.  Colours are attributes, so that a saved picture needs no style sheet.

import { figure, s } from "./dom.js";
import { labelsOf } from "./labels.js";
import { colour, isBright, level, rangeOf, step } from "./ramp.js";
import { WALL, indexOf, nColumns, nRows } from "./world.js";

const INK = "#111417";
const PAPER = "#ffffff";
const MOST_ARROW_COLUMNS = 80;
const MOST_NUMBERS = 1600;
const ARROWS = [
  "m.5 .78v-.52m-.17 .17l.17-.17l.17 .17",
  "m.22 .5h.52m-.17-.17l.17 .17l-.17 .17",
  "m.5 .22v.52m-.17-.17l.17 .17l.17-.17",
  "m.78 .5h-.52m.17-.17l-.17 .17l.17 .17",
];

const square = (row, column) => `M${column} ${row}h1v1h-1z`;
const disc = (row, column) => `M${column + 0.05} ${row + 0.5}a.45 .45 0 1 0 .9 0a.45 .45 0 1 0-.9 0z`;

/** Whether a solution was made for a map of this size. */
const fits = (world, solution) =>
  solution !== null && solution.values.length === nRows(world) * nColumns(world);

/** The layers that change with the task or the map. */
export function drawMap(world, solution, show) {
  const [rows, columns] = [nRows(world), nColumns(world)];
  const known = fits(world, solution) ? solution : null;
  const walls = [];
  world.map.forEach((line, row) => {
    for (let column = 0; column < columns; column += 1) if (line[column] === WALL) walls.push(square(row, column));
  });
  return [
    s("rect", { class: world.edges ? "ground" : "floor", width: columns, height: rows, fill: world.edges ? PAPER : "#e4e7e6" }),
    world.edges && drawEdges(world),
    known && drawValues(world, known),
    !world.edges && s("path", { class: "wall", d: walls.join(""), fill: "#3a3f44", "shape-rendering": "crispEdges" }),
    world.scene && drawThings(world),
    known && (show === "numbers" ? drawNumbers(world, known) : drawArrows(world, known)),
  ].filter(Boolean);
}

function eachValue(world, solution, visit) {
  const range = solution.range ?? rangeOf(solution.values);
  if (!range) return;
  world.map.forEach((line, row) => {
    for (let column = 0; column < line.length; column += 1) {
      const at = indexOf(world, [row, column]);
      const value = solution.values[at];
      if (line[column] !== WALL && value !== null) visit(row, column, at, value, level(value, range));
    }
  });
}

function drawValues(world, solution) {
  const paths = new Map();
  eachValue(world, solution, (row, column, _at, _value, height) => {
    const number = step(height);
    paths.set(number, (paths.get(number) ?? "") + (world.edges ? disc : square)(row, column));
  });
  const drawn = [...paths].map(([number, d]) => s("path", { d, fill: colour(number) }));
  return s("g", { class: "values", "shape-rendering": world.edges ? null : "crispEdges" }, drawn);
}

function drawArrows(world, solution) {
  if (nColumns(world) > MOST_ARROW_COLUMNS) return null;
  const goals = new Set(world.goals.map((goal) => indexOf(world, goal.cell)));
  let [dark, light] = ["", ""];
  const letters = [];
  eachValue(world, solution, (row, column, at, _value, height) => {
    const action = solution.actions[at];
    const glyph = world.glyphs?.[action] ?? null;
    const shape = glyph ? ARROWS[glyph.angle / 90] : ARROWS[action];
    if (goals.has(at)) return;
    if (glyph?.letters) letters.push(s("text", { x: column + 0.5, y: row + 0.65, fill: isBright(height) ? INK : PAPER }, glyph.letters));
    if (!shape) return;
    const path = `M${column} ${row}${shape}`;
    if (isBright(height)) dark += path;
    else light += path;
  });
  const line = { fill: "none", "stroke-width": 0.07, "stroke-linecap": "round", "stroke-linejoin": "round" };
  return s("g", { class: "arrows", opacity: 0.8 },
    s("path", { d: dark, stroke: INK, ...line }),
    s("path", { d: light, stroke: PAPER, ...line }),
    letters.length ? s("g", { "font-size": 0.42, "font-weight": 700, "text-anchor": "middle", "font-family": "sans-serif" }, letters) : null);
}

/** The steps between states of a world without a map. */
function drawEdges({ edges }) {
  const d = edges.map(([from, to]) => `M${from[1] + 0.5} ${from[0] + 0.5}L${to[1] + 0.5} ${to[0] + 0.5}`).join("");
  return s("path", { class: "edges", d, stroke: "#868f96", "stroke-width": 0.08, fill: "none" });
}

/** Walls between cells, and what stands on cells. */
function drawThings({ thin, things }) {
  const wall = ([[row, column], [r, c]]) => (row === r ? `M${Math.max(column, c)} ${row}v1` : `M${column} ${Math.max(row, r)}h1`);
  const shapes = things.map(({ name, color, cell: [row, column] }) => {
    const paint = { fill: color, stroke: INK, "stroke-width": 0.05 };
    const shape = name.endsWith("ball")
      ? s("circle", { r: 0.36, ...paint })
      : name.endsWith("key")
        ? s("path", { d: "M-.1 .38v-.42a.2 .2 0 1 1 .2 0v.06h.16v.1h-.16v.1h.16v.1h-.16v.06z", ...paint })
        : s("rect", { x: -0.42, y: -0.42, width: 0.84, height: 0.84, rx: 0.08, ...paint });
    return s("g", { class: "thing", transform: `translate(${column + 0.5} ${row + 0.5})` }, s("title", {}, name), shape);
  });
  return s("g", { class: "things" }, shapes, s("path", { d: thin.map(wall).join(""), stroke: "#3a3f44", "stroke-width": 0.14, "stroke-linecap": "round" }));
}

function drawNumbers(world, solution) {
  if (solution.values.length > MOST_NUMBERS) return null;
  const texts = [];
  const goals = new Set(world.goals.map((goal) => indexOf(world, goal.cell)));
  eachValue(world, solution, (row, column, at, value, height) => {
    const y = row + (goals.has(at) ? 0.97 : 0.6);
    const attributes = { x: column + 0.5, y, fill: isBright(height) ? INK : PAPER };
    if (!goals.has(at)) texts.push(s("text", attributes, figure(value, 1)));
  });
  return s("g", { class: "numbers", "font-size": 0.36, "text-anchor": "middle", "font-family": "sans-serif" }, texts);
}

const CROSS = "M-.2-.2L.2 .2M.2-.2L-.2 .2";

/** The goals: filled if desired, crossed out if they violate a formula, else hollow; with their names. */
export function drawGoals(world, solution, named = true) {
  const { desired, violating = [], marks: words } = solution ?? { desired: [] };
  const { inside, shown } = labelsOf(world);
  const marks = world.goals.map((goal) => {
    const [row, column] = goal.cell;
    const isDesired = desired.includes(goal.name);
    const isWrong = violating.includes(goal.name);
    const kind = isDesired ? "goal desired" : isWrong ? "goal violating" : "goal";
    const said = words?.get(goal.name) ?? (isDesired ? "desired" : null);
    return s("g", { class: kind, transform: `translate(${column + 0.5} ${row + 0.5})` },
      s("title", {}, said ? `${goal.name}, ${said}` : goal.name),
      s("circle", { r: 0.4, fill: PAPER, stroke: INK, "stroke-width": 0.05 }),
      isDesired
        ? s("circle", { r: inside ? 0.36 : 0.28, fill: goal.color })
        : isWrong
          ? s("path", { d: CROSS, stroke: goal.color, "stroke-width": 0.13, "stroke-linecap": "round", opacity: inside ? 0.45 : 1 })
          : s("circle", { r: inside ? 0.32 : 0.24, fill: "none", stroke: goal.color, "stroke-width": 0.08 }));
  });
  if (!named) return s("g", { class: "goals" }, marks);
  const letters = drawLetters(world, solution);
  const names = shown.map(({ text, x, y, anchor, size }) => s("text", { x, y, "text-anchor": anchor, "font-size": size }, text));
  const lettering = {
    class: "names", "font-weight": 600, "font-family": "sans-serif",
    fill: inside ? INK : PAPER, stroke: inside ? PAPER : INK,
    "stroke-width": 0.1, "stroke-linejoin": "round", "paint-order": "stroke",
  };
  return s("g", { class: "goals" }, marks, letters, s("g", lettering, names));
}

/** Actions without an arrow where goals are marked, each in the corner of its mark. */
function drawLetters(world, solution) {
  if (!world.glyphs || !fits(world, solution)) return null;
  const texts = world.goals.map(({ cell: [row, column] }) => {
    const letters = row >= 0 && world.glyphs[solution.actions[indexOf(world, [row, column])]]?.letters;
    return letters ? s("text", { x: column + 0.86, y: row + 0.28 }, letters) : null;
  });
  const lettering = { "font-size": 0.32, "font-weight": 700, "text-anchor": "middle", "font-family": "sans-serif" };
  return s("g", { class: "letters", fill: PAPER, stroke: INK, "stroke-width": 0.08, "paint-order": "stroke", ...lettering }, texts);
}

const line = (cells) => cells.map(([row, column], i) => `${i ? "L" : "M"}${column + 0.5} ${row + 0.5}`).join("");

/** The path of the agent: solid behind it, dotted ahead. */
export function drawWay(walk, taken) {
  if (!walk.cells.length) return s("g");
  const [behind, ahead] = [walk.cells.slice(0, taken + 1), walk.cells.slice(taken)];
  const way = { fill: "none", "stroke-linecap": "round", "stroke-linejoin": "round" };
  const dotted = { "stroke-dasharray": "0.01 0.33" };
  return s("g", { class: "way" },
    s("path", { d: line(ahead), stroke: INK, "stroke-width": 0.22, ...way, ...dotted }),
    s("path", { d: line(ahead), stroke: PAPER, "stroke-width": 0.14, ...way, ...dotted, class: "ahead" }),
    s("path", { d: line(behind), stroke: PAPER, "stroke-width": 0.26, ...way }),
    s("path", { d: line(behind), stroke: INK, "stroke-width": 0.12, ...way, class: "behind" }));
}

export function drawAgent([row, column]) {
  return s("g", { class: "agent", transform: `translate(${column + 0.5} ${row + 0.5})` },
    s("rect", { x: -0.31, y: -0.31, width: 0.62, height: 0.62, rx: 0.18, fill: INK, stroke: PAPER, "stroke-width": 0.08 }),
    s("circle", { cx: -0.12, cy: -0.04, r: 0.075, fill: PAPER }),
    s("circle", { cx: 0.12, cy: -0.04, r: 0.075, fill: PAPER }));
}

/** Everything, from bottom to top. */
export const drawAll = ({ world, solution, show, walk, taken }) => [
  ...drawMap(world, solution, show),
  drawWay(walk, taken),
  drawGoals(world, solution),
  walk.cells.length ? drawAgent(walk.cells[taken]) : s("g"),
];

/** The frame around the cell of the keyboard cursor. */
export function drawCursor([row, column], held) {
  const box = { x: column + 0.06, y: row + 0.06, width: 0.88, height: 0.88, rx: 0.1, fill: "none" };
  return s("g", { class: held ? "cursor held" : "cursor" },
    s("rect", { ...box, stroke: PAPER, "stroke-width": 0.2 }),
    s("rect", { ...box, stroke: "#0a5c9c", "stroke-width": 0.12 }));
}
