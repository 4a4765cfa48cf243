// Requests that are refused, with the sentences of the server: `refusals.py` and `reading.py`.

import { allPrintable, counted, general, length, quoted, strip } from "./python.js";
import { tooSlippery } from "./slips.js";
import { ExpressionError, knownNames, tokenEnd } from "./text.js";
import { isTemporal, namesOf, parse } from "./tree.js";

const MOST = { expression: 10_000, goals: 64, tasks: 6, side: 128, name: 60, reward: 1e3, slip: 0.9 };
const LEAST_COST = 1e-6;
const CONSTANTS = new Map([["true", "universal"], ["false", "empty"]]);

/** A request that cannot be served, and why; `span` counts characters of the expression. */
export class RefusedError extends Error {
  constructor(message, field = null, span = null) {
    super(message);
    Object.assign(this, { field, span });
  }

  answer() {
    const [start, end] = this.span ?? [null, null];
    const parts = { message: this.message, field: this.field, start, end };
    return { error: Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== null)) };
  }
}

const refuse = (message, field) => {
  throw new RefusedError(message, field);
};

/** Refuse what the schema of the server would refuse, of what a page or a link may hold. */
export function checkLimits({ world, expression }) {
  const many = (list, most, field) => {
    if (list.length > most) refuse(`${field} has ${list.length} entries, expected at most ${most}`, field);
  };
  if (world.map) {
    if (!world.map.length) refuse("world.map is empty, expected at least 1", "world.map");
    many(world.map, MOST.side, "world.map");
    if (!world.goals.length) refuse("world.goals is empty, expected at least 1", "world.goals");
    many(world.goals, MOST.goals, "world.goals");
  }
  many(world.tasks, MOST.tasks, "world.tasks");
  for (const what of ["goals", "tasks"]) {
    (world[what] ?? []).forEach(({ name }, i) => {
      const field = `world.${what}[${i}].name`;
      if (!name) refuse(`${field} is empty`, field);
      if (length(name) > MOST.name) refuse(`${field} has ${counted(length(name))} characters, expected at most ${MOST.name}`, field);
    });
  }
  const within = (key, least, most) => {
    const value = world[key];
    if (value === undefined || value === null || (value >= least && value <= most)) return;
    const which = value < least ? `greater than or equal to ${least}` : `less than or equal to ${most}`;
    refuse(`world.${key} is ${value}: input should be ${which}`, `world.${key}`);
  };
  for (const key of ["step_reward", "r_universal", "r_empty"]) within(key, -MOST.reward, MOST.reward);
  within("slip", 0, MOST.slip);
  if (length(expression) > MOST.expression) {
    const said = `expression has ${counted(length(expression))} characters, expected at most ${counted(MOST.expression)}`;
    refuse(said, "expression");
  }
}

/** Refuse a drawn world whose parts do not fit together; the first mistake is named. */
export function check(world) {
  for (const find of [inMap, inGoals, inTasks, inWords, inRewards, inSlips]) {
    for (const [sentence, field] of find(world)) refuse(sentence, `world.${field}`);
  }
}

/** Refuse base tasks that do not fit the goals of a table. */
export function checkTable(world, goals) {
  for (const [sentence, field] of [...ofTasks(world.tasks, goals), ...inWords(world)]) refuse(sentence, `world.${field}`);
}

function* inMap({ map }) {
  const width = map[0].length;
  for (const [r, line] of map.entries()) {
    if (line.length !== width) {
      yield [`row ${r} of the map has ${line.length} columns, row 0 has ${width}; make the rows equally long`, `map[${r}]`];
    }
  }
}

function* inGoals({ map, goals }) {
  yield* inNames(goals.map(({ name }) => name), "goal");
  const at = new Map();
  for (const [i, { name, cell }] of goals.entries()) {
    const [[row, column], field] = [cell, `goals[${i}].cell`];
    const place = `at row ${row}, column ${column}`;
    if (row >= map.length || column >= map[0].length) {
      yield [`goal ${quoted(name)} is ${place}, outside the map of ${map.length} rows and ${map[0].length} columns`, field];
    } else if (map[row][column] === "#") {
      yield [`goal ${quoted(name)} is in a wall, ${place}; move it to a free cell`, field];
    } else if (at.has(cell.join())) {
      yield [`goals ${quoted(at.get(cell.join()))} and ${quoted(name)} are both ${place}; move one of them`, field];
    }
    at.set(cell.join(), name);
  }
}

const inTasks = ({ goals, tasks }) => ofTasks(tasks, goals.map(({ name }) => name));

function* ofTasks(tasks, goals) {
  const names = new Set(goals);
  yield* inNames(tasks.map(({ name }) => name), "task");
  for (const [i, task] of tasks.entries()) {
    for (const [j, name] of task.goals.entries()) {
      const field = `tasks[${i}].goals[${j}]`;
      if (!names.has(name)) yield [`task ${quoted(task.name)} wants ${quoted(name)}, which is not a goal of this world`, field];
      if (task.goals.indexOf(name) < j) yield [`task ${quoted(task.name)} lists goal ${quoted(name)} twice`, field];
    }
  }
}

/** Expressions read a few words as other tasks. */
function* inWords({ tasks }) {
  for (const [i, { name }] of tasks.entries()) {
    const task = CONSTANTS.get(name.toLowerCase());
    if (task) yield [`a base task cannot be named ${quoted(name)}: in expressions it is the ${task} task, which all skills have; give it another name`, `tasks[${i}].name`];
  }
}

function* inRewards({ step_reward: step, r_universal: desired, r_empty }) {
  const other = r_empty ?? step;
  if (step > -LEAST_COST) {
    yield [
      `the step reward is ${general(step)}; expected at most -1e-06, or walking forever would be as good as reaching a goal`,
      "step_reward",
    ];
  }
  if (other >= desired) {
    yield [
      `a desired goal pays ${general(desired)}, any other ${general(other)}; a desired goal must pay more`,
      (r_empty ?? null) === null ? "r_universal" : "r_empty",
    ];
  }
}

function* inSlips(world) {
  const sentence = tooSlippery(world);
  if (sentence) yield [sentence, "slip"];
}

function* inNames(names, what) {
  for (const [i, name] of names.entries()) {
    const field = `${what}s[${i}].name`;
    if (!allPrintable(name) || name !== strip(name)) {
      yield [`the ${what} name ${quoted(name)} has blanks around it or characters that cannot be printed`, field];
    }
    if (names.indexOf(name) < i) yield [`two ${what}s are named ${quoted(name)}; names must differ`, field];
  }
}

/** The formula that a text means: over base tasks, and over time over goals too. */
export function readTask(text, tasks, goals) {
  const first = attempt(text, tasks, []);
  if (!first.error) return first.steps;
  const second = attempt(text, tasks, goals);
  if (second.error) {
    const free = attempt(text, null, []);
    const overTime = free.error ? null : isTemporal(free.steps);
    const namesGoals = second.error.position !== first.error.position;
    if (overTime || (overTime === null && namesGoals)) throw refused(second.error, text);
    throw refused(namesGoals ? namingGoal(first.error, text, tasks) : first.error, text);
  }
  if (isTemporal(second.steps)) return second.steps;
  throw refused(namingGoal(first.error, text, tasks), text);
}

/** The error of a name that is not that of a base task, but of a goal: how to write it. */
function namingGoal({ position }, text, tasks) {
  const written = text.slice(position, tokenEnd(text, position));
  const [name] = namesOf(parse(written));
  const unknown = `unknown task ${quoted(name)}; known: ${knownNames(tasks) || "no tasks"}`;
  return { reason: `${unknown}. This is a goal: write F ${written}.`, position };
}

function attempt(text, names, goals) {
  try {
    return { steps: parse(text, names, goals) };
  } catch (error) {
    if (error instanceof ExpressionError) return { error };
    throw error;
  }
}

function refused({ reason, position }, text) {
  const end = tokenEnd(text, position);
  return new RefusedError(reason, "expression", [position, end].map((at) => length(text.slice(0, at))));
}
