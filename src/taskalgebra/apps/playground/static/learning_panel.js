// Learning, live: the slices of the composed Q̄ fill in while episodes run, beside the planned ones.

import { byId, figure, h, plural } from "./dom.js";
import { inParts } from "./labels.js";
import { MOST, begin, composed, distance, learn, shown, sizeOf } from "./learning.js";
import { drawSmall, rangeOfAll, showLegend, smallMap } from "./small_map.js";
import { announce } from "./speech.js";

const FRAME = 12; // milliseconds of learning between two frames, at most
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const pause = () => (calm.matches ? 1000 : 120); // milliseconds between two pictures
const MANY = 12; // slices, beyond which they are smaller
const CLOSE = 0.05; // where moves slip, learned values come near, and never to rest

export class LearningPanel {
  /** use(learned): act on {values, actions}, or null: on the planned values. */
  constructor(use) {
    Object.assign(this, { use, run: null, running: false, using: false, seed: 0 });
    this.root = byId("learning-body");
    byId("learn-run").addEventListener("click", () => (this.running ? this.#pause() : this.#start()));
    byId("learn-reset").addEventListener("click", () => this.#reset());
    byId("learn-use").addEventListener("click", () => this.#toggle());
    byId("learn-speed").addEventListener("input", () => this.#sayPace());
    this.#sayPace();
  }

  /** An answer with the nodes of its formula; the run goes on if only the formula has changed. */
  show(world, answer, planned) {
    if (!answer.composition || !planned.slices || sizeOf(world) > MOST) {
      this.say("This formula, or this world, is too large to be learned here.");
      return;
    }
    this.using = false;
    Object.assign(this, { planned, nodes: answer.composition.nodes });
    if (this.run?.world !== world) this.#begin(world);
    this.#usable(true);
    this.#draw();
  }

  get filled() {
    return this.run !== null;
  }

  /** A sentence in place of the slices. */
  say(sentence) {
    this.#pause();
    Object.assign(this, { run: null, using: false });
    this.#usable(false);
    byId("learn-far").replaceChildren(sentence);
    for (const id of ["learn-figures", "learn-slices", "learn-legend"]) byId(id).replaceChildren();
  }

  /** The panel was closed. */
  close() {
    this.#pause();
    if (this.using) this.#toggle();
  }

  #begin(world) {
    this.#pause();
    const starts = new Set(this.planned.values.flatMap((value, place) => (value === null ? [] : [place])));
    this.run = begin(world, this.seed, starts);
    this.frames = world.goals.map((goal) => {
      const canvas = smallMap(world);
      const dot = h("span", { class: "dot", style: { color: goal.color } });
      return { goal, canvas, dot, figure: h("figure", {}, canvas, h("figcaption", { title: goal.name }, dot, " ", inParts(goal.name))) };
    });
    byId("learn-slices").classList.toggle("many", this.frames.length > MANY);
    byId("learn-slices").replaceChildren(...this.frames.map((frame) => frame.figure));
    byId("learn-run").disabled = !this.run.starts.length;
  }

  #usable(able) {
    for (const id of ["learn-run", "learn-reset", "learn-use"]) byId(id).disabled = !able;
  }

  #start() {
    this.running = true;
    byId("learn-run").textContent = "Pause";
    Object.assign(this, { last: performance.now(), owed: 0, drawn: 0 });
    requestAnimationFrame((now) => this.#frame(now));
  }

  #pause() {
    if (!this.running) return;
    this.running = false;
    byId("learn-run").textContent = "Run";
    if (!this.run) return;
    this.#draw();
    announce(byId("learn-far").textContent);
  }

  #reset() {
    this.seed += 1; // other random numbers than before
    this.#begin(this.run.world);
    this.#draw();
  }

  #toggle() {
    this.using = !this.using;
    this.#draw();
    if (!this.using) this.use(null);
  }

  get #pace() {
    return Math.round(10 ** Number(byId("learn-speed").value));
  }

  #sayPace() {
    byId("learn-speed").setAttribute("aria-valuetext", `${this.#pace.toLocaleString("en")} steps per second`);
  }

  /** The steps that are due since the last frame, as far as there is time for them. */
  #frame(now) {
    if (!this.running) return;
    this.owed = Math.min(this.owed + (this.#pace * (now - this.last)) / 1000, this.#pace / 5);
    this.last = now;
    const until = performance.now() + FRAME;
    while (this.owed >= 1 && performance.now() < until) {
      const few = Math.min(Math.floor(this.owed), 200);
      learn(this.run, few);
      this.owed -= few;
    }
    if (now - this.drawn >= pause()) {
      this.drawn = now;
      if (this.#draw()) this.#pause();
    }
    if (this.running) requestAnimationFrame((later) => this.#frame(later));
  }

  /** Show what is learned so far; whether nothing is left to learn. */
  #draw() {
    const { run, planned, nodes } = this;
    const { world, met } = run;
    const learned = shown(run, composed(run, nodes));
    // Where there is no way to a goal, its value never settles.
    const slices = learned.slices.map((values, g) => values.map((value, i) => (planned.slices[g].values[i] === null ? null : value)));
    const range = rangeOfAll(planned.slices.map((slice) => slice.values));
    this.frames.forEach(({ goal, canvas, dot }, g) => {
      const known = met.includes(g);
      const desired = planned.desired.includes(goal.name);
      dot.className = desired ? "dot desired" : "dot";
      drawSmall(canvas, world, goal, slices[g], range, `Learned values for ending in ${goal.name}${known ? "" : ", which was not met yet"}`);
    });
    showLegend(byId("learn-legend"), range);
    const far = distance(slices, planned.slices, world.slip ? CLOSE : 1e-6);
    this.#figures(far);
    byId("learn-use").setAttribute("aria-pressed", String(this.using));
    if (this.using) this.use({ values: learned.values, actions: learned.actions });
    return far.equal === far.all && !world.slip;
  }

  #figures({ equal, all, most }) {
    const { steps, episodes, met, world } = this.run;
    const share = all ? Math.floor((100 * equal) / all) : 100;
    const shown = [
      ["Steps", steps.toLocaleString("en")],
      ["Episodes", episodes.toLocaleString("en")],
      ["Goals met", `${met.length} of ${world.goals.length}`],
      ["As planned", `${share} %`],
    ];
    byId("learn-figures").replaceChildren(...shown.map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text))));
    byId("learn-far").textContent = sentence(this.run, { equal, all, most });
  }
}

function sentence({ steps, world, met }, { equal, all, most }) {
  if (!steps) return "Nothing is learned yet: every value is 0, and no goal was met.";
  const near = world.slip ? `within ${CLOSE} of` : "equal to";
  if (equal === all) return `After ${plural(steps, "step")} all ${all.toLocaleString("en")} values are ${near} the planned ones.`;
  const missing = world.goals.length - met.length;
  const unmet = missing ? ` ${plural(missing, "goal")} ${missing === 1 ? "was" : "were"} not met yet.` : "";
  return `${equal.toLocaleString("en")} of ${all.toLocaleString("en")} values are ${near} the planned ones; the farthest is ${figure(most)} away.${unmet}`;
}
