// The interactive map: pointer and keyboard events become cells.  For screen readers it is a grid in
// which only the current cell exists, since a map may have 16,000 cells.

import { byId, capitalised, figure, h, s } from "./dom.js";
import { drawAgent, drawCursor, drawGoals, drawMap, drawWay } from "./picture.js";
import { labelsOf } from "./labels.js";
import { ACTIONS, KEYS, STAY, goalAt, indexOf, isFree, nColumns, nRows, place, same } from "./world.js";

export class MapView {
  /** hands: {down(cell), drag(cell), up(cell), tool(letter)}. */
  constructor(hands) {
    this.root = byId("map");
    this.hands = hands;
    this.cursor = [1, 1];
    this.layers = { map: s("g"), way: s("g"), marks: s("g"), goals: s("g"), agent: s("g"), cursor: s("g") };
    this.words = new Map(); // more about goals, by name
    this.svg = s("svg", { "aria-hidden": "true", focusable: "false" }, Object.values(this.layers));
    this.row = h("div", { role: "row", class: "hidden" });
    this.root.append(this.svg, this.row);
    this.#listen();
  }

  /** Draw everything. */
  show({ world, solution, show, walk, taken, held }) {
    Object.assign(this, { world, solution, held });
    this.cursor = [Math.min(this.cursor[0], nRows(world) - 1), Math.min(this.cursor[1], nColumns(world) - 1)];
    this.svg.setAttribute("viewBox", `0 0 ${nColumns(world)} ${nRows(world)}`);
    this.root.style.setProperty("--ratio", nColumns(world) / nRows(world));
    this.root.setAttribute("aria-rowcount", nRows(world));
    this.root.setAttribute("aria-colcount", nColumns(world));
    this.layers.map.replaceChildren(...drawMap(world, solution, show));
    this.layers.goals.replaceChildren(drawGoals(world, solution));
    this.showAgent(walk, taken);
    this.#showCursor();
    if (this.described && held === null) this.#readOut(this.described);
  }

  /** Draw only the agent and its path. */
  showAgent(walk, taken) {
    this.standing = walk.cells[taken] ?? null;
    this.layers.way.replaceChildren(drawWay(walk, taken));
    this.layers.agent.replaceChildren(...(this.standing ? [drawAgent(this.standing)] : []));
  }

  /** Draw something over the goals, and say more about some of them. */
  mark(elements, words) {
    this.layers.marks.replaceChildren(...elements);
    this.words = words;
    if (this.world) this.#showCursor();
  }

  /** A cell in words: what is there, its value, and what the agent does. */
  describe(cell) {
    const words = [];
    const goal = goalAt(this.world, cell);
    if (!isFree(this.world, cell)) words.push(this.world.edges ? "nothing" : "wall");
    else {
      const thing = this.world.things?.find((one) => same(one.cell, cell));
      if (thing) words.push(thing.name);
      const number = goal && labelsOf(this.world).numbered ? `${this.world.goals.indexOf(goal) + 1}, ` : "";
      if (goal) words.push(`goal ${number}${goal.name}`);
      if (goal && this.solution) words.push(this.solution.marks?.get(goal.name) ?? (this.solution.desired.includes(goal.name) ? "desired" : "not desired"));
      if (goal && this.words.has(goal.name)) words.push(this.words.get(goal.name));
      if (this.standing && indexOf(this.world, cell) === indexOf(this.world, this.standing)) words.push("agent");
      const at = indexOf(this.world, cell);
      if (!this.solution) return capitalised(`${place(cell)}: ${words.join(", ") || "floor"}`);
      const value = this.solution.values[at] ?? null;
      const action = this.solution.actions[at] ?? null;
      if (value === null) words.push(this.solution.without?.(at) ?? "no goal can be reached");
      else words.push(`value ${figure(value)}`, this.world.actionNames ? `does ${this.world.actionNames[action]}` : action === STAY ? (goal ? "takes the goal" : "stays") : `goes ${ACTIONS[action]}`);
    }
    return capitalised(`${place(cell)}: ${words.join(", ")}`);
  }

  #showCursor() {
    const [row, column] = this.cursor;
    const id = `cell-${row}-${column}`;
    this.layers.cursor.replaceChildren(drawCursor(this.cursor, this.held !== null));
    this.row.setAttribute("aria-rowindex", row + 1);
    this.row.replaceChildren(
      h("span", { role: "gridcell", id, "aria-colindex": column + 1 }, this.describe(this.cursor)),
    );
    this.root.setAttribute("aria-activedescendant", id);
  }

  #cellOf(event) {
    const box = this.svg.getBoundingClientRect();
    const [rows, columns] = [nRows(this.world), nColumns(this.world)];
    // The picture keeps its proportions, so there may be empty space at its sides.
    const side = Math.min(box.width / columns, box.height / rows);
    const x = (event.clientX - box.left - (box.width - side * columns) / 2) / side;
    const y = (event.clientY - box.top - (box.height - side * rows) / 2) / side;
    const cell = [Math.floor(y), Math.floor(x)];
    return cell[0] >= 0 && cell[1] >= 0 && cell[0] < rows && cell[1] < columns ? cell : null;
  }

  #readOut(cell) {
    this.described = cell;
    byId("readout").textContent = cell ? this.describe(cell) : "";
  }

  #listen() {
    let last = null;
    this.root.addEventListener("pointerdown", (event) => {
      const cell = this.#cellOf(event);
      if (!cell || event.button !== 0) return;
      if (event.pointerType === "mouse" || this.root.classList.contains("paints")) this.root.setPointerCapture(event.pointerId);
      last = cell;
      this.cursor = cell;
      this.#readOut(cell);
      this.hands.down(cell);
    });
    this.root.addEventListener("pointermove", (event) => {
      const cell = this.#cellOf(event);
      if (last && cell && (cell[0] !== last[0] || cell[1] !== last[1])) {
        for (const between of cellsBetween(last, cell)) this.hands.drag(between);
        last = cell;
        this.cursor = cell;
        this.#showCursor();
      }
      if (!cell || !this.described || !same(cell, this.described)) this.#readOut(cell); // keep what a tool said
    });
    const end = (event) => {
      if (last) this.hands.up(event.type === "pointerup" ? last : null);
      last = null;
    };
    this.root.addEventListener("pointerup", end);
    this.root.addEventListener("pointercancel", end);
    this.root.addEventListener("pointerleave", () => this.#readOut(null));
    this.root.addEventListener("focus", () => this.root.matches(":focus-visible") && this.#readOut(this.cursor));
    this.root.addEventListener("blur", () => this.#readOut(null));
    this.root.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [rows, columns] = [nRows(this.world), nColumns(this.world)];
    const move = KEYS[event.key];
    if (move) {
      const to = [this.cursor[0] + move[0], this.cursor[1] + move[1]];
      if (to[0] >= 0 && to[1] >= 0 && to[0] < rows && to[1] < columns) this.cursor = to;
      if (event.shiftKey) this.hands.drag(this.cursor);
    } else if (event.key === "Home") this.cursor = [this.cursor[0], 0];
    else if (event.key === "End") this.cursor = [this.cursor[0], columns - 1];
    else if (event.key === "PageUp") this.cursor = [0, this.cursor[1]];
    else if (event.key === "PageDown") this.cursor = [rows - 1, this.cursor[1]];
    else if (event.key === "Enter" || event.key === " ") {
      this.hands.down(this.cursor);
      this.hands.up(this.cursor);
    } else if (!this.hands.tool(event.key.toLowerCase())) return;
    event.preventDefault();
    this.#showCursor();
    this.#readOut(this.cursor);
  }
}

/** The cells on the line from one cell to another, without the first. */
function* cellsBetween([row, column], [toRow, toColumn]) {
  const count = Math.max(Math.abs(toRow - row), Math.abs(toColumn - column));
  for (let i = 1; i <= count; i += 1) {
    yield [Math.round(row + ((toRow - row) * i) / count), Math.round(column + ((toColumn - column) * i) / count)];
  }
}
