"""Tasks with time: from a formula to the first action, acting, and growth with |G|·|U|.

python benchmarks/temporal.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import taskalgebra as ta
from report import Report, best_times
from taskalgebra.planning.temporal import Labelled, values_to_come

COFFEE = "F(coffee & X F office) & G ~decoration"
LONG = (
    "(F (m & X (F (o & X (~m U (~tm & m & X (F (c & X (~o U (~to & o & X (F (A & X (F (B & X "
    "(F (C & X (F (D & X (F A))))))))))))))))))) & (G ~d)"
)
LONG_LETTERS = [{"m", "tm"}, {"m"}, {"o", "to"}, {"o"}, {"c"}, {"d"}, {"A"}, {"B"}, {"C"}, {"D"}]


def fresh_times(function: Callable[[], object], repeat: int) -> float:
    """The shortest of several runs, in seconds."""
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return float(best)


def formula_to_action(report: Report) -> None:
    """In Office, a formula for the first time and again."""
    skills = ta.solve(ta.Office())
    skills["F A"].act(0)  # what all formulas share is read once, and kernels are compiled
    first = []
    for names in ("A", "B", "C", "D", "mail"):
        start = time.perf_counter()
        skills[f"({COFFEE}) & F {names}"].act(0)
        first.append(time.perf_counter() - start)
    report.at_most("Office: from a formula to the first action", 1e3 * max(first), 50, "ms")
    again = fresh_times(lambda: skills[COFFEE].act(0), 20)
    report.at_most("Office: the same for a formula seen before", 1e3 * again, 5, "ms")


def acting(report: Report) -> None:
    """One decision of a temporal agent beside one of a Boolean agent."""
    skills = ta.solve(ta.Office())
    agent, plain = skills[COFFEE], skills["coffee | office"]
    one = [int(s) for s in np.random.default_rng(0).choice(skills.space.mdp.starts, 2_000)]
    batch = np.array(one)
    batched = skills[COFFEE]
    batched.reset(np.ones(batch.size))

    def act(agent: object) -> Callable[[], object]:
        return lambda: [agent.act(s) for s in one]  # type: ignore[attr-defined]

    ours, theirs = best_times([act(agent), act(plain)], 15)
    report.at_most("acting: temporal / Boolean, one observation", ours / theirs, 1.2)
    report.note("  one decision", 1e6 * ours / len(one), "us")
    ours, theirs = best_times([lambda: batched.act(batch), lambda: plain.act(batch)], 30)
    report.at_most("acting: temporal / Boolean, 2,000 observations", ours / theirs, 1.2)


def patrol(report: Report) -> None:
    """All ten of ten goals among 40, in any order: 1,024 states of the automaton."""
    skills = ta.solve(ta.FourRooms(40))
    skills["F top_left"].act(0)
    names = [name for name in skills.space.goal_names if name.startswith("cell")][::3][:10]
    formula = " & ".join(f"F {name}" for name in names)
    start = time.perf_counter()
    agent = skills[formula]
    agent.act(0)
    seconds = time.perf_counter() - start
    report.note("  states of its automaton", agent.automaton.n_states, "")
    report.at_most("Four Rooms, 40 goals: a patrol over 10 of them", seconds, 1.0, "s")
    ordered = " then ".join(names)
    start = time.perf_counter()
    skills[ordered].act(0)
    report.at_most("  the same in a given order", time.perf_counter() - start, 1.0, "s")


def automata(report: Report) -> None:
    """The longest published formula."""
    formula = ta.parse(LONG)
    ta.automaton(formula, LONG_LETTERS)
    found = ta.automaton(formula, LONG_LETTERS)
    seconds = fresh_times(lambda: ta.automaton(formula, LONG_LETTERS), 5)
    report.note("  states of the automaton of Long", found.n_states, "")
    report.at_most("the automaton of Long", 1e3 * seconds, 100, "ms")


def growth(report: Report) -> None:
    """The search grows with |G|²·|U|: one relaxation for each goal, goal and state."""
    rng = np.random.default_rng(0)
    times = {}
    for n_goals, n_wanted in ((20, 4), (40, 4), (80, 4), (160, 4), (40, 6), (40, 8), (40, 10)):
        between = -rng.integers(1, 50, (n_goals, n_goals)) / 8
        formula = ta.parse(" & ".join(f"F g{i}" for i in range(n_wanted)))
        sets = [{f"g{i}"} & set(formula.names) for i in range(n_goals)]
        automaton = ta.automaton(formula, sets)
        labelled = Labelled(automaton, np.array([automaton.letter(each) for each in sets]))
        values_to_come(between, labelled, 1.0)
        seconds = fresh_times(lambda b=between, m=labelled: values_to_come(b, m, 1.0), 3)
        size = n_goals * automaton.n_states
        times[n_goals, automaton.n_states] = seconds
        report.note(
            f"  W: {n_goals} goals × {automaton.n_states} states = {size}", 1e3 * seconds, "ms"
        )
    states = np.log(times[40, 1024] / times[40, 16]) / np.log(64)
    report.at_most("W: exponent of its growth with the states of the automaton", states, 1.5, "")
    goals = np.log(times[160, 16] / times[20, 16]) / np.log(8)
    report.at_most("W: exponent of its growth with the goals", goals, 2.2, "")


def main() -> None:
    """Run all bars."""
    report = Report()
    automata(report)
    formula_to_action(report)
    acting(report)
    patrol(report)
    growth(report)
    report.finish()


if __name__ == "__main__":
    main()
