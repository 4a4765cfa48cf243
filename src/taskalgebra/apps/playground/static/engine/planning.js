// Exact planning, as `planning/exact.py`: returns to all goals, the optimum, and what policies earn.
//
// Deterministic worlds are searched backwards from their goals, breadth first, or by Dijkstra's
// algorithm where steps pay differently.  Stochastic ones are solved by policy iteration: policies
// are evaluated by elimination, which is exact up to rounding, and cheap because the states that
// follow a state have numbers close to it.

import { attracted, chainOf, distances, ending, mayMiss, predecessors } from "./graph.js";

const NOTHING = 1e-12; // an advantage below this share of the largest reward is a rounding error
const MOST_ROUNDS = 1000;
const MOST_WORK = 4e9; // of one elimination: some seconds

export class TooLongError extends Error {}

/** G(s:g) of a deterministic world, [S · G]; −∞ for no way. */
export function returnsToGoals(world) {
  const { nStates, nGoals, goals, step } = world;
  const back = predecessors(world);
  const found = new Float64Array(nStates * nGoals).fill(-Infinity);
  goals.forEach((goal, g) => {
    const far = step === null ? null : distances(back, [goal]);
    const best = far === null ? bestReturns(world, goal, back) : null;
    for (let s = 0; s < nStates; s += 1) {
      if (best) found[s * nGoals + g] = best[s];
      else if (far[s] >= 0) found[s * nGoals + g] = far[s] * step;
    }
  });
  return found;
}

/** The best sum of rewards, none above 0, from every state up to a goal (Dijkstra). */
function bestReturns(world, goal, { start, source }) {
  const { nStates, nActions, successor, steps } = world;
  const best = new Float64Array(nStates).fill(-Infinity);
  best[goal] = 0;
  const heap = new Heap();
  heap.push(0, goal);
  for (let top = heap.pop(); top; top = heap.pop()) {
    const [cost, t] = top;
    if (-cost < best[t]) continue;
    for (let k = start[t]; k < start[t + 1]; k += 1) {
      const s = source[k];
      for (let a = 0; a < nActions; a += 1) {
        if (successor[s * nActions + a] !== t) continue;
        const value = steps[s * nActions + a] + best[t];
        if (value > best[s]) {
          best[s] = value;
          heap.push(-value, s);
        }
      }
    }
  }
  return best;
}

/** Pairs of a key and an item, the least key first. */
export class Heap {
  #items = [];

  push(key, item) {
    const items = this.#items;
    let at = items.push([key, item]) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (items[up][0] <= key) break;
      items[at] = items[up];
      at = up;
    }
    items[at] = [key, item];
  }

  pop() {
    const items = this.#items;
    if (items.length < 2) return items.pop();
    const top = items[0];
    const last = items.pop();
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && items[child + 1][0] < items[child][0]) child += 1;
      if (items[child][0] >= last[0]) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = last;
    return top;
  }
}

/** V* of a task that pays `terminal` in its goals, [S]; −∞ where no policy surely ends. */
export function optimum(world, terminal, returns = null) {
  if (!world.deterministic) return improved(world, terminal, null).values;
  const { nStates, nGoals } = world;
  const to = returns ?? returnsToGoals(world);
  return Float64Array.from({ length: nStates }, (_, s) => {
    let best = -Infinity;
    for (let g = 0; g < nGoals; g += 1) best = Math.max(best, to[s * nGoals + g] + terminal[g]);
    return best;
  });
}

const payingGoals = (world, terminal) => [...world.goals].filter((_, g) => terminal[g] > -Infinity);

/** Q(s, a) from values, at one pair. */
export function ahead({ offset, successor, probability, steps }, values, pair) {
  let sum = steps[pair];
  for (let k = offset[pair]; k < offset[pair + 1]; k += 1) {
    const value = values[successor[k]];
    if (value === -Infinity) return -Infinity;
    sum += probability[k] * value;
  }
  return sum;
}

/** A(s, a) = r(s, a) + Σ p (V(s') − V(s)): differences are added up, so that little is lost. */
export function advantage({ nActions, offset, successor, probability, steps }, values, s, a) {
  const pair = s * nActions + a;
  let sum = 0;
  for (let k = offset[pair]; k < offset[pair + 1]; k += 1) {
    const to = successor[k];
    if (to === s) continue;
    if (values[to] === -Infinity) return -Infinity;
    sum += probability[k] * (values[to] - values[s]);
  }
  return steps[pair] + sum;
}

/** The largest advantage that is but a rounding error. */
export function nothing(world, terminal, values) {
  let size = 0;
  for (const each of [world.steps, terminal, values]) for (const one of each) if (Number.isFinite(one)) size = Math.max(size, Math.abs(one));
  return NOTHING * size;
}

/**
 * The optimal policy, by policy iteration (Howard 1960) from a given one, or from the shortest ways:
 * {actions, values, rounds}, as `planning/improvement.py`.
 */
export function improved(world, terminal, actions) {
  const { nStates, nActions, goalOf } = world;
  const ends = payingGoals(world, terminal);
  const kept = ending(world, ends);
  const near = actions === null ? ends : reaching(world, actions, ends);
  let chosen = attracted(world, near, kept, actions ?? undefined).actions;
  let values = policyValues(world, terminal, chosen);
  for (let rounds = 0; rounds <= MOST_ROUNDS; rounds += 1) {
    const least = nothing(world, terminal, values);
    const next = chosen.slice();
    let better = false;
    for (let s = 0; s < nStates; s += 1) {
      if (!kept[s] || goalOf[s] >= 0) continue;
      let [best, most] = [0, -Infinity];
      for (let a = 0; a < nActions; a += 1) {
        const gain = advantage(world, values, s, a);
        if (gain > most) [best, most] = [a, gain];
      }
      if (most > least) [next[s], better] = [best, true];
    }
    if (!better) return { actions: chosen, values, rounds };
    chosen = next;
    values = policyValues(world, terminal, chosen);
  }
  throw new TooLongError("the policy still improves");
}

function reaching(world, actions, ends) {
  const miss = mayMiss(world, actions, ends);
  return Array.from(miss.keys()).filter((s) => !miss[s]);
}

/** V^π, [S]; −∞ where a policy may never end. */
export function policyValues(world, terminal, actions) {
  const { nStates, nActions, goals, goalOf, steps } = world;
  const values = new Float64Array(nStates).fill(-Infinity);
  goals.forEach((s, g) => (values[s] = terminal[g]));
  const miss = mayMiss(world, actions, payingGoals(world, terminal));
  const live = Array.from(miss.keys()).filter((s) => !miss[s] && goalOf[s] < 0);
  const chain = chainOf(world, actions);
  const paid = live.map((s) => steps[s * nActions + actions[s]]);
  if (world.deterministic) follow(chain, live, paid, values);
  else eliminate(chain, live, paid, values);
  return values;
}

/** The chance that a policy ends in one of some goals, [S]. */
export function chanceOf(world, actions, wanted) {
  const chain = chainOf(world, actions);
  const able = distances(predecessors(chain), wanted);
  const values = new Float64Array(world.nStates);
  for (const s of wanted) values[s] = 1;
  const live = Array.from(able.keys()).filter((s) => able[s] >= 0 && world.goalOf[s] < 0);
  if (world.deterministic) for (const s of live) values[s] = 1;
  else eliminate(chain, live, live.map(() => 0), values);
  return values;
}

/** Add up the rewards along the path of each state, up to a known value. */
function follow({ successor }, live, paid, values) {
  const pay = new Map(live.map((s, i) => [s, paid[i]]));
  for (const first of live) {
    const path = [];
    let s = first;
    for (; values[s] === -Infinity; s = successor[s]) path.push(s);
    for (const one of path.reverse()) values[one] = pay.get(one) + values[successor[one]];
  }
}

/**
 * Solve V = r + P V for the live states, by elimination within a band around the diagonal.  Rows of
 * I − P are dominated by their diagonal, so that no rows need to be exchanged.
 */
function eliminate({ offset, successor, probability }, live, paid, values) {
  const n = live.length;
  const place = new Map(live.map((s, i) => [s, i]));
  let band = 0;
  live.forEach((s, i) => {
    for (let k = offset[s]; k < offset[s + 1]; k += 1) {
      const j = place.get(successor[k]);
      if (j !== undefined) band = Math.max(band, Math.abs(i - j));
    }
  });
  if (n * band * band > MOST_WORK) throw new TooLongError("this world is too large to be planned in the browser");
  const width = 2 * band + 1;
  const rows = new Float64Array(n * width); // row i holds columns i − band to i + band
  const right = Float64Array.from(paid);
  live.forEach((s, i) => {
    let stays = 0; // 1 − stays is added up from what leaves, so that nothing is lost
    for (let k = offset[s]; k < offset[s + 1]; k += 1) {
      const to = successor[k];
      if (to === s) continue;
      stays += probability[k];
      const j = place.get(to);
      if (j === undefined) right[i] += probability[k] * values[to];
      else rows[i * width + j - i + band] -= probability[k];
    }
    rows[i * width + band] = stays;
  });
  for (let i = 0; i < n; i += 1) {
    const pivot = rows[i * width + band];
    for (let j = i + 1; j <= Math.min(i + band, n - 1); j += 1) {
      const at = j * width + i - j + band;
      if (rows[at] === 0) continue;
      const factor = rows[at] / pivot;
      const [from, to] = [i * width + band, j * width + i - j + band];
      for (let k = 1; k <= band; k += 1) rows[to + k] -= factor * rows[from + k];
      right[j] -= factor * right[i];
    }
  }
  for (let i = n - 1; i >= 0; i -= 1) {
    let sum = right[i];
    for (let j = i + 1; j <= Math.min(i + band, n - 1); j += 1) sum -= rows[i * width + j - i + band] * values[live[j]];
    values[live[i]] = sum / rows[i * width + band];
  }
}
