// The page: one state, its listeners, and the requests to the server.

import { Address } from "./address.js";
import { Newest, presets as askPresets } from "./api.js";
import { BoxmanView, caption as boxmanCaption } from "./boxman_view.js";
import { byId, capitalised, figure, h, listed, plural } from "./dom.js";
import { asPng, fileName, pictureFile, save } from "./download.js";
import { ExpressionBox } from "./expression_box.js";
import { MapView } from "./map_view.js";
import { showMeaning } from "./meaning.js";
import { Player } from "./player.js";
import { rangeOf } from "./ramp.js";
import { MOST_NUMBERS, showLegend, showSlices } from "./slices.js";
import { Store } from "./store.js";
import { startTheme } from "./theme.js";
import { TOOLS, Tools } from "./tools.js";
import { episode, total } from "./walk.js";
import { EMPTY_ROOM, ACTIONS, cleared, indexOf, nColumns, nRows, nearestFree, place } from "./world.js";
import { WorldPanel } from "./world_panel.js";

/** Elements that show the last answer, dimmed when it is out of date. */
const OF_ANSWER = ["map", "screen", "slices", "meaning", "caption"];

startTheme();
start();

async function start() {
  let presets;
  try {
    presets = await askPresets();
  } catch (error) {
    notify("server", error.message);
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

class Page {
  constructor(presets) {
    this.presets = presets;
    this.boxmanPreset = presets.find((one) => one.id === "boxman");
    this.address = new Address(presets);
    this.store = new Store(this.#default());
    this.fresh = true; // whether to show everything, not only what changed
    this.solution = null; // the last good answer for a map
    this.game = null; // the last good answer for Boxman
    this.walk = { cells: [], actions: [], rewards: [] };
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
    this.panel = new WorldPanel(this.store, (sentence) => this.#say(sentence));
    this.boxman = new BoxmanView((patch) => this.store.change({ boxman: { ...this.store.state.boxman, ...patch } }));
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
    let state = this.#default();
    let trouble = null;
    try {
      const stored = await this.address.read();
      state = { ...state, ...stored };
      if (stored?.world && stored.agent === null) state.agent = nearestFree(stored.world, [1, 1]);
    } catch (error) {
      trouble = error.message;
    }
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
    const touched = (...keys) => this.fresh || keys.some((key) => state[key] !== before[key]);
    const [boxmanOn, moded] = [this.#boxmanOn, touched("mode")];
    settled("link");
    this.address.follow(state, before, visit);
    document.body.dataset.mode = state.mode;
    this.#showPresets(state);
    byId("undo").disabled = !this.store.past.length;
    byId("redo").disabled = !this.store.future.length;
    this.box.text = boxmanOn ? state.boxman.expression : state.expression;
    this.box.offer(this.#taskNames(state));
    if (boxmanOn) {
      if (moded) this.player.load(this.game?.rewards ?? [], this.game?.optimum ?? null);
      if (touched("boxman") || moded) this.#play(state);
    } else {
      this.panel.show(state.world);
      if (touched("world", "expression") || moded) this.#solve(state);
      if (touched("world")) this.#draw();
      if (touched("agent") || moded) {
        this.#plan();
        this.map.showAgent(this.walk, 0);
      }
    }
    this.fresh = false;
  }

  #taskNames(state) {
    if (state.mode === "grid") return state.world.tasks.map((task) => task.name);
    const skills = this.boxmanPreset.skills.find((one) => one.name === state.boxman.skills);
    return skills.tasks;
  }

  #solve(state) {
    this.gamer.drop();
    if (!state.world.goals.length) {
      this.solver.drop();
      this.solution = null;
      this.box.mark(null);
      this.#draw();
      this.#caption("Place a goal to begin: choose the tool Goal and click a cell.");
      return;
    }
    const { world, expression } = state;
    const slices = nRows(world) * nColumns(world) * world.goals.length <= MOST_NUMBERS;
    this.solver.ask({ world, expression, slices });
  }

  #solved(answer, body) {
    this.solution = answer;
    this.solvedWorld = body.world;
    this.#accept(answer);
    showMeaning(answer);
    showSlices(body.world, answer);
    showLegend(byId("legend"), rangeOf(answer.values));
    this.#plan();
    this.#draw();
  }

  #play(state) {
    this.solver.drop();
    this.boxman.showGame(state.boxman, this.boxmanPreset.skills);
    if (!this.game) this.#caption("Loading the network.");
    this.gamer.ask(state.boxman);
  }

  #played(answer) {
    this.game = answer;
    this.#accept(answer);
    showMeaning(answer);
    this.boxman.show(answer);
    this.player.load(answer.rewards, answer.optimum);
    this.#caption(boxmanCaption(answer));
  }

  #accept(answer) {
    this.box.mark(null);
    for (const id of OF_ANSWER) byId(id).classList.remove("stale");
    document.body.dataset.answer = answer.expression;
    byId("lines").textContent = answer.python;
    settled("server");
  }

  /** Show an error where it belongs, and dim the last good picture. */
  #refused(error) {
    delete document.body.dataset.answer;
    this.player.load([], null);
    for (const id of OF_ANSWER) byId(id).classList.add("stale");
    if (error.field === "expression") this.box.mark(error);
    else {
      this.box.mark(null);
      notify("server", capitalised(error.message));
    }
  }

  /** The episode from the agent's cell. */
  #plan() {
    const { world, agent } = this.store.state;
    const known = this.solution !== null && this.solvedWorld === world;
    this.walk = known ? episode(world, this.solution, agent) : { cells: agent ? [agent] : [], actions: [], rewards: [], ends: false };
    this.player.load(this.walk.ends ? this.walk.rewards : [], known && agent ? this.solution.optimum[indexOf(world, agent)] : null);
    if (known) this.#caption(this.#describe());
  }

  #draw() {
    const { world } = this.store.state;
    const { solution, show, walk } = this;
    const held = this.tools.held;
    this.map.show({ world, solution, show, walk, taken: this.player.taken, held });
  }

  #describe() {
    const { expression, desired } = this.solution;
    const few = desired.length > 6 ? `one of ${desired.length} goals` : listed(desired, "or");
    const aim = desired.length ? `reach ${few}` : "no goal is desired";
    const { agent } = this.store.state;
    if (!agent) return `Task ${expression}: ${aim}.`;
    const from = `From ${place(agent)} the agent`;
    if (!this.walk.ends) return `Task ${expression}: ${aim}. ${from} cannot reach a goal.`;
    const steps = plural(this.walk.actions.length, "step");
    const earned = total(this.walk.rewards);
    const optimum = this.solution.optimum[indexOf(this.store.state.world, agent)];
    const best = Math.abs(earned - optimum) < 1e-6 ? "the optimum" : `the optimum is ${figure(optimum)}`;
    return `Task ${expression}: ${aim}. ${from} takes ${this.walk.goal} in ${steps} and earns ${figure(earned)}, ${best}.`;
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
    this.#say(`Tool: ${tool}`);
    return true;
  }

  /** Use a tool, and show what it holds. */
  #hand(work) {
    const held = this.tools.held;
    work();
    if (this.tools.held !== held) this.#draw();
  }

  #listen() {
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
    onClick("share", () => this.#share());
    onClick("png", () => this.#savePng());
    onClick("svg", () => this.solution && save(fileName(this.solution.expression, "svg"), new Blob([this.#file()], { type: "image/svg+xml" })));
    onClick("copy", async () => {
      const copied = await navigator.clipboard.writeText(byId("lines").textContent).then(() => true, () => false);
      this.#say(copied ? "Copied." : "The browser does not allow copying; select the lines instead.");
    });
    onClick("python", () => {
      const answer = this.#boxmanOn ? this.game : this.solution;
      if (answer) save(fileName(answer.expression, "py"), new Blob([answer.python], { type: "text/x-python" }));
    });
  }

  async #share() {
    const link = await this.address.of(this.store.state);
    const button = byId("share");
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = "Link copied";
    } catch {
      notify("link", `Copy this link: ${link}`);
    }
    this.#say("The link contains the whole state.");
    setTimeout(() => (button.textContent = "Share"), 2500);
  }

  #file() {
    const { world } = this.store.state;
    const { solution, show, walk } = this;
    return pictureFile({ world, solution, show, walk, taken: this.player.taken });
  }

  async #savePng() {
    if (this.#boxmanOn) {
      if (this.game) save(fileName(this.game.expression, "png"), await this.boxman.blob());
    } else if (this.solution) save(fileName(this.solution.expression, "png"), await asPng(this.#file()));
  }
}
