// The page: one state, its listeners, and what follows from them.

import { Acting } from "./acting.js";
import { Address } from "./address.js";
import { presets as askPresets } from "./api.js";
import { Asking, bodyOf } from "./asking.js";
import { BoxmanView, caption as boxmanCaption } from "./boxman_view.js";
import { Certificate } from "./certificate.js";
import { Challenge } from "./challenge.js";
import { byId, capitalised, plural } from "./dom.js";
import { Dynamics } from "./dynamics.js";
import { ExpressionBox } from "./expression_box.js";
import { differsInStep, following } from "./following.js";
import { isOverTime } from "./formula.js";
import { listenToHistory } from "./history.js";
import { listenToKeep } from "./keep.js";
import { showLayers } from "./layer_select.js";
import { Lessons } from "./lessons.js";
import { MapView } from "./map_view.js";
import { showFormula, showMeaning } from "./meaning.js";
import { showNotes } from "./notes.js";
import { notify, settled } from "./notice.js";
import { Player } from "./player.js";
import { PresetBar } from "./preset_bar.js";
import * as result from "./result.js";
import { showSlices } from "./slices.js";
import { announce, say, showCaption } from "./speech.js";
import { Store } from "./store.js";
import { watchStrips } from "./strips.js";
import { agentAt, projected, withLayer, worldOf } from "./scene.js";
import { firstState } from "./table_link.js";
import { startTheme } from "./theme.js";
import { TOOLS, Tools } from "./tools.js";
import { EMPTY_ROOM, isAnotherPicture, isSamePlace, nearestFree } from "./world.js";
import { WorldPanel } from "./world_panel.js";

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
    this.store = new Store(this.#default(), following);
    this.fresh = true; // whether to show everything, not only what changed
    this.restored = 0; // how often the state was taken from the address or changed: the last time counts
    this.game = null; // the last good answer for Boxman
    this.tools = new Tools(this.store, say);
    this.map = new MapView({
      down: (cell) => (this.#scene ? this.#stand(cell) : this.#hand(() => this.tools.down(cell))),
      drag: (cell) => this.#scene || this.#hand(() => this.tools.drag(cell)),
      up: (cell) => this.#scene || this.#hand(() => this.tools.up(cell)),
      tool: (letter) => !this.#scene && this.#chooseTool(TOOLS[letter]),
    });
    this.box = new ExpressionBox({
      changed: (text) => this.#setExpression(text),
      entered: () => this.player.run(),
      chosen: (text) => this.#setExpression(text),
    });
    this.panel = new WorldPanel(this.store);
    this.challenge = new Challenge({
      ask: (world, expression) => bodyOf({ world, expression }),
      mark: (elements, words) => this.map.mark(elements, words),
      type: () => byId("expression").select(),
    });
    this.presetBar = new PresetBar(presets, (one) => this.#choosePreset(one));
    this.boxman = new BoxmanView((patch) => this.store.change({ boxman: { ...this.store.state.boxman, ...patch } }), say);
    this.player = new Player((taken) => (this.#boxmanOn ? this.boxman.showFrame(taken) : this.acting.moved(taken)), () => this.acting.again());
    this.acting = new Acting({ store: this.store, map: this.map, player: this.player, tools: this.tools });
    this.dynamics = new Dynamics(this.store);
    this.certificate = new Certificate({
      repair: (repaired) => this.store.change({ repaired }),
      stand: (agent) => this.store.change({ agent }),
    });
    this.lessons = new Lessons({
      use: (learned) => this.acting.use(learned),
      chosen: (text) => this.#setExpression(text),
      stepped: (step) => this.store.change({ step }),
      beyond: (step, most) => this.#stepBack(step, most),
    });
    this.asking = new Asking({
      solved: (answer, body) => this.#solved(answer, body),
      played: (answer) => this.#played(answer),
      refused: (error) => this.#refused(error),
      late: () => this.#wait(),
    });
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
      step: byId("composition").open ? 1 : null, // of the formula, if its panel is open
      repaired: false,
      boxman: { skills: "boxman", expression: this.boxmanPreset?.expression ?? "", seed: 0, agent: null },
    };
  }

  async #restore() {
    this.restored += 1;
    const { restored } = this;
    let state = this.#default();
    let trouble = null;
    try {
      const { wrong, ...stored } = await this.address.read();
      state = { ...state, ...stored };
      trouble = wrong;
      if (stored.world && !stored.agent) state.agent = nearestFree(stored.world, [1, 1]);
    } catch (error) {
      trouble = error.message;
    }
    if (restored !== this.restored) return; // someone went on meanwhile
    this.store.forgetHistory();
    this.fresh = true;
    this.store.change(state);
    this.linked = true;
    if (trouble) notify("link", trouble);
  }

  /** The scene of a world that is not drawn, or null. */
  get #scene() {
    return (!this.#boxmanOn && this.store.state.world.scene) || null;
  }

  get #boxmanOn() {
    return this.store.state.mode === "boxman";
  }

  // ---- from the state to the page -------------------------------------------------------------

  #changed(state, before, visit) {
    const { fresh } = this;
    if (fresh || state.step !== before.step) this.lessons.stepTo(state.step);
    if (!fresh && differsInStep(state, before)) {
      this.address.follow(state, before, visit);
      return;
    }
    const touched = (...keys) => fresh || keys.some((key) => state[key] !== before[key]);
    const another = fresh || visit || isAnotherPicture(state, before);
    this.fresh = false;
    this.restored += 1;
    this.linked = false; // until it is known to come from a link
    settled("link");
    this.address.follow(state, before, visit);
    document.body.dataset.mode = this.#scene ? "table" : state.mode;
    const preset = this.presets.find((one) => (this.#boxmanOn ? one.id === "boxman" : this.#scene ? one.scene === this.#scene : one.world === state.world));
    this.presetBar.show(preset?.id);
    byId("undo").disabled = !this.store.past.length;
    byId("redo").disabled = !this.store.future.length;
    this.box.text = this.#boxmanOn ? state.boxman.expression : state.expression;
    this.box.offer(this.#taskNames(state), !this.#boxmanOn, preset?.examples);
    if (!this.#boxmanOn) {
      this.tools.keepHeld(state.world);
      this.panel.show(state.world);
      this.dynamics.show(state.world);
      if (this.#scene) showLayers(state.world);
    } else if (touched("boxman", "mode")) this.boxman.showGame(state.boxman, this.boxmanPreset.skills);
    if (another) this.#forget();
    this.challenge.show(this.#boxmanOn ? null : state.world);
    if (this.#boxmanOn ? touched("boxman", "mode") : touched("world", "expression", "mode", "repaired")) this.#ask(state, another);
    if (this.#boxmanOn) return;
    if (touched("agent", "mode") || another) {
      this.#plan();
      this.lessons.stand(state.agent);
    }
    if (touched("world", "mode") || another) this.acting.draw();
    else this.acting.drawAgent();
  }

  /** The formula has fewer steps than its link says. */
  #stepBack(step, most) {
    this.store.change({ step: most });
    if (this.linked) notify("link", `This link is wrong in a part: step is ${step}, and this task has ${plural(most, "step")}. The last one is shown.`);
  }

  #taskNames(state) {
    if (state.mode === "grid") return state.world.tasks.map((task) => task.name);
    const skills = this.boxmanPreset.skills.find((one) => one.name === state.boxman.skills);
    return skills.tasks;
  }

  /** Ask for the answer to a state. */
  #ask(state, another) {
    if (this.asking.ask(state, another)) this.player.wait();
    else this.#forget("Place a goal to begin: choose the tool Goal and click a cell.");
  }

  /** The answer takes a while: what is shown counts as old. */
  #wait() {
    this.box.mark(null);
    this.#outdate();
    showCaption(this.#boxmanOn ? "Waiting for the network." : "Solving.");
  }

  #solved(answer, { world }) {
    const overTime = isOverTime(answer);
    document.body.dataset.kind = overTime ? "formula" : "task";
    this.#accept(answer, overTime ? null : world);
    this.acting.take(answer, world);
    this.challenge.judge(answer);
    if (overTime) showFormula(world, answer);
    else {
      showMeaning(answer);
      showSlices(world, projected(world, answer));
    }
    this.certificate.show(answer, world);
    this.lessons.take(answer, world, this.store.state.agent);
    this.#plan();
    this.acting.look();
    this.acting.draw();
  }

  #played(answer) {
    this.game = answer;
    this.#accept(answer, null);
    showMeaning(answer);
    this.boxman.show(answer);
    this.player.load(answer.rewards, answer.optimum);
    showCaption(boxmanCaption(answer));
  }

  #accept(answer, world) {
    this.box.mark(null);
    result.current(answer);
    showNotes(answer.notes, world, () => this.panel.makeMinimal());
    settled("server");
  }

  /** Show an error where it belongs, and what is old as such. */
  #refused(error) {
    this.challenge.judge(null);
    this.#outdate();
    showCaption("");
    this.box.mark(error.field === "expression" ? error : null);
    if (error.field === "expression" || this.panel.refuse(error) || this.dynamics.refuse(error)) settled("server");
    else notify("server", capitalised(error.message));
  }

  /** Nothing of an older answer stays on the page. */
  #forget(caption = "") {
    this.game = null;
    delete document.body.dataset.kind;
    this.acting.forget();
    this.certificate.forget();
    this.lessons.forget(!this.#boxmanOn && !this.store.state.world.goals.length);
    this.challenge.judge(null);
    if (this.#boxmanOn) this.map.described = null;
    this.boxman.forget();
    settled("server");
    this.box.mark(null);
    result.nothing(this.#boxmanOn || this.store.state.world.goals.length ? "" : "There is no goal yet.");
    this.acting.hush();
    this.acting.draw();
    showCaption(caption);
  }

  /** What is shown is not the newest answer: it is dimmed, or gone if it is of another world. */
  #outdate() {
    if (this.#boxmanOn ? !this.game : !isSamePlace(this.acting.world, this.store.state.world)) this.#forget();
    else {
      this.player.clear();
      this.acting.hush();
      result.old();
    }
  }

  #plan() {
    this.acting.plan(!this.asking.pending);
  }

  // ---- from the page to the state -------------------------------------------------------------

  #choosePreset(preset) {
    const world = preset.scene && worldOf(preset.scene);
    const patch = world
      ? { mode: "grid", world: withLayer(world, preset.scene.layer[preset.scene.first]), expression: preset.expression, agent: firstState(world) }
      : preset.world
      ? { mode: "grid", world: preset.world, expression: preset.expression, agent: nearestFree(preset.world, [1, 1]) }
      : { mode: "boxman" };
    this.store.change(patch, { undoable: true, visit: true });
  }

  #setExpression(text) {
    const { boxman } = this.store.state;
    this.store.change(this.#boxmanOn ? { boxman: { ...boxman, expression: text } } : { expression: text });
  }

  /** Put the agent into the state on a cell of the layer that is shown. */
  #stand(cell) {
    const agent = agentAt(this.acting.view, cell);
    if (agent) this.store.change({ agent, world: this.acting.view });
    else say("No state is shown there.");
  }

  /** Someone wants to see another layer than that of the agent. */
  #seeLayer(layer) {
    this.acting.see(layer);
    const { answer, view } = this.acting;
    if (answer && !isOverTime(answer)) showSlices(view, projected(view, answer));
  }

  #chooseTool(tool) {
    if (!tool) return false;
    document.querySelector(`#tools input[value="${tool}"]`).checked = true;
    this.tools.choose(tool);
    byId("map").classList.toggle("paints", tool !== "agent");
    this.acting.draw();
    announce(`Tool: ${tool}`);
    return true;
  }

  /** Use a tool, and show what it holds. */
  #hand(work) {
    const held = this.tools.held;
    work();
    if (this.tools.held !== held) this.acting.draw();
  }

  #listen() {
    listenToKeep({
      link: () => this.address.of(this.store.state),
      blocked: (link) => notify("link", `Copy this link: ${link}`),
      answer: () => (this.#boxmanOn ? this.game : this.acting.answer),
      picture: () => this.acting.picture,
      screen: () => (this.#boxmanOn ? this.boxman.blob() : null),
    });
    byId("tools").addEventListener("change", (event) => this.#chooseTool(event.target.value));
    byId("show").addEventListener("change", (event) => {
      this.acting.show = event.target.value;
      this.acting.draw();
    });
    byId("layer").addEventListener("change", (event) => this.#seeLayer(Number(event.target.value)));
    listenToHistory(this.store);
    watchStrips();
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault(); // the hash holds the state
      byId("expression").focus();
    });
  }
}
