// Remarks under the task: those of the answer, and goals that no base task tells apart.

import { byId, capitalised, h, listed, plural } from "./dom.js";
import { alike, nMinimal } from "./world.js";

/** mend(): make the minimal set of base tasks; null where there is nothing to mend. */
export function showNotes(notes, world, mend) {
  const hint = world && hintOf(world);
  byId("notes").replaceChildren(
    ...(notes ?? []).map((note) => h("p", {}, capitalised(note))),
    ...(hint ? [h("p", {}, hint, " ", h("button", { type: "button", onclick: mend }, `Make the minimal set (${plural(nMinimal(world.goals.length), "base task")})`))] : []),
  );
}

const few = (names) => (names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more goals` : listed(names));

/** What the base tasks cannot say about the goals, or null. */
export function hintOf(world) {
  const [group] = alike(world);
  if (group) return `No base task tells ${few(group)} apart, so every task treats them alike.`;
  const [goal] = world.goals;
  const wanted = world.tasks.some((task) => task.goals.length);
  return goal && !wanted ? `No base task wants ${goal.name}.` : null;
}
