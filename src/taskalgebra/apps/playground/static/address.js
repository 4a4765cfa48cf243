// The address of the page follows the state: silently while someone types or paints, with an entry
// in the browser's history when another world is chosen.

import { decode, encode } from "./share.js";

const QUIET = 250; // milliseconds; browsers refuse more than about a hundred changes in half a minute

export class Address {
  constructor(presets) {
    Object.assign(this, { presets, timer: null, waiting: null, turn: Promise.resolve() });
  }

  /** What the address holds; a ShareError if it is damaged. */
  read() {
    return decode(location.hash, this.presets);
  }

  follow(state, before, visit) {
    clearTimeout(this.timer);
    if (visit) {
      this.#write(before, "replaceState");
      this.#write(state, "pushState");
    } else {
      this.timer = setTimeout(() => this.#write(state, "replaceState"), QUIET);
    }
  }

  /** The full address of a state, to share. */
  async of(state) {
    return location.href.split("#")[0] + (await encode(state, this.presets));
  }

  #write(state, how) {
    this.turn = this.turn.then(async () => {
      const hash = await encode(state, this.presets);
      if (hash !== location.hash) history[how](null, "", hash);
    });
  }
}
