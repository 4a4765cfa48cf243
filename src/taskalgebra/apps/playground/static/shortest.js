// The shortest expressions over some base tasks, by the goals that they want: a search by the number
// of operators.  The constants count as operators, since they are none of the base tasks.

import { quoted } from "./names.js";

const ATOM = 8;
const BINARY = [
  { sign: "&", level: 5, joins: true, of: (a, b) => a & b },
  { sign: "|", level: 3, joins: true, of: (a, b) => a | b },
  { sign: "^", level: 4, joins: true, exclusive: true, of: (a, b) => a ^ b },
  { sign: "nand", level: 5, of: (a, b, all) => all ^ (a & b) },
  { sign: "nor", level: 3, of: (a, b, all) => all ^ (a | b) },
  { sign: "->", level: 2, ordered: true, of: (a, b, all) => (all ^ a) | b },
  { sign: "<->", level: 1, exclusive: true, of: (a, b, all) => all ^ a ^ b },
];
const MOST_TRIED = 60_000; // expressions of one size; with 6 base tasks, all of two operators

/** Goals that the same base tasks want are one bit: {bits: [bit of each goal], tasks: [set], all}. */
export function setsOf(world) {
  const labels = new Map();
  const bits = world.goals.map(({ name }) => {
    const label = world.tasks.map((task) => Number(task.goals.includes(name))).join("");
    if (!labels.has(label)) labels.set(label, 1n << BigInt(labels.size));
    return labels.get(label);
  });
  const union = (goals) => goals.reduce((set, bit) => set | bit, 0n);
  const tasks = world.tasks.map((task) => union(bits.filter((_bit, i) => task.goals.includes(world.goals[i].name))));
  return { bits, tasks, all: union(bits) };
}

/** The number of characters, without blanks. */
export const characters = (text) => [...text.replace(/\s/g, "")].length;

const inside = (child, level, sign) => (child.level > level || (child.level === level && child.sign === sign) ? child.text : `(${child.text})`);

/** How an operator is written between two expressions; only those that may be regrouped stand without parentheses. */
function joined({ sign, level, joins }, left, right) {
  const keep = joins ? sign : null;
  return `${inside(left, level, keep)} ${sign} ${inside(right, level, keep)}`;
}

/**
 * Every set of goals that a few operators express, by its shortest expression: a map from sets to
 * {set, text, operators, names}, the shortest first.
 *
 * exclusive: whether ^ and <-> may be used.
 */
export function shortest(world, { exclusive = true } = {}) {
  const { tasks, all } = setsOf(world);
  const signs = BINARY.filter((one) => exclusive || !one.exclusive);
  const found = new Map();
  const sizes = [];
  let fresh = new Map(); // the sets of the size that is searched
  const add = (set, operators, level, sign, parts, write) => {
    if (found.has(set)) return;
    const text = write();
    const known = fresh.get(set);
    if (known && characters(text) >= characters(known.text)) return;
    fresh.set(set, { set, text, operators, level, sign, names: new Set(parts.flatMap((one) => [...one.names])) });
  };
  const close = () => {
    for (const [set, one] of fresh) found.set(set, one);
    sizes.push([...fresh.values()]);
    fresh = new Map();
  };
  tasks.forEach((set, k) => add(set, 0, ATOM, null, [{ names: [k] }], () => quoted(world.tasks[k].name)));
  close();
  for (let n = 1; ; n += 1) {
    const pairs = sizes.reduce((sum, size, i) => sum + size.length * (sizes[n - 1 - i]?.length ?? 0), 0);
    if (pairs * signs.length > MOST_TRIED) break;
    if (n === 1) {
      add(all, 1, ATOM, null, [], () => "true");
      add(0n, 1, ATOM, null, [], () => "false");
    }
    for (const one of sizes[n - 1]) add(all ^ one.set, n, 7, "~", [one], () => `~${one.level >= 7 ? one.text : `(${one.text})`}`);
    for (let i = 0; i < n; i += 1) {
      for (const left of sizes[i]) {
        for (const right of sizes[n - 1 - i]) {
          for (const one of signs) {
            if (!one.ordered && i > n - 1 - i) continue; // the other order comes, too
            add(one.of(left.set, right.set, all), n, one.level, one.sign, [left, right], () => joined(one, left, right));
          }
        }
      }
    }
    close();
    if (!sizes[n].length) break;
  }
  return found;
}

const TOKEN = /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|[\p{ID_Start}_][\p{ID_Continue}]*|<->|<=>|->|=>|[^\s()]/gu;
const WORDS = new Set(["not", "and", "nand", "xor", "or", "nor", "implies", "iff", "true", "false"]);

/** The words of an expression that was understood: {names, signs}; `known`: the names of tasks and goals. */
export function words(text, known) {
  const isName = (token) => /^['"]/.test(token) || (known.has(token) && !WORDS.has(token.toLowerCase()));
  const tokens = text.match(TOKEN) ?? [];
  return { names: tokens.filter(isName), signs: tokens.filter((token) => !isName(token)) };
}
