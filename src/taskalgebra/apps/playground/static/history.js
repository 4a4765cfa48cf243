// Undo, redo and clear: their buttons, and the keys of the first two.

import { byId } from "./dom.js";
import { cleared, nearestFree } from "./world.js";

export function listenToHistory(store) {
  const onClick = (id, action) => byId(id).addEventListener("click", action);
  onClick("undo", () => store.undo());
  onClick("redo", () => store.redo());
  onClick("clear", () => {
    const world = cleared(store.state.world);
    store.change({ world, agent: nearestFree(world, store.state.agent ?? [1, 1]) }, { undoable: true });
  });
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.matches("textarea, input[type=text], input[type=number]")) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    if (key === "y" || event.shiftKey) store.redo();
    else store.undo();
  });
}
