// Whether an answer does what the challenge asks for, in words, and hints.
//
// What is wanted is {text, goals} or, over time, {text, answer, wanted, not}: the hidden expression,
// and its goals, or its answer and some orders that satisfy it or do not.

import { listed, plural } from "./dom.js";
import { isOverTime } from "./formula.js";
import { difference } from "./orders.js";
import { characters, words } from "./shortest.js";

const FEW = 6; // names in a sentence

export const few = (names) => (names.length > FEW ? `${names.slice(0, FEW - 1).join(", ")} and ${names.length - FEW + 1} more` : listed(names));

const namesOf = (world) => new Set([...world.tasks, ...world.goals].map((one) => one.name));
const length = (n, text) => `${plural(n, "operator")}, ${plural(characters(text), "character")}`;

/** {right, words}: what an answer lacks, or how long its expression is. */
export function verdict(world, wanted, answer) {
  if (answer === null) return { right: false, words: "Write a task in the field above." };
  if (wanted.goals && isOverTime(answer)) return { right: false, words: "What counts here is the goal in which an episode ends: write a task without operators over time." };
  if (!wanted.goals && !isOverTime(answer)) return { right: false, words: "What counts here is the order of goals: write a formula over time, with then." };
  const wrong = wanted.goals ? wrongGoals(wanted.goals, answer.desired) : wrongOrder(world, wanted, answer);
  return wrong ? { right: false, words: wrong } : { right: true, words: praise(world, wanted.text, answer.expression) };
}

function wrongGoals(wanted, desired) {
  const missing = wanted.filter((name) => !desired.includes(name));
  const extra = desired.filter((name) => !wanted.includes(name));
  return [missing.length && `Missing: ${few(missing)}.`, extra.length && `Too many: ${few(extra)}.`].filter(Boolean).join(" ");
}

function wrongOrder(world, wanted, answer) {
  const found = difference(answer, wanted.answer, world.goals.length);
  if (!found) return "";
  const names = found.letters.map((goal) => (goal < 0 ? "a step without a goal" : world.goals[goal].name));
  const way = names.length ? names.join(", then ") : "an episode without a step";
  return found.first ? `Too much: your formula is satisfied by ${way}.` : `Missing: your formula is not satisfied by ${way}.`;
}

function praise(world, shortest, text) {
  const known = namesOf(world);
  const [mine, least] = [text, shortest].map((one) => words(one, known).signs.length);
  if (mine <= least) return `Right: ${length(mine, text)}. None with fewer operators is known.`;
  return `Right: ${length(mine, text)}. The shortest known has ${length(least, shortest)}.`;
}

/** Hints, one after the other; the last one gives it away. */
export function hintsOf(world, { text }) {
  const { names, signs } = words(text, namesOf(world));
  const once = (list) => listed([...new Set(list)]);
  return [`${plural(signs.length, "operator")} will do, over ${once(names)}.`, `One way uses ${once(signs)}.`, `The shortest known is ${text}`];
}
