// Which answer the page asks for, and whether it is on its way.

import { Newest } from "./api.js";
import * as result from "./result.js";
import { MOST_NUMBERS } from "./slices.js";
import { nColumns, nRows } from "./world.js";

/** An answer that takes longer, in milliseconds, is worth a word; until then the page is still. */
const MOMENT = 150;

export class Asking {
  /**
   * solved(answer, body) and played(answer) take the newest answers of a map and of Boxman,
   * refused(error) an error, and late() is told when an answer takes more than a moment.
   */
  constructor({ solved, played, refused, late }) {
    this.pending = false;
    this.late = late;
    this.solver = new Newest("/api/solve", this.#last(solved), this.#last(refused));
    this.gamer = new Newest("/api/boxman/play", this.#last(played), this.#last(refused));
  }

  /**
   * Ask for the answer to a state; false where there is nothing to ask.  `another`: it shows another
   * world or board than before.
   */
  ask(state, another) {
    const boxman = state.mode === "boxman";
    const [asking, idle] = boxman ? [this.gamer, this.solver] : [this.solver, this.gamer];
    idle.drop();
    if (another) asking.drop();
    clearTimeout(this.patience);
    result.asked();
    this.pending = boxman || state.world.goals.length > 0;
    if (this.pending) {
      this.patience = setTimeout(this.late, MOMENT);
      asking.ask(boxman ? state.boxman : bodyOf(state));
    } else asking.drop();
    return this.pending;
  }

  /** The newest answer has arrived, good or bad. */
  #last(callback) {
    return (...given) => {
      this.pending = false;
      clearTimeout(this.patience);
      callback(...given);
    };
  }
}

/** The request for the answer to a state with a map. */
export function bodyOf({ world, expression, repaired }) {
  const slices = nRows(world) * nColumns(world) * world.goals.length <= MOST_NUMBERS;
  return { world, expression, slices, ...(repaired && { improve: true }) };
}
