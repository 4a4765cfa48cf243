// The minimal automaton of a temporal formula on finite traces, as `logic/automaton.py`, and short
// formulas for the letters of its edges, as `logic/guards.py`.

import { allTrue, shortestCover } from "./cubes.js";
import { canReach, machineOf, minimal } from "./machines.js";
import { TooLargeError } from "./progression.js";
import { counted } from "./python.js";
import { isLeaf, namesOf, written } from "./tree.js";
import { sumOfCubes } from "./truth.js";

const [MOST_SHOWN, MOST_EDGES, MOST_LETTERS, EXACT_NAMES] = [100, 400, 4_096, 6];

/** All sets of names, the empty one first; an error if they are too many. */
export function allLetters(names) {
  if (2 ** names.length > MOST_LETTERS) throw new TooLargeError("has too many names");
  return Array.from({ length: 1 << names.length }, (_, i) => new Set(names.filter((_name, j) => (i >> j) & 1)));
}

/** {steps, letters, delta, accepting, dead, running}; `letters` are sets, the empty one first. */
export function automatonOf(forest, letters) {
  const found = machineOf(forest, letters);
  const lives = canReach(found.delta, found.accepting);
  const satisfiable = found.delta[0].some((state) => lives[state]);
  const { delta, accepting } = minimal(satisfiable ? found : { ...found, accepting: found.accepting.map(() => false) });
  const dead = canReach(delta, accepting).map((one) => !one);
  const running = delta.map(() => false);
  running[0] = true;
  const todo = [0];
  while (todo.length) {
    for (const state of delta[todo.pop()]) {
      if (running[state] || accepting[state] || dead[state]) continue;
      running[state] = true;
      todo.push(state);
    }
  }
  return { steps: forest.steps, letters, delta, accepting, dead, running };
}

/** Whether steps without any name change nothing, while an episode goes on. */
export const stutters = ({ delta, accepting, running }) => delta.every((row, u) => !running[u] || (row[0] === u && !accepting[u]));

/** The edges as they are shown, [{source, target, guard}]; throws if there are too many. */
export function edgesOf(automaton) {
  const { delta, dead, letters, steps } = automaton;
  const names = namesOf(steps);
  const targets = delta.map((row) => [...new Set(row)]);
  const n = targets.slice(0, MOST_SHOWN + 1).reduce((sum, some) => sum + some.length, 0);
  if (delta.length > MOST_SHOWN || n > MOST_EDGES) {
    const edges = delta.length <= MOST_SHOWN ? ` and ${counted(n)} edges` : "";
    throw new TooLargeError(
      `an automaton of ${counted(delta.length)} states${edges} is too large to be shown; at most ${MOST_SHOWN} states and ${MOST_EDGES} edges`,
    );
  }
  const shown = targets.flatMap((some, source) => {
    const row = [...delta[source]];
    const usual = row.includes(source) ? source : row[0];
    return some.map((target) => {
      const formula = guardOf(letters, row.map((to) => to === target), names);
      const top = formula.at(-1);
      const short = isLeaf(top) || (top.length === 2 && formula[top[1]][0] === "name");
      return { source, target, guard: target === usual && !short ? "else" : written(formula) };
    });
  });
  return shown.sort((a, b) => a.source - b.source || dead[a.target] - dead[b.target]);
}

/** A formula that is true at some letters and false at the others; all else does not matter. */
function guardOf(letters, inside, names) {
  const constant = (value) => [["constant", value]];
  if (!inside.includes(false) || !inside.includes(true)) return constant(inside.includes(true));
  if (names.length >= EXACT_NAMES) return sumOfCubes(coverOf(letters, inside, names), names);
  const rows = (wanted) =>
    letters.reduce((sum, letter, i) => {
      if (inside[i] !== wanted) return sum;
      const row = names.reduce((place, name, j) => place + (letter.has(name) ? 1 << j : 0), 0);
      return sum | (1n << BigInt(row));
    }, 0n);
  const [yes, no] = [rows(true), rows(false)];
  return sumOfCubes(shortestCover(yes, allTrue(names.length) & ~(yes | no), names.length), names);
}

/** Products that cover the letters inside and none outside, each with few literals. */
function coverOf(letters, inside, names) {
  const rows = letters.map((letter) => names.map((name) => letter.has(name)));
  const outside = rows.filter((_, i) => !inside[i]);
  let left = rows.filter((_, i) => inside[i]);
  const cubes = [];
  while (left.length) {
    const letter = left[0];
    let differs = outside.map((row) => row.map((one, j) => one !== letter[j])); // a product needs a literal in every row
    const wanted = [];
    while (differs.length) {
      // Of two names as good, the one that is true.
      const gain = names.map((_, j) => 2 * differs.filter((row) => row[j]).length + letter[j]);
      const best = gain.indexOf(Math.max(...gain));
      wanted.push(best);
      differs = differs.filter((row) => !row[best]);
    }
    const mask = (value) => wanted.filter((j) => letter[j] === value).reduce((sum, j) => sum | (1n << BigInt(j)), 0n);
    cubes.push({ positive: mask(true), negative: mask(false) });
    left = left.filter((row) => wanted.some((j) => row[j] !== letter[j]));
  }
  return cubes;
}
