// A formula over time in a world, as `planning/temporal.py` and `planning/product.py`.
//
// W(g, u) is the value still to come when standing on goal g with the automaton in u.  While the
// automaton is in u, goals pay r_u(g) = W(g, δ(u, L(g))), and Q̄(s, g, a) = G(s:g, a) + r_u(g).  The
// product of world and automaton is a world of its own, with the goals "satisfied" and "violated".

import { distances, ending, predecessors } from "./graph.js";
import { Heap, ahead, improved } from "./planning.js";

const [SATISFIED, VIOLATED] = [0, 1];

/** An automaton over the goals of a world: {automaton, atGoal: [u][g], atNone: [u]}. */
export function labelled(automaton, letterOf) {
  return {
    automaton,
    atGoal: automaton.delta.map((row) => letterOf.map((letter) => row[letter])),
    atNone: automaton.delta.map((row) => row[0]),
  };
}

/** What goals pay in each state of the automaton, r_u(g), [u][g], from the returns to goals. */
export function goalRewards({ nGoals, nActions, successor, steps, resumes }, returns, { automaton, atGoal }, success) {
  const between = (g, h) => {
    let best = -Infinity;
    for (let pair = resumes[g] * nActions; pair < (resumes[g] + 1) * nActions; pair += 1) {
      best = Math.max(best, steps[pair] + returns[successor[pair] * nGoals + h]);
    }
    return best;
  };
  const { accepting, dead } = automaton;
  const paid = Array.from({ length: nGoals }, (_, g) => Float64Array.from({ length: nGoals }, (_h, h) => between(g, h)));
  const toCome = paid.map(() => Float64Array.from(accepting, (one) => (one ? success : -Infinity)));
  const heap = new Heap();
  toCome.forEach((row, g) => row.forEach((value, u) => value > -Infinity && heap.push(-value, [g, u])));
  for (let top = heap.pop(); top; top = heap.pop()) { // the best way goes first (Dijkstra)
    const [minus, [g, v]] = top;
    if (-minus < toCome[g][v]) continue;
    atGoal.forEach((row, u) => {
      if (row[g] !== v || accepting[u] || dead[u]) return;
      for (let h = 0; h < nGoals; h += 1) {
        const value = paid[h][g] - minus;
        if (value <= toCome[h][u]) continue;
        toCome[h][u] = value;
        heap.push(-value, [h, u]);
      }
    });
  }
  return atGoal.map((row) => row.map((v, g) => toCome[g][v]));
}

/** The product of a world and an automaton. */
export class Product {
  constructor(world, { automaton, atGoal, atNone }, success, low) {
    const { nStates, nActions, offset, successor, probability, steps, goalOf, resumes } = world;
    const { accepting, dead } = automaton;
    const live = liveStates(automaton, atGoal, atNone);
    const states = Array.from(goalOf.keys()).filter((s) => goalOf[s] < 0);
    const n = states.length * live.length;
    const row = new Int32Array(nStates).fill(-1);
    states.forEach((s, i) => (row[s] = i));
    const place = new Map(live.map((u, i) => [u, i]));
    const [first, to, chance, paid] = [[0], [], [], []];
    for (const s of states) { // pairs of a state lie side by side, so that elimination is cheap
      for (const u of live) {
        for (let a = 0; a < nActions; a += 1) {
          const pair = s * nActions + a;
          for (let k = offset[pair]; k < offset[pair + 1]; k += 1) {
            const goal = goalOf[successor[k]];
            const v = goal < 0 ? atNone[u] : atGoal[u][goal];
            const at = goal < 0 ? successor[k] : resumes[goal];
            to.push(accepting[v] ? n + SATISFIED : dead[v] ? n + VIOLATED : row[at] * live.length + place.get(v));
            chance.push(probability[k]);
          }
          first.push(to.length);
          paid.push(steps[pair]);
        }
      }
    }
    for (const goal of [SATISFIED, VIOLATED]) {
      for (let a = 0; a < nActions; a += 1) first.push((to.push(n + goal), chance.push(1), paid.push(0), to.length));
    }
    const ends = new Int32Array(n + 2).fill(-1);
    ends.set([SATISFIED, VIOLATED], n);
    Object.assign(this, { world, automaton, live, states, row, place });
    this.low = Math.min(low, success - 1);
    this.terminal = [success, world.deterministic ? -Infinity : this.low];
    this.mdp = {
      nStates: n + 2,
      nActions,
      nGoals: 2,
      goals: Int32Array.of(n + SATISFIED, n + VIOLATED),
      goalOf: ends,
      offset: Int32Array.from(first),
      successor: Int32Array.from(to),
      probability: Float64Array.from(chance),
      steps: Float64Array.from(paid),
      deterministic: world.deterministic,
      step: world.step,
    };
    const toEnd = distances(predecessors(this.mdp), this.mdp.goals);
    this.stuck = Uint8Array.from(toEnd, (moves) => (moves < 0 ? 1 : 0));
    if (!world.deterministic) this.mdp.successor = this.mdp.successor.map((s) => (this.stuck[s] ? n + VIOLATED : s));
  }

  /** Q*(s, u, a), the optimal values of actions. */
  q() {
    const { mdp, terminal } = this;
    let values;
    if (mdp.deterministic && mdp.step !== null) {
      const far = distances(predecessors(mdp), [mdp.goals[SATISFIED]]);
      values = Float64Array.from(far, (moves) => (moves < 0 ? -Infinity : moves * mdp.step + terminal[SATISFIED]));
    } else values = improved(mdp, terminal, null).values;
    return Float64Array.from(mdp.steps, (_, pair) => ahead(mdp, values, pair));
  }

  /** One number for each state of the world, from one for each pair; `missing` where it is stuck. */
  at(column, u, missing) {
    const { row, live, place, stuck } = this;
    return Array.from(row, (i) => {
      const pair = i * live.length + place.get(u);
      return i < 0 || !place.has(u) || stuck[pair] ? missing : column[pair];
    });
  }

  /** One action for each pair, from those of the states of the world, by the state of the automaton. */
  flat(actionsIn) {
    const found = new Int32Array(this.mdp.nStates);
    this.live.forEach((u, i) => {
      const actions = actionsIn(u);
      this.states.forEach((s, k) => (found[k * this.live.length + i] = actions[s]));
    });
    return found;
  }

  /** The policy from given actions made optimal: {actions, values, rounds}. */
  improved(actions) {
    return improved(this.mdp, this.terminal, actions);
  }

  /** Whether some policy surely ends, for each pair. */
  able() {
    return ending(this.mdp, [...this.mdp.goals].filter((_, g) => this.terminal[g] > -Infinity));
  }
}

/** The states of the automaton in which an episode may be under way. */
function liveStates({ accepting, dead }, atGoal, atNone) {
  const reached = new Set([0]);
  for (const u of reached) { // which grows
    for (const v of [...atGoal[u], atNone[u]]) if (!accepting[v] && !dead[v]) reached.add(v);
  }
  return [...reached].sort((a, b) => a - b);
}
