// The address of the page follows the state: silently while someone types or paints, with an entry
// in the browser's history when another world is chosen.

import { decode, encode } from "./share.js";

const QUIET = 250; // milliseconds; browsers refuse more than about a hundred changes in half a minute

export class Address {
  constructor(presets) {
    Object.assign(this, { presets, timer: null, visit: 0, turn: Promise.resolve() });
  }

  /** What the address holds; see `decode`.  What waits to be written is dropped. */
  read() {
    clearTimeout(this.timer);
    this.visit += 1; // an older state must not be written to the entry that is visited now
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
    const { visit } = this;
    this.turn = this.turn.then(async () => {
      const hash = await encode(state, this.presets);
      if (visit === this.visit && hash !== location.hash) history[how](null, "", hash);
    });
  }
}
