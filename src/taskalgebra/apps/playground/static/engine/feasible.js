// Why a formula cannot be satisfied: in no world, in this one, or from some place, as
// `planning/feasible.py`.

import { allLetters, automatonOf, stutters } from "./automaton.js";
import { TooLargeError } from "./progression.js";
import { listed, quoted, sorted } from "./python.js";
import { knownNames, quote } from "./text.js";
import { namesOf } from "./tree.js";

/** Why no trace of a world satisfies a formula, in words that follow its name. */
export function never(forest, letters, letterOf, tasks, goalNames) {
  const said = "can never be satisfied";
  const names = namesOf(forest.steps);
  let free;
  try {
    free = automatonOf(forest, allLetters(names));
  } catch (error) {
    if (error instanceof TooLargeError) return `${said} with the goals of this world`;
    throw error;
  }
  const word = shortest(free);
  if (word === null) return `${said}: it contradicts itself`;
  const keyOf = (letter) => names.filter((name) => letter.has(name)).join("\0");
  const there = new Set(["", ...letterOf.map((i) => keyOf(letters[i]))]);
  const missing = word.find((letter) => !there.has(keyOf(letter)));
  if (!missing) return `${said} with the goals of this world`;
  const what = sorted(missing).map(quote).join(" & ");
  const others = names.filter((name) => !missing.has(name)).map(quote);
  const only = others.length ? ` and not ${listed(others)}` : "";
  return `${said} here: it asks for a goal that is ${what}${only}, and this world has none; known: ${knownNames(tasks, goalNames)}`;
}

/** A shortest word that is accepted, with as few labels as possible; null if there is none. */
function shortest({ letters, delta, accepting }) {
  const order = [...letters.keys()].sort((i, j) => letters[i].size - letters[j].size);
  const came = new Map([[0, null]]);
  for (const u of came.keys()) { // which grows
    for (const letter of order) {
      const v = delta[u][letter];
      if (accepting[v]) {
        const word = [letters[letter]];
        for (let step = came.get(u); step; step = came.get(step[0])) word.push(letters[step[1]]);
        return word.reverse();
      }
      if (!came.has(v)) came.set(v, [u, letter]);
    }
  }
  return null;
}

/**
 * Why a formula that can be satisfied elsewhere cannot be from here, in a sentence.  `ways[g]` says
 * whether there is a way to a goal, `between[g][h]` whether there is one from goal to goal.
 */
export function fromHere(ways, between, { automaton, atGoal, atNone }, goalNames) {
  const named = (goals, most) => listed(goals.map((g) => goalNames[g]), most);
  if (!stutters(automaton)) {
    const missing = missingGoals(automaton, atGoal, atNone, through(ways, between));
    if (missing.length) return `from here there is no way to ${named(missing, 4)}`;
    return "from here no way satisfies it: steps that enter no goal are read as well";
  }
  const left = stepsLeft(automaton, atGoal, atNone);
  let [best, state, at, on] = [Infinity, 0, "", ways];
  const seen = new Set();
  const queue = [[-1, 0]];
  for (const [g, u] of queue) { // which grows
    const here = g < 0 ? ways : between[g];
    if (left[u] < best) {
      [best, state, on] = [left[u], u, here];
      at = g < 0 ? "here" : `goal ${quoted(goalNames[g])}, reached from here`;
    }
    here.forEach((open, h) => {
      const v = atGoal[u][h];
      if (!open || automaton.dead[v] || seen.has(`${h} ${v}`)) return;
      seen.add(`${h} ${v}`);
      queue.push([h, v]);
    });
  }
  const after = atGoal[state];
  const goals = after.map((_, h) => h);
  const nearer = goals.filter((h) => left[after[h]] < best);
  const open = through(on, between);
  if (!nearer.some((h) => open[h])) return `from ${at} there is no way to ${named(nearer, 4)}`;
  const closed = goals.filter((h) => automaton.dead[after[h]] && open[h]);
  const without = closed.length ? ` without entering ${named(closed)}` : " first";
  return `from ${at} there is no way to ${named(nearer, 4)}${without}`;
}

/** The goals out of reach that lead on, where no order of the others satisfies a formula. */
function missingGoals({ accepting, dead }, atGoal, atNone, reached) {
  const seen = new Set([0]);
  for (const u of seen) [...atGoal[u].filter((_, g) => reached[g]), atNone[u]].forEach((v) => seen.add(v));
  if ([...seen].some((u) => accepting[u])) return [];
  return [...reached.keys()].filter((g) => !reached[g] && [...seen].some((u) => !seen.has(atGoal[u][g]) && !dead[atGoal[u][g]]));
}

/** The goals to which a way leads, over whichever others. */
function through(ways, between) {
  const found = [...ways];
  const todo = [...found.keys()].filter((g) => found[g]);
  for (const g of todo) { // which grows
    between[g].forEach((open, h) => {
      if (!open || found[h]) return;
      found[h] = true;
      todo.push(h);
    });
  }
  return found;
}

/** The fewest goals that lead to an accepting state, whatever the way; ∞ for dead states. */
function stepsLeft({ accepting }, atGoal, atNone) {
  let left = accepting.map((one) => (one ? 0 : Infinity));
  for (;;) {
    const nearer = left.map((own, u) => Math.min(own, 1 + Math.min(left[atNone[u]], ...atGoal[u].map((v) => left[v]))));
    if (nearer.every((one, u) => one === left[u])) return left;
    left = nearer;
  }
}
