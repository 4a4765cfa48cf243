// The panels that show why it works: step by step, what others do, learning.  What they need is asked
// for once the answer is there, and only for panels that are open, so that typing stays quick.

import { Newest } from "./api.js";
import { Composition } from "./composition.js";
import { byId, capitalised } from "./dom.js";
import { isOverTime } from "./formula.js";
import { LearningPanel } from "./learning_panel.js";
import { offer } from "./offers.js";
import { Others } from "./others.js";
import { projected } from "./scene.js";

const QUIET = 150; // milliseconds after an answer; before that, someone may type on
const OVER_TIME = "A formula over time is no single composition: its automaton composes a task of this kind in every state. This is for tasks without time.";
const WAIT = "Computing.";
const NO_GOAL = "There is no goal yet.";

export class Lessons {
  /**
   * use(learned): act on learned values, or null; chosen(text): someone wants to see another task;
   * stepped(step): a step of the formula, or null, as its panel is shut; beyond(step, most): a step
   * that there is not.
   */
  constructor({ use, chosen, stepped, beyond }) {
    this.chosen = chosen;
    this.panels = { composition: new Composition({ stepped, beyond }), others: new Others(chosen), learning: new LearningPanel(use) };
    this.solver = new Newest("/api/solve", (answer, body) => this.#show(answer, body), (error) => this.#say(capitalised(error.message)));
    for (const id of Object.keys(this.panels)) {
      byId(id).addEventListener("toggle", () => {
        if (byId(id).open) this.#ask(0);
        else this.panels[id].close?.();
      });
    }
    byId("composition").addEventListener("toggle", ({ target }) => {
      if (target.open !== (this.step !== null)) stepped(target.open ? 1 : null);
    });
  }

  /** Show a step of the formula; null leaves the panel as it is. */
  stepTo(step) {
    this.step = step;
    if (step === null) return;
    byId("composition").open = true;
    this.panels.composition.stepTo(step);
  }

  /** A new answer for a world. */
  take(answer, world, agent) {
    Object.assign(this, { answer, world, agent });
    this.#ask();
  }

  /** There is no answer. */
  forget(empty) {
    this.answer = null;
    clearTimeout(this.timer);
    this.solver.drop();
    this.#say(empty ? NO_GOAL : "");
  }

  /** The agent stands elsewhere. */
  stand(agent) {
    this.agent = agent;
    if (byId("composition").open) this.panels.composition.stand(agent);
  }

  #isOpen(...ids) {
    return ids.some((id) => byId(id).open);
  }

  #ask(wait = QUIET) {
    const { answer, world } = this;
    clearTimeout(this.timer);
    if (!answer || !this.#isOpen(...Object.keys(this.panels))) return;
    if (isOverTime(answer)) {
      this.solver.drop();
      this.#say(() => offer(OVER_TIME, world, answer.expression, this.chosen));
      return;
    }
    const composition = this.#isOpen("composition", "learning");
    for (const id of Object.keys(this.panels)) if (byId(id).open && !this.panels[id].filled) this.panels[id].say(WAIT);
    const body = { world, expression: answer.expression, slices: false, composition, others: this.#isOpen("others") };
    this.timer = setTimeout(() => this.solver.ask(body), wait);
  }

  #show(given, { world, composition, others }) {
    if (world !== this.world || given.expression !== this.answer?.expression) return;
    const answer = projected(world, given);
    if (composition && byId("composition").open) this.panels.composition.show(world, answer, this.agent);
    if (composition && byId("learning").open) this.panels.learning.show(world, answer, this.answer);
    if (others) this.panels.others.show(world, answer);
  }

  /** A sentence in all panels, or what a function makes for each of them. */
  #say(sentence) {
    for (const panel of Object.values(this.panels)) panel.say(typeof sentence === "function" ? sentence() : sentence);
  }
}
