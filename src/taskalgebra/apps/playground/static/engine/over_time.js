// The answer for a formula over time, as the playground's `over_time.py`.

import { automatonOf, edgesOf, stutters } from "./automaton.js";
import { ends } from "./boolean.js";
import { fromHere, never } from "./feasible.js";
import { distances, predecessors } from "./graph.js";
import { picture } from "./picture.js";
import { Product, goalRewards, labelled } from "./product.js";
import { TooLargeError } from "./progression.js";
import { counted, length, strip } from "./python.js";
import { RefusedError } from "./refusals.js";
import { shortened } from "./rewriting.js";
import { forestOf, namesOf, written } from "./tree.js";

const [MAX_STATES, MAX_PAIRS, MAX_REASONS] = [100, 2 ** 17, 16];
const NO_LOSS = { optimal: true, mean: 0, worst: 0, worst_cell: null, bound: 0, because: [] };

const NOWHERE =
  "formulas over time need to know where episodes go on after a goal, and this world does not say; write a task " +
  "without F, G, X, U and then";

const refuse = (what, more = "") => {
  throw new RefusedError(`${what}; write a shorter formula${more}`, "expression");
};

/** The parts of a `FormulaAnswer`; `shown` turns values of states into those of cells. */
export function answerOverTime(skills, steps, text, shown, { improve = false }) {
  const { world } = skills;
  if (world.resumes === null) throw new RefusedError(NOWHERE, "expression");
  const { found, letters, letterOf } = labelledOf(skills, steps);
  const { automaton } = found;
  const running = automaton.running.filter(Boolean).length;
  if (automaton.delta.length > MAX_STATES) {
    refuse(`the automaton of this formula has ${counted(automaton.delta.length)} states, and the playground shows up to ${MAX_STATES}`);
  }
  if (running * shown.size > MAX_PAIRS) {
    refuse(`${counted(shown.size)} ${shown.each}s times ${running} states of the automaton exceed ${counted(MAX_PAIRS)}`, ", or draw a smaller map");
  }
  if (automaton.dead[0]) {
    const tasks = skills.tasks.length ? skills.tasks.map(({ name }) => name) : ["nothing"];
    throw new RefusedError(`this formula ${never(forestOf(steps), letters, letterOf, tasks, world.goalNames)}`, "expression");
  }
  const product = new Product(world, found, skills.high, skills.low);
  const plan = planOf(skills, found, product, improve);
  const states = automaton.running.flatMap((runs, u) => (runs ? [stateOf(found, u, plan.at(u), shown)] : []));
  const first = states.find(({ state }) => state === 0).values;
  const lost = shown.nAll - first.filter((value) => value !== null).length;
  const short = written(shortened(steps));
  return {
    expression: text,
    simplified: length(short) <= length(text) ? short : strip(text),
    automaton: {
      start: 0,
      states: automaton.accepting.map((accepting, u) => ({ accepting, dead: automaton.dead[u] })),
      svg: picture(written(steps), edgesOf(automaton), automaton.accepting, automaton.dead),
    },
    states,
    optimum: shown.values(plan.optimum),
    impossible: impossible(world, found, first, shown),
    optimal: true,
    certificate: plan.method,
    loss: { ...NO_LOSS },
    rewards: { step: world.paid, success: skills.high },
    range: ends(states.flatMap(({ values }) => values)),
    notes: lost ? [lostWords(lost, shown)] : [],
    ...(improve && { improvement: plan.improvement }),
  };
}

/** The automaton of a formula over base tasks and goals, and what it reads on each goal. */
function labelledOf({ tasks, world }, steps) {
  const names = namesOf(steps);
  const isTrue = (name, g) => tasks.find((one) => one.name === name)?.desired[g] ?? world.goalNames[g] === name;
  const keys = world.goalNames.map((_, g) => names.filter((name) => isTrue(name, g)).join("\0"));
  const distinct = [...new Set(["", ...keys])];
  const letters = distinct.map((key) => new Set(key ? key.split("\0") : []));
  const letterOf = keys.map((key) => distinct.indexOf(key));
  try {
    return { found: labelled(automatonOf(forestOf(steps), letters), letterOf), letters, letterOf };
  } catch (error) {
    if (error instanceof TooLargeError) refuse(error.message);
    throw error;
  }
}

/** How the agent acts: {at: (u) => {values, actions}, optimum, method, improvement}. */
function planOf(skills, found, product, improve) {
  const { world } = skills;
  const best = skills.bestOf(product.q(), product.mdp.nStates, world.nActions);
  const composed = world.deterministic && stutters(found.automaton);
  const at = composed ? composedPolicy(skills, found) : (u) => ({ values: product.at(best.values, u, -Infinity), actions: product.at(best.actions, u, 0) });
  const optimum = product.at(best.values, 0, -Infinity);
  const method = composed ? "composed from the returns to goals" : "planned on the product of the world and the automaton";
  if (!improve) return { at, optimum, method };
  const better = product.improved(product.flat((u) => at(u).actions));
  return {
    at: (u) => ({ values: product.at(better.values, u, -Infinity), actions: product.at(better.actions, u, 0) }),
    optimum,
    method: "improved on the product of the world and the automaton",
    improvement: { rounds: better.rounds, sweeps: null },
  };
}

/** In state u, the task whose goals pay r_u(g), on the returns to goals. */
function composedPolicy(skills, found) {
  const { world, returns } = skills;
  const { nStates, nGoals, successor, steps } = world;
  const rewards = goalRewards(world, returns, found, skills.high);
  return (u) => {
    const to = Float64Array.from({ length: nStates }, (_, s) => {
      let best = -Infinity;
      for (let g = 0; g < nGoals; g += 1) best = Math.max(best, returns[s * nGoals + g] + rewards[u][g]);
      return best;
    });
    const { values, actions } = skills.bestOf(Float64Array.from(successor, (s, pair) => steps[pair] + to[s]));
    return { values: values.map((value, s) => (world.goalOf[s] < 0 ? value : -Infinity)), actions };
  };
}

/** What the agent does while the automaton is in a state. */
function stateOf({ automaton, atGoal, atNone }, u, { values, actions }, shown) {
  const onMap = shown.values(values);
  const mark = (v) => (automaton.dead[v] ? "violates" : v === u && !automaton.accepting[v] ? "neither" : "leads on");
  return {
    state: u,
    values: onMap,
    actions: shown.choices(actions, onMap),
    goals: atGoal[u].map(mark),
    after_goal: atGoal[u],
    after_none: atNone[u],
  };
}

/** Why the formula cannot be satisfied from some cells; those with ways to the same goals share a reason. */
function impossible(world, found, first, shown) {
  const back = predecessors(world);
  const far = [...world.goals].map((goal) => distances(back, [goal]));
  const waysFrom = (s) => far.map((one) => one[s] >= 0);
  const stuck = shown.states.map((s, cell) => (s >= 0 && world.goalOf[s] < 0 && first[cell] === null ? waysFrom(s).map(Number).join("") : null));
  const counts = new Map();
  for (const kind of stuck) if (kind !== null) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const order = [...counts.keys()].sort().sort((a, b) => counts.get(b) - counts.get(a));
  const between = [...world.resumes].map(waysFrom);
  const reasons = order.slice(0, MAX_REASONS).map((kind) => fromHere([...kind].map((one) => one === "1"), between, found, world.goalNames));
  if (order.length > MAX_REASONS) reasons.push("from here there is no way");
  return { reasons, cells: stuck.map((kind) => (kind === null ? null : Math.min(order.indexOf(kind), MAX_REASONS))) };
}

function lostWords(lost, { nAll, each }) {
  if (lost === nAll) return `the formula cannot be satisfied from any ${each}.`;
  return `the formula cannot be satisfied from ${counted(lost)} of ${counted(nAll)} ${each}s.`;
}
