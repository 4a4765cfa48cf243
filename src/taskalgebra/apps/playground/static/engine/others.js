// What other methods do with the same base tasks: their exact plain values, put together, as the
// playground's `others.py`.  Only formulas without a negation have a meaning for plain values: the
// products of their shortest sums are the smallest sets of tasks that make them true.

import { mayMiss } from "./graph.js";
import { ahead, chanceOf, optimum, policyValues } from "./planning.js";
import { counted, fixed } from "./python.js";
import { quote } from "./text.js";
import { namesOf } from "./tree.js";
import { truthTable } from "./truth.js";

const LARGEST_SLIPPERY = 2_000;
const HOW = {
  extended: "one value for every goal, composed by min, max and ¬ (this paper)",
  max: "∨ is the maximum of plain values (van Niekerk et al. 2019), which is exact; ∧ is their minimum, for which nobody vouches",
  average: "∧ is the average of plain values (Haarnoja et al. 2018), ∨ their maximum",
};
const TITLES = { extended: "Extended values", max: "Max and min of plain values", average: "Average of plain values" };
const JOINS = {
  max: (rows, i) => rows.reduce((least, q) => Math.min(least, q[i]), Infinity),
  average: (rows, i) => rows.reduce((sum, q) => sum + q[i], 0) / rows.length,
};

/** {others, why}: what each method believes, does and earns, ours first; or null, and why. */
export function othersOf(skills, steps, agent, desired, best, shown) {
  const { world } = skills;
  if (!world.deterministic && world.nStates > LARGEST_SLIPPERY) {
    const said = `of up to ${counted(LARGEST_SLIPPERY)} states; this one has ${counted(world.nStates)}.`;
    return { others: null, why: `Other methods are compared in worlds with random outcomes ${said}` };
  }
  const products = productsOf(steps);
  if (typeof products === "string") return { others: null, why: `No other method applies: plain values ${products}.` };
  const task = { rewards: skills.rewards(desired), desired, best };
  const found = [methodOf("extended", skills, task, agent, shown)];
  const plain = new Map(products.flat().map((name) => [name, plainValues(skills, name)]));
  for (const name of ["max", "average"]) {
    const sums = products.map((product) => product.map((one) => plain.get(one)));
    const q = Float64Array.from(world.steps, (_, i) => sums.reduce((most, rows) => Math.max(most, JOINS[name](rows, i)), -Infinity));
    found.push(methodOf(name, skills, task, skills.bestOf(q), shown));
  }
  return { others: found, why: "" };
}

/** Q*(s, a) of a base task. */
function plainValues({ world, tasks, rewards, returns }, name) {
  const values = optimum(world, rewards(tasks.find((one) => one.name === name).desired), returns);
  const goal = (pair) => world.goalOf[Math.floor(pair / world.nActions)] >= 0;
  return Float64Array.from(world.steps, (_, pair) => (goal(pair) ? values[Math.floor(pair / world.nActions)] : ahead(world, values, pair)));
}

/** The products of the shortest sum, if it has no negation; else what plain values lack. */
function productsOf(steps) {
  const names = namesOf(steps);
  const table = truthTable(steps, names);
  const holds = (row) => ((table >> BigInt(row)) & 1n) === 1n;
  const rows = Array.from({ length: 1 << names.length }, (_, row) => row).filter(holds);
  if (rows.length === 0 || rows.length === 1 << names.length) {
    return `of base tasks do not tell what ${rows.length ? "every goal" : "no goal"} is worth, which this task means`;
  }
  for (const [j, name] of names.entries()) {
    if (rows.some((row) => !holds(row | (1 << j)))) return `have no negation, and ${negated(steps, name)}`;
  }
  const least = rows.filter((row) => !rows.some((other) => other !== row && (row & other) === other));
  return least.map((row) => names.filter((_, j) => (row >> j) & 1));
}

/** Which negation a formula needs, and where it hides if none is written. */
function negated(steps, name) {
  const needs = `this task needs ~${quote(name)}`;
  const kinds = steps.map(([kind]) => kind);
  return kinds.includes("xor") && !kinds.includes("not") ? `${needs}, as a ^ b is a & ~b | ~a & b` : needs;
}

/** A method on one task, with exact figures over all starts. */
function methodOf(id, { world }, { rewards, desired, best }, { values, actions }, shown) {
  const starts = Array.from(world.starts);
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
  const returns = policyValues(world, rewards, actions);
  const wanted = [...world.goals].filter((_, g) => desired[g]);
  const miss = mayMiss(world, actions, wanted);
  const chance = chanceOf(world, actions, wanted);
  const earned = mean(starts.map((s) => returns[s]));
  const lost = Number.isFinite(earned) ? mean(starts.map((s) => best[s] - returns[s])) : Infinity;
  const onMap = shown.values(values);
  return {
    id,
    title: TITLES[id],
    how: HOW[id],
    values: onMap,
    actions: shown.choices(actions, onMap),
    desired_reached: fixed(mean(starts.map((s) => chance[s]))),
    mean_return: Number.isFinite(earned) ? fixed(earned) : null,
    mean_loss: Number.isFinite(lost) ? fixed(Math.max(lost, 0)) : null,
    failures: fixed(1 - mean(starts.map((s) => 1 - miss[s]))),
  };
}
