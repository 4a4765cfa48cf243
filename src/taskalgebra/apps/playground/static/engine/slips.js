// How long it takes to plan a world whose moves slip, found before it is planned, as `slips.py`.

import { general } from "./python.js";
import { statesOf } from "./worlds.js";

const MOST_WORK = 16_000_000;

/** Why a world is refused because planning it would take too long; "" if it would not. */
export function tooSlippery(document) {
  const needed = work(document) / MOST_WORK;
  if (needed <= 1) return "";
  return (
    `with ${general(document.slip)} of all moves slipping, planning this world would take ${needed.toFixed(1)} times as long as is ` +
    "allowed here; let fewer moves slip, draw a smaller map or fewer goals, or let a step cost more"
  );
}

function work({ map, goals, slip, r_universal, step_reward, r_empty }) {
  if (!slip) return 0;
  const far = Math.max(1, farthest(map, goals));
  const onward = Math.abs(1 - (4 / 3) * slip); // of the share of moves, less that of its opposite
  const walked = far / Math.max(onward, 1 / far); // without any, episodes are random walks
  const span = Math.max(r_universal, 0) - Math.min(step_reward, r_empty ?? step_reward);
  const free = map.join("").replaceAll("#", "").length;
  return Math.max(walked, span / -step_reward) * free * 2 * goals.length;
}

/** The most moves from a cell to the nearest goal, where there is a way. */
function farthest(map, goals) {
  const [stateOf, width] = [statesOf(map), map[0].length];
  const far = new Map(goals.map(({ cell: [row, column] }) => [row * width + column, 0]));
  for (const [at, moves] of far) { // which grows
    const column = at % width;
    for (const to of [at - width, at + width, ...(column ? [at - 1] : []), ...(column < width - 1 ? [at + 1] : [])]) {
      if (stateOf[to] >= 0 && !far.has(to)) far.set(to, moves + 1);
    }
  }
  return Math.max(...far.values());
}
