// The answer for a Boolean expression, as the playground's `solving.py` and `expressions.py`.

import { lossOf } from "./bounds.js";
import { distances, predecessors } from "./graph.js";
import { othersOf } from "./others.js";
import { improved, optimum } from "./planning.js";
import { counted, fixed, length, strip } from "./python.js";
import { remarks } from "./remarks.js";
import { operandsOf, parse, written } from "./tree.js";
import { simplified, truthTable } from "./truth.js";

/** Characters of an expression up to which it is composed as it is written. */
export const LONG = 200;
const [MOST_NODES, MOST_VALUES] = [24, 200_000]; // of a formula that is shown node by node
const RANDOM = "actions have random outcomes (Assumption 1(ii))";

/** The parts of a `SolveAnswer`; `shown` turns values of states into those of cells. */
export function answerBoolean(skills, steps, text, shown, { slices = false, composition = false, others = false, improve = false }) {
  const { world, tasks } = skills;
  const names = tasks.map(({ name }) => name);
  const order = [...names].reverse(); // the first task is the highest bit of a row
  const table = truthTable(steps, order);
  const simple = simplified(table, order);
  const short = length(simple) <= length(text) ? simple : strip(text);
  const composed = length(text) > LONG ? parse(short, names) : steps;
  const desired = skills.desired(composed).at(-1);
  const tables = skills.compose(composed);
  const agent = skills.greedy(tables.at(-1));
  const rewards = skills.rewards(desired);
  const best = optimum(world, rewards, skills.returns);
  const better = improve ? improved(world, rewards, agent.actions) : agent;
  const values = shown.values(better.values);
  const loss = lossOf(world, rewards, better.actions, best, skills.scale);
  const reached = slices || composition ? waysOf(world) : null;
  const compared = others ? othersOf(skills, composed, agent, desired, best, shown) : null;
  return {
    expression: text,
    simplified: short,
    desired: world.goalNames.filter((_, g) => desired[g]),
    truth_table: { tasks: names, rows: truthRows(skills, table) },
    n_tasks: countTasks(skills),
    values,
    actions: shown.choices(better.actions, values),
    optimum: shown.values(best),
    certificate: loss.line,
    loss: lossAnswer(loss, shown),
    rewards: { step: world.paid, desired: skills.high, other: skills.low },
    range: ends(values),
    notes: [...remarks(skills, desired).map((remark) => `${remark}.`), ...(compared?.why ? [compared.why] : [])],
    ...(improve && { improvement: { rounds: better.rounds, sweeps: null } }),
    ...(slices && { slices: slicesOf(skills, tables.at(-1), reached, shown) }),
    ...(composition && { composition: nodesOf(skills, composed, tables, reached, shown) }),
    ...(compared && { others: compared.others }),
  };
}

/** The rows of the truth table, with the goals that have each assignment. */
function truthRows({ tasks, world }, table) {
  return Array.from({ length: 1 << tasks.length }, (_, row) => {
    const given = tasks.map((_task, k) => Boolean((row >> (tasks.length - 1 - k)) & 1));
    const goals = world.goalNames.filter((_, g) => tasks.every(({ desired }, k) => desired[g] === given[k]));
    return { in: given, out: Boolean((table >> BigInt(row)) & 1n), goals };
  });
}

/** How many tasks can be expressed: 2 to the power of the number of different labels. */
function countTasks({ tasks, world }) {
  const labels = new Set(world.goalNames.map((_, g) => tasks.map(({ desired }) => Number(desired[g])).join(""))).size;
  const k = tasks.length;
  return { expressible: 2 ** labels, labels, bound: `2^(2^${k}) = ${counted(2n ** BigInt(2 ** k))}` };
}

/** What the agent loses, as numbers. */
function lossAnswer({ none, mean, worst, worstStart, bound }, shown) {
  const number = (value) => (Number.isFinite(value) ? fixed(value) : null);
  return {
    optimal: none,
    mean: none ? 0 : number(mean),
    worst: none ? 0 : number(worst),
    worst_cell: none ? null : shown.place(worstStart),
    bound: number(bound),
    because: none ? [] : [RANDOM],
  };
}

/** Whether some policy may reach each goal, [g][s]. */
function waysOf(world) {
  const back = predecessors(world);
  return [...world.goals].map((goal) => distances(back, [goal]));
}

/** max_a Q̄(s, g, a) of every goal; null where there is no way to it. */
function slicesOf(skills, table, reached, shown) {
  return skills.world.goalNames.map((goal, g) => ({
    goal,
    values: shown.values(skills.slice(table, g).map((value, s) => (reached[g][s] < 0 ? NaN : value))),
  }));
}

/** A formula node by node: the agent of every subformula; null if they are too many. */
function nodesOf(skills, steps, tables, reached, shown) {
  const { goalNames } = skills.world;
  if (steps.length > MOST_NODES || steps.length * shown.size * goalNames.length > MOST_VALUES) return null;
  const desired = skills.desired(steps);
  const operator = ([kind, first]) => (kind === "name" ? "task" : kind === "constant" ? String(first) : kind);
  const nodes = steps.map((step, i) => ({
    text: written(steps, i),
    operator: operator(step),
    children: operandsOf(step),
    desired: goalNames.filter((_, g) => desired[i][g]),
    values: shown.values(skills.greedy(tables[i]).values),
    slices: slicesOf(skills, tables[i], reached, shown),
  }));
  return { nodes };
}

/** The lowest and the highest of the values that are known. */
export function ends(values) {
  const known = values.filter((one) => one !== null);
  return known.length ? [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))] : null;
}
