// What the tools do with cells: agent, wall, erase, goal, move.

import * as worlds from "./world.js";

export const TOOLS = { a: "agent", w: "wall", e: "erase", g: "goal", m: "move" };

export class Tools {
  /** say(sentence) reports what could not be done. */
  constructor(store, say) {
    Object.assign(this, { store, say, tool: "agent", held: null, stroke: false });
  }

  choose(tool) {
    this.tool = tool;
    this.held = null;
  }

  /** Put down a goal that is not in the world any more. */
  keepHeld(world) {
    if (!world.goals.some((goal) => goal.name === this.held)) this.held = null;
  }

  down(cell) {
    this.stroke = false;
    this.#use(cell, true);
  }

  drag(cell) {
    if (this.tool === "move" || this.tool === "goal") return;
    this.#use(cell, false);
  }

  /** The end of a stroke; a dragged goal is dropped. */
  up(cell) {
    this.stroke = false;
    if (this.tool === "move" && this.held && cell && !worlds.goalAt(this.store.state.world, cell)) this.#drop(cell);
  }

  #use(cell, first) {
    const { world, agent } = this.store.state;
    if (this.tool === "agent") {
      if (worlds.isFree(world, cell)) this.store.change({ agent: cell });
      else if (first) this.say("The agent cannot be in a wall.");
    } else if (this.tool === "wall") {
      if (worlds.goalAt(world, cell)) first && this.say("There is a goal here; erase or move it first.");
      else if (worlds.same(agent, cell)) first && this.say("The agent is here; move it first.");
      else if (worlds.isFree(world, cell)) this.#edit(worlds.withSymbol(world, cell, worlds.WALL));
    } else if (this.tool === "erase") {
      const goal = worlds.goalAt(world, cell);
      if (goal) this.#edit(worlds.removeGoal(world, goal.name));
      else if (!worlds.isFree(world, cell)) this.#edit(worlds.withSymbol(world, cell, worlds.FREE));
    } else if (this.tool === "goal") {
      if (worlds.goalAt(world, cell)) this.say("There is a goal here already.");
      else if (world.goals.length >= worlds.LIMITS.goals) this.say(`A world has at most ${worlds.LIMITS.goals} goals.`);
      else this.#edit(worlds.addGoal(worlds.withSymbol(world, cell, worlds.FREE), cell));
    } else this.#carry(cell);
  }

  #carry(cell) {
    const { world } = this.store.state;
    const goal = worlds.goalAt(world, cell);
    if (goal) {
      this.held = this.held === goal.name ? null : goal.name;
      this.say(this.held ? `Holding ${goal.name}: choose a free cell for it.` : `${goal.name} stays where it is.`);
    } else if (this.held) this.#drop(cell);
    else this.say("Choose a goal to move.");
  }

  #drop(cell) {
    const { world } = this.store.state;
    if (!worlds.isFree(world, cell)) {
      this.say("A goal cannot be in a wall.");
      return;
    }
    const name = this.held;
    this.held = null;
    this.#edit(worlds.changeGoal(world, name, { cell }));
  }

  /** One stroke is one step of undo. */
  #edit(world) {
    this.store.change({ world }, { undoable: !this.stroke });
    this.stroke = true;
  }
}
