// The page: one state, its listeners, and the requests to the server.

import { Address } from "./address.js";
import { Newest, presets as askPresets } from "./api.js";
import { BoxmanView, caption as boxmanCaption } from "./boxman_view.js";
import { byId, capitalised, figure, h } from "./dom.js";
import { ExpressionBox } from "./expression_box.js";
import { listenToKeep } from "./keep.js";
import { MapView } from "./map_view.js";
import { showMeaning } from "./meaning.js";
import { showNotes } from "./notes.js";
import { Player } from "./player.js";
import { rangeOf } from "./ramp.js";
import * as result from "./result.js";
import { MOST_NUMBERS, showLegend, showSlices } from "./slices.js";
import { Store } from "./store.js";
import { startTheme } from "./theme.js";
import { TOOLS, Tools } from "./tools.js";
import { caption, episode } from "./walk.js";
import { EMPTY_ROOM, ACTIONS, cleared, indexOf, isAnother, nColumns, nRows, nearestFree } from "./world.js";
import { WorldPanel } from "./world_panel.js";

/** An answer that takes longer, in milliseconds, is worth a word; until then the page is still. */
const MOMENT = 150;

startTheme();
start();

async function start() {
  let presets;
  try {
    presets = await askPresets();
  } catch (error) {
    notify("server", `${error.message} (and reload this page)`);
    return;
  }
  presets.push({ id: "empty", title: "Empty room", world: EMPTY_ROOM, expression: "a | b" });
  new Page(presets).open();
}

/** Show a notice for the whole page; `about` is "server" or "link". */
function notify(about, sentence) {
  const notice = byId("notice");
  notice.hidden = false;
  notice.dataset.about = about;
  notice.textContent = sentence;
}

/** Hide a notice that no longer applies. */
function settled(about) {
  const notice = byId("notice");
  if (notice.dataset.about === about) notice.hidden = true;
}

/** An agent that goes nowhere. */
const standing = (agent) => ({ cells: agent ? [agent] : [], actions: [], rewards: [], goal: null, ends: false });

/** Whether a state shows another world or board than before. */
function isAnotherPicture(state, before) {
  if (state.mode !== before.mode) return true;
  if (state.mode === "boxman") return state.boxman.skills !== before.boxman.skills || state.boxman.seed !== before.boxman.seed;
  return state.world !== before.world && isAnother(state.world, before.world);
}

class Page {
  constructor(presets) {
    this.presets = presets;
    this.boxmanPreset = presets.find((one) => one.id === "boxman");
    this.address = new Address(presets);
    this.store = new Store(this.#default());
    this.fresh = true; // whether to show everything, not only what changed
    this.restored = 0; // how often the state was taken from the address or changed: the last time counts
    this.pending = false; // whether an answer is on its way
    this.solution = null; // the last good answer for a map, and the world that it is for
    this.solvedWorld = null;
    this.game = null; // the last good answer for Boxman
    this.walk = standing(null);
    this.show = "arrows";
    this.tools = new Tools(this.store, (sentence) => this.#say(sentence));
    this.map = new MapView({
      down: (cell) => this.#hand(() => this.tools.down(cell)),
      drag: (cell) => this.#hand(() => this.tools.drag(cell)),
      up: (cell) => this.#hand(() => this.tools.up(cell)),
      tool: (letter) => this.#chooseTool(TOOLS[letter]),
    });
    this.box = new ExpressionBox({
      changed: (text) => this.#setExpression(text),
      entered: () => this.player.run(),
      chosen: (text) => this.#setExpression(text),
    });
    this.panel = new WorldPanel(this.store);
    this.boxman = new BoxmanView((patch) => this.store.change({ boxman: { ...this.store.state.boxman, ...patch } }), (sentence) => this.#say(sentence));
    this.player = new Player((taken) => this.#moved(taken));
    this.solver = new Newest("/api/solve", (answer, body) => this.#solved(answer, body), (error) => this.#refused(error));
    this.gamer = new Newest("/api/boxman/play", (answer) => this.#played(answer), (error) => this.#refused(error));
  }

  async open() {
    this.#listen();
    this.store.listen((state, before, visit) => this.#changed(state, before, visit));
    await this.#restore();
    window.addEventListener("popstate", () => this.#restore());
  }

  /** Four Rooms with its own task, and an agent to watch. */
  #default() {
    const first = this.presets[0];
    return {
      mode: "grid",
      world: first.world,
      expression: first.expression,
      agent: nearestFree(first.world, [1, 1]),
      boxman: { skills: "boxman", expression: this.boxmanPreset?.expression ?? "", seed: 0, agent: null },
    };
  }

  async #restore() {
    this.restored += 1;
    const { restored } = this;
    let state = this.#default();
    let trouble = null;
    try {
      const stored = await this.address.read();
      state = { ...state, ...stored };
      if (stored?.world && stored.agent === null) state.agent = nearestFree(stored.world, [1, 1]);
    } catch (error) {
      trouble = error.message;
    }
    if (restored !== this.restored) return; // someone went on meanwhile
    this.store.forgetHistory();
    this.fresh = true;
    this.store.change(state);
    if (trouble) notify("link", trouble);
  }

  get #boxmanOn() {
    return this.store.state.mode === "boxman";
  }

  // ---- from the state to the page -------------------------------------------------------------

  #changed(state, before, visit) {
    const { fresh } = this;
    const touched = (...keys) => fresh || keys.some((key) => state[key] !== before[key]);
    const another = fresh || visit || isAnotherPicture(state, before);
    this.fresh = false;
    this.restored += 1;
    settled("link");
    this.address.follow(state, before, visit);
    document.body.dataset.mode = state.mode;
    this.#showPresets(state);
    byId("undo").disabled = !this.store.past.length;
    byId("redo").disabled = !this.store.future.length;
    this.box.text = this.#boxmanOn ? state.boxman.expression : state.expression;
    this.box.offer(this.#taskNames(state));
    if (!this.#boxmanOn) {
      this.tools.keepHeld(state.world);
      this.panel.show(state.world);
    } else if (touched("boxman", "mode")) this.boxman.showGame(state.boxman, this.boxmanPreset.skills);
    if (another) this.#forget();
    if (this.#boxmanOn ? touched("boxman", "mode") : touched("world", "expression", "mode")) this.#ask(state, another);
    if (this.#boxmanOn) return;
    if (touched("agent", "mode") || another) this.#plan();
    if (touched("world", "mode") || another) this.#draw();
    else this.map.showAgent(this.walk, this.player.taken);
  }

  #taskNames(state) {
    if (state.mode === "grid") return state.world.tasks.map((task) => task.name);
    const skills = this.boxmanPreset.skills.find((one) => one.name === state.boxman.skills);
    return skills.tasks;
  }

  /** Ask for the answer to a state; after a moment without one, what is shown counts as old. */
  #ask(state, another) {
    const [asking, idle] = this.#boxmanOn ? [this.gamer, this.solver] : [this.solver, this.gamer];
    idle.drop();
    if (another) asking.drop();
    clearTimeout(this.patience);
    result.asked();
    this.pending = this.#boxmanOn || state.world.goals.length > 0;
    if (!this.pending) {
      asking.drop();
      this.#forget("Place a goal to begin: choose the tool Goal and click a cell.");
      return;
    }
    this.player.wait();
    this.patience = setTimeout(() => {
      this.box.mark(null);
      this.#outdate();
      this.#caption(this.#boxmanOn ? "Waiting for the network." : "Solving.");
    }, MOMENT);
    const { world, expression, boxman } = state;
    const slices = nRows(world) * nColumns(world) * world.goals.length <= MOST_NUMBERS;
    asking.ask(this.#boxmanOn ? boxman : { world, expression, slices });
  }

  #solved(answer, body) {
    this.solution = answer;
    this.solvedWorld = body.world;
    this.#accept(answer, body.world);
    showSlices(body.world, answer);
    showLegend(byId("legend"), rangeOf(answer.values));
    this.#plan();
    this.#draw();
  }

  #played(answer) {
    this.game = answer;
    this.#accept(answer, null);
    this.boxman.show(answer);
    this.player.load(answer.rewards, answer.optimum);
    this.#caption(boxmanCaption(answer));
  }

  #accept(answer, world) {
    this.#settle();
    this.box.mark(null);
    result.current(answer);
    showMeaning(answer);
    showNotes(answer.notes, world, () => this.panel.makeMinimal());
    settled("server");
  }

  /** Show an error where it belongs, and what is old as such. */
  #refused(error) {
    this.#settle();
    this.#outdate();
    this.#caption("");
    this.box.mark(error.field === "expression" ? error : null);
    if (error.field === "expression" || this.panel.refuse(error)) settled("server");
    else notify("server", capitalised(error.message));
  }

  /** The newest answer has arrived, good or bad. */
  #settle() {
    this.pending = false;
    clearTimeout(this.patience);
  }

  /** Nothing of an older answer stays on the page. */
  #forget(caption = "") {
    Object.assign(this, { solution: null, solvedWorld: null, game: null, walk: standing(this.store.state.agent) });
    if (this.#boxmanOn) this.map.described = null;
    this.player.clear();
    this.boxman.forget();
    settled("server");
    this.box.mark(null);
    result.nothing(this.#boxmanOn || this.store.state.world.goals.length ? "" : "There is no goal yet.");
    this.#hush();
    this.#draw();
    this.#caption(caption);
  }

  /** What is shown is not the newest answer: it is dimmed, or gone if it is of another world. */
  #outdate() {
    if (this.#boxmanOn ? !this.game : this.solvedWorld !== this.store.state.world) this.#forget();
    else {
      this.player.clear();
      this.#hush();
      result.old();
    }
  }

  /** The episode from the agent's cell. */
  #plan() {
    const { world, agent } = this.store.state;
    this.#hush();
    const known = !this.pending && this.solution !== null && this.solvedWorld === world;
    this.walk = known ? episode(world, this.solution, agent) : standing(agent);
    if (!known) return;
    this.player.load(this.walk.ends ? this.walk.rewards : [], agent ? this.solution.optimum[indexOf(world, agent)] : null);
    this.#caption(caption(world, this.solution, this.walk, agent));
  }

  #draw() {
    const { world } = this.store.state;
    const { solution, show, walk } = this;
    const held = this.tools.held;
    this.map.show({ world, solution, show, walk, taken: this.player.taken, held });
  }

  #caption(text) {
    byId("caption").textContent = text;
    clearTimeout(this.announcing);
    this.announcing = setTimeout(() => (byId("announce").textContent = text), 700);
  }

  #moved(taken) {
    if (this.#boxmanOn) {
      this.boxman.showFrame(taken);
      return;
    }
    this.map.showAgent(this.walk, taken);
    const action = ACTIONS[this.walk.actions[taken - 1]];
    const last = taken === this.walk.actions.length;
    const pays = taken && `pays ${figure(this.walk.rewards[taken - 1])}`;
    byId("readout").textContent = taken ? `Step ${taken}: ${last ? `takes ${this.walk.goal}` : action === "stay" ? `enters ${this.walk.goal}` : `goes ${action}`}, ${pays}` : "";
    if (last) byId("announce").textContent = `Took ${this.walk.goal}.`;
  }

  /** What was said about a step or a tool is over; what is under the pointer stays. */
  #hush() {
    if (!this.map.described) byId("readout").textContent = "";
  }

  #say(sentence) {
    byId("readout").textContent = sentence;
    byId("announce").textContent = sentence;
  }

  #showPresets(state) {
    const chosen = this.#boxmanOn ? "boxman" : this.presets.find((one) => one.world === state.world)?.id;
    const field = byId("presets");
    if (field.children.length === 1) {
      field.append(...this.presets.map((one) => h("label", { title: one.available === false ? one.reason : null },
        h("input", { type: "radio", name: "preset", value: one.id, disabled: one.available === false, onchange: () => this.#choosePreset(one) }),
        h("span", {}, one.title))));
    }
    if (this.chosen === chosen) return;
    this.chosen = chosen;
    for (const input of field.querySelectorAll("input")) {
      input.checked = input.value === chosen;
      const label = input.parentElement;
      if (input.checked) field.scrollLeft = label.offsetLeft - (field.clientWidth - label.clientWidth) / 2;
    }
  }

  // ---- from the page to the state -------------------------------------------------------------

  #choosePreset(preset) {
    const patch = preset.world
      ? { mode: "grid", world: preset.world, expression: preset.expression, agent: nearestFree(preset.world, [1, 1]) }
      : { mode: "boxman" };
    this.store.change(patch, { undoable: true, visit: true });
  }

  #setExpression(text) {
    const { boxman } = this.store.state;
    this.store.change(this.#boxmanOn ? { boxman: { ...boxman, expression: text } } : { expression: text });
  }

  #chooseTool(tool) {
    if (!tool) return false;
    document.querySelector(`#tools input[value="${tool}"]`).checked = true;
    this.tools.choose(tool);
    byId("map").classList.toggle("paints", tool !== "agent");
    this.#draw();
    byId("announce").textContent = `Tool: ${tool}`;
    return true;
  }

  /** Use a tool, and show what it holds. */
  #hand(work) {
    const held = this.tools.held;
    work();
    if (this.tools.held !== held) this.#draw();
  }

  #listen() {
    listenToKeep({
      link: () => this.address.of(this.store.state),
      blocked: (link) => notify("link", `Copy this link: ${link}`),
      answer: () => (this.#boxmanOn ? this.game : this.solution),
      picture: () => ({ world: this.store.state.world, solution: this.solution, show: this.show, walk: this.walk, taken: this.player.taken }),
      screen: () => (this.#boxmanOn ? this.boxman.blob() : null),
    });
    const onClick = (id, action) => byId(id).addEventListener("click", action);
    byId("tools").addEventListener("change", (event) => this.#chooseTool(event.target.value));
    byId("show").addEventListener("change", (event) => {
      this.show = event.target.value;
      this.#draw();
    });
    onClick("undo", () => this.store.undo());
    onClick("redo", () => this.store.redo());
    onClick("clear", () => {
      const world = cleared(this.store.state.world);
      this.store.change({ world, agent: nearestFree(world, this.store.state.agent ?? [1, 1]) }, { undoable: true });
    });
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.target.matches("textarea, input[type=text], input[type=number]")) return;
      const key = event.key.toLowerCase();
      if (key !== "z" && key !== "y") return;
      event.preventDefault();
      if (key === "y" || event.shiftKey) this.store.redo();
      else this.store.undo();
    });
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault(); // the hash holds the state
      byId("expression").focus();
    });
  }
}
