// What the automaton of an answer accepts: whether two accept the same, and orders of goals that
// satisfy a formula or do not.  Letters are the goals by number, and -1 for a step that enters none.

const NONE = -1;

/** The state after a letter; null where no episode goes on and nothing is satisfied any more. */
function after(answer, state, letter) {
  const found = answer.states.find((one) => one.state === state);
  if (!found) return null;
  const next = letter === NONE ? found.after_none : found.after_goal[letter];
  const { accepting } = answer.automaton.states[next];
  return accepting || answer.states.some((one) => one.state === next) ? next : null;
}

const satisfied = (answer, state) => state !== null && answer.automaton.states[state].accepting;

/**
 * The shortest order of goals that satisfies one formula and not the other: {letters, first}, where
 * `first` says whether it is the first formula that is satisfied; null if there is none.
 */
export function difference(first, second, nGoals) {
  const letters = [...Array(nGoals).keys(), NONE];
  const begin = [first.automaton.start, second.automaton.start, []];
  const seen = new Set([begin.slice(0, 2).join()]);
  for (const queue = [begin]; queue.length; ) {
    const [u, v, way] = queue.shift();
    const [one, other] = [satisfied(first, u), satisfied(second, v)];
    if (one !== other) return { letters: way, first: one };
    if (one || (u === null && v === null)) continue; // episodes end here
    for (const letter of letters) {
      const next = [u === null ? null : after(first, u, letter), v === null ? null : after(second, v, letter)];
      const key = next.join();
      if (seen.has(key)) continue;
      seen.add(key);
      queue.push([...next, [...way, letter]]);
    }
  }
  return null;
}

const MOST_ORDERS = 4000;

/** Short orders of different goals: {wanted, not}, at most `count` of each, the shortest first. */
export function orders(answer, nGoals, count = 3, longest = 4) {
  const wanted = [];
  const other = [];
  const queue = [[answer.automaton.start, []]];
  for (let tried = 0; queue.length && tried < MOST_ORDERS; tried += 1) {
    const [u, way] = queue.shift();
    if (satisfied(answer, u)) wanted.push(way);
    else if (way.length) other.push(way);
    if (satisfied(answer, u) || u === null || way.length === longest) continue;
    for (let goal = 0; goal < nGoals; goal += 1) if (!way.includes(goal)) queue.push([after(answer, u, goal), [...way, goal]]);
  }
  return { wanted: wanted.slice(0, count), not: telling(wanted.slice(0, count), other).slice(0, count) };
}

/** Of the orders that do not satisfy, those most like the ones that do: the same goals come first. */
function telling(wanted, other) {
  const sorted = (way) => [...way].sort((a, b) => a - b).join();
  const same = new Set(wanted.map(sorted));
  const goals = new Set(wanted.flat());
  const rank = (way) => (same.has(sorted(way)) ? 0 : wanted.some((one) => one.every((goal) => way.includes(goal))) ? 1 : way.every((goal) => goals.has(goal)) ? 2 : 3);
  return other.map((way) => [rank(way), way]).sort((a, b) => a[0] - b[0] || a[1].length - b[1].length).map(([, way]) => way);
}
