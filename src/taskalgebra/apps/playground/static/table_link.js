// A table world in the address: #table=taxi&task=north+%26+west&state=42, with the base tasks if they
// are not those of the scene.

import { scene as askScene } from "./api.js";
import { agentOf, worldOf } from "./scene.js";

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

/** The state that a query holds; an error if it is damaged, or if there is no such world. */
export async function readTable(query, presets) {
  const id = query.get("table");
  const scene = presets.find((one) => one.scene?.id === id)?.scene ?? (await askScene(id));
  const names = scene.goals.map((goal) => goal.name);
  const given = query.has("tasks") ? JSON.parse(query.get("tasks")) : null;
  const tasks = given?.map(([name, ...goals]) => ({ name: String(name), goals: goals.map((goal) => names[goal]) })) ?? scene.tasks;
  if (tasks.some((task) => task.goals.includes(undefined))) throw new Error("a goal is missing");
  const state = query.has("state") ? Number(query.get("state")) : scene.first;
  if (!(state in scene.cell)) throw new Error("there is no such state");
  const layer = scene.layer[state];
  const world = worldOf(scene, tasks, layer);
  return { mode: "grid", world, expression: query.get("task") ?? "", agent: agentOf(world, state) };
}
