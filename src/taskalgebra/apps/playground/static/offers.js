// A task to see a lesson with, where it does not apply to the task of the page.

import { h } from "./dom.js";
import { namesIn, quoted } from "./names.js";

/** A Boolean task without negation over base tasks, those first that a text names; null without any. */
export function plainTask({ tasks }, text) {
  const named = namesIn(text);
  const wanted = [...named.flatMap((name) => tasks.filter((task) => task.name === name)), ...tasks];
  const [one, two] = [...new Set(wanted)];
  if (!two) return one ? quoted(one.name) : null;
  const meet = one.goals.some((goal) => two.goals.includes(goal));
  return `${quoted(one.name)} ${meet ? "&" : "|"} ${quoted(two.name)}`;
}

/** Words, and a button that writes such a task into the field. */
export function offer(words, world, text, chosen) {
  const task = plainTask(world, text);
  if (task === null || task === text.trim()) return h("span", {}, words);
  return h("span", { class: "offer" }, `${words} Try `, h("button", { type: "button", onclick: () => chosen(task) }, task));
}
