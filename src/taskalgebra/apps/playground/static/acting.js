// The agent on the map: what the map shows, the episode from the agent's cell, and its steps.

import { AutomatonView } from "./automaton_view.js";
import { byId } from "./dom.js";
import * as formula from "./formula.js";
import { rangeOf } from "./ramp.js";
import { generator } from "./random.js";
import { showLegend } from "./small_map.js";
import { announce, showCaption } from "./speech.js";
import * as scenes from "./scene.js";
import { caption, episode, newsOf, standing, stepWords } from "./walk.js";
import { indexOf } from "./world.js";

export class Acting {
  /** store: the state; map: the view of the map; player: plays episodes; tools: hold goals. */
  constructor({ store, map, player, tools }) {
    Object.assign(this, { store, map, player, tools });
    this.automaton = new AutomatonView((state) => this.#pick(state));
    this.show = "arrows";
    this.draws = 0; // walks drawn at random so far, where moves slip
    this.forget();
  }

  /** A new answer for a world. */
  take(answer, world) {
    Object.assign(this, { answer, world, learned: null, solution: null, picked: null, seen: null });
    if (formula.isOverTime(answer)) this.automaton.show(answer, (state) => formula.stateWords(world, answer, state));
    else this.automaton.hide();
  }

  /** Act on learned {values, actions} rather than on those of the answer, or on the latter again: null. */
  use(learned) {
    if (!this.answer || (this.player.taken && learned && this.learned)) return; // an episode goes on
    this.learned = learned;
    this.plan(true);
    this.draw();
  }

  /** The answer, with what was learned in place of what was planned. */
  get #used() {
    const { answer, learned } = this;
    return learned ? { ...answer, ...learned, range: rangeOf(learned.values) ?? answer.range } : answer;
  }

  /** The world as it is shown: of a scene the layer on which the agent is, or that someone chose. */
  get view() {
    const { world } = this.store.state;
    return world.scene ? scenes.withLayer(world, this.layer ?? world.layer) : world;
  }

  /** What the map shows of the answer before it is projected to cells, and after. */
  #seenOf(shown, key) {
    const { view } = this;
    if (!view.scene) return shown;
    if (this.seen?.key !== key || this.seen.layer !== view.layer || this.seen.shown !== shown) this.seen = { key, layer: view.layer, shown, solution: scenes.projected(view, shown) };
    return this.seen.solution;
  }

  /** There is no answer. */
  forget() {
    // The last good answer, its world, and the part of it that the map shows: of a formula, one state
    // of the automaton, `picked` if someone looks at another one than the agent's.
    Object.assign(this, { answer: null, world: null, learned: null, solution: null, picked: null, seen: null, layer: null });
    this.walk = standing(this.store.state.agent);
    this.automaton.hide();
    this.player.clear();
  }

  /** The episode from the agent's cell; `current`: whether the answer is the newest. */
  plan(current) {
    const { world, agent } = this.store.state;
    this.hush();
    const { answer } = this;
    const known = current && answer !== null && this.world === world;
    const kind = formula.isOverTime(answer) ? formula : { episode, caption };
    const walked = world.scene ? scenes.episode : kind.episode;
    this.layer = null;
    this.walk = known ? walked(world, this.#used, agent, generator(this.draws)) : standing(agent);
    if (!known) return;
    this.#follow(0);
    const used = this.#seenOf(this.#used, "start");
    const { ends, violated, rewards } = this.walk;
    this.player.load(ends || violated ? rewards : [], agent ? used.optimum[indexOf(world, agent)] : null, Boolean(world.slip || world.random));
    showCaption(`${this.learned ? "With the values learned so far. " : ""}${kind.caption(world, used, this.walk, agent)}`);
    this.picked = null;
    this.look();
  }

  /** Draw another walk at random, where moves slip. */
  again() {
    if (!this.world?.slip && !this.world?.random) return;
    this.draws += 1;
    this.plan(true);
    this.drawAgent();
  }

  /** Choose what the map shows; whether that is something else than before. */
  look() {
    const { answer, solution, walk } = this;
    if (answer === null) return false;
    if (!formula.isOverTime(answer)) this.solution = this.#seenOf(this.#used, "task");
    else {
      const { taken } = this.player;
      const current = walk.progress?.[taken] ?? answer.automaton.start;
      // At its end the map stays as the last step saw it.
      const followed = formula.isLive(answer, current) || !taken ? current : walk.progress[taken - 1];
      const shown = this.picked ?? followed;
      const { view } = this;
      if (solution?.state !== shown || solution.layer !== view.layer) this.solution = { ...formula.viewOf(view, this.#seenOf(answer, "formula"), shown), state: shown, layer: view.layer };
      this.automaton.light(current, this.picked ?? current, answer);
    }
    if (this.solution !== solution) showLegend(byId("legend"), this.solution.range ?? rangeOf(this.solution.values));
    return this.solution !== solution;
  }

  /** Everything that a picture of the map shows. */
  get picture() {
    const { solution, show, view } = this;
    return { world: view, solution, show, walk: this.#seenWalk(view), taken: this.player.taken };
  }

  draw() {
    this.map.show({ ...this.picture, held: this.tools.held });
  }

  drawAgent() {
    this.map.showAgent(this.#seenWalk(this.view), this.player.taken);
  }

  /** The walk, if the agent is on the layer that is shown. */
  #seenWalk(view) {
    const { walk } = this;
    return view.scene && walk.layers && walk.layers[this.player.taken] !== view.layer ? standing(null) : walk;
  }

  /** Follow the agent to its layer. */
  #follow(taken) {
    const { layers } = this.walk;
    if (!layers?.length || layers[taken] === this.view.layer) return false;
    this.layer = layers[taken];
    byId("layer").value = String(this.layer);
    return true;
  }

  /** Someone wants to see a layer. */
  see(layer) {
    this.player.pause();
    this.layer = layer;
    this.look();
    this.draw();
  }

  /** The player has taken so many steps. */
  moved(taken) {
    this.picked = null;
    const other = this.#follow(taken);
    if (this.look() || other) this.draw();
    else this.drawAgent();
    byId("readout").textContent = taken ? stepWords(this.store.state.world, this.walk, taken) : "";
    const news = taken ? newsOf(this.walk, taken) : "";
    if (news) announce(news);
  }

  /** What was said about a step or a tool is over; what is under the pointer stays. */
  hush() {
    if (!this.map.described) byId("readout").textContent = "";
  }

  /** Someone wants to see the map for a state of the automaton. */
  #pick(state) {
    this.player.pause();
    this.picked = state === (this.walk.progress?.[this.player.taken] ?? null) ? null : state;
    if (this.look()) this.draw();
  }
}
