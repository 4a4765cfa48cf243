// The automaton of a formula over time beside the map, or under it where there is no room: the state
// of the agent is lit up, and a state can be chosen to see the map for it.

import { byId, capitalised, h, s } from "./dom.js";

const HIT = 20; // of a state, for fingers and pointers
const MARGIN = 6;
const WIDE = "(min-width: 60rem)";
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export class AutomatonView {
  /** chosen(state): someone wants to see the map for it. */
  constructor(chosen) {
    this.part = byId("automaton-part");
    this.root = byId("automaton");
    this.chosen = chosen;
    this.states = [];
    this.svg = null;
    this.root.addEventListener("click", (event) => {
      const state = event.target.closest?.(".state");
      if (state) this.#choose(state);
    });
    this.root.addEventListener("keydown", (event) => this.#key(event));
    const wide = matchMedia(WIDE);
    const home = this.part.parentElement;
    const put = () => (wide.matches ? home.prepend(this.part) : byId("map").after(this.part));
    wide.addEventListener("change", put);
    put();
  }

  /** Draw an automaton; words(state) says what goals do there. */
  show(answer, words) {
    const { svg, states } = answer.automaton;
    this.part.hidden = false;
    this.words = words;
    if (this.svg === svg) return;
    this.svg = svg;
    const drawn = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
    drawn.querySelector("title").remove(); // a tooltip over everything
    drawn.setAttribute("role", "group");
    drawn.setAttribute("aria-label", `Automaton of ${answer.expression}`);
    for (const name of ["width", "height"]) drawn.removeAttribute(name);
    this.root.replaceChildren(drawn);
    for (const [u] of states.entries()) if (!answer.states.some((one) => one.state === u)) cut(drawn, u);
    const { x: left, y: top, width: wide, height: tall } = drawn.getBBox();
    drawn.setAttribute("viewBox", [left - MARGIN, top - MARGIN, wide + 2 * MARGIN, tall + 2 * MARGIN].join(" "));
    this.root.style.setProperty("--wide", `${Math.ceil(wide + 2 * MARGIN)}px`);
    this.root.style.setProperty("--tall", `${Math.ceil(tall + 2 * MARGIN)}px`);
    this.all = [...drawn.querySelectorAll(".state")].sort((a, b) => numberOf(a) - numberOf(b));
    for (const one of this.all) {
      const { x, y, width, height } = one.getBBox();
      one.prepend(s("circle", { class: "hit", cx: x + width / 2, cy: y + height / 2, r: Math.min(HIT, width / 2 + 6) }));
      one.setAttribute("role", "button");
      const { accepting, dead } = states[numberOf(one)];
      one.querySelector("title").textContent = `State ${numberOf(one)}${accepting ? ", satisfied" : dead ? ", violated" : ""}`;
    }
  }

  hide() {
    this.part.hidden = true;
    this.root.replaceChildren();
    Object.assign(this, { svg: null, all: [] });
  }

  /** Light up the state of the agent, and mark the one that the map shows. */
  light(current, shown, answer) {
    for (const one of this.all ?? []) {
      const [is, seen] = [numberOf(one) === current, numberOf(one) === shown];
      one.classList.toggle("current", is);
      one.classList.toggle("shown", seen);
      one.setAttribute("aria-pressed", String(seen));
      if (is) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
      one.setAttribute("aria-label", `State ${numberOf(one)}${is ? ", the agent is here" : ""}: ${this.words(numberOf(one))}`);
      one.setAttribute("tabindex", "-1");
    }
    (this.all?.find((one) => one.contains(document.activeElement)) ?? this.#of(shown))?.setAttribute("tabindex", "0");
    this.#say(shown, answer);
    this.#reveal(current);
  }

  #say(shown, answer) {
    const { accepting, dead } = answer.automaton.states[shown];
    const over = !answer.states.some((one) => one.state === shown);
    const kind = over && accepting ? "satisfied" : dead ? "violated" : "";
    const status = byId("automaton-state");
    for (const one of ["satisfied", "violated"]) status.classList.toggle(one, one === kind);
    status.replaceChildren(h("b", {}, `State ${shown}`), `: ${this.words(shown)}.`);
  }

  /** Scroll sideways to a state, if the drawing is wider than its place. */
  #reveal(state) {
    const one = this.#of(state);
    if (!one || this.root.scrollWidth <= this.root.clientWidth) return;
    const [box, frame] = [one.getBoundingClientRect(), this.root.getBoundingClientRect()];
    this.root.scrollLeft += box.left + box.width / 2 - frame.left - frame.width / 2;
  }

  #of(state) {
    return this.all?.find((one) => numberOf(one) === state);
  }

  #choose(one) {
    this.chosen(numberOf(one));
    byId("announce").textContent = capitalised(one.getAttribute("aria-label"));
  }

  #key(event) {
    const one = event.target.closest?.(".state");
    if (!one || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.all.indexOf(one);
    if (event.key === "Enter" || event.key === " ") this.#choose(one);
    else if (event.key in STEPS) this.#focus(at + STEPS[event.key]);
    else if (event.key === "Home") this.#focus(0);
    else if (event.key === "End") this.#focus(this.all.length - 1);
    else return;
    event.preventDefault();
  }

  #focus(at) {
    const one = this.all[Math.max(0, Math.min(at, this.all.length - 1))];
    for (const other of this.all) other.setAttribute("tabindex", other === one ? "0" : "-1");
    one.focus();
  }
}

/** Remove what leads away from a state in which episodes end. */
function cut(drawn, state) {
  for (const edge of drawn.querySelectorAll(`.edge[data-from="${state}"]`)) {
    const end = edge.nextElementSibling; // the cross of a dead state is drawn after its edge
    if (end?.matches(".state.dead") && edge.dataset.to === end.dataset.state) end.remove();
    edge.remove();
  }
}

const numberOf = (one) => Number(one.dataset.state);
