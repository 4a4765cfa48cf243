// The planner in the page: requests to `/api/solve` and their answers, without a server.

import { LONG, answerBoolean } from "./boolean.js";
import { answerOverTime } from "./over_time.js";
import { TooLongError } from "./planning.js";
import { booleanCalls, drawnProgram, formulaCalls, tableProgram } from "./program.js";
import { length, quoted, rounded } from "./python.js";
import { RefusedError, check, checkLimits, checkTable, readTask } from "./refusals.js";
import { Skills } from "./skills.js";
import { isTemporal } from "./tree.js";
import { statesOf } from "./worlds.js";

const KEPT = 8; // worlds whose skills are kept
const DEFAULTS = { tasks: [], step_reward: -0.1, r_universal: 2, r_empty: null, touch: false, slip: 0 };

/** Numbers of states as numbers of what is shown: the cells of a map, row by row, or all states. */
function shownBy(states, nAll, each) {
  const known = (number) => (Number.isFinite(number) ? rounded(number) : null);
  return {
    states,
    size: states.length,
    nAll, // states in which an episode may be
    each,
    place: (s) => states.indexOf(s),
    values: (values) => states.map((s) => (s < 0 ? null : known(values[s]))),
    choices: (choices, shown) => states.map((s, cell) => (s < 0 || shown[cell] === null ? null : choices[s])),
  };
}

const TOO_LARGE = "this world, or this formula, is too large to be planned in the browser; draw a smaller one";

/** A planner that knows these worlds as tables, by their ids. */
export const engineWith = (scenes) => new Engine(scenes);

class Engine {
  #kept = new Map();

  constructor(scenes) {
    this.scenes = scenes;
  }

  /** The answer to a request, or {error}. */
  solve(request) {
    const begun = performance.now();
    try {
      const answer = this.#answer(request);
      return { ...answer, milliseconds: rounded(performance.now() - begun, 3) };
    } catch (error) {
      if (error instanceof RefusedError) return error.answer();
      if (error instanceof TooLongError || error instanceof RangeError) return new RefusedError(TOO_LARGE, "expression").answer();
      return new RefusedError(`the planner failed: ${error.message}`, "server").answer();
    }
  }

  #answer({ world, expression: text, ...asked }) {
    const document = { ...DEFAULTS, ...world };
    checkLimits({ world: document, expression: text });
    const scene = this.#scene(document.table);
    const skills = this.#skills(document, scene);
    const { goalNames, nStates, nGoals } = skills.world;
    const steps = readTask(text, document.tasks.map(({ name }) => name), goalNames);
    const shown = scene
      ? shownBy(Array.from({ length: nStates }, (_, s) => s), nStates - nGoals, "state")
      : shownBy(Array.from(statesOf(document.map)), nStates - nGoals, "cell");
    const made = scene ? tableProgram(scene.program ?? "", document) : drawnProgram(document, skills.penalty);
    if (isTemporal(steps)) {
      const answer = answerOverTime(skills, steps, text, shown, asked);
      return { ...answer, python: made + formulaCalls(text, asked, shown.each) };
    }
    const answer = answerBoolean(skills, steps, text, shown, asked);
    const written = length(text) > LONG ? answer.simplified : text;
    return { ...answer, python: made + booleanCalls(written, asked, shown.each) };
  }

  #scene(table) {
    if (table === undefined) return null;
    if (table in this.scenes) return this.scenes[table];
    throw new RefusedError(`there is no world ${quoted(table)}; start from one of the page's own`, "world.table");
  }

  #skills(document, scene) {
    const goals = document.goals?.map(({ name, cell }) => [name, cell]);
    const key = JSON.stringify({ ...document, goals });
    let skills = this.#kept.get(key);
    if (skills) this.#kept.delete(key); // and is put last again
    else {
      if (scene) checkTable(document, scene.goals.map(({ name }) => name));
      else check(document);
      skills = new Skills(document, scene);
      if (this.#kept.size >= KEPT) this.#kept.delete(this.#kept.keys().next().value);
    }
    this.#kept.set(key, skills);
    return skills;
  }
}
