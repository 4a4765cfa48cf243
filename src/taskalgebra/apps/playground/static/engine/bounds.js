// How far a policy is from the optimum, exactly and at most, as `planning/bounds.py` and
// `planning/losses.py`.
//
// The bound needs no optimum: V* ≤ R + max δ · (r_U − R) / c, with R what the policy earns, δ what one
// step could gain over it and c the least cost of a step; sweeps of U ← min{U, T U} make it narrow.

import { attracted, ending, mayMiss } from "./graph.js";
import { advantage, ahead, nothing, policyValues } from "./planning.js";
import { general } from "./python.js";

const MOST_SWEEPS = 100;
const ENOUGH = 0.98; // a sweep that leaves more than this share of the largest distance is the last
const LOST = 1e-9; // a smaller share of the largest reward is not a loss but a rounding error

/**
 * What a policy loses from the starts of a world: {none, mean, worst, worstStart, bound, line}.
 * Infinite numbers say that it may never end.
 */
export function lossOf(world, terminal, actions, optimum, scale) {
  const times = new Map(); // how often each start is listed
  for (const s of [...world.starts].sort((a, b) => a - b)) times.set(s, (times.get(s) ?? 0) + 1);
  const starts = [...times.keys()];
  const returns = policyValues(world, terminal, actions);
  const { upper, sweeps } = upperBound(world, terminal, actions, returns);
  const difference = (high, low) => (high === low ? 0 : Math.max(high - low, 0));
  const bounds = starts.map((s) => difference(upper[s], returns[s])).map((most) => (most <= LOST * scale ? 0 : most));
  const met = starts.every((s) => returns[s] >= upper[s] - LOST * scale);
  const lost = starts.map((s) => (met ? 0 : difference(Math.max(optimum[s], returns[s]), returns[s])));
  const none = lost.every((one) => one <= LOST * scale);
  const worst = lost.reduce((a, b) => Math.max(a, b), 0);
  const found = {
    none,
    mean: lost.reduce((sum, one, i) => sum + one * (times.get(starts[i]) / world.starts.length), 0),
    worst,
    worstStart: starts[lost.indexOf(worst)],
    bound: bounds.reduce((a, b) => Math.max(a, b), 0),
  };
  return { ...found, line: inALine(found, lost, sweeps, world) };
}

function inALine({ none, mean, worst, worstStart, bound }, lost, sweeps, world) {
  const n = lost.length;
  if (none) return `optimal from ${n > 1 ? `all ${n} starts` : "its start"}`;
  const where = world.named(worstStart);
  const mended = "; agent.improve() mends it";
  if (worst === Infinity) {
    return `may never end from ${lost.filter((one) => one === Infinity).length} of ${n} starts, ${where} among them${mended}`;
  }
  const most = sweeps ? ` (bound without planning: ${digits(bound)})` : "";
  if (n === 1) return `loses a return of ${digits(mean)}${most}${mended}`;
  return `loses a return of ${digits(mean)} on average, ${digits(worst)} from ${where}, its worst start${most}${mended}`;
}

const digits = (value) => (value >= 0.1 ? value.toFixed(3) : general(value, 2));

/** An upper bound on V*, from what a policy earns. */
function upperBound(world, terminal, actions, returns) {
  const ends = [...world.goals].filter((_, g) => terminal[g] > -Infinity);
  const able = ending(world, ends);
  let lower = returns;
  if (Array.from(able).some((one, s) => one && returns[s] === -Infinity)) {
    const miss = mayMiss(world, actions, ends);
    const near = Array.from(miss.keys()).filter((s) => !miss[s]);
    lower = policyValues(world, terminal, attracted(world, near, able, actions).actions);
  }
  return upperFrom(world, terminal, lower, able);
}

function upperFrom(world, terminal, guess, able) {
  const { nStates, nActions, goalOf, steps, deterministic } = world;
  const live = Array.from(able.keys()).filter((s) => able[s] && goalOf[s] < 0);
  const upper = Float64Array.from(guess);
  if (!live.length) return { upper, sweeps: 1 };
  let [residual, cost] = [0, Infinity];
  for (const s of live) {
    for (let a = 0; a < nActions; a += 1) {
      residual = Math.max(residual, advantage(world, guess, s, a));
      cost = Math.min(cost, -steps[s * nActions + a]);
    }
  }
  const most = terminal.reduce((a, b) => Math.max(a, b), -Infinity);
  if (residual <= nothing(world, terminal, live.map((s) => guess[s]))) {
    if (!deterministic) for (const s of live) upper[s] += (residual * Math.max(most - guess[s], 0)) / cost;
    return { upper, sweeps: 1 };
  }
  for (const s of live) upper[s] = Math.min(most + Math.max(-cost, 0) * nStates, Math.max(guess[s] + (residual * (most - guess[s])) / cost, guess[s]));
  const order = [...live].sort((a, b) => guess[b] - guess[a]); // the best first
  let [widest, sweeps] = [Infinity, 1];
  while (sweeps < MOST_SWEEPS) {
    for (const s of order) {
      let best = -Infinity;
      for (let a = 0; a < nActions; a += 1) best = Math.max(best, ahead(world, upper, s * nActions + a));
      upper[s] = Math.min(upper[s], best);
    }
    sweeps += 1;
    const distance = live.reduce((far, s) => Math.max(far, upper[s] - guess[s]), -Infinity);
    if (distance > ENOUGH * widest) break;
    widest = distance;
  }
  for (const s of live) upper[s] = Math.max(upper[s], guess[s]); // whatever the rounding
  return { upper, sweeps };
}
