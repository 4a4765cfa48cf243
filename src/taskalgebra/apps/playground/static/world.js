// The world document of the server, and every edit of it as a pure function.
//
//   {map: ["###", "#.#", "###"], goals: [{name, cell: [row, column], color}],
//    tasks: [{name, goals: [name]}], step_reward, r_universal, r_empty, touch, slip}

export const LIMITS = { side: 128, goals: 64, tasks: 6, name: 60, reward: 1000, cost: 1e-6, slip: 0.9 };
export const WALL = "#";
export const FREE = ".";
export const ACTIONS = ["up", "right", "down", "left", "stay"];
export const STAY = 4;
const MOVES = [[-1, 0], [0, 1], [1, 0], [0, -1], [0, 0]];
export const KEYS = { ArrowUp: MOVES[0], ArrowRight: MOVES[1], ArrowDown: MOVES[2], ArrowLeft: MOVES[3] };

// Okabe and Ito: colour-blind readers can tell them apart.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

export const nRows = (world) => world.map.length;
export const nColumns = (world) => world.map[0].length;
export const same = (one, other) => one !== null && other !== null && one[0] === other[0] && one[1] === other[1];
export const place = ([row, column]) => `row ${row}, column ${column}`;
export const indexOf = (world, [row, column]) => row * nColumns(world) + column;
export const goalAt = (world, cell) => world.goals.find((goal) => same(goal.cell, cell)) ?? null;
export const stepReward = (world) => world.step_reward ?? -0.1;
export const goalReward = (world, desired) =>
  desired ? (world.r_universal ?? 2) : (world.r_empty ?? stepReward(world));

export function isFree(world, [row, column]) {
  return world.map[row]?.[column] !== undefined && world.map[row][column] !== WALL;
}

/** The cell that a move leads to; walls and the edge of the map block it. */
export function moved(world, cell, action) {
  const target = [cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]];
  return isFree(world, target) ? target : cell;
}

/** The way that a move goes: its own, or, for a share `slip` of moves, one of the other three. */
export function wayOf(world, action, random) {
  if (!world.slip || action === STAY) return action;
  const drawn = random();
  return drawn >= world.slip ? action : (action + 1 + Math.floor((3 * drawn) / world.slip)) % STAY;
}

/** The goal that an action enters: by staying on its cell, or by any step that ends there. */
export function entered(world, cell, action) {
  if (world.touch) return goalAt(world, moved(world, cell, action));
  return action === STAY ? goalAt(world, cell) : null;
}

/** The free cell nearest to a cell, or null on a map of walls. */
export function nearestFree(world, cell) {
  let best = null;
  let shortest = Infinity;
  world.map.forEach((line, row) => {
    for (let column = 0; column < line.length; column += 1) {
      const distance = (row - cell[0]) ** 2 + (column - cell[1]) ** 2;
      if (line[column] !== WALL && distance < shortest) [best, shortest] = [[row, column], distance];
    }
  });
  return best;
}

export function withSymbol(world, [row, column], symbol) {
  const map = world.map.slice();
  map[row] = map[row].slice(0, column) + symbol + map[row].slice(column + 1);
  return { ...world, map };
}

/** The first name of a sequence that is not taken. */
function unused(taken, candidates) {
  for (const name of candidates) if (!taken.includes(name)) return name;
  throw new Error("no name left");
}

function* goalNames() {
  for (let round = 0; ; round += 1) for (const letter of LETTERS) yield letter + (round || "");
}

function* taskNames() {
  for (let number = 1; ; number += 1) yield `x${number}`;
}

export function addGoal(world, cell) {
  const names = world.goals.map((goal) => goal.name);
  const used = world.goals.map((goal) => goal.color);
  const color =
    COLOURS.find((one) => !used.includes(one)) ?? COLOURS[world.goals.length % COLOURS.length];
  const goal = { name: unused(names, goalNames()), cell, color };
  return { ...world, goals: [...world.goals, goal] };
}

export function removeGoal(world, name) {
  return {
    ...world,
    goals: world.goals.filter((goal) => goal.name !== name),
    tasks: world.tasks.map((task) => ({ ...task, goals: task.goals.filter((one) => one !== name) })),
  };
}

export function changeGoal(world, name, change) {
  const renamed = (one) => (one === name && change.name !== undefined ? change.name : one);
  return {
    ...world,
    goals: world.goals.map((goal) => (goal.name === name ? { ...goal, ...change } : goal)),
    tasks: world.tasks.map((task) => ({ ...task, goals: task.goals.map(renamed) })),
  };
}

export function addTask(world) {
  const name = unused(world.tasks.map((task) => task.name), taskNames());
  return { ...world, tasks: [...world.tasks, { name, goals: [] }] };
}

export function removeTask(world, name) {
  return { ...world, tasks: world.tasks.filter((task) => task.name !== name) };
}

export function renameTask(world, name, to) {
  const tasks = world.tasks.map((task) => (task.name === name ? { ...task, name: to } : task));
  return { ...world, tasks };
}

/** Add a goal to a task, or remove it. */
export function tick(world, taskName, goalName) {
  const order = world.goals.map((goal) => goal.name);
  const tasks = world.tasks.map((task) => {
    if (task.name !== taskName) return task;
    const goals = task.goals.includes(goalName)
      ? task.goals.filter((one) => one !== goalName)
      : order.filter((one) => one === goalName || task.goals.includes(one));
    return { ...task, goals };
  });
  return { ...world, tasks };
}

/** ⌈log₂ G⌉, the least number of base tasks that tell G goals apart; at least 1. */
export const nMinimal = (nGoals) => Math.max(1, Math.ceil(Math.log2(nGoals)));

/**
 * The world with the minimal set of base tasks, as in Table 1 of the paper's supplement: goal i is
 * the number G − 1 − i in binary, x1 first.  One goal alone is wanted by its one task.
 */
export function withMinimalTasks(world) {
  const n = world.goals.length;
  const wants = (i, k) => n === 1 || ((n - 1 - i) >> (nMinimal(n) - 1 - k)) & 1;
  const names = taskNames();
  const tasks = Array.from({ length: nMinimal(n) }, (_, k) => ({
    name: names.next().value,
    goals: world.goals.filter((_goal, i) => wants(i, k)).map((goal) => goal.name),
  }));
  return { ...world, tasks };
}

/** Names of goals that the same base tasks want, group by group, the largest first. */
export function alike(world) {
  const groups = new Map();
  for (const { name } of world.goals) {
    const label = world.tasks.map((task) => Number(task.goals.includes(name))).join("");
    groups.set(label, [...(groups.get(label) ?? []), name]);
  }
  return [...groups.values()].filter((names) => names.length > 1).sort((a, b) => b.length - a.length);
}

/** Whether a world is another one than before, rather than the same after an edit. */
function isAnother(world, before) {
  const sized = nRows(world) === nRows(before) && nColumns(world) === nColumns(before);
  return !sized || !world.goals.some((goal) => before.goals.includes(goal));
}

/** Whether two worlds differ in rewards, slips and tasks at most; either may be null. */
export const isSamePlace = (one, other) => one !== null && one?.layer === other?.layer && one?.scene === other?.scene && one?.map === other?.map && (Boolean(one?.scene) || one?.goals === other?.goals);

/** Whether a state shows another world or board than before. */
export function isAnotherPicture(state, before) {
  if (state.mode !== before.mode) return true;
  if (state.mode === "boxman") return state.boxman.skills !== before.boxman.skills || state.boxman.seed !== before.boxman.seed;
  if (state.world.scene || before.world.scene) return state.world.scene !== before.world.scene;
  return state.world !== before.world && isAnother(state.world, before.world);
}

/** Cut or extend the map at the right and at the bottom; goals that fall off are removed. */
export function resize(world, rows, columns) {
  const closed = isClosed(world);
  const inner = closed ? world.map.slice(0, -1).map((line) => line.slice(0, -1)) : world.map;
  const [height, width] = closed ? [rows - 1, columns - 1] : [rows, columns];
  const cut = inner.slice(0, height).map((line) => line.slice(0, width).padEnd(width, FREE));
  while (cut.length < height) cut.push((closed ? WALL : "") + FREE.repeat(closed ? width - 1 : width));
  if (closed) cut[0] = WALL.repeat(width);
  const map = closed ? [...cut.map((line) => line + WALL), WALL.repeat(columns)] : cut;
  const lost = world.goals.filter((goal) => map[goal.cell[0]]?.[goal.cell[1]] !== FREE);
  return lost.reduce((rest, goal) => removeGoal(rest, goal.name), { ...world, map });
}

/** Whether walls surround the map. */
function isClosed(world) {
  const solid = (line) => [...line].every((symbol) => symbol === WALL);
  const sides = world.map.every((line) => line[0] === WALL && line.at(-1) === WALL);
  return nRows(world) > 2 && nColumns(world) > 2 && sides && solid(world.map[0]) && solid(world.map.at(-1));
}

function emptyMap(rows, columns) {
  if (rows < 3 || columns < 3) return Array(rows).fill(FREE.repeat(columns)); // no room for walls
  const edge = WALL.repeat(columns);
  return [edge, ...Array(rows - 2).fill(WALL + FREE.repeat(columns - 2) + WALL), edge];
}

/** The same size and base tasks, without inner walls and goals. */
export function cleared(world) {
  const tasks = world.tasks.map((task) => ({ ...task, goals: [] }));
  return { ...world, map: emptyMap(nRows(world), nColumns(world)), goals: [], tasks };
}

export const EMPTY_ROOM = {
  map: emptyMap(9, 11),
  goals: [
    { name: "A", cell: [4, 2], color: COLOURS[0] },
    { name: "B", cell: [4, 8], color: COLOURS[1] },
  ],
  tasks: [
    { name: "a", goals: ["A"] },
    { name: "b", goals: ["B"] },
  ],
};

/** A world that a page cannot hold, and what is wrong with it. */
export class WorldError extends Error {}

export const isName = (name) => typeof name === "string" && name.trim() !== "" && name.length <= LIMITS.name;

/** Check a world from a link. */
export function checked(world) {
  const fail = (sentence) => {
    throw new WorldError(sentence);
  };
  if (!Array.isArray(world.map) || !world.map.length) fail("the map is missing");
  const width = world.map[0]?.length;
  if (!width || width > LIMITS.side || world.map.length > LIMITS.side) fail("the map has no usable size");
  if (world.map.some((line) => line.length !== width || /[^#.]/.test(line))) fail("the map is not a rectangle of # and .");
  if (world.goals.length > LIMITS.goals || world.tasks.length > LIMITS.tasks) fail("there are too many goals or tasks");
  const names = world.goals.map((goal) => goal.name);
  const tasks = world.tasks.map((task) => task.name);
  if (![...names, ...tasks].every(isName)) fail("a name is missing");
  if (new Set(names).size < names.length || new Set(tasks).size < tasks.length) fail("a name occurs twice");
  const cells = world.goals.map((goal) => goal.cell.join());
  if (!world.goals.every((goal) => isFree(world, goal.cell))) fail("a goal is in a wall");
  if (new Set(cells).size < cells.length) fail("two goals are on one cell");
  if (!world.goals.every((goal) => /^#[0-9a-f]{6}$/i.test(goal.color))) fail("a colour is not written as #rrggbb");
  if (!world.tasks.every((task) => task.goals.every((goal) => names.includes(goal)))) fail("a task wants a goal that does not exist");
  for (const key of ["step_reward", "r_universal", "r_empty"]) {
    if (world[key] !== undefined && world[key] !== null && !Number.isFinite(world[key])) fail("a reward is not a number");
  }
  if (world.slip !== undefined && !(world.slip >= 0 && world.slip <= LIMITS.slip)) fail(`slip is not a share from 0 to ${LIMITS.slip}`);
  if (world.touch !== undefined && typeof world.touch !== "boolean") fail("how goals are taken is not said");
  return world;
}
