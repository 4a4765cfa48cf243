// Play an episode: run, pause, step, reset, at a chosen speed.

import { byId, figure, plural, rebuild, h } from "./dom.js";
import { total } from "./walk.js";

export class Player {
  /**
   * moved(taken) is called whenever the number of steps taken changes; over() before an episode is
   * played over again, and may load another one.
   */
  constructor(moved, over) {
    Object.assign(this, { moved, over, taken: 0, timer: null, waiting: false, wanted: false });
    this.load([], null);
    byId("run").addEventListener("click", () => this.toggle());
    byId("step").addEventListener("click", () => {
      this.pause();
      this.step();
    });
    byId("reset").addEventListener("click", () => this.reset());
    byId("speed").addEventListener("input", (event) => {
      event.target.setAttribute("aria-valuetext", `${plural(Number(event.target.value), "step")} per second`);
      if (this.timer) this.run();
    });
  }

  /** A new episode: the rewards of its steps, the optimum from its start; whether it was drawn at random. */
  load(rewards, optimum, drawn = false) {
    const run = this.wanted && rewards.length > 0;
    this.#set(rewards, optimum, drawn);
    Object.assign(this, { waiting: false, wanted: false });
    if (run) this.run();
  }

  /** Another episode is on its way: who wants to run one waits for it. */
  wait() {
    this.pause();
    Object.assign(this, { waiting: true, wanted: false });
  }

  /** There is no episode, or none yet. */
  clear() {
    this.#set([], null);
  }

  #set(rewards, optimum, drawn = false) {
    clearInterval(this.timer);
    Object.assign(this, { rewards, optimum, drawn, taken: 0, timer: null });
    this.#show();
  }

  get done() {
    return this.taken >= this.rewards.length;
  }

  toggle() {
    if (this.timer) this.pause();
    else this.run();
  }

  run() {
    this.pause();
    if (this.waiting) {
      this.wanted = true;
      return;
    }
    if (this.done) this.#restart();
    if (!this.rewards.length) return;
    this.timer = setInterval(() => this.step(), 1000 / Number(byId("speed").value));
    this.#show();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.#show();
  }

  step() {
    if (!this.done && !this.waiting) this.#goto(this.taken + 1);
    if (this.done) this.pause();
  }

  reset() {
    this.pause();
    this.#restart();
  }

  #restart() {
    this.over();
    this.#goto(0);
  }

  #goto(taken) {
    this.taken = taken;
    this.moved(taken);
    this.#show();
  }

  #show() {
    byId("run").textContent = this.timer ? "Pause" : this.done && this.taken ? "Again" : "Run";
    byId("run").disabled = byId("step").disabled = !this.rewards.length;
    byId("step").disabled ||= this.done;
    byId("reset").disabled = this.taken === 0 && !this.drawn;
    const shown = [
      ["Return so far", this.rewards.length ? figure(total(this.rewards.slice(0, this.taken))) : "none", "so-far"],
      ["Final return", this.rewards.length ? figure(total(this.rewards)) : "none", "final"],
      [this.drawn ? "Best mean" : "Optimum", this.optimum === null ? "none" : figure(this.optimum), "optimum"],
    ];
    rebuild(byId("figures"), shown.map(([term, text, id]) => h("div", {}, h("dt", {}, term), h("dd", { id }, text))));
  }
}
