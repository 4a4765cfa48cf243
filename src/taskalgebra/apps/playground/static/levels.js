// The levels of the challenge, from one operator to orders in time, and the tasks that they ask for.

import { quoted } from "./names.js";
import { setsOf, shortest } from "./shortest.js";

const sample = (list, random) => list[Math.floor(random() * list.length)];

/** Numbers from 0 to 1, the same for the same seed (Mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(list, random) {
  const left = [...list];
  return list.map(() => left.splice(Math.floor(random() * left.length), 1)[0]);
}

/** Each with what fits it, the easier kinds first; `plain`: the shortest expressions without ^ and <->. */
const BOOLEAN = [
  { title: "One operator", fits: (one) => one.operators === 1 && "~&|".includes(one.sign), easier: (one) => one.names.size > 1 },
  { title: "Two operators", fits: (one) => one.operators === 2, easier: (one) => one.names.size < 3 },
  { title: "Either, not both", fits: (one, plain) => one.names.size > 1 && one.operators < (plain.get(one.set)?.operators ?? Infinity) },
  { title: "Three base tasks", fits: (one) => one.names.size > 2 },
];

/** Formulas in an order by chance; one that cannot be satisfied is left out when it is asked for. */
const OVER_TIME = [
  { title: "In order", formulas: (tasks) => pairs(tasks).map(([a, b]) => `${a} then ${b}`) },
  {
    title: "In order, and never",
    formulas: (tasks, goals) => pairs(tasks).flatMap(([a, b]) => [...tasks, ...goals].filter((c) => c !== a && c !== b).map((c) => `${a} then ${b} & avoid ${c}`)),
  },
];

const pairs = (names) => names.flatMap((a) => names.filter((b) => b !== a).map((b) => [a, b]));

/**
 * The levels of a world that have a task to ask for: {title, expressions}, the one to be asked for
 * first and, over time, others in case that it cannot be satisfied; without time also the `goals`.
 */
export function levelsOf(world, seed) {
  const random = seeded(seed);
  const useful = world.tasks.filter((task) => task.goals.length && task.goals.length < world.goals.length);
  if (world.tasks.length < 2 || !useful.length || world.goals.length < 2) return [];
  const known = shortest(world);
  const plain = shortest(world, { exclusive: false });
  const { bits, all } = setsOf(world);
  const asked = new Set();
  const boolean = BOOLEAN.map(({ title, fits, easier = () => false }) => {
    const fitting = [...known.values()].filter((one) => one.set && one.set !== all && one.sign && !asked.has(one.set) && fits(one, plain));
    const easy = fitting.filter(easier);
    const chosen = fitting.length ? sample(easy.length ? easy : fitting, random) : null;
    if (chosen) asked.add(chosen.set);
    const goals = world.goals.filter((_goal, i) => chosen && bits[i] & chosen.set).map((goal) => goal.name);
    return { title, overTime: false, expressions: chosen ? [chosen.text] : [], goals };
  });
  const goals = world.goals.map((goal) => goal.name).filter((name) => !world.tasks.some((task) => task.name === name));
  const overTime = OVER_TIME.map(({ title, formulas }) => ({
    title, overTime: true, expressions: shuffled(formulas(useful.map((task) => quoted(task.name)), goals.map(quoted)), random).slice(0, 12),
  }));
  return [...boolean, ...overTime].filter((level) => level.expressions.length);
}
