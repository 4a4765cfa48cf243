// The worlds to start from, one of them chosen.

import { byId, h } from "./dom.js";

export class PresetBar {
  /** choose(preset): someone wants it. */
  constructor(presets, choose) {
    this.field = byId("presets");
    this.chosen = undefined;
    this.field.append(...presets.map((one) => h("label", { title: one.available === false ? one.reason : null },
      h("input", { type: "radio", name: "preset", value: one.id, disabled: one.available === false, onchange: () => choose(one) }),
      h("span", {}, one.title))));
  }

  /** Mark a preset by its id; undefined for a world of one's own. */
  show(id) {
    if (this.chosen === id) return;
    this.chosen = id;
    for (const input of this.field.querySelectorAll("input")) {
      input.checked = input.value === id;
      const label = input.parentElement;
      if (input.checked) this.field.scrollLeft = label.offsetLeft - (this.field.clientWidth - label.clientWidth) / 2;
    }
  }
}
