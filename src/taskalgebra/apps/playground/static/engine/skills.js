// Base tasks planned exactly, and their composition (Definition 4), as `skills/` and
// `planning/to_goals.py`:
//
//     V̄(s, g) = max{ G(s:g) + r(g), max_{h ≠ g} G(s:h) + r̄_MIN }     Q̄(s, g, a) = r(s, a) + V̄(s', g)
//     x ∧ y = min{x, y}     x ∨ y = max{x, y}     ¬x = (Q̄_U + Q̄_∅) − x
//
// In a deterministic world tables hold V̄, [S · G]: min, max and ¬ act on Q̄ as they do on V̄ of the
// next state.  In a stochastic one they hold Q̄, [S · A · G].

import { ahead, improved, returnsToGoals } from "./planning.js";
import { evaluated } from "./tree.js";
import { drawnWorld, sceneWorld } from "./worlds.js";

const TIE = 1e-14; // of deterministic values; those of stochastic ones are known less well
const STOCHASTIC_TIE = 1e-10;

/** The base tasks of a request's world, planned. */
export class Skills {
  constructor(document, scene = null) {
    this.world = scene ? sceneWorld(scene) : drawnWorld(document);
    const rewards = scene ?? document;
    this.high = rewards.r_universal;
    this.low = rewards.r_empty ?? rewards.step_reward;
    const { steps, nStates, nGoals } = this.world;
    this.scale = Math.max(...[this.high, this.low].map(Math.abs), steps.reduce((most, one) => Math.max(most, Math.abs(one)), 0));
    this.tasks = document.tasks.map(({ name, goals }) => ({ name, desired: this.world.goalNames.map((goal) => goals.includes(goal)) }));
    const least = Math.min(this.low, steps.reduce((a, b) => Math.min(a, b), 0));
    // r̄_MIN of Definition 2, with the number of states for the diameter; r_∅ where actions slip.
    this.penalty = this.world.deterministic ? (least - Math.max(this.high, 0)) * (nStates + 1) : this.low;
    this.returns = this.world.deterministic ? returnsToGoals(this.world) : null;
    this.solved = new Map();
    this.universal = this.table(Array(nGoals).fill(true));
    this.empty = this.table(Array(nGoals).fill(false));
    this.total = this.universal.map((x, i) => x + this.empty[i]);
  }

  /** What the goals of a task pay. */
  rewards = (desired) => Float64Array.from(desired, (one) => (one ? this.high : this.low));

  /** The table of a task. */
  table(desired) {
    const { world, penalty } = this;
    const rewards = this.rewards(desired);
    const { nStates, nGoals, nActions, goalOf } = world;
    if (!world.deterministic) return this.#stochastic(rewards);
    const found = new Float64Array(nStates * nGoals);
    for (let s = 0; s < nStates; s += 1) {
      let [nearest, first, second] = [-1, -Infinity, -Infinity];
      for (let g = 0; g < nGoals; g += 1) {
        const way = this.returns[s * nGoals + g];
        if (way > first) [nearest, first, second] = [g, way, first];
        else if (way > second) second = way;
      }
      for (let g = 0; g < nGoals; g += 1) {
        const other = g === nearest ? second : first;
        found[s * nGoals + g] = Math.max(this.returns[s * nGoals + g] + rewards[g], other + penalty);
      }
    }
    return found;
  }

  #stochastic(rewards) {
    const { nStates, nGoals, nActions, goalOf } = this.world;
    const found = new Float64Array(nStates * nActions * nGoals);
    for (let g = 0; g < nGoals; g += 1) {
      const values = this.#towards(g, rewards[g]);
      for (let pair = 0; pair < nStates * nActions; pair += 1) {
        const s = Math.floor(pair / nActions);
        found[pair * nGoals + g] = goalOf[s] >= 0 ? values[s] : ahead(this.world, values, pair);
      }
    }
    return found;
  }

  /** V̄(·, g), where g pays a reward and any other goal the penalty. */
  #towards(g, reward) {
    const key = reward === this.penalty ? "" : `${g} ${reward}`;
    if (!this.solved.has(key)) {
      const terminal = new Float64Array(this.world.nGoals).fill(this.penalty);
      terminal[g] = reward;
      this.solved.set(key, improved(this.world, terminal, null).values);
    }
    return this.solved.get(key);
  }

  /** The tables of all steps of a formula. */
  compose(steps) {
    const { total, universal, empty } = this;
    const named = new Map(this.tasks.map(({ name, desired }) => [name, desired]));
    const known = new Map();
    const and = (x, y) => x.map((one, i) => Math.min(one, y[i]));
    const or = (x, y) => x.map((one, i) => Math.max(one, y[i]));
    const not = (x) => x.map((one, i) => (total[i] === -Infinity ? -Infinity : total[i] - one));
    return evaluated(steps, {
      name: (name) => {
        const key = named.get(name).join();
        if (!known.has(key)) known.set(key, this.table(named.get(name)));
        return known.get(key);
      },
      constant: (value) => (value ? universal : empty),
      and,
      or,
      not,
      xor: (x, y) => and(or(x, y), not(and(x, y))),
    });
  }

  /** The goals that each step of a formula desires. */
  desired(steps) {
    const { nGoals } = this.world;
    const both = (join) => (x, y) => x.map((one, g) => join(one, y[g]));
    return evaluated(steps, {
      name: (name) => this.tasks.find((one) => one.name === name).desired,
      constant: (value) => Array(nGoals).fill(value),
      and: both((a, b) => a && b),
      or: both((a, b) => a || b),
      not: (x) => x.map((one) => !one),
      xor: both((a, b) => a !== b),
    });
  }

  /** max_{g, a} Q̄ and the greedy action in each state, from a table. */
  greedy(table) {
    const { nStates, nGoals, nActions, deterministic, successor, steps } = this.world;
    const best = new Float64Array(table.length / nGoals).fill(-Infinity);
    for (let i = 0; i < best.length; i += 1) for (let g = 0; g < nGoals; g += 1) best[i] = Math.max(best[i], table[i * nGoals + g]);
    const q = deterministic ? Float64Array.from(successor, (to, pair) => steps[pair] + best[to]) : best;
    return this.bestOf(q, nStates, nActions);
  }

  /** max_a q and the first action that is as good, up to rounding errors. */
  bestOf(q, nStates = this.world.nStates, nActions = this.world.nActions) {
    const tie = this.world.deterministic ? TIE : STOCHASTIC_TIE;
    const [values, actions] = [new Float64Array(nStates), new Int32Array(nStates)];
    for (let s = 0; s < nStates; s += 1) {
      const row = q.subarray(s * nActions, (s + 1) * nActions);
      const best = row.reduce((a, b) => Math.max(a, b), -Infinity);
      values[s] = best;
      actions[s] = best === -Infinity ? 0 : row.findIndex((one) => one >= best - tie * Math.max(this.scale, Math.abs(best)));
    }
    return { values, actions };
  }

  /** max_a Q̄(s, g, a) of one goal, [S]. */
  slice(table, g) {
    const { nStates, nGoals, nActions, deterministic, successor, steps } = this.world;
    return Float64Array.from({ length: nStates }, (_, s) => {
      let best = -Infinity;
      for (let a = 0; a < nActions; a += 1) {
        const pair = s * nActions + a;
        best = Math.max(best, deterministic ? steps[pair] + table[successor[pair] * nGoals + g] : table[pair * nGoals + g]);
      }
      return best;
    });
  }
}
