// The challenge: the page marks goals, or an order of goals, and someone writes a task that ends
// there.  What a task does is taken from the usual answers.

import { Newest } from "./api.js";
import { byId, h, plural, rebuild, s } from "./dom.js";
import { few, hintsOf, verdict } from "./judging.js";
import { levelsOf } from "./levels.js";
import { orders } from "./orders.js";

const MOST_SEED = 9999;

export class Challenge {
  /**
   * ask(world, expression): the request for an answer; mark(elements, words): draw something over the
   * map, with words for goals by name; type(): put the cursor into the expression.
   */
  constructor({ ask, mark, type }) {
    Object.assign(this, { ask, mark, type, on: false, seed: 1, world: null, answer: null });
    this.panel = byId("challenge");
    this.button = byId("challenge-on");
    this.solver = new Newest("/api/solve", (answer, { expression }) => this.#given(answer, expression), () => this.#another());
    this.button.addEventListener("click", () => this.#toggle());
  }

  /** The world on the page, or null; with other walls it is the same challenge. */
  show(world) {
    const { world: before } = this;
    this.world = world;
    this.button.hidden = world === null;
    const known = world?.scene ? before?.scene === world.scene : before?.goals === world?.goals;
    if (world && known && before.tasks === world.tasks) return;
    this.answer = null; // it was for other goals
    if (this.on) this.#begin();
  }

  /** The newest answer, or null where there is none. */
  judge(answer) {
    if (this.answer === answer) return;
    this.answer = answer;
    if (this.on) this.#draw();
  }

  #toggle() {
    this.on = !this.on;
    this.#begin();
    if (this.on) this.type();
  }

  /** The first level for this world and seed, or the end. */
  #begin() {
    this.on &&= this.world !== null;
    this.button.setAttribute("aria-expanded", String(this.on));
    this.panel.hidden = !this.on;
    document.body.toggleAttribute("data-challenge", this.on);
    Object.assign(this, { level: 0, solved: new Set(), levels: this.on ? levelsOf(this.world, this.seed) : [] });
    this.#deal();
  }

  /** What the level asks for. */
  #deal() {
    this.solver.drop();
    Object.assign(this, { hints: 0, wanted: null, tried: 0 });
    const level = this.levels[this.level];
    if (level?.goals) this.wanted = { text: level.expressions[0], goals: level.goals };
    else if (level) this.solver.ask(this.ask(this.world, level.expressions[0]));
    this.#draw();
  }

  /** The answer to a formula over time, which holds its automaton. */
  #given(answer, text) {
    this.wanted = { text, answer, ...orders(answer, this.world.goals.length) };
    this.#draw();
  }

  /** A formula cannot be satisfied in this world: ask for another, or leave the level out. */
  #another() {
    const { expressions } = this.levels[this.level];
    this.tried += 1;
    if (this.tried < expressions.length) this.solver.ask(this.ask(this.world, expressions[this.tried]));
    else {
      this.levels.splice(this.level, 1);
      this.#deal();
    }
  }

  #next() {
    if (this.level + 1 < this.levels.length) this.level += 1;
    else {
      this.seed = (this.seed % MOST_SEED) + 1;
      Object.assign(this, { level: 0, solved: new Set(), levels: levelsOf(this.world, this.seed) });
    }
    this.#deal();
    this.type();
  }

  #hint() {
    this.hints += 1;
    this.#draw();
    if (document.activeElement === document.body) byId("challenge-next").focus(); // there is no further hint
  }

  #reseed(input) {
    const seed = input.valueAsNumber;
    if (Number.isInteger(seed) && seed > 0 && seed <= MOST_SEED) this.seed = seed;
    this.#begin();
  }

  // ---- what is shown ----------------------------------------------------------------------------

  #draw() {
    const level = this.levels[this.level];
    const { right, words } = this.wanted ? verdict(this.world, this.wanted, this.answer) : { right: false, words: level ? "Looking for a task." : "" };
    if (right) this.solved.add(this.level);
    const hints = this.wanted ? hintsOf(this.world, this.wanted) : [];
    const title = h("h3", {}, !level ? "Challenge" : level.goals ? "Write a task that ends here" : "Write a formula for this order");
    if (this.on) rebuild(this.panel, title, level ? this.#parts(right, words, hints) : h("p", { class: "note" }, "There is nothing to ask for yet: tick goals for two base tasks that differ, in the table below."));
    this.#mark();
    byId("challenge-news").textContent = [words, hints[this.hints - 1]].filter(Boolean).join(" ");
  }

  #parts(right, words, hints) {
    const done = this.solved.has(this.level);
    const last = this.level + 1 === this.levels.length;
    const seed = h("input", { type: "number", id: "challenge-seed", "data-key": "challenge-seed", min: 1, max: MOST_SEED, step: 1, value: this.seed, onchange: (event) => this.#reseed(event.target) });
    return [
      h("ol", { class: "levels", "aria-label": "Levels" }, this.levels.map(({ title }, i) =>
        h("li", { "aria-current": i === this.level ? "step" : null, class: this.solved.has(i) ? "done" : null },
          title, this.solved.has(i) ? h("span", { class: "hidden" }, ", done") : null))),
      h("div", { id: "challenge-goal" }, this.wanted ? this.#goal() : null),
      h("p", { id: "challenge-verdict", class: right ? "right" : null }, words),
      this.hints ? h("ul", { id: "challenge-hints" }, hints.slice(0, this.hints).map((text) => h("li", {}, text))) : null,
      h("div", { class: "row" },
        h("button", { type: "button", id: "challenge-hint", "data-key": "challenge-hint", disabled: this.hints >= hints.length, onclick: () => this.#hint() }, "Hint"),
        h("button", { type: "button", id: "challenge-next", "data-key": "challenge-next", class: right ? "primary" : null, disabled: !this.wanted, onclick: () => this.#next() }, last ? "New tasks" : done ? "Next level" : "Skip"),
        h("label", { class: "speed" }, "Seed ", seed)),
    ];
  }

  #goal() {
    const { goals, wanted, not } = this.wanted;
    if (goals) return h("p", {}, h("b", {}, few(goals)), `: ${goals.length} of ${plural(this.world.goals.length, "goal")}, ringed on the map.`);
    const order = (way) => h("li", {}, way.map((goal) => this.world.goals[goal].name).join(" → "));
    return [
      h("p", {}, "Episodes that enter these goals in this order satisfy the formula; the first is numbered on the map:"),
      h("ul", { class: "orders" }, wanted.map(order)),
      not.length ? [h("p", {}, "These do not:"), h("ul", { class: "orders" }, not.map(order))] : null,
    ];
  }

  /** Rings around the goals that are wanted, or the numbers of an order. */
  #mark() {
    const { goals = [], wanted: [first = []] = [] } = this.wanted ?? {};
    const drawn = [];
    const words = new Map();
    this.world?.goals.forEach(({ name, cell: [row, column] }, i) => {
      const turn = first.indexOf(i) + 1;
      if (row < 0 || (!turn && !goals.includes(name))) return;
      words.set(name, turn ? `number ${turn} of the challenge` : "wanted by the challenge");
      drawn.push(s("g", { class: "wanted", transform: `translate(${column + 0.5} ${row + 0.5})`, style: { animationDelay: `${0.8 * turn}s` } },
        s("circle", { class: "edge", r: 0.56 }), s("circle", { r: 0.56 }),
        turn ? [s("circle", { class: "turn", cx: 0.55, cy: -0.45, r: 0.36 }), s("text", { x: 0.55, y: -0.28, "font-size": 0.5, "text-anchor": "middle" }, String(turn))] : []));
    });
    this.mark(drawn, words);
  }
}
