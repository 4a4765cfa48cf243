// What a user of a task should know: why it may not end where it should, as `theory/worth.py`.

import { distances, predecessors } from "./graph.js";
import { float, general, quoted } from "./python.js";

const TIE = 1e-14;

/** Remarks on the task that desires some goals, in sentences. */
export function remarks(skills, desired) {
  const { world } = skills;
  if (!desired.includes(true)) return [];
  const found = world.deterministic && desired.includes(false) ? worth(skills, desired) : [];
  const far = distances(predecessors(world), [...world.goals].filter((_, g) => desired[g]));
  const cutOff = [...world.starts].filter((s) => far[s] < 0);
  if (cutOff.length) {
    found.push(
      `from ${cutOff.length} of ${world.starts.length} starts no desired goal can be reached, first from ${world.named(cutOff[0])}`,
    );
  }
  return found;
}

/** Whether an optimal agent may end in a goal that is not desired, because the way is too long. */
function worth({ world, returns, scale, high, low }, desired) {
  const { nGoals, nStates, starts, goalNames } = world;
  const largest = returns.reduce((most, one) => (one === -Infinity ? most : Math.max(most, Math.abs(one))), 0);
  const margin = 4 * TIE * (scale + largest) * nStates;
  const best = (s, wanted, pays) => {
    let [at, most] = [0, -Infinity];
    for (let g = 0; g < nGoals; g += 1) {
      const value = returns[s * nGoals + g] + pays;
      if (desired[g] === wanted && value > most) [at, most] = [g, value];
    }
    return [at, most];
  };
  let [highest, n, first] = [-Infinity, 0, null];
  for (const s of starts) {
    const [[g, own], [h, others]] = [best(s, true, 0), best(s, false, low)];
    const need = others - own;
    if (!Number.isFinite(need)) continue;
    highest = Math.max(highest, need);
    if (need < high - margin) continue;
    n += 1;
    first ??= { s, g, h };
  }
  if (!n) return [];
  const { s, g, h } = first;
  const longer = returns[s * nGoals + h] - returns[s * nGoals + g];
  return [
    `the task may end in a goal that it does not desire from ${n} of ${starts.length} starts, first from ` +
      `${world.named(s)}, in ${quoted(goalNames[h])}: ${quoted(goalNames[g])} pays ${general(high - low)} more, and the ` +
      `way there costs ${general(longer)} more; r_U above ${up(highest)} mends it from every start: ` +
      `r_universal=${float(comfortable(world, highest, margin))}, or "auto"`,
  ];
}

/** A round r_U that is enough: what is needed, and one step's cost. */
function comfortable({ steps }, need, margin) {
  const step = steps.reduce((least, one) => (one === 0 ? least : Math.min(least, Math.abs(one))), Infinity);
  const room = Math.max(Number.isFinite(step) ? step : 1, 4 * margin, 1e-9 * Math.abs(need));
  const exact = need + room;
  const round = Number(general(exact, 9));
  return round - need >= room / 2 ? round : exact;
}

/** A number in few digits, not below it. */
function up(number) {
  for (let digits = 6; digits < 17; digits += 1) {
    const text = general(number, digits);
    if (Number(text) >= number) return text;
  }
  return float(number);
}
