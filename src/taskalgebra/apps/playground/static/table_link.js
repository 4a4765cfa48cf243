// A table world in the address: #table=taxi&task=north+%26+west&state=42, with the base tasks if they
// are not those of the scene.

import { scene as askScene } from "./api.js";
import { listed } from "./dom.js";
import { fail, failAsGone, failAt, numberFrom } from "./link_parts.js";
import { quoted } from "./names.js";
import { agentOf, withLayer, worldOf } from "./scene.js";
import { LIMITS, isName } from "./world.js";

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** The agent where the page puts it at first. */
export const firstState = (world) => agentOf(world, world.scene.first);

/** Write a state of the page into a query. */
export function writeTable(query, { world, expression, agent }) {
  const { scene, tasks } = world;
  const names = scene.goals.map((goal) => goal.name);
  query.set("table", scene.id);
  if (!same(tasks, scene.tasks)) query.set("tasks", JSON.stringify(tasks.map((task) => [task.name, ...task.goals.map((name) => names.indexOf(name))])));
  query.set("task", expression);
  if (agent) query.set("state", agent[2]);
}

/** The scene of a world that `ta.playground` opened; it ends with its program. */
const opened = (id) => askScene(id).catch((error) => (error.field === "world.table" ? failAsGone() : fail(error.message)));

/** The state that a link holds. */
export async function readTable(parts, presets) {
  const id = parts.get("table");
  const preset = presets.find((one) => one.scene?.id === id);
  if (!preset && !id.startsWith("own-")) failAt("table", id, listed(presets.filter((one) => one.scene).map((one) => one.id), "or"));
  const scene = preset?.scene ?? (await opened(id));
  const tasks = parts.lesser("tasks", "base tasks, each a name and numbers of goals", (text) => tasksOf(scene, JSON.parse(text))) ?? scene.tasks;
  const shown = worldOf(scene, tasks, scene.layer[scene.first]);
  const known = (text) => (agentOf(shown, numberFrom(0)(text)) ? Number(text) : null);
  const state = parts.lesser("state", "the number of a state on the map", known) ?? scene.first;
  const world = withLayer(shown, scene.layer[state]);
  return { mode: "grid", world, expression: parts.get("task") ?? preset?.expression ?? (tasks.length ? quoted(tasks[0].name) : "true"), agent: agentOf(world, state) };
}

/** Base tasks out of a link, or null. */
function tasksOf(scene, given) {
  if (!given.every(([, ...goals]) => goals.every(Number.isInteger))) return null;
  const tasks = given.map(([name, ...goals]) => ({ name, goals: goals.map((goal) => scene.goals[goal].name) }));
  const names = new Set(tasks.map(({ name }) => name));
  const usable = tasks.every(({ name, goals }) => isName(name) && new Set(goals).size === goals.length);
  return usable && names.size === tasks.length && tasks.length <= LIMITS.tasks ? tasks : null;
}
