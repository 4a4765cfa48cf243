// A formula step by step: each of its nodes, operands first, as small maps, one per goal.

import { byId, figure, h, plural, rebuild, s } from "./dom.js";
import { inParts } from "./labels.js";
import { equationOf, nameOf, wordsOf } from "./operators.js";
import { drawAgent, drawGoals, drawMap } from "./picture.js";
import { drawSmall, rangeOfAll, showLegend, smallMap } from "./small_map.js";
import { announce } from "./speech.js";
import { indexOf, nColumns, nRows, place } from "./world.js";

const MOST_GOALS = 4; // of which small maps are shown; more could not be told apart

export class Composition {
  /** stepped(step): someone goes to a step, from 1; beyond(step, most): there is no such step. */
  constructor({ stepped, beyond }) {
    Object.assign(this, { stepped, beyond });
    this.root = byId("composition-body");
    this.at = 0;
    this.root.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show the nodes of an answer. */
  show(world, answer, agent) {
    const nodes = answer.composition?.nodes;
    if (!nodes) {
      this.say("This formula, or this world, is too large to be shown step by step.");
      return;
    }
    const asked = this.at + 1;
    this.at = Math.min(this.at, nodes.length - 1);
    Object.assign(this, { world, answer, agent, nodes });
    this.goals = telling(nodes);
    this.range = rangeOfAll(nodes.flatMap((node) => node.slices.map((slice) => slice.values)));
    this.#draw();
    if (asked > nodes.length) this.beyond(asked, nodes.length);
  }

  /** Show a step, or keep its number until there are steps. */
  stepTo(step) {
    this.at = this.nodes ? Math.min(step, this.nodes.length) - 1 : step - 1;
    if (this.nodes) this.#draw();
  }

  /** The agent stands elsewhere: the numbers are those of its cell. */
  stand(agent) {
    this.agent = agent;
    if (this.nodes) this.#draw();
  }

  get filled() {
    return this.nodes !== null && this.nodes !== undefined;
  }

  /** A sentence in place of the steps. */
  say(sentence) {
    this.nodes = null;
    this.root.replaceChildren(sentence ? h("p", { class: "note" }, sentence) : "");
  }

  #draw() {
    const { nodes, at } = this;
    const node = nodes[at];
    const last = at === nodes.length - 1;
    rebuild(this.root,
      h("div", { class: "steps", role: "group", "aria-label": "Steps of the formula" },
        h("button", { type: "button", id: "composition-back", "data-key": "back", "aria-disabled": String(at === 0), onclick: () => this.#go(at - 1) }, "Back"),
        h("button", { type: "button", id: "composition-next", class: "primary", "data-key": "next", "aria-disabled": String(last), onclick: () => this.#go(at + 1) }, "Next"),
        h("p", { id: "composition-node" }, `Step ${at + 1} of ${nodes.length}: `, h("code", {}, node.text), ` (${nameOf(node)})`)),
      this.#chips(),
      h("p", {}, h("code", { class: "equation" }, equationOf(node)), ` ${wordsOf(node)}`),
      h("div", { class: "scroll rows", tabindex: "0", role: "region", "aria-label": "Maps of this step" }, this.#table(node)),
      this.#foot(last));
    const legend = this.root.querySelector(".legend");
    if (legend) showLegend(legend, this.range);
  }

  /** All nodes, operands first; those of the node that is shown are marked. */
  #chips() {
    const operands = this.nodes[this.at].children;
    const chip = (node, i) => h("li", {},
      h("button", { type: "button", class: operands.includes(i) ? "node operand" : "node", title: node.text, "data-key": `node-${i}`, "aria-current": i === this.at ? "step" : null, onclick: () => this.#go(i) }, node.text));
    return h("ol", { class: "chips", "aria-label": "Nodes of the formula, operands first" }, this.nodes.map(chip));
  }

  /** The result and its operands, a row each; goals, and the best goal of each cell, a column each. */
  #table(node) {
    const { goals, nodes, world } = this;
    const rows = node.children.map((child, i) => [`Q̄${"₁₂"[i]}`, nodes[child], `operand ${i + 1}`]);
    if (node.operator === "not") rows.unshift(...bounds(nodes, node));
    rows.unshift(["Q̄", node, "result"]); // seen without scrolling
    const isResult = (kind) => kind === "result";
    return h("table", { class: "composed" },
      h("thead", {}, h("tr", {}, h("td", {}), goals.map((g) => h("th", { scope: "col", title: world.goals[g].name }, dot(world.goals[g], false), " ", inParts(short(world.goals[g].name)))), h("th", { scope: "col" }, "best goal"))),
      h("tbody", {}, rows.map(([sign, shown, kind]) => h("tr", { class: isResult(kind) ? "result" : null },
        h("th", { scope: "row" }, h("span", { class: "sign" }, sign), h("span", { class: "of", title: shown.text }, shown.text)),
        goals.map((g) => h("td", {}, this.#slice(shown, g))),
        h("td", {}, shown.values ? this.#best(shown, isResult(kind)) : "")))));
  }

  #slice(node, g) {
    const { world, range } = this;
    const { values, goal } = node.slices[g];
    const canvas = smallMap(world);
    const desired = node.desired.includes(goal);
    drawSmall(canvas, world, world.goals[g], values, range, `${node.text}, ending in ${goal}, ${desired ? "desired" : "not desired"}`);
    return [canvas, this.#number(values)];
  }

  #best(node, isResult) {
    const { world, answer, range } = this;
    const whole = isResult && this.at === this.nodes.length - 1;
    const solution = { values: node.values, desired: node.desired, range, actions: whole ? answer.actions : node.values.map(() => null) };
    const name = `${node.text}: the value of the best goal${whole ? ", and the way to it" : ""}`;
    const map = s("svg", { viewBox: `0 0 ${nColumns(world)} ${nRows(world)}`, role: "img", "aria-label": name },
      drawMap(world, solution, "arrows"), drawGoals(world, solution, false), this.agent ? drawAgent(this.agent) : null);
    return [map, this.#number(node.values)];
  }

  /** The value at the agent's cell. */
  #number(values) {
    if (!this.agent) return null;
    const value = values[indexOf(this.world, this.agent)];
    return h("span", { class: "number" }, value === null || value === undefined ? "–" : figure(value));
  }

  #foot(last) {
    const { world, goals, agent } = this;
    const some = goals.length < world.goals.length ? `${plural(goals.length, "goal")} of ${world.goals.length} are shown, which the formula treats differently. ` : "";
    const at = agent ? `Numbers are those of the agent's cell, ${place(agent)}. ` : "";
    return [
      h("div", { class: "legend" }),
      h("p", { class: "note" }, `${some}${at}Each map is max_a Q̄(s, g, a), the best action; the operators work on every action.`),
      last ? h("p", { class: "note" }, "This is the result: the best goal of each cell is the picture on the map.") : null,
    ];
  }

  #go(to) {
    if (to < 0 || to >= this.nodes.length || to === this.at) return;
    this.stepped(to + 1);
    announce(`${byId("composition-node").textContent}. ${wordsOf(this.nodes[to])}`);
  }

  #key(event) {
    if (!this.nodes || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(".scroll")) return;
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: this.nodes.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#go(to);
  }
}

const short = (name) => (name.length > 24 ? `${name.slice(0, 22)}…` : name);

/** A goal's mark, filled if it is desired. */
const dot = (goal, desired) => h("span", { class: desired ? "dot desired" : "dot", style: { color: goal.color } });

/**
 * Q̄_U and Q̄_∅ as rows, for ¬: each slice of a planned node is one of theirs, which one by whether
 * the goal is desired, and ¬ exchanges them.
 */
function bounds(nodes, node) {
  const negated = nodes[node.children[0]];
  const of = (wanted) => negated.slices.map(({ goal }, g) => [negated, node].find((one) => one.desired.includes(goal) === wanted).slices[g]);
  return [
    ["Q̄_U", { text: "every goal", desired: negated.slices.map(({ goal }) => goal), slices: of(true) }, "bound"],
    ["Q̄_∅", { text: "no goal", desired: [], slices: of(false) }, "bound"],
  ];
}

/** Few goals that the nodes treat differently: one of each kind first, in their order. */
function telling(nodes) {
  const kinds = new Map();
  nodes[0].slices.forEach(({ goal }, g) => {
    const kind = nodes.map((node) => Number(node.desired.includes(goal))).join("");
    kinds.set(kind, [...(kinds.get(kind) ?? []), g]);
  });
  const chosen = [...kinds.values()].map(([first]) => first).slice(0, MOST_GOALS);
  for (const [g] of nodes[0].slices.entries()) if (chosen.length < MOST_GOALS && !chosen.includes(g)) chosen.push(g);
  return chosen.sort((a, b) => a - b);
}
