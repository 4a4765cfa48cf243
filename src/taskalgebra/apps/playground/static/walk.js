// The episode of the composed agent from a cell, computed from the policy that the server composed
// and from the rules of the world: staying on a goal's cell, or by touch a step that ends there,
// enters the goal, and the next action, whichever it is, is paid and ends the episode.  It counts as
// a step, as it does everywhere.

import { figure, listed, plural } from "./dom.js";
import { ACTIONS, STAY, entered, goalReward, indexOf, isFree, moved, place, stepReward } from "./world.js";

/** An agent that goes nowhere. */
export const standing = (agent) => ({ cells: agent ? [agent] : [], actions: [], rewards: [], goal: null, ends: false });

/**
 * The episode from a cell: {cells, rewards, actions, goal, ends}.
 *
 * cells[0] is the start; actions[i] leads from cells[i] to cells[i + 1] and pays rewards[i].  The
 * last action is taken in the goal, and pays for it.
 */
export function episode(world, solution, start) {
  const walk = { cells: [start], actions: [], rewards: [], goal: null, ends: false };
  if (!start || !isFree(world, start)) return walk;
  const seen = new Set();
  let cell = start;
  for (;;) {
    const at = indexOf(world, cell);
    const action = solution.actions[at];
    if (seen.has(at) || action === null || action === undefined) return walk;
    seen.add(at);
    const goal = entered(world, cell, action);
    if (action === STAY && !goal) return walk;
    cell = moved(world, cell, action);
    walk.cells.push(cell);
    walk.actions.push(action);
    const desired = goal && solution.desired.includes(goal.name);
    walk.rewards.push(stepReward(world));
    if (goal) {
      walk.cells.push(cell);
      walk.actions.push(STAY);
      walk.rewards.push(goalReward(world, desired));
      return { ...walk, goal: goal.name, ends: true };
    }
  }
}

export const total = (rewards) => rewards.reduce((sum, reward) => sum + reward, 0);

/** A step in words; `taken` counts it. */
export function stepWords(world, walk, taken) {
  const action = walk.actions[taken - 1];
  const pays = `pays ${figure(walk.rewards[taken - 1])}`;
  const begun = `Step ${taken}:`;
  const goes = action === STAY ? "stays" : `goes ${ACTIONS[action]}`;
  if (walk.progress) {
    const goal = walk.goals[taken - 1];
    const does = goal && action === STAY ? `enters ${goal}` : goal ? `${goes}, enters ${goal}` : goes;
    const over = taken === walk.actions.length && walk.ends;
    return `${begun} ${does}, ${over ? "which satisfies the formula and " : ""}${pays}`;
  }
  if (taken === walk.actions.length) return `${begun} takes ${walk.goal}, ${pays}`;
  if (taken < walk.actions.length - 1) return `${begun} ${goes}, ${pays}`;
  return `${begun} ${world.touch ? `${goes}, ` : ""}enters ${walk.goal}, ${pays}`;
}

/** What a step is worth announcing, or "". */
export function newsOf(walk, taken) {
  const last = taken === walk.actions.length;
  if (!walk.progress) return last ? `Took ${walk.goal}.` : "";
  const [before, now] = walk.progress.slice(taken - 1, taken + 1);
  const goal = walk.goals[taken - 1];
  if (last) return `${goal ? `Entered ${goal}: t` : "T"}he formula is satisfied.`;
  return before === now ? "" : `${goal ? `Entered ${goal}: t` : "T"}he automaton is in state ${now}.`;
}

/** What the task is, and what the agent makes of it, in words. */
export function caption(world, { expression, desired, optimum }, walk, agent) {
  const few = desired.length > 6 ? `one of ${desired.length} goals` : listed(desired, "or");
  const aim = `Task ${expression}: ${desired.length ? `reach ${few}` : "no goal is desired"}.`;
  if (!agent) return aim;
  const from = `From ${place(agent)} the agent`;
  if (!walk.ends) return `${aim} ${from} cannot reach a goal.`;
  const earned = total(walk.rewards);
  const most = optimum[indexOf(world, agent)];
  const best = Math.abs(earned - most) < 1e-6 ? "the optimum" : `the optimum is ${figure(most)}`;
  return `${aim} ${from} takes ${walk.goal} in ${plural(walk.actions.length, "step")} and earns ${figure(earned)}, ${best}.`;
}
