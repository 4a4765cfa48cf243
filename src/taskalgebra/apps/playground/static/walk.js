// The episode of the composed agent from a cell, computed from the policy that the server composed
// and from the rules of the world: staying on a goal's cell, or by touch a step that ends there,
// enters the goal, and the next action, whichever it is, is paid and ends the episode.  It counts as
// a step, as it does everywhere.  Where moves slip, an episode is one of many: it is drawn at random.

import { figure, listed, plural } from "./dom.js";
import { ACTIONS, STAY, entered, goalReward, indexOf, isFree, moved, place, stepReward, wayOf } from "./world.js";

/** Steps after which an episode that is drawn at random is given up. */
export const MOST_STEPS = 20_000;

/** An agent that goes nowhere. */
export const standing = (agent) => ({ cells: agent ? [agent] : [], actions: [], ways: [], rewards: [], goal: null, ends: false });

/** Whether an agent that comes to a place again does the same as before, for ever. */
export const isLost = (world, walk, seen, place) => (world.slip ? walk.actions.length >= MOST_STEPS : seen.has(place));

/**
 * The episode from a cell: {cells, rewards, actions, ways, goal, ends}.
 *
 * cells[0] is the start; actions[i] leads from cells[i] to cells[i + 1] and pays rewards[i].  ways[i]
 * is where it went: another way, if the move slipped; `random` draws that.  The last action is taken
 * in the goal, and pays for it.
 */
export function episode(world, solution, start, random) {
  const walk = standing(start);
  if (!start || !isFree(world, start)) return walk;
  const seen = new Set();
  let cell = start;
  for (;;) {
    const at = indexOf(world, cell);
    const action = solution.actions[at];
    if (action === null || action === undefined || isLost(world, walk, seen, at)) return walk;
    seen.add(at);
    const way = wayOf(world, action, random);
    const goal = entered(world, cell, way);
    if (action === STAY && !goal) return walk;
    cell = moved(world, cell, way);
    walk.cells.push(cell);
    walk.actions.push(action);
    walk.ways.push(way);
    const desired = goal && solution.desired.includes(goal.name);
    walk.rewards.push(stepReward(world));
    if (goal) {
      walk.cells.push(cell);
      walk.actions.push(STAY);
      walk.ways.push(STAY);
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
  const way = walk.ways[taken - 1];
  const goes = walk.names ? `does ${walk.names[taken - 1]}` : action === STAY ? "stays" : way === action ? `goes ${ACTIONS[action]}` : `wants to go ${ACTIONS[action]}, slips ${ACTIONS[way]}`;
  if (walk.progress) {
    const goal = walk.goals[taken - 1];
    const does = goal && action === STAY ? `enters ${goal}` : goal ? `${goes}, enters ${goal}` : goes;
    const over = taken === walk.actions.length && walk.ends;
    return `${begun} ${does}, ${over ? "which satisfies the formula and " : ""}${pays}`;
  }
  if (taken === walk.actions.length) return `${begun} takes ${walk.goal}, ${pays}`;
  if (taken < walk.actions.length - 1) return `${begun} ${goes}, ${pays}`;
  if (world.scene) return `${begun} ${goes}, enters ${walk.goal}, ${pays}`;
  return `${begun} ${world.touch ? `${goes}, ` : ""}enters ${walk.goal}, ${pays}`;
}

/** What a step is worth announcing, or "". */
export function newsOf(walk, taken) {
  const last = taken === walk.actions.length;
  if (!walk.progress) return last ? `Took ${walk.goal}.` : "";
  const [before, now] = walk.progress.slice(taken - 1, taken + 1);
  const goal = walk.goals[taken - 1];
  if (last) return `${goal ? `Entered ${goal}: t` : "T"}he formula is ${walk.ends ? "satisfied" : "violated"}.`;
  return before === now ? "" : `${goal ? `Entered ${goal}: t` : "T"}he automaton is in state ${now}.`;
}

/** What the task is, and what the agent makes of it, in words. */
export function caption(world, { expression, desired, optimum }, walk, agent) {
  const few = desired.length > 6 ? `one of ${desired.length} goals` : listed(desired, "or");
  const aim = `Task ${expression}: ${desired.length ? `reach ${few}` : "no goal is desired"}.`;
  if (!agent) return aim;
  const from = `From ${standsAt(world, agent)} the agent`;
  if (!walk.ends) return `${aim} ${from} ${without(walk)}.`;
  return `${aim} ${from} takes ${walk.goal} in ${plural(walk.actions.length, "step")} and ${worth(world, walk, optimum[indexOf(world, agent)])}.`;
}

/** A state or a cell, in words. */
export function standsAt(world, agent) {
  if (world.edges) return `state ${agent[2]}`;
  return world.scene?.layers.length > 1 ? `${place(agent)}, ${world.scene.layers[world.scene.layer[agent[2]]]},` : place(agent);
}

const without = (walk) => (walk.actions.length >= MOST_STEPS ? `took no goal in ${MOST_STEPS.toLocaleString("en")} steps` : "cannot reach a goal");

/** What an episode earns, beside the optimum. */
export function worth(world, walk, most) {
  const earned = total(walk.rewards);
  if (world.slip) return `earns ${figure(earned)} in this walk, which is drawn at random, as moves slip; the optimum is ${figure(most)} on average`;
  if (world.random) return `earns ${figure(earned)} in this walk, which is drawn at random, as the world is; the optimum is ${figure(most)} on average`;
  return `earns ${figure(earned)}, ${Math.abs(earned - most) < 1e-6 ? "the optimum" : `the optimum is ${figure(most)}`}`;
}
