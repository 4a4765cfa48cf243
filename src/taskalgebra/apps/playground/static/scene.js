// Finite worlds that are not drawn, as scenes of the server, shown layer by layer in the shape of
// drawn worlds: {map, goals, tasks} of one layer, with `scene` and what its cells mean.  Answers for
// scenes hold a number per state; `projected` makes that a number per cell.
//
// An agent is [row, column, state].

import { rangeOf } from "./ramp.js";
import { FREE, WALL, nColumns } from "./world.js";

const NOWHERE = [-9, -9]; // a goal that is marked on another layer, or on none
const PER_STATE = new Set(["values", "actions", "optimum", "cells"]);
const MOST_STEPS = 20_000; // of a walk

const laidOut = new WeakMap();

/** Rows, columns, and the cell of every state; states without a map stand on a grid near their positions. */
function layoutOf(scene) {
  if (!laidOut.has(scene)) laidOut.set(scene, scene.map ? { rows: scene.rows, columns: scene.columns, cell: scene.cell, map: scene.map } : onGrid(scene));
  return laidOut.get(scene);
}

function onGrid({ positions }) {
  const side = Math.ceil(1.8 * Math.sqrt(positions.length)) + 1;
  const taken = new Set();
  const cell = positions.map(([x, y]) => {
    const [row, column] = [y, x].map((part) => Math.round(part * (side - 1)));
    let best = null;
    for (let reach = 0; best === null; reach += 1) {
      for (let r = Math.max(0, row - reach); r <= Math.min(side - 1, row + reach); r += 1) {
        for (let c = Math.max(0, column - reach); c <= Math.min(side - 1, column + reach); c += 1) {
          const far = (r - row) ** 2 + (c - column) ** 2;
          if (!taken.has(r * side + c) && (best === null || far < best.far)) best = { at: r * side + c, far };
        }
      }
    }
    taken.add(best.at);
    return best.at;
  });
  const map = Array.from({ length: side }, (_, r) => Array.from({ length: side }, (_, c) => (taken.has(r * side + c) ? FREE : WALL)).join(""));
  return { rows: side, columns: side, cell, map };
}

const cellOf = (at, columns) => [Math.floor(at / columns), at % columns];

/** A layer of a scene as a world. */
export function worldOf(scene, tasks = scene.tasks, layer = 0) {
  const { columns, cell, map } = layoutOf(scene);
  const states = new Int32Array(map.length * columns).fill(-1);
  cell.forEach((at, s) => at >= 0 && scene.layer[s] === layer && (states[at] = s));
  const goals = scene.goals.map(({ name, color, state, cell: marked }, g) => {
    const resumed = scene.resumes?.[g];
    const there = scene.map === null ? cell[state] : cell[state] >= 0 ? cell[state] : marked;
    const here = there !== null && (cell[state] >= 0 ? scene.layer[state] === layer : resumed === undefined || scene.layer[resumed] === layer);
    return { name, color, cell: here ? cellOf(there, columns) : NOWHERE };
  });
  return {
    scene, layer, states, map, goals, tasks,
    actionNames: scene.actions,
    glyphs: scene.actions.map((name, a) => glyphOf(scene, name, a)),
    thin: (scene.walls ?? []).map((pair) => pair.map((at) => cellOf(at, columns))),
    things: (scene.things ?? []).map((thing) => ({ ...thing, cell: cellOf(thing.cell, columns) })),
    edges: scene.map === null ? edgesOf(scene, cell, columns) : null,
    random: scene.transitions.offset.some((place, i, all) => i && place - all[i - 1] > 1),
    step_reward: typeof scene.step_reward === "number" ? scene.step_reward : Math.max(...scene.step_reward),
    r_universal: one(scene.r_universal), r_empty: one(scene.r_empty),
    toJSON() {
      return { table: this.scene.id, tasks: this.tasks }; // what requests hold of it
    },
  };
}

const one = (reward) => (typeof reward === "number" ? reward : reward[0]);

export const withLayer = (world, layer) => (layer === world.layer ? world : worldOf(world.scene, world.tasks, layer));

/** An arrow for a move of one cell, else letters: the first of its name that no other action begins with. */
function glyphOf({ arrows, actions }, name, a) {
  const move = arrows[a];
  if (move && (move[0] || move[1])) return { angle: (Math.round((Math.atan2(move[1], -move[0]) * 180) / Math.PI) + 360) % 360 };
  const length = [1, 2].find((n) => actions.every((other, b) => b === a || other.slice(0, n) !== name.slice(0, n))) ?? 2;
  return { letters: name.slice(0, length).toUpperCase() };
}

const MOST_EDGES = 4000;

function edgesOf({ transitions: { offset, successor }, actions }, cell, columns) {
  const pairs = new Map();
  for (let i = 0; i + 1 < offset.length; i += 1) {
    const from = cell[Math.floor(i / actions.length)];
    for (let k = offset[i]; k < offset[i + 1]; k += 1) {
      const to = cell[successor[k]];
      if (to !== from && pairs.size < MOST_EDGES) pairs.set(`${Math.min(from, to)}-${Math.max(from, to)}`, [from, to]);
    }
  }
  return [...pairs.values()].map((pair) => pair.map((at) => cellOf(at, columns)));
}

/** The agent in a state; null if no layer shows it. */
export function agentOf(world, state) {
  const at = layoutOf(world.scene).cell[state];
  return at === undefined || at < 0 ? null : [...cellOf(at, nColumns(world)), state];
}

/** The agent on a cell of the layer that is shown, or null where no state is. */
export function agentAt(world, [row, column]) {
  const state = world.states[row * nColumns(world) + column] ?? -1;
  return state < 0 ? null : [row, column, state];
}

/** An answer with a number per cell of a layer, instead of one per state. */
export function projected(world, answer) {
  if (!world.scene || !answer) return answer;
  const n = world.scene.cell.length;
  const perCell = (list) => Array.from(world.states, (state) => (state < 0 ? null : list[state]));
  const walked = (part) => {
    if (Array.isArray(part)) return part.map(walked);
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, PER_STATE.has(key) && value?.length === n ? perCell(value) : walked(value)]));
  };
  return { ...walked(answer), range: rangeAway(world.scene, answer.states ?? [answer]) ?? answer.range };
}

/** The range of values in states that are no goals: what goals pay would hide it. */
function rangeAway({ goals }, views) {
  const ends = new Set(goals.map((goal) => goal.state));
  return rangeOf(views.flatMap(({ values }) => values.filter((_value, state) => !ends.has(state))));
}

/** A state after an action, drawn by its probability. */
function drawn({ transitions: { offset, successor, probability }, actions }, state, action, random) {
  const place = state * actions.length + action;
  let left = random();
  for (let k = offset[place]; k < offset[place + 1] - 1; k += 1) {
    left -= probability[k];
    if (left < 0) return successor[k];
  }
  return successor[offset[place + 1] - 1];
}

/**
 * The episode from a state, in the shape of that of a drawn world, with `layers` and `names`, those
 * of its actions.  Over time (`answer.automaton`) it goes on after goals, where the scene resumes.
 */
export function episode(world, answer, start, random) {
  const { scene } = world;
  const [, , first = null] = start ?? [];
  const walk = { cells: [], layers: [], actions: [], ways: [], names: [], rewards: [], goals: [], goal: null, ends: false };
  if (first === null) return walk;
  const goalIn = new Map(scene.goals.map(({ state }, g) => [state, g]));
  const overTime = answer.automaton ?? null;
  let [state, u] = [first, overTime?.start];
  const stand = () => {
    const there = agentOf(world, state) ?? walk.cells.at(-1);
    walk.layers.push(agentOf(world, state) ? scene.layer[state] : walk.layers.at(-1));
    walk.cells.push(there.slice(0, 2));
  };
  stand();
  if (overTime) walk.progress = [u];
  const seen = new Set();
  const took = (action, reward, goal) => {
    walk.actions.push(action);
    walk.ways.push(action);
    walk.names.push(scene.actions[action]);
    walk.rewards.push(reward);
    walk.goals.push(goal === undefined ? null : scene.goals[goal].name);
    stand();
  };
  while (walk.actions.length < MOST_STEPS) {
    const inGoal = goalIn.get(state);
    const found = overTime ? answer.states.find((view) => view.state === u) : answer;
    const action = found?.actions[state] ?? null;
    const key = `${state} ${u}`;
    if (!overTime && inGoal !== undefined) {
      const desired = answer.desired.includes(scene.goals[inGoal].name);
      const reward = desired ? scene.r_universal : scene.r_empty;
      took(action ?? 0, typeof reward === "number" ? reward : reward[inGoal], undefined);
      return { ...walk, goal: scene.goals[inGoal].name, ends: true };
    }
    if (action === null || (!world.random && seen.has(key))) return walk;
    seen.add(key);
    const pays = typeof scene.step_reward === "number" ? scene.step_reward : scene.step_reward[state * scene.actions.length + action];
    state = drawn(scene, state, action, random);
    const entered = goalIn.get(state);
    if (!overTime) {
      took(action, pays, undefined);
      continue;
    }
    u = entered === undefined ? found.after_none : found.after_goal[entered];
    if (entered !== undefined) state = scene.resumes[entered];
    const { accepting, dead } = overTime.states[u];
    took(action, pays + (accepting ? answer.rewards.success : 0), entered);
    walk.progress.push(u);
    if (accepting || dead) return { ...walk, goal: walk.goals.at(-1), ends: accepting, violated: dead };
  }
  return walk;
}
