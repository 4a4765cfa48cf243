// Boxman: the pixels that the network sees, its choices, and the settings of the game.

import { byId, capitalised, figure, h, listed, plural, rebuild } from "./dom.js";
import { check, withMessage } from "./fields.js";
import { KEYS, place } from "./world.js";

const TILE = 8;
const BORDER = 2;
const SIDE = 84;
const CELLS = (SIDE - 2 * BORDER) / TILE; // in a row
const MOST_SEED = 2 ** 32 - 1;

export class BoxmanView {
  /** change(patch): new settings of the game, {skills, seed, agent}; say(sentence): what is not possible. */
  constructor(change, say) {
    Object.assign(this, { change, say });
    this.image = h("img", { alt: "", width: SIDE, height: SIDE, draggable: "false" });
    this.screen = byId("screen");
    this.screen.append(this.image);
    const label = "Screen of Boxman. Arrow keys move the agent's start.";
    for (const [name, value] of [["tabindex", "0"], ["role", "application"], ["aria-label", label], ["aria-describedby", "caption"]]) this.screen.setAttribute(name, value);
    this.image.addEventListener("click", (event) => this.#place(this.#cellOf(event)));
    this.screen.addEventListener("keydown", (event) => {
      const move = KEYS[event.key];
      if (!move || !this.answer) return;
      event.preventDefault();
      const [row, column] = this.answer.agent;
      this.#place([row + move[0], column + move[1]]);
    });
  }

  /** A new episode. */
  show(answer) {
    this.answer = answer;
    this.showFrame(0);
  }

  /** No episode. */
  forget() {
    this.answer = null;
    this.image.removeAttribute("src");
    this.image.alt = "";
  }

  showFrame(taken) {
    if (!this.answer) return;
    const { frames, actions } = this.answer;
    this.image.src = `data:image/png;base64,${frames[Math.min(taken, frames.length - 1)]}`;
    this.image.alt = `The board after ${plural(taken, "action")}`;
    byId("readout").textContent = taken ? `Action ${taken} of ${actions.length}: ${actions[taken - 1]}.${outcome(this.answer, taken)}` : "";
    this.#showChoice(taken);
  }

  /** The screen as a PNG, four times as large. */
  blob() {
    const canvas = h("canvas", { width: 4 * SIDE, height: 4 * SIDE });
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(this.image, 0, 0, 4 * SIDE, 4 * SIDE);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  #showChoice(taken) {
    const { q, action_names: names, actions } = this.answer;
    const values = q[taken];
    if (!values) {
      byId("choice").replaceChildren(h("p", {}, `The episode is over.${why(this.answer)}`));
      return;
    }
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const share = (value) => (high > low ? (100 * (value - low)) / (high - low) : 100);
    byId("choice").replaceChildren(h("div", { class: "choice", role: "list" },
      names.map((name, i) => {
        const chosen = name === actions[taken];
        return h("div", { role: "listitem", class: chosen ? "chosen" : "", style: { display: "contents" } },
          h("span", {}, name),
          h("span", { class: "track", "aria-hidden": "true" }, h("i", { style: { marginLeft: `${share(values[i])}%` } })),
          h("span", {}, figure(values[i]), chosen ? h("span", { class: "hidden" }, ", chosen") : null));
      })),
      holds(this.answer, taken) ? h("p", { class: "note" }, `The agent holds ${this.answer.collected}: any action ends the episode and pays the same, so the values differ only by the network's errors.`) : "");
  }

  /** The settings: which skills, which layout. */
  showGame(game, skills) {
    const choices = skills.map((one) => h("label", {},
      h("input", { type: "radio", name: "skills", value: one.name, checked: one.name === game.skills, "data-key": one.name, onchange: () => this.change({ skills: one.name, agent: null }) }),
      h("span", {}, capitalised(one.title))));
    const seed = check(
      h("input", { type: "number", min: 0, max: MOST_SEED, step: 1, value: game.seed, "data-key": "seed" }),
      (input) => (Number.isInteger(input.valueAsNumber) && input.valueAsNumber >= 0 && input.valueAsNumber <= MOST_SEED ? null : `A seed is a whole number from 0 to ${MOST_SEED}.`),
      (input) => this.change({ seed: input.valueAsNumber, agent: null }),
    );
    rebuild(byId("game"),
      h("fieldset", { class: "segments" }, h("legend", {}, "Trained for"), choices),
      h("div", { class: "sizes" },
        withMessage(seed, h("label", {}, "Seed", seed))),
      h("div", { class: "row spaced" },
        h("button", { type: "button", "data-key": "layout", onclick: () => this.change({ seed: (game.seed + 1) % 2 ** 32, agent: null }) }, game.skills === "boxman" ? "Start elsewhere" : "New layout")),
      h("p", { class: "note" }, "Click a cell of the screen to start the agent there."));
  }

  #cellOf(event) {
    const box = this.image.getBoundingClientRect();
    const at = (offset, length) => Math.floor(((offset / length) * SIDE - BORDER) / TILE);
    return [at(event.clientY - box.top, box.height), at(event.clientX - box.left, box.width)];
  }

  #place([row, column]) {
    const outside = (at) => at < 0 || at >= CELLS;
    if (!this.answer || outside(row) || outside(column)) return;
    if (this.answer.cells.some((cell) => cell[0] === row && cell[1] === column)) this.change({ agent: [row, column] });
    else this.say(`The agent cannot start at ${place([row, column])}: a wall${byTouch(this.answer) ? " or an object" : ""} is there.`);
  }
}

/** Whether objects are collected by stepping on them. */
const byTouch = (answer) => !answer.action_names.includes("pick up");

/** Whether the agent holds its object after some actions, so that only the last one is left. */
const holds = (answer, taken) => answer.collected !== null && taken === answer.actions.length - 1;

/** What an action brought about, if that is not a move. */
function outcome(answer, taken) {
  const { collected, actions, rewards } = answer;
  if (holds(answer, taken)) return ` The agent holds ${collected} and sees nothing else; its next action ends the episode.`;
  if (taken < actions.length) return "";
  if (collected === null) return ` The episode is cut off after ${plural(taken, "action")}.`;
  return ` Any action ends the episode here, and pays ${figure(rewards.at(-1))} for ${collected}.`;
}

/** Why the episode ended. */
function why({ collected, actions, rewards }) {
  if (collected === null) return ` The agent collected nothing, and was stopped after ${plural(actions.length, "action")}.`;
  return ` With ${collected} in its hands the agent was in a goal. A goal pays when the agent acts in it, whatever it does there: hence one more action, which paid ${figure(rewards.at(-1))}.`;
}

/** What happened, in words. */
export function caption(answer) {
  const aim = answer.desired.length ? `collect ${listed(answer.desired, "or")}` : "no object is desired";
  const after = plural(answer.actions.length, "action");
  const last = answer.collected ? " (the last one ends the episode)" : "";
  const end = `The network collects ${answer.collected ?? "nothing"} in ${after}${last}`;
  const best = answer.return >= answer.optimum - 1e-9 ? "the optimum" : `the optimum is ${figure(answer.optimum)}`;
  return `Task ${answer.expression}: ${aim}. ${end} and earns ${figure(answer.return)}, ${best}.`;
}
