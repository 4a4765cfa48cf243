// The same in Python: the calls of the library that give the answer, as `solving.py` writes them.

import { float, quoted } from "./python.js";

const list = (names) => `[${names.map(quoted).join(", ")}]`;

/** The base tasks, with `space` at hand. */
function taskLines(tasks) {
  const lines = tasks.map(({ name, goals }) => `    ${quoted(name)}: ${goals.length ? `space.task(${list(goals)})` : "space.empty"},`);
  return `tasks = {\n${(lines.length ? lines : ['    "nothing": space.empty,']).join("\n")}\n}\n`;
}

/** The calls that plan the base tasks of a table, after those that make its world. */
export const tableProgram = (made, { tasks }) => `${made}${taskLines(tasks)}skills = ta.solve(space, tasks)\n`;

/** The calls that plan the base tasks of a drawn world. */
export function drawnProgram(document, penalty) {
  const rows = document.map.map((row) => `    "${row}",`).join("\n");
  const goals = document.goals.map(({ name, cell }) => `    ${quoted(name)}: (${cell.join(", ")}),`).join("\n");
  const rewards = `r_universal=${float(document.r_universal)}, r_empty=${float(document.r_empty ?? document.step_reward)}`;
  const slip = document.slip ? `, slip_probability=${float(document.slip)}` : "";
  const low = document.slip ? "" : `, r_bar_min=${float(penalty)}`;
  return `import taskalgebra as ta

rows = [
${rows}
]
goals = {
${goals}
}
world = ta.from_text(rows, goals, step_reward=${float(document.step_reward)}${slip}${document.touch ? ", touch=True" : ""})
space = ta.TaskSpace(world, ${rewards})
${taskLines(document.tasks)}skills = ta.solve(space, tasks${low})
`;
}

const improved = (improve) => (improve ? ".improve()" : "");

const shows = (picture) => ({ cell: `${picture}\n`, state: "print(agent.certificate().line)\n" });

/** The calls on the agent of a Boolean expression. */
export const booleanCalls = (text, { slices, improve }, each) => `agent = skills[${quoted(text)}]${improved(improve)}
values, actions = agent.v, agent.actions
optimum = ta.optimal_v(agent.task)
${slices ? "slices = agent.q_bar(range(world.n_states)).max(axis=2)\n" : ""}${shows("agent.show()")[each]}`;

/** The calls on the agent of a formula over time. */
export const formulaCalls = (text, { improve }, each) => `agent = skills[${quoted(text)}]${improved(improve)}
automaton = agent.automaton
tables = {
    state: agent.table(state) for state in range(automaton.n_states) if automaton.running[state]
}
optimum = agent.plan.product.values[automaton.start]
print(automaton)
${shows("print(agent.picture())")[each]}`;
