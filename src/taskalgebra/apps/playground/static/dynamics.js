// Sliders for what a world does and pays: how often moves slip, what a step costs, what a desired
// goal pays.

import { byId, figure, h } from "./dom.js";
import { goalReward, stepReward } from "./world.js";

const LEAST = 0.01; // the cost of a step, on its slider

const percent = (share) => `${figure(100 * share, Number.isInteger(Math.round(1e6 * share) / 1e4) ? 0 : 1)} %`;

// Each slider: its id, its name, its value of a world, its range, how the value is said, and the
// world with another value.
const SLIDERS = [
  {
    id: "slip",
    name: "Moves slip",
    of: (world) => world.slip ?? 0,
    range: (_world, value) => [0, Math.max(0.5, value), 0.01],
    said: percent,
    set: (world, slip) => ({ ...world, slip }),
  },
  {
    id: "step-cost",
    name: "A step costs",
    of: (world) => -stepReward(world),
    range: (_world, value) => [LEAST, Math.max(1, value), 0.01],
    said: (value) => figure(value),
    set: (world, cost) => withCost(world, cost),
  },
  {
    id: "goal-reward",
    name: "A desired goal pays",
    of: (world) => goalReward(world, true),
    range: (world, value) => [Math.min(value, tenths(goalReward(world, false)) + 0.1), Math.max(10, value), 0.1],
    said: (value) => figure(value),
    set: (world, r_universal) => ({ ...world, r_universal }),
  },
];

const tenths = (value) => Math.ceil(10 * value - 1e-9) / 10;

/** Another cost of a step; what other goals pay follows, as long as it was the same. */
function withCost(world, cost) {
  const same = goalReward(world, false) === stepReward(world);
  const changed = { ...world, step_reward: -cost };
  return same && world.r_empty !== undefined ? { ...changed, r_empty: -cost } : changed;
}

export class Dynamics {
  constructor(store) {
    this.store = store;
    this.moving = null; // the slider that is being moved: until it is left, that is one step of undo
    byId("dynamics").append(...SLIDERS.map((slider) => this.#dial(slider)));
    this.wrong = h("p", { class: "wrong", role: "status" });
    byId("dynamics").append(this.wrong);
  }

  show(world) {
    this.wrong.textContent = "";
    for (const { id, of, range, said } of SLIDERS) {
      const value = of(world);
      const input = byId(id);
      const [min, max, step] = range(world, value);
      Object.assign(input, { min, max, step });
      if (this.moving !== id || Number(input.value) !== value) input.value = value;
      input.setAttribute("aria-valuetext", said(value));
      byId(`${id}-value`).textContent = said(value);
    }
  }

  /** Show a mistake that the server found; false if it is about something else. */
  refuse({ field, message }) {
    if (field !== "world.slip") return false;
    this.wrong.textContent = message;
    return true;
  }

  #dial({ id, name, set }) {
    const input = h("input", {
      type: "range", id,
      oninput: () => this.#move(id, set(this.store.state.world, Number(input.value))),
      onpointerdown: () => (this.moving = null),
      onblur: () => (this.moving = null),
    });
    return h("label", { class: "dial", for: id }, h("span", {}, name), h("output", { id: `${id}-value`, for: id, "aria-live": "off" }), input);
  }

  #move(id, world) {
    const first = this.moving !== id;
    this.moving = id;
    this.store.change({ world }, { undoable: first });
  }
}
