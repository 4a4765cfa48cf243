// What an expression means: its goals, a short form, its truth table, and how many tasks the base
// tasks can express; over time, what goals do in each state of its automaton.

import { byId, h, listed, plural } from "./dom.js";
import { marksOf } from "./formula.js";

export function showMeaning(answer) {
  const { desired, simplified, truth_table: table, n_tasks: count } = answer;
  const K = table.tasks.length;
  byId("meaning").replaceChildren(
    h("dl", { class: "facts" },
      h("div", {}, h("dt", {}, "Desired goals"), h("dd", { id: "desired" }, desired.length ? listed(desired) : "none")),
      h("div", {}, h("dt", {}, "In short"), h("dd", {}, h("code", { id: "simplified" }, simplified))),
      h("div", {}, h("dt", {}, "Tasks that can be expressed"),
        h("dd", { id: "n-tasks" }, sentence(count, K)))),
    h("p", { class: "note", id: "truth-note" }, "Truth table: every combination of base tasks, and its goals"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Truth table" }, truthTable(table)),
  );
}

/** What a formula over time means. */
export function showFormula(world, answer) {
  const { simplified, automaton, states } = answer;
  const cell = (names) => h("td", { class: "goals" }, names.length ? listed(names) : h("span", { class: "no" }, "none"));
  const rows = states.map(({ state }) => {
    const marks = marksOf(world, answer, state);
    return h("tr", {}, h("th", { scope: "row" }, String(state)), cell(marks.on), cell(marks.wrong));
  });
  byId("meaning").replaceChildren(
    h("dl", { class: "facts" },
      h("div", {}, h("dt", {}, "In short"), h("dd", {}, h("code", { id: "simplified" }, simplified))),
      h("div", {}, h("dt", {}, "Automaton"), h("dd", { id: "n-states" }, `${plural(automaton.states.length, "state")}; an episode goes on in ${states.length} of them`))),
    h("p", { class: "note", id: "truth-note" }, "What goals do in each state; those that are not named change nothing"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "States of the automaton" },
      h("table", { class: "truth", "aria-describedby": "truth-note" },
        h("thead", {}, h("tr", {}, ["state", "leads on", "violates"].map((text) => h("th", { scope: "col", class: text === "state" ? "" : "goals" }, text)))),
        h("tbody", {}, rows))),
  );
}

function sentence(count, K) {
  const most = String(count.bound).split("=")[0].trim();
  const all = superscripts(String(count.bound));
  if (K === 0) return [String(count.expressible), ": with no base task, only true and false."];
  return [
    h("b", {}, whole(count.expressible)),
    ` of them, from ${plural(K, "base task")}; `,
    h("span", { title: most }, "at most ", all),
    ".",
  ];
}

/** 2^(2^K) with raised exponents. */
function superscripts(text) {
  const match = /^2\^\(2\^(\d+)\)(.*)$/s.exec(text);
  return match ? ["2", h("sup", {}, "2", h("sup", {}, match[1])), match[2].replace("-", "−")] : text;
}

function whole(number) {
  if (typeof number === "string") return number;
  if (number < 1e6) return number.toLocaleString("en");
  const exponent = Math.log2(number);
  if (!Number.isInteger(exponent)) return number.toLocaleString("en");
  return h("span", {}, "2", h("sup", {}, String(exponent)));
}

function truthTable(table) {
  const cell = (value, kind) =>
    h("td", { class: `${kind} ${value ? "true" : "no"}` }, value ? "1" : "0");
  return h("table", { class: "truth", "aria-describedby": "truth-note" },
    h("thead", {}, h("tr", {},
      table.tasks.map((name) => h("th", { scope: "col", title: name }, name)),
      h("th", { scope: "col", class: "out" }, "task"),
      h("th", { scope: "col", class: "goals" }, "goals"))),
    h("tbody", {}, table.rows.map((row) => h("tr", {},
      row.in.map((value) => cell(value, "")),
      cell(row.out, "out"),
      h("td", { class: "goals", title: row.goals.length > 4 ? row.goals.join(", ") : null }, row.goals.length ? some(row.goals) : h("span", { class: "no" }, "none"))))));
}

const some = (names) => (names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", "));
