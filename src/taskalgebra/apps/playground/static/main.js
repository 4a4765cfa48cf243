// The page: one state, its listeners, and the requests to the server.

import { Address } from "./address.js";
import { Newest, presets as askPresets } from "./api.js";
import { AutomatonView } from "./automaton_view.js";
import { BoxmanView, caption as boxmanCaption } from "./boxman_view.js";
import { byId, capitalised } from "./dom.js";
import { ExpressionBox } from "./expression_box.js";
import * as formula from "./formula.js";
import { listenToHistory } from "./history.js";
import { listenToKeep } from "./keep.js";
import { MapView } from "./map_view.js";
import { showFormula, showMeaning } from "./meaning.js";
import { showNotes } from "./notes.js";
import { notify, settled } from "./notice.js";
import { Player } from "./player.js";
import { PresetBar } from "./preset_bar.js";
import { rangeOf } from "./ramp.js";
import * as result from "./result.js";
import { MOST_NUMBERS, showLegend, showSlices } from "./slices.js";
import { Store } from "./store.js";
import { startTheme } from "./theme.js";
import { TOOLS, Tools } from "./tools.js";
import { caption, episode, newsOf, standing, stepWords } from "./walk.js";
import { EMPTY_ROOM, indexOf, isAnotherPicture, nColumns, nRows, nearestFree } from "./world.js";
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

class Page {
  constructor(presets) {
    this.presets = presets;
    this.boxmanPreset = presets.find((one) => one.id === "boxman");
    this.address = new Address(presets);
    this.store = new Store(this.#default());
    this.fresh = true; // whether to show everything, not only what changed
    this.restored = 0; // how often the state was taken from the address or changed: the last time counts
    this.pending = false; // whether an answer is on its way
    this.answer = null; // the last good answer for a map, and the world that it is for
    this.solvedWorld = null;
    this.solution = null; // the part of the answer that the map shows: of a formula, one state
    this.picked = null; // the state of the automaton that someone looks at, rather than the agent's
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
    this.presetBar = new PresetBar(presets, (one) => this.#choosePreset(one));
    this.automaton = new AutomatonView((state) => this.#pick(state));
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
    const preset = this.presets.find((one) => (this.#boxmanOn ? one.id === "boxman" : one.world === state.world));
    this.presetBar.show(preset?.id);
    byId("undo").disabled = !this.store.past.length;
    byId("redo").disabled = !this.store.future.length;
    this.box.text = this.#boxmanOn ? state.boxman.expression : state.expression;
    this.box.offer(this.#taskNames(state), !this.#boxmanOn, preset?.examples);
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
    Object.assign(this, { answer, solvedWorld: body.world, solution: null, picked: null });
    const overTime = formula.isOverTime(answer);
    document.body.dataset.kind = overTime ? "formula" : "task";
    this.#accept(answer, overTime ? null : body.world);
    if (overTime) {
      showFormula(body.world, answer);
      this.automaton.show(answer, (state) => formula.stateWords(body.world, answer, state));
    } else {
      showMeaning(answer);
      this.automaton.hide();
      showSlices(body.world, answer);
    }
    this.#plan();
    this.#look();
    this.#draw();
  }

  #played(answer) {
    this.game = answer;
    this.#accept(answer, null);
    showMeaning(answer);
    this.boxman.show(answer);
    this.player.load(answer.rewards, answer.optimum);
    this.#caption(boxmanCaption(answer));
  }

  #accept(answer, world) {
    this.#settle();
    this.box.mark(null);
    result.current(answer);
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
    Object.assign(this, { answer: null, solution: null, solvedWorld: null, picked: null, game: null, walk: standing(this.store.state.agent) });
    delete document.body.dataset.kind;
    this.automaton.hide();
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
    const { answer } = this;
    const known = !this.pending && answer !== null && this.solvedWorld === world;
    const kind = formula.isOverTime(answer) ? formula : { episode, caption };
    this.walk = known ? kind.episode(world, answer, agent) : standing(agent);
    if (!known) return;
    this.player.load(this.walk.ends ? this.walk.rewards : [], agent ? answer.optimum[indexOf(world, agent)] : null);
    this.#caption(kind.caption(world, answer, this.walk, agent));
    this.picked = null;
    this.#look();
  }

  /** Choose what the map shows; whether that is something else than before. */
  #look() {
    const { answer, solution, walk } = this;
    if (answer === null) return false;
    if (!formula.isOverTime(answer)) this.solution = answer;
    else {
      const { taken } = this.player;
      const current = walk.progress?.[taken] ?? answer.automaton.start;
      // At its end the map stays as the last step saw it.
      const followed = formula.isLive(answer, current) || !taken ? current : walk.progress[taken - 1];
      const shown = this.picked ?? followed;
      if (solution?.state !== shown) this.solution = { ...formula.viewOf(this.solvedWorld, answer, shown), state: shown };
      this.automaton.light(current, this.picked ?? current, answer);
    }
    if (this.solution !== solution) showLegend(byId("legend"), this.solution.range ?? rangeOf(this.solution.values));
    return this.solution !== solution;
  }

  /** Someone wants to see the map for a state of the automaton. */
  #pick(state) {
    this.player.pause();
    this.picked = state === (this.walk.progress?.[this.player.taken] ?? null) ? null : state;
    if (this.#look()) this.#draw();
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
    this.announcing = setTimeout(() => this.#announce(text), 700);
  }

  /** Tell screen readers something; what waits to be told is old. */
  #announce(text) {
    clearTimeout(this.announcing);
    byId("announce").textContent = text;
  }

  #moved(taken) {
    if (this.#boxmanOn) {
      this.boxman.showFrame(taken);
      return;
    }
    this.picked = null;
    if (this.#look()) this.#draw();
    else this.map.showAgent(this.walk, taken);
    byId("readout").textContent = taken ? stepWords(this.store.state.world, this.walk, taken) : "";
    const news = taken ? newsOf(this.walk, taken) : "";
    if (news) this.#announce(news);
  }

  /** What was said about a step or a tool is over; what is under the pointer stays. */
  #hush() {
    if (!this.map.described) byId("readout").textContent = "";
  }

  #say(sentence) {
    byId("readout").textContent = sentence;
    this.#announce(sentence);
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
    this.#announce(`Tool: ${tool}`);
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
      answer: () => (this.#boxmanOn ? this.game : this.answer),
      picture: () => ({ world: this.store.state.world, solution: this.solution, show: this.show, walk: this.walk, taken: this.player.taken }),
      screen: () => (this.#boxmanOn ? this.boxman.blob() : null),
    });
    byId("tools").addEventListener("change", (event) => this.#chooseTool(event.target.value));
    byId("show").addEventListener("change", (event) => {
      this.show = event.target.value;
      this.#draw();
    });
    listenToHistory(this.store);
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault(); // the hash holds the state
      byId("expression").focus();
    });
  }
}
