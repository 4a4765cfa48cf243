// Finite worlds: drawn ones, as `worlds/grid.py` makes them, and tables that were sent as scenes.
//
// A world is {nStates, nActions, nGoals, offset, successor, probability, steps, goals, goalOf,
// goalNames, starts, resumes, deterministic, step, named}: outcomes of the pair s · A + a are those
// from offset[pair] up to offset[pair + 1]; steps[pair] is what a step pays, `step` that number if
// all steps pay the same, else null; goals[g] is the absorbing state of a goal, goalOf[s] its number
// or −1; an episode over time goes on in resumes[g].

import { ending } from "./graph.js";
import { quoted } from "./python.js";

const MOVES = [[-1, 0], [0, 1], [1, 0], [0, -1]];

/** The free cells of a map: the number of the state of each cell, row by row, or −1. */
export function statesOf(rows) {
  let n = 0;
  return Int32Array.from([...rows.join("")], (symbol) => (symbol === "." ? n++ : -1));
}

/** The world of a drawing; by touch there is no fifth action. */
export function drawnWorld(document) {
  const { map, goals, touch = false, slip = 0 } = document;
  const [height, width] = [map.length, map[0].length];
  const stateOf = statesOf(map);
  const cellOf = Array.from(stateOf.keys()).filter((cell) => stateOf[cell] >= 0);
  const [nFree, nGoals, nActions] = [cellOf.length, goals.length, touch ? 4 : 5];
  const resumes = Int32Array.from(goals, ({ cell: [row, column] }) => stateOf[row * width + column]);
  const taken = Int32Array.from({ length: nFree }, (_, s) => s);
  resumes.forEach((s, g) => (taken[s] = nFree + g));
  const moved = ([dr, dc], s) => {
    const [row, column] = [Math.floor(cellOf[s] / width) + dr, (cellOf[s] % width) + dc];
    const inside = row >= 0 && row < height && column >= 0 && column < width;
    const to = inside ? stateOf[row * width + column] : -1;
    return to < 0 ? s : to;
  };
  // A move goes its own way, or each of the other three with equal chances.
  const chances = [1 - slip, slip / 3, slip / 3, slip / 3];
  const turns = [0, 1, 2, 3].filter((turn) => chances[turn] > 0);
  const [offset, successor, probability] = [[0], [], []];
  const outcome = (to, chance) => {
    const again = successor.indexOf(to, offset.at(-1));
    if (again >= 0) probability[again] += chance;
    else probability[successor.push(to) - 1] = chance;
  };
  for (let s = 0; s < nFree; s += 1) {
    const ways = MOVES.map((move) => (touch ? taken[moved(move, s)] : moved(move, s)));
    for (let a = 0; a < 4; a += 1) {
      for (const turn of turns) outcome(ways[(a + turn) % 4], chances[turn]);
      offset.push(successor.length);
    }
    if (!touch) offset.push((outcome(taken[s], 1), successor.length));
  }
  for (let g = 0; g < nGoals; g += 1) for (let a = 0; a < nActions; a += 1) offset.push((outcome(nFree + g, 1), successor.length));
  const steps = new Float64Array((nFree + nGoals) * nActions).fill(document.step_reward, 0, nFree * nActions);
  return made({
    nStates: nFree + nGoals,
    nActions,
    goals: Int32Array.from(goals, (_, g) => nFree + g),
    goalNames: goals.map(({ name }) => name),
    offset: Int32Array.from(offset),
    successor: Int32Array.from(successor),
    probability: Float64Array.from(probability),
    steps,
    resumes,
    starts: null,
    named: (s) => `cell (${Math.floor(cellOf[s] / width)}, ${cellOf[s] % width})`,
  });
}

/** The world of a scene. */
export function sceneWorld(scene) {
  const { offset, successor, probability } = scene.transitions;
  const nActions = scene.actions.length;
  const nStates = (offset.length - 1) / nActions;
  const goals = Int32Array.from(scene.goals, ({ state }) => state);
  const steps = typeof scene.step_reward === "number" ? new Float64Array(nStates * nActions).fill(scene.step_reward) : Float64Array.from(scene.step_reward);
  for (const goal of goals) steps.fill(0, goal * nActions, (goal + 1) * nActions);
  return made({
    nStates,
    nActions,
    goals,
    goalNames: scene.goals.map(({ name }) => name),
    offset: Int32Array.from(offset),
    successor: Int32Array.from(successor),
    probability: Float64Array.from(probability),
    steps,
    resumes: scene.resumes && Int32Array.from(scene.resumes),
    starts: Int32Array.from(scene.starts),
    named: (s) => `state ${s}`,
  });
}

/** What follows from the outcomes; `paid` is what a step pays, or half of all steps at least. */
function made(world) {
  const { nStates, nActions, offset, goals } = world;
  const goalOf = new Int32Array(nStates).fill(-1);
  goals.forEach((s, g) => (goalOf[s] = g));
  const deterministic = offset.at(-1) === nStates * nActions;
  const steps = world.steps.filter((_, pair) => goalOf[Math.floor(pair / nActions)] < 0).sort();
  const middle = (steps.length - 1) / 2;
  const paid = (steps[Math.floor(middle)] + steps[Math.ceil(middle)]) / 2;
  const step = steps[0] === steps.at(-1) ? steps[0] : null;
  const found = { ...world, nGoals: goals.length, goalOf, deterministic, step, paid };
  const named = (s) => (goalOf[s] >= 0 ? `goal ${quoted(found.goalNames[goalOf[s]])}` : world.named(s));
  const ends = ending(found);
  const starts = world.starts ?? Int32Array.from(goalOf.keys()).filter((s) => goalOf[s] < 0 && ends[s]);
  return { ...found, named, ending: ends, starts };
}
