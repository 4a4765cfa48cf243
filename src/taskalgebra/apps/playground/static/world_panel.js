// The table of goals and base tasks, the size of the map, and the rewards.

import { byId, capitalised, h, plural, rebuild } from "./dom.js";
import { check, complain, withMessage } from "./fields.js";
import { labelsOf } from "./labels.js";
import { renamed } from "./names.js";
import { hintOf } from "./notes.js";
import * as worlds from "./world.js";

const { LIMITS } = worlds;

/** Fields of a request that the panel shows, and the keys of their inputs. */
const FIELDS = [
  [/^world\.goals\[(\d+)\]\.name$/, "goal-"],
  [/^world\.tasks\[(\d+)\]\.name$/, "task-"],
  [/^world\.(step_reward|r_universal|r_empty)$/, ""],
];

export class WorldPanel {
  constructor(store) {
    this.store = store;
  }

  show(world) {
    if (this.shown && isSame(this.shown, world)) return; // painting walls changes nothing here
    this.shown = world;
    const n = world.goals.length;
    const { numbered } = labelsOf(world);
    rebuild(byId("world"),
      n || world.tasks.length ? h("p", { class: "note", id: "ticks-note" }, `Tick the goals that each base task wants: the row of a goal is its label${numbered ? ", its number stands on the map" : ""}.`) : null,
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of goals and base tasks" }, n || world.tasks.length ? this.#table(world) : null),
      h("div", { class: "row spaced" },
        h("button", { type: "button", "data-key": "add-task", disabled: world.tasks.length >= LIMITS.tasks, onclick: () => this.#edit(worlds.addTask(this.store.state.world)) }, "Add a base task"),
        n ? h("button", { type: "button", "data-key": "minimal", title: "Replace the base tasks by the fewest that tell all goals apart", disabled: isMinimal(world), onclick: () => this.makeMinimal() }, `Minimal set (${plural(worlds.nMinimal(n), "base task")})`) : null,
        h("span", { class: "note" }, n ? hintOf(world) : world.scene ? "" : "Choose the tool Goal and click a cell.")),
      world.scene ? h("p", { class: "note", id: "remark" }, world.scene.remark) : this.#sizes(world));
  }

  /** Replace the base tasks by the minimal set; the task keeps its names or becomes the first one. */
  makeMinimal() {
    const { world, expression } = this.store.state;
    const minimal = worlds.withMinimalTasks(world);
    const same = minimal.tasks.map((task) => task.name).join() === world.tasks.map((task) => task.name).join();
    this.store.change({ world: minimal, expression: same ? expression : minimal.tasks[0].name }, { undoable: true });
  }

  /** Show a mistake that the server found at its input; false if the panel has none for it. */
  refuse({ field, message }) {
    for (const [pattern, prefix] of FIELDS) {
      const match = pattern.exec(field ?? "");
      const input = match && byId("world").querySelector(`[data-key="${prefix}${match[1]}"]`);
      if (!input) continue;
      complain(input, capitalised(message));
      return true;
    }
    return false;
  }

  #table(world) {
    const name = (kind, i, value) => h("input", { type: "text", value, maxlength: LIMITS.name, title: value.length > 12 ? value : null, "aria-label": `Name of ${kind === "task" ? "base task" : kind} ${i + 1}`, "data-key": `${kind}-${i}` });
    const named = (kind, input, names, apply) => check(input, ({ value }) => mistakeIn(value.trim(), names, kind), ({ value }) => apply(value.trim()));
    const others = (list, one) => list.filter((other) => other !== one).map((other) => other.name);
    const { numbered } = labelsOf(world);
    const heads = world.tasks.map((task, k) => {
      const input = named("task", name("task", k, task.name), others(world.tasks, task), (to) => this.#renameTask(task.name, to));
      return h("th", { scope: "col" }, withMessage(input));
    });
    const rows = world.goals.map((goal, i) => {
      const input = named("goal", name("goal", i, goal.name), others(world.goals, goal), (to) => this.#renameGoal(goal.name, to));
      if (world.scene) return h("tr", {}, h("th", { scope: "row" }, h("div", { class: "goal given" }, numbered ? h("span", { class: "number" }, String(i + 1)) : null, h("span", { class: "dot desired", style: { color: goal.color } }), h("span", {}, goal.name))), this.#ticks(world, goal, i), h("td", {}));
      return h("tr", {},
        h("th", { scope: "row" }, withMessage(input, h("div", { class: "goal" },
          numbered ? h("span", { class: "number" }, String(i + 1)) : null,
          h("input", { type: "color", value: goal.color, "aria-label": `Colour of ${goal.name}`, "data-key": `colour-${i}`, onchange: (event) => this.#edit(worlds.changeGoal(this.store.state.world, goal.name, { color: event.target.value })) }),
          input))),
        this.#ticks(world, goal, i),
        h("td", {}, this.#cross(`Remove goal ${goal.name}`, `cross-goal-${i}`, () => worlds.removeGoal(this.store.state.world, goal.name))));
    });
    const crosses = h("tr", {}, h("td", {}),
      world.tasks.map((task, k) => h("td", {}, this.#cross(`Remove base task ${task.name}`, `cross-task-${k}`, () => worlds.removeTask(this.store.state.world, task.name)))),
      h("td", {}));
    return h("table", { class: "ticks", "aria-describedby": "ticks-note" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Goal"), heads, h("th", { scope: "col" }, h("span", { class: "hidden" }, "Remove")))),
      h("tbody", {}, rows),
      world.tasks.length ? h("tfoot", {}, crosses) : null);
  }

  /** Which base tasks want a goal. */
  #ticks(world, goal, i) {
    return world.tasks.map((task, k) => h("td", {}, h("label", {},
      h("input", { type: "checkbox", checked: task.goals.includes(goal.name), "aria-label": `${task.name} wants ${goal.name}`, "data-key": `tick-${i}-${k}`, onchange: () => this.#edit(worlds.tick(this.store.state.world, task.name, goal.name)) }))));
  }

  #cross(label, key, edited) {
    return h("button", { type: "button", class: "cross", "aria-label": label, title: label, "data-key": key, onclick: () => this.#edit(edited()) }, "✕");
  }

  #sizes(world) {
    const [rows, columns] = [worlds.nRows(world), worlds.nColumns(world)];
    const side = (label, key, value, apply) => {
      const input = check(
        h("input", { type: "number", min: 3, max: LIMITS.side, step: 1, value, "data-key": key }),
        ({ valueAsNumber: size }) => (Number.isInteger(size) && size >= 3 && size <= LIMITS.side ? null : `A map has 3 to ${LIMITS.side} ${key}.`),
        ({ valueAsNumber: size }) => size !== value && this.#resize(...apply(size)),
      );
      return withMessage(input, h("label", {}, label, input));
    };
    return [
      h("fieldset", { class: "sizes" }, h("legend", {}, "Size of the map"),
        side("Rows", "rows", rows, (size) => [size, columns]),
        side("Columns", "columns", columns, (size) => [rows, size])),
      this.#rewards(world),
      h("label", { class: "check" },
        h("input", { type: "checkbox", checked: Boolean(world.touch), "data-key": "touch", onchange: (event) => this.#edit({ ...this.store.state.world, touch: event.target.checked }) }),
        "Goals are taken by touch: by moving onto them rather than by staying there"),
    ];
  }

  /** The rewards belong together: all three are taken over once they fit. */
  #rewards(world) {
    const shown = [
      ["step_reward", "Step", worlds.stepReward(world)],
      ["r_universal", "Desired goal r_U", worlds.goalReward(world, true)],
      ["r_empty", "Other goal r_∅", worlds.goalReward(world, false)],
    ];
    const inputs = Object.fromEntries(shown.map(([key, , value]) => [key, h("input", { type: "number", step: "any", value, "data-key": key })]));
    const mistake = (input) => mistakeOfReward(input.dataset.key, Object.fromEntries(shown.map(([key]) => [key, inputs[key].valueAsNumber])));
    const accept = () => {
      for (const input of Object.values(inputs)) complain(input, mistake(input));
      if (Object.values(inputs).some(mistake)) return;
      const rewards = Object.fromEntries(shown.map(([key]) => [key, inputs[key].valueAsNumber]));
      if (shown.some(([key, , value]) => rewards[key] !== value)) this.#edit({ ...this.store.state.world, ...rewards });
    };
    return h("fieldset", { class: "sizes" }, h("legend", {}, "Rewards"),
      shown.map(([key, label]) => withMessage(check(inputs[key], mistake, accept), h("label", {}, label, inputs[key]))));
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

  /** A formula over time may name the goal; a base task of the same name comes first. */
  #renameGoal(old, name) {
    const { world, expression } = this.store.state;
    if (name === old) return;
    const named = !world.tasks.some((task) => task.name === old);
    this.store.change({ world: worlds.changeGoal(world, old, { name }), expression: named ? renamed(expression, old, name) : expression }, { undoable: true });
  }

  #renameTask(old, name) {
    const { world, expression } = this.store.state;
    if (name !== old) this.store.change({ world: worlds.renameTask(world, old, name), expression: renamed(expression, old, name) }, { undoable: true });
  }
}

/** What is wrong with a new name, or null. */
function mistakeIn(name, others, kind) {
  if (!name) return `A ${kind} needs a name.`;
  return others.includes(name) ? `There is already a ${kind} called ${name}.` : null;
}

/** What is wrong with one of the rewards, or null. */
function mistakeOfReward(key, rewards) {
  const { step_reward: step, r_universal: desired, r_empty: other } = rewards;
  if (!Number.isFinite(rewards[key]) || Math.abs(rewards[key]) > LIMITS.reward) return `A reward is a number from −${LIMITS.reward} to ${LIMITS.reward}.`;
  if (key === "step_reward") return step <= -LIMITS.cost ? null : "A step must cost something: write a number below 0.";
  return desired <= other ? "A desired goal must pay more than any other." : null;
}

/** Whether the base tasks are a minimal set already. */
const isMinimal = (world) => world.tasks.length === worlds.nMinimal(world.goals.length) && hintOf(world) === null;

/** Whether two worlds look the same in this panel. */
function isSame(one, other) {
  const shown = (world) => [
    world.goals, world.tasks, worlds.nRows(world), worlds.nColumns(world),
    worlds.stepReward(world), worlds.goalReward(world, true), worlds.goalReward(world, false), Boolean(world.touch),
  ];
  const others = shown(other);
  return shown(one).every((part, i) => part === others[i]);
}
