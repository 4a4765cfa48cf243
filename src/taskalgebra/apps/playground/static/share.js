// The state in the address, after the #.
//
//   #world=four-rooms&task=top+%5E+left&agent=1.1      an unchanged preset
//   #map=eJxT…&task=…&agent=…                           any other world, compressed
//   #table=taxi&task=…&state=42                        a world that is not drawn
//   #boxman=boxman-random&task=…&seed=3&agent=2.5       Boxman
//
// A compressed world ends in a checksum (zlib's), so that a damaged link is noticed.

import { readTable, writeTable } from "./table_link.js";
import { checked, isFree } from "./world.js";

export class ShareError extends Error {}

const DAMAGED = "This link is damaged; this is the default world instead.";
const GONE = "This link shows the world of a program that has ended; this is the default world instead.";

const pack = (world) =>
  JSON.stringify([
    world.map,
    world.goals.map((goal) => [goal.name, ...goal.cell, goal.color.slice(1)]),
    world.tasks.map((task) => [task.name, task.goals.map((name) => world.goals.findIndex((goal) => goal.name === name))]),
    [world.step_reward ?? null, world.r_universal ?? null, world.r_empty ?? null],
    ...(world.touch || world.slip ? [Boolean(world.touch)] : []),
    ...(world.slip ? [world.slip] : []),
  ]);

function unpack(text) {
  const [map, goals, tasks, rewards, touch, slip] = JSON.parse(text);
  const world = {
    map,
    goals: goals.map(([name, row, column, color]) => ({ name, cell: [row, column], color: `#${color}` })),
    tasks: tasks.map(([name, desired]) => ({ name, goals: desired.map((index) => goals[index][0]) })),
  };
  ["step_reward", "r_universal", "r_empty"].forEach((key, index) => {
    if (rewards[index] !== null) world[key] = rewards[index];
  });
  if (touch !== undefined) world.touch = touch;
  if (slip !== undefined) world.slip = slip;
  return checked(world);
}

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function deflated(text) {
  const bytes = await through(new CompressionStream("deflate"), new TextEncoder().encode(text));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function inflated(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new TextDecoder().decode(await through(new DecompressionStream("deflate"), bytes));
}

/** The hash of a state, with the #. */
export async function encode(state, presets) {
  const query = new URLSearchParams();
  const set = (key, value) => value !== null && value !== undefined && query.set(key, value);
  if (state.mode === "boxman") {
    const { skills, expression, seed, agent } = state.boxman;
    query.set("boxman", skills);
    query.set("task", expression);
    query.set("seed", seed);
    set("agent", agent?.join("."));
  } else if (state.world.scene) writeTable(query, state);
  else {
    const preset = presets.find((one) => one.world && pack(one.world) === pack(state.world));
    if (preset) query.set("world", preset.id);
    else query.set("map", await deflated(pack(state.world)));
    query.set("task", state.expression);
    set("agent", state.agent?.join("."));
  }
  return `#${query}`;
}

function cellOf(text) {
  if (text === null) return null;
  if (!/^\d{1,3}\.\d{1,3}$/.test(text)) throw new ShareError(DAMAGED);
  return text.split(".").map(Number);
}

/** The part of the state that a hash holds, or null for an empty hash; a ShareError if damaged. */
export async function decode(hash, presets) {
  if (hash.length < 2) return null;
  try {
    const query = new URLSearchParams(hash.slice(1));
    if (query.has("table")) return await tableOf(query, presets);
    const agent = cellOf(query.get("agent"));
    const expression = query.get("task");
    if (expression === null) throw new ShareError(DAMAGED);
    if (query.has("boxman")) {
      const skills = query.get("boxman");
      const known = presets.find((one) => one.id === "boxman")?.skills ?? [];
      const seed = Number(query.get("seed") ?? 0);
      if (!known.some((one) => one.name === skills) || !Number.isSafeInteger(seed) || seed < 0) throw new ShareError(DAMAGED);
      return { mode: "boxman", boxman: { skills, expression, seed, agent } };
    }
    const world = query.has("map")
      ? unpack(await inflated(query.get("map")))
      : presets.find((one) => one.world && one.id === query.get("world"))?.world;
    if (!world || (agent && !isFree(world, agent))) throw new ShareError(DAMAGED);
    return { mode: "grid", world, expression, agent };
  } catch (error) {
    throw error instanceof ShareError ? error : new ShareError(DAMAGED);
  }
}

/** What a link to a table holds; worlds of `ta.playground` end with their program. */
async function tableOf(query, presets) {
  try {
    return await readTable(query, presets);
  } catch (error) {
    throw new ShareError(error.field === "world.table" && query.get("table").startsWith("own-") ? GONE : DAMAGED);
  }
}
