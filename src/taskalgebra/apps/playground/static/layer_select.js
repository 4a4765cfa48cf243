// The layers of a scene, one of which the map shows.

import { byId, h } from "./dom.js";

let shown = null; // the scene whose layers are offered

export function showLayers({ scene, layer }) {
  const select = byId("layer");
  if (shown !== scene) select.replaceChildren(...scene.layers.map((name, i) => h("option", { value: String(i) }, name)));
  shown = scene;
  select.value = String(layer);
  byId("layer-part").hidden = scene.layers.length < 2;
}
