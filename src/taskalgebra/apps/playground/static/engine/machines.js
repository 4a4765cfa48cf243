// Automata of temporal formulas, in one piece or from those of their parts, and the smallest ones,
// as `logic/composition.py` and `logic/minimal.py`.  A machine is {delta: [row], accepting: [bool]}
// and starts in state 0.

import { MOST_STATES, TooLargeError, Work, machine } from "./progression.js";
import { counted } from "./python.js";
import { isBoolean, operandsOf } from "./tree.js";

const MOST_ENTRIES = 2 ** 22; // pairs of states times letters of a product
const JOINS = { and: (a, b) => a && b, or: (a, b) => a || b, xor: (a, b) => a !== b };

/** The automaton of a formula, not always minimal. */
export function machineOf(forest, letters, mostStates = MOST_STATES) {
  const { steps } = forest;
  try {
    return machine(steps, letters, mostStates, new Work());
  } catch (error) {
    const apart = error instanceof TooLargeError ? partsOf(steps) : new Set();
    if (!apart.size) throw error;
    return composed(forest, apart, letters, mostStates);
  }
}

/** The Boolean operators that stand above temporal ones and below none. */
function partsOf(steps) {
  const temporal = [];
  for (const step of steps) temporal.push(!isBoolean(step[0]) || operandsOf(step).some((place) => temporal[place]));
  const apart = new Set();
  const reached = new Set([steps.length - 1]);
  for (let place = steps.length - 1; place >= 0; place -= 1) {
    if (!reached.has(place) || !temporal[place] || !isBoolean(steps[place][0])) continue;
    apart.add(place);
    for (const one of operandsOf(steps[place])) reached.add(one);
  }
  return apart;
}

function composed(forest, apart, letters, mostStates) {
  const work = new Work();
  const found = new Map();
  const places = new Set([...apart, ...[...apart].flatMap((place) => operandsOf(forest.steps[place]))]);
  for (const place of [...places].sort((a, b) => a - b)) {
    const [kind, first, second] = forest.steps[place];
    if (!apart.has(place)) found.set(place, minimal(machine(forest.only(place), letters, mostStates, work)));
    else if (kind === "not") {
      const { delta, accepting } = found.get(first);
      found.set(place, { delta, accepting: accepting.map((one) => !one) });
    } else found.set(place, product(found.get(first), found.get(second), JOINS[kind], mostStates, work));
  }
  return found.get(forest.steps.length - 1);
}

/** The minimal automaton of a Boolean operation on two languages. */
function product(one, two, join, mostStates, work) {
  const width = two.delta.length;
  const nLetters = one.delta[0].length;
  const places = new Map([[0, 0]]);
  const pairs = [0]; // (u, v) is u · width + v
  const delta = [];
  for (const pair of pairs) { // which grows
    if (pairs.length * nLetters > MOST_ENTRIES) throw new TooLargeError("takes too much memory to find");
    const [u, v] = [Math.floor(pair / width), pair % width];
    work.spend(nLetters / 16);
    delta.push(
      Int32Array.from({ length: nLetters }, (_, letter) => {
        const after = one.delta[u][letter] * width + two.delta[v][letter];
        if (!places.has(after)) places.set(after, pairs.push(after) - 1);
        return places.get(after);
      }),
    );
  }
  const accepting = pairs.map((pair) => join(one.accepting[Math.floor(pair / width)], two.accepting[pair % width]));
  const found = minimal({ delta, accepting });
  if (found.delta.length > mostStates) throw new TooLargeError(`has more than ${counted(mostStates)} states`);
  return found;
}

/** The smallest automaton with the same language; states are numbered as a search by breadth meets them. */
export function minimal({ delta, accepting }) {
  const found = classes(delta, accepting);
  const first = new Map();
  found.forEach((number, state) => first.has(number) || first.set(number, state));
  const order = [found[0]];
  const number = new Map([[found[0], 0]]);
  for (const one of order) { // which grows
    for (const state of delta[first.get(one)]) {
      const to = found[state];
      if (!number.has(to)) number.set(to, order.push(to) - 1);
    }
  }
  const kept = order.map((one) => first.get(one));
  return {
    delta: kept.map((state) => delta[state].map((to) => number.get(found[to]))),
    accepting: kept.map((state) => accepting[state]),
  };
}

/** The states, numbered so that those that no trace tells apart share a number (after Moore). */
function classes(delta, accepting) {
  const columns = distinctColumns(delta);
  let found = accepting.map(Number);
  let count = new Set(found).size;
  for (;;) {
    const numbers = new Map();
    const next = found.map((own, state) => {
      const key = `${own}:${columns.map((letter) => found[delta[state][letter]]).join()}`;
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      return numbers.get(key);
    });
    if (numbers.size === count) return next;
    [found, count] = [next, numbers.size];
  }
}

/** One letter of all those that lead to the same states from everywhere. */
function distinctColumns(delta) {
  const seen = new Map();
  for (let letter = 0; letter < delta[0].length; letter += 1) {
    const key = delta.map((row) => row[letter]).join();
    if (!seen.has(key)) seen.set(key, letter);
  }
  return [...seen.values()];
}

/** The states from which some trace, possibly the empty one, leads to a target. */
export function canReach(delta, targets) {
  const reached = [...targets];
  for (let more = true; more; ) {
    more = false;
    delta.forEach((row, state) => {
      if (reached[state] || !row.some((to) => reached[to])) return;
      reached[state] = more = true;
    });
  }
  return reached;
}
