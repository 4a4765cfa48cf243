// Goal-oriented Q-learning, Algorithm 1 of the paper's supplement, on a drawn world, in tables.
//
// At every step the agent takes action a in state s and sees r and s'.  For all goals g met so far:
//
//   target(g) = r̄                            if the episode ends in a goal: r if that is g, else r̄_MIN
//             = r + max_b Q̄(s', g, b)        otherwise
//   Q̄(s, g, a) ← (1 − α) Q̄(s, g, a) + α target(g)
//
// It is off-policy, so that all base tasks, and the bounds M_U and M_∅, learn from the same steps.
// The agent acts at random with probability ε, else greedily for one of the base tasks, another one
// each episode.  States are the free cells, and an absorbing state for each goal.

import { plain } from "./names.js";
import { apply } from "./operators.js";
import { generator } from "./random.js";
import { STAY, WALL, entered, goalReward, indexOf, moved, stepReward, wayOf } from "./world.js";

/** Numbers in all tables, at most: 64 MB. */
export const MOST = 8_000_000;
export const UNIVERSAL = Symbol("M_U");
export const EMPTY = Symbol("M_∅");
const EPSILON = 0.5;
const LEAST_RATE = 0.01; // where moves slip, α falls to it with the visits

/** How many numbers the tables of a world have. */
export const sizeOf = (world) => nStates(world) * world.goals.length * nActions(world) * (world.tasks.length + 2);

const freeCells = (world) => world.map.flatMap((line, row) => [...line].flatMap((symbol, column) => (symbol === WALL ? [] : [[row, column]])));
const nStates = (world) => world.map.join("").replaceAll(WALL, "").length + world.goals.length;
const nActions = (world) => (world.touch ? STAY : STAY + 1);

/** The penalty for a wrong goal: that of Definition 2, with the number of states for D; r_∅ where moves slip. */
export function penaltyOf(world) {
  const other = goalReward(world, false);
  if (world.slip) return other;
  return (Math.min(stepReward(world), other) - Math.max(goalReward(world, true), 0)) * (nStates(world) + 1);
}

/** A run before its first step; episodes begin in `starts`, cells from which there is a way to a goal. */
export function begin(world, seed, starts) {
  const cells = freeCells(world);
  const [S, G, A] = [nStates(world), world.goals.length, nActions(world)];
  const pays = (wanted) => world.goals.map((goal) => goalReward(world, wanted(goal.name)));
  const rewards = new Map([[UNIVERSAL, pays(() => true)], [EMPTY, pays(() => false)]]);
  for (const task of world.tasks) rewards.set(task.name, pays((name) => task.goals.includes(name)));
  return {
    world, cells, S, G, A, rewards,
    starts: cells.flatMap((cell, state) => (starts.has(indexOf(world, cell)) ? [state] : [])),
    low: penaltyOf(world),
    random: generator(seed),
    ways: waysOf(world, cells),
    tables: new Map([...rewards.keys()].map((task) => [task, new Float64Array(S * G * A)])),
    visits: new Uint32Array(S * A),
    met: [], // the goals met so far, 𝒢
    steps: 0,
    episodes: 0,
    state: null, // null between episodes
    task: null, // the base task that the agent acts for
  };
}

/** Where each way leads from each cell: a state, for the ways up to STAY. */
function waysOf(world, cells) {
  const at = new Map(cells.map((cell, state) => [indexOf(world, cell), state]));
  const goals = new Map(world.goals.map((goal, g) => [goal, cells.length + g]));
  return cells.map((cell) => Array.from({ length: STAY + 1 }, (_, way) => {
    const goal = entered(world, cell, way);
    return goal ? goals.get(goal) : at.get(indexOf(world, moved(world, cell, way)));
  }));
}

/** Take some steps. */
export function learn(run, steps) {
  for (let i = 0; i < steps; i += 1) step(run);
}

function step(run) {
  const { world, cells, A } = run;
  if (run.state === null) {
    run.state = run.starts[Math.floor(run.random() * run.starts.length)];
    run.task = world.tasks[Math.floor(run.random() * world.tasks.length)]?.name ?? UNIVERSAL;
  }
  const { state } = run;
  const action = choose(run);
  run.steps += 1;
  const over = state >= cells.length; // in a goal any action is paid, and ends the episode
  const next = over ? null : run.ways[state][wayOf(world, action, run.random)];
  run.visits[state * A + action] += 1;
  const rate = world.slip ? Math.max(LEAST_RATE, 1 / run.visits[state * A + action] ** 0.7) : 1;
  for (const [task, q] of run.tables) update(run, q, task, state, action, next, rate);
  run.state = next;
  if (!over) return;
  const goal = state - cells.length;
  if (!run.met.includes(goal)) run.met.push(goal);
  run.episodes += 1;
}

function update(run, q, task, state, action, next, rate) {
  const { world, cells, G, A, low } = run;
  const [pays, costs] = [run.rewards.get(task), stepReward(world)];
  for (const g of run.met) {
    const at = (state * G + g) * A + action;
    const target = next === null ? (state - cells.length === g ? pays[g] : low) : costs + best(q, (next * G + g) * A, A);
    q[at] = (1 - rate) * q[at] + rate * target;
  }
}

function best(q, from, A) {
  let most = q[from];
  for (let b = 1; b < A; b += 1) if (q[from + b] > most) most = q[from + b];
  return most;
}

/** ε-greedy for the task of the episode, over all goals met so far. */
function choose({ random, met, A, G, tables, task, state }) {
  if (!met.length || random() < EPSILON) return Math.floor(random() * A);
  const q = tables.get(task);
  let [most, chosen] = [-Infinity, 0];
  for (const g of met) {
    for (let a = 0; a < A; a += 1) {
      const value = q[(state * G + g) * A + a];
      if (value > most) [most, chosen] = [value, a];
    }
  }
  return chosen;
}

/** Q̄ of a formula, composed from the learned tables: `[S, G, A]`; nodes are its nodes, operands first. */
export function composed(run, nodes) {
  const [universal, empty] = [run.tables.get(UNIVERSAL), run.tables.get(EMPTY)];
  const found = [];
  for (const { operator, text, children } of nodes) {
    if (operator === "task") {
      found.push(run.tables.get(plain(text)));
      continue;
    }
    const [one, two] = children.map((child) => found[child]);
    found.push(universal.map((most, i) => apply(operator, [one?.[i], two?.[i]], most, empty[i])));
  }
  return found.at(-1);
}

/**
 * What a learned Q̄ says in every cell of the map: {slices, values, actions}, null in walls and of
 * goals that were not met.  slices[g] is max_a Q̄(s, g, a); values and actions are of the best goal.
 */
export function shown({ world, cells, met, G, A }, q) {
  const blank = () => world.map.flatMap((line) => [...line].map(() => null));
  const [values, actions, slices] = [blank(), blank(), world.goals.map(blank)];
  cells.forEach((cell, state) => {
    const place = indexOf(world, cell);
    for (const g of met) {
      const from = (state * G + g) * A;
      for (let a = 0; a < A; a += 1) {
        const value = q[from + a];
        if (slices[g][place] === null || value > slices[g][place]) slices[g][place] = value;
        if (values[place] === null || value > values[place]) [values[place], actions[place]] = [value, a];
      }
    }
  });
  return { slices, values, actions };
}

/** How far learned slices are from the planned ones: {equal, all, most}; a goal not met counts as not equal. */
export function distance(slices, planned, tolerance) {
  let [equal, all, most] = [0, 0, 0];
  planned.forEach(({ values }, g) => values.forEach((value, place) => {
    if (value === null) return;
    all += 1;
    if (slices[g][place] === null) return;
    const apart = Math.abs(slices[g][place] - value);
    if (apart <= tolerance) equal += 1;
    most = Math.max(most, apart);
  }));
  return { equal, all, most };
}
