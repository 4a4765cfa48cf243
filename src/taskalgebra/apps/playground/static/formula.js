// A formula over time: what the map shows in each state of its automaton, and the episode, which
// goes on after goals until the automaton accepts or is dead.

import { listed, plural } from "./dom.js";
import { isLost, standing, standsAt, worth } from "./walk.js";
import { entered, indexOf, isFree, moved, wayOf } from "./world.js";

/** Whether an answer is for a formula over time. */
export const isOverTime = (answer) => Boolean(answer?.automaton);

const stateOf = (answer, u) => answer.states.find((one) => one.state === u) ?? null;

/** Whether an episode may go on in a state. */
export const isLive = (answer, u) => stateOf(answer, u) !== null;

/** What the map shows with the automaton in a state, in the shape of the answer for a Boolean task. */
export function viewOf(world, answer, u) {
  const found = stateOf(answer, u);
  const nothing = answer.optimum.map(() => null);
  const { values, actions } = found ?? { values: nothing, actions: nothing };
  const marked = (mark) => world.goals.filter((_goal, i) => found?.goals[i] === mark).map((goal) => goal.name);
  const { reasons, cells } = answer.impossible;
  return {
    expression: answer.expression,
    values,
    actions,
    range: answer.range,
    desired: marked("leads on"),
    violating: marked("violates"),
    marks: new Map(world.goals.map((goal, i) => [goal.name, found?.goals[i] ?? "the episode is over"])),
    without: (at) => (found === null ? "the episode is over" : u === answer.automaton.start ? reasons[cells[at]] : "the formula cannot be satisfied"),
  };
}

/**
 * The episode from a cell: as that of a Boolean task, with `goals`, the name of the goal that each
 * step entered or null, and `progress`, the states of the automaton, one more than actions.  It ends
 * with the step that satisfies the formula, and that step pays for it; or, `violated`, with one
 * that slipped.
 */
export function episode(world, answer, start, random) {
  const { states, start: first } = answer.automaton;
  const walk = { ...standing(start), goals: [], progress: [first], violated: false };
  if (!start || !isFree(world, start)) return walk;
  const seen = new Set();
  let [cell, u] = [start, first];
  for (;;) {
    const found = stateOf(answer, u);
    const at = indexOf(world, cell);
    const action = found?.actions[at] ?? null;
    const pair = at * states.length + u;
    if (action === null || isLost(world, walk, seen, pair)) return walk;
    seen.add(pair);
    const way = wayOf(world, action, random);
    const goal = entered(world, cell, way);
    cell = moved(world, cell, way);
    u = goal ? found.after_goal[world.goals.indexOf(goal)] : found.after_none;
    const satisfied = states[u].accepting;
    walk.cells.push(cell);
    walk.actions.push(action);
    walk.ways.push(way);
    walk.goals.push(goal?.name ?? null);
    walk.progress.push(u);
    walk.rewards.push(answer.rewards.step + (satisfied ? answer.rewards.success : 0));
    if (satisfied || states[u].dead) return { ...walk, goal: goal?.name ?? null, ends: satisfied, violated: !satisfied && Boolean(world.slip) };
  }
}

/** What the agent makes of the formula, in words. */
export function caption(world, answer, walk, agent) {
  if (!agent) return "Place the agent to see what it does.";
  const at = indexOf(world, agent);
  const { reasons, cells } = answer.impossible;
  if (walk.violated) return `From ${standsAt(world, agent)} the agent slipped in this walk, which is drawn at random, and violated the formula after ${plural(walk.actions.length, "step")}.`;
  if (!walk.ends) return `The formula cannot be satisfied from ${standsAt(world, agent).replace(/,$/, "")}: ${reasons[cells[at]] ?? "the agent does not get there"}.`;
  const names = walk.goals.filter(Boolean);
  const way = names.length ? `enters ${inOrder(names)}` : "enters no goal";
  return `From ${standsAt(world, agent)} the agent ${way}, satisfies the formula in ${plural(walk.actions.length, "step")} and ${worth(world, walk, answer.optimum[at])}.`;
}

const inOrder = (names) => (names.length > 6 ? `${names.slice(0, 5).join(", then ")} and ${names.length - 5} more goals` : names.join(", then "));

/** What goals do in a state, in few words: {on: [name], wrong: [name]}. */
export function marksOf(world, answer, u) {
  const found = stateOf(answer, u);
  const named = (mark) => namesOf(world, world.goals.filter((_goal, i) => found.goals[i] === mark));
  return { on: named("leads on"), wrong: named("violates") };
}

/** A state in words: what goals do there. */
export function stateWords(world, answer, u) {
  const { accepting, dead } = answer.automaton.states[u];
  if (dead) return "the formula is violated, whatever comes";
  if (!isLive(answer, u)) return accepting ? "the formula is satisfied, and the episode ends" : "no episode gets here";
  const { on, wrong } = marksOf(world, answer, u);
  const said = (names, one, more) => (names.length ? [`${few(names)} ${names.length > 1 ? more : one}`] : []);
  const does = [...said(on, "leads on", "lead on"), ...said(wrong, "violates the formula", "violate the formula")];
  return does.join("; ") || "no goal changes anything";
}

const few = (names) => (names.length > 5 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : listed(names));

/** Goals in few words: the base tasks that want only some of them, and the names of the others. */
function namesOf(world, goals) {
  const left = new Set(goals.map((goal) => goal.name));
  const words = [];
  const fitting = world.tasks.filter((task) => task.goals.length > 1 && task.goals.every((name) => left.has(name)));
  for (const task of fitting.sort((a, b) => b.goals.length - a.goals.length)) {
    if (!task.goals.every((name) => left.has(name))) continue;
    words.push(task.name);
    for (const name of task.goals) left.delete(name);
  }
  return [...words, ...left];
}

