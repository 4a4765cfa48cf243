// The state in the address, after the #.
//
//   #world=four-rooms&task=top+%5E+left&agent=1.1      an unchanged preset
//   #map=eJxT…&task=…&agent=…                           any other world, compressed
//   #table=taxi&task=…&state=42                        a world that is not drawn
//   #boxman=boxman-random&task=…&seed=3&agent=2.5       Boxman
//
// step=3 shows a step of the formula, and repaired=1 the agent after its repair; Boxman has neither.
//
// A compressed world ends in a checksum (zlib's), so that a damaged link is noticed.

import { listed } from "./dom.js";
import { Parts, fail, failAt, numberFrom } from "./link_parts.js";
import { readTable, writeTable } from "./table_link.js";
import { WorldError, checked, isFree } from "./world.js";

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
  if (state.mode === "boxman") writeBoxman(query, state.boxman);
  else {
    if (state.world.scene) writeTable(query, state);
    else await writeDrawing(query, state, presets);
    if (state.step) query.set("step", state.step);
    if (state.repaired) query.set("repaired", 1);
  }
  return `#${query}`;
}

function writeBoxman(query, { skills, expression, seed, agent }) {
  query.set("boxman", skills);
  query.set("task", expression);
  query.set("seed", seed);
  if (agent) query.set("agent", agent.join("."));
}

async function writeDrawing(query, { world, expression, agent }, presets) {
  const preset = presets.find((one) => one.world && pack(one.world) === pack(world));
  if (preset) query.set("world", preset.id);
  else query.set("map", await deflated(pack(world)));
  query.set("task", expression);
  if (agent) query.set("agent", agent.join("."));
}

/**
 * The part of the state that a hash holds, with `wrong`, a sentence about parts that were left out, or
 * null; nothing else for an empty hash; a ShareError if nothing can be shown.
 */
export async function decode(hash, presets) {
  if (hash.length < 2) return { wrong: null };
  const parts = new Parts(new URLSearchParams(hash.slice(1)));
  const kind = Object.keys(READ).find((name) => parts.get(name) !== null) ?? fail("it names no world, as #world=four-rooms does");
  const found = await READ[kind](parts, presets);
  const step = parts.lesser("step", "a number from 1", numberFrom(1));
  const repaired = parts.lesser("repaired", "1", (text) => text === "1" || null) ?? false;
  return { ...found, repaired, ...(step && { step }), wrong: parts.wrong };
}

/** How a link is read, by the part that names its world. */
const READ = { table: readTable, boxman: boxmanOf, map: drawingOf, world: presetOf };

function boxmanOf(parts, presets) {
  const skills = parts.get("boxman");
  const known = presets.find((one) => one.id === "boxman")?.skills ?? fail("boxman is not part of this page");
  if (!known.some((one) => one.name === skills)) failAt("boxman", skills, listed(known.map((one) => one.name), "or"));
  const expression = parts.get("task") ?? fail("task is missing");
  const seed = parts.lesser("seed", "a whole number", numberFrom(0)) ?? 0;
  return { mode: "boxman", boxman: { skills, expression, seed, agent: parts.lesser("agent", CELL, cellOf) } };
}

async function drawingOf(parts) {
  const world = await unpacked(parts.get("map"));
  return drawn(parts, world, parts.get("task") ?? fail("task is missing"));
}

async function unpacked(text) {
  try {
    return unpack(await inflated(text));
  } catch (error) {
    return fail(error instanceof WorldError ? `map holds a world in which ${error.message}` : "map is damaged or cut off");
  }
}

function presetOf(parts, presets) {
  const id = parts.get("world");
  const preset = presets.find((one) => one.world && one.id === id) ?? failAt("world", id, listed(presets.filter((one) => one.world).map((one) => one.id), "or"));
  return drawn(parts, preset.world, parts.get("task") ?? preset.expression);
}

/** A drawn world with the agent of a link. */
function drawn(parts, world, expression) {
  const free = (text) => [cellOf(text)].find((cell) => cell && isFree(world, cell)) ?? null;
  return { mode: "grid", world, expression, agent: parts.lesser("agent", CELL, free) };
}

const CELL = "row and column of a free cell, such as 1.1";
const cellOf = (text) => (/^\d{1,3}\.\d{1,3}$/.test(text) ? text.split(".").map(Number) : null);
