// The table of goals and base tasks, the size of the map, and the rewards.

import { byId, h, rebuild } from "./dom.js";
import { renamed } from "./names.js";
import * as worlds from "./world.js";

export class WorldPanel {
  constructor(store, say) {
    Object.assign(this, { store, say });
  }

  show(world) {
    if (this.shown && isSame(this.shown, world)) return; // painting walls changes nothing here
    this.shown = world;
    const { LIMITS } = worlds;
    rebuild(byId("world"),
      h("div", { class: "scroll" }, world.goals.length || world.tasks.length ? this.#table(world) : null),
      h("div", { class: "row spaced" },
        h("button", { type: "button", "data-key": "add-task", disabled: world.tasks.length >= LIMITS.tasks, onclick: () => this.#edit(worlds.addTask(this.store.state.world)) }, "Add a base task"),
        world.goals.length ? null : h("span", { class: "note" }, "Choose the tool Goal and click a cell.")),
      this.#sizes(world));
  }

  #table(world) {
    const heads = world.tasks.map((task, i) => h("th", { scope: "col" },
      h("input", { type: "text", value: task.name, maxlength: worlds.LIMITS.name, "aria-label": `Name of base task ${i + 1}`, "data-key": `task-${i}`, onchange: (event) => this.#renameTask(task.name, event.target) })));
    const rows = world.goals.map((goal, i) => h("tr", {},
      h("th", { scope: "row" }, h("div", { class: "goal" },
        h("input", { type: "color", value: goal.color, "aria-label": `Colour of ${goal.name}`, "data-key": `colour-${i}`, onchange: (event) => this.#edit(worlds.changeGoal(this.store.state.world, goal.name, { color: event.target.value })) }),
        h("input", { type: "text", value: goal.name, maxlength: worlds.LIMITS.name, "aria-label": `Name of goal ${i + 1}`, "data-key": `goal-${i}`, onchange: (event) => this.#renameGoal(goal.name, event.target) }))),
      world.tasks.map((task, k) => h("td", {}, h("label", {},
        h("input", { type: "checkbox", checked: task.goals.includes(goal.name), "aria-label": `${task.name} wants ${goal.name}`, "data-key": `tick-${i}-${k}`, onchange: () => this.#edit(worlds.tick(this.store.state.world, task.name, goal.name)) })))),
      h("td", {}, this.#cross(`Remove goal ${goal.name}`, `cross-goal-${i}`, () => worlds.removeGoal(this.store.state.world, goal.name)))));
    const crosses = h("tr", {}, h("td", {}),
      world.tasks.map((task, k) => h("td", {}, this.#cross(`Remove base task ${task.name}`, `cross-task-${k}`, () => worlds.removeTask(this.store.state.world, task.name)))),
      h("td", {}));
    return h("table", { class: "ticks" },
      h("caption", {}, "Tick the goals that each base task wants"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Goal"), heads, h("th", { scope: "col" }, h("span", { class: "hidden" }, "Remove")))),
      h("tbody", {}, rows),
      world.tasks.length ? h("tfoot", {}, crosses) : null);
  }

  #cross(label, key, edited) {
    return h("button", { type: "button", class: "cross", "aria-label": label, title: label, "data-key": key, onclick: () => this.#edit(edited()) }, "✕");
  }

  #sizes(world) {
    const side = (label, key, value, apply) => h("label", {}, label,
      h("input", { type: "number", min: 3, max: worlds.LIMITS.side, step: 1, value, "data-key": key, onchange: (event) => {
        const size = Math.round(event.target.valueAsNumber);
        if (size >= 3 && size <= worlds.LIMITS.side) this.#resize(...apply(size));
        else this.#refuse(event.target, value, `A map has 3 to ${worlds.LIMITS.side} rows and columns.`);
      } }));
    const reward = (label, key, value) => h("label", {}, label,
      h("input", { type: "number", step: "any", value, "data-key": key, onchange: (event) => {
        const number = event.target.valueAsNumber;
        if (Number.isFinite(number) && Math.abs(number) <= worlds.LIMITS.reward) this.#edit({ ...this.store.state.world, [key]: number });
        else this.#refuse(event.target, value, `A reward is a number from −${worlds.LIMITS.reward} to ${worlds.LIMITS.reward}.`);
      } }));
    const [rows, columns] = [worlds.nRows(world), worlds.nColumns(world)];
    return [
      h("fieldset", { class: "sizes" }, h("legend", {}, "Size of the map"),
        side("Rows", "rows", rows, (size) => [size, columns]),
        side("Columns", "columns", columns, (size) => [rows, size])),
      h("fieldset", { class: "sizes" }, h("legend", {}, "Rewards"),
        reward("Step", "step_reward", worlds.stepReward(world)),
        reward("Desired goal r_U", "r_universal", worlds.goalReward(world, true)),
        reward("Other goal r_∅", "r_empty", worlds.goalReward(world, false))),
    ];
  }

  #edit(world) {
    this.store.change({ world }, { undoable: true });
  }

  #resize(rows, columns) {
    const { world, agent } = this.store.state;
    const resized = worlds.resize(world, rows, columns);
    const stands = agent && worlds.isFree(resized, agent);
    this.store.change({ world: resized, agent: stands ? agent : worlds.nearestFree(resized, agent ?? [0, 0]) }, { undoable: true });
  }

  #refuse(input, value, sentence) {
    input.value = value;
    this.say(sentence);
  }

  #isNew(input, old, names, kind) {
    const name = input.value.trim();
    if (name && (name === old || !names.includes(name))) return name === old ? (input.value = old, null) : name;
    this.#refuse(input, old, name ? `There is already a ${kind} called ${name}.` : `A ${kind} needs a name.`);
    return null;
  }

  #renameTask(old, input) {
    const { world, expression } = this.store.state;
    const name = this.#isNew(input, old, world.tasks.map((task) => task.name), "task");
    if (name) this.store.change({ world: worlds.renameTask(world, old, name), expression: renamed(expression, old, name) }, { undoable: true });
  }

  #renameGoal(old, input) {
    const { world } = this.store.state;
    const name = this.#isNew(input, old, world.goals.map((goal) => goal.name), "goal");
    if (name) this.#edit(worlds.changeGoal(world, old, { name }));
  }
}

/** Whether two worlds look the same in this panel. */
function isSame(one, other) {
  const shown = (world) => [
    world.goals, world.tasks, worlds.nRows(world), worlds.nColumns(world),
    worlds.stepReward(world), worlds.goalReward(world, true), worlds.goalReward(world, false),
  ];
  const others = shown(other);
  return shown(one).every((part, i) => part === others[i]);
}
