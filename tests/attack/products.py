"""Random worlds × random formulas: values and played returns against an oracle of their own.

In every world the value from every start, and the return of the agent that is played step by step,
equal the best over the product of the world and the automaton, to the last bit: rewards are dyadic.
"""

from __future__ import annotations

import numpy as np

import taskalgebra as ta
import temporal_oracle as oracle
from attack.harness import CI, FULL, Findings

SIZES = {CI: 300, FULL: 10_000}


def attack(size: int, seed: int) -> Findings:
    """Solve worlds, compose formulas, play them."""
    composed = planned = impossible = starts = 0
    for i in range(size):
        rng = np.random.default_rng([seed, i])
        next_state, step_reward, goals, resumes = oracle.random_world(rng)
        names = [f"goal {g}" for g in range(len(goals))]
        world = ta.from_arrays(next_state, step_reward, goals, goal_names=names, resumes=resumes)
        tasks = {f"task {k}": _some(rng, names) for k in range(2)}
        skills = ta.solve(ta.TaskSpace(world), tasks)
        write = oracle.random_mission if i % 2 else oracle.random_formula
        text = write(rng, [*names, *tasks])
        where = f"seed [{seed}, {i}], {text}"
        try:
            agent = skills[text] if ta.parse(text).temporal else skills[f"F ({text})"]
        except ValueError as error:
            impossible += 1
            if not _never(text, skills):
                yield f"{where}: refused, but can be satisfied: {error}"
            continue
        kind = agent.plan.table is not None
        planned, composed = planned + kind, composed + (not kind)
        letter = agent.plan.labelled.letter
        best = oracle.optimum(
            next_state, step_reward, goals, resumes, letter, agent.automaton, agent.plan.success
        )
        states = [s for s in range(len(next_state)) if s not in goals]
        values = agent.v(np.array(states))
        for s, value in zip(states, values.tolist(), strict=True):
            starts += 1
            expected = best[s, int(agent.automaton.start)]
            if value != expected:
                yield f"{where}: value {value} from {s}, best {expected}"
            if expected == -np.inf:
                if not agent.why_not(s):
                    yield f"{where}: no reason why not from {s}"
                continue
            got = oracle.played(
                agent, next_state, step_reward, goals, resumes, s, agent.plan.success
            )
            if got != expected:
                yield f"{where}: played {got} from {s}, best {expected}"
    return (
        f"{size} worlds, {starts} starts; {composed} composed, {planned} planned, "
        f"{impossible} impossible"
    )


def _some(rng: np.random.Generator, names: list[str]) -> list[str]:
    chosen = [name for name in names if rng.random() < 0.5]
    return chosen or [names[0]]


def _never(text: str, skills: ta.Skills) -> bool:
    """Whether no trace over the labels of this world is accepted, by exhaustive short traces."""
    formula = ta.parse(text)
    letters = [frozenset[str]()]
    for g, goal in enumerate(skills.space.goal_names):
        here = {name for name, task in skills.tasks.items() if task.desired[g]} | {goal}
        letters.append(frozenset(here & set(formula.names)))
    found = ta.automaton(formula if formula.temporal else ta.parse(f"F ({text})"), letters)
    reached, frontier = {found.start}, [found.start]
    while frontier:
        u = frontier.pop()
        for letter in range(len(found.letters)):
            v = found.step(u, letter)
            if found.accepting[v]:
                return False
            if v not in reached:
                reached.add(v)
                frontier.append(v)
    return True
