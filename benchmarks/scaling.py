"""Curves over states, goals, operators, batches and lengths; beside other libraries, in one run.

python benchmarks/scaling.py            measure, then draw (eight minutes on two cores)
python benchmarks/scaling.py --quick    small sizes, to see that it runs; nothing is kept
python benchmarks/scaling.py --draw     draw figures and tables again from the rows that are kept
python benchmarks/scaling.py --only F   measure one file: planning, acting, memory, …

A curve is a list of points (size, states, goals), which a library works through in a process of its
own, from small to large.  It stops before a point at which it would run out of patience if seconds
grew like size to the power 1.5.  Only solving is timed; ours begins from the bare world.  What the
libraries find must agree.
"""

from __future__ import annotations

import argparse
import resource
import time
from functools import partial

import numpy as np

import big_worlds
import measured
import rivals
import scaling_page
import stochastic_worlds
import taskalgebra as ta
from algebra import bare
from maze import maze_world
from measured import best, cpu, row, timed
from report import Report
from taskalgebra.envs.four_rooms import wall_side_goals
from taskalgebra.learning.few_steps.master import master
from taskalgebra.learning.q_learning import Stop, goal_oriented_q_learning, q_learning
from taskalgebra.planning.exact import optimal_q, q_bar_star
from taskalgebra.planning.stochastic import ShortestPaths
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds.returns import held_returns

PATIENCE = 12.0  # seconds
OURS, TABLES = "taskalgebra", "numpy, tables"
SEEDS = 5
ACTING = 4_000  # states
DECISIONS = 1_000


def along(points, patience, measure):
    """The rows of the points, as long as patience lasts; `measure(point)` makes one."""
    rows, seconds, before = [], 0.0, points[0][0]
    for point in points:
        if seconds * (point[0] / before) ** 1.5 > patience:
            break
        rows.append(measure(point))
        seconds, before = rows[-1]["seconds"], point[0]
    return rows


def mazes(what, library, points, patience):
    """Steps to all goals of mazes; for memory once only, so that nothing is left of other runs."""
    once = timed if what.startswith("memory") else best
    for side in (31, 301):  # what is compiled and imported, before the clock
        small = maze_world(side, side, 64)
        held_returns(small, small.step_reward)
    if library != OURS:
        small = maze_world(31, 31, 2)
        rivals.LIBRARIES[library](small, small.goals)()

    def measure(point):
        size, n_states, n_goals = point
        side = big_worlds.side_of(n_states)
        mdp = maze_world(side, side, n_goals)

        def ours():
            for cached in ("support", "predecessors"):
                mdp.__dict__.pop(cached, None)
            return held_returns(mdp, mdp.step_reward)[0]

        solve = ours if library == OURS else rivals.LIBRARIES[library](mdp, mdp.goals)
        found, steps = row(
            what, library, mdp, n_goals, solve, size=size or mdp.n_states, measure=once
        )
        if library != OURS:
            held = ours()
            for j in range(n_goals):
                assert np.allclose(-0.1 * steps[j], held.to(j)), f"{library} finds other steps"
        return found

    return along(points, patience if once is best else 8 * patience, measure)


def slippery(what, library, points, patience):
    """Expected returns in grids with slips, one goal after the other."""
    make = stochastic_worlds.LIBRARIES[library]
    for size, one in ((20_000, stochastic_worlds.planner), (100, make)):
        small = stochastic_worlds.grid(size)
        one(small, stochastic_worlds.one_goal(small))()

    def measure(point):
        size, n_states, n_goals = point
        world = stochastic_worlds.grid(n_states, max(n_goals, 4))
        ends = [stochastic_worlds.one_goal(world, g) for g in range(n_goals)]

        def ours():
            world.__dict__.pop("ending", None)
            paths = ShortestPaths(world, world.step_reward)
            return [values for values, _ in paths.solve_all(ends, stochastic_worlds.TOLERANCE)]

        solves = [make(world, end) for end in ends]
        solve = ours if library == OURS else lambda: [one() for one in solves]
        found, values = row(
            what, library, world, n_goals, solve, size=size or world.n_states, measure=best
        )
        off = max(np.abs(one - other).max() for one, other in zip(values, ours(), strict=True))
        assert off <= stochastic_worlds.AGREE, f"{library} is wrong by {off}"
        return found

    return along(points, patience, measure)


def acting(what, library, points, patience):
    """Decisions: over the goals, the operators of an expression, or the states asked at once."""
    rng = np.random.default_rng(1)

    def measure(point):
        size, n_operators, n_goals, n_decisions = point
        side = big_worlds.side_of(ACTING)
        space = TaskSpace(maze_world(side, side, n_goals))
        base = big_worlds.base_tasks(n_goals, rng)
        if n_operators == 1:
            base = {name: base[name] for name in ("b0", "b1")}
        states = rng.choice(space.mdp.starts, n_decisions)
        texts = iter([expression(n_operators, list(base), rng) for _ in range(8)])
        skills = ta.solve(space, base)
        if library == TABLES:
            decide = by_tables(space, base)
        elif what == "acting, operators":

            def decide(text, states):
                return skills[text].act(states)
        else:
            agent = skills[next(texts)]

            def decide(text, states):
                return agent.act(states)

        decide(next(texts), states)
        found, _ = row(
            what,
            library,
            space.mdp,
            n_goals,
            lambda: decide(next(texts), states),
            size=size,
            measure=partial(best, most=5),
        )
        return found

    return along(points, patience, measure)


def by_tables(space, base):
    """Compose rows of Q̄ by one numpy call for each operator, then argmax_a max_g."""
    tasks = {name: space.task(goals) for name, goals in base.items()}
    planned = q_bar_star(space, tasks)
    tables = {name: planned[name].table for name in tasks}
    total = planned.bounds.tables.total

    def decide(text, states):
        composed = bare(ta.parse(text), {n: t[states] for n, t in tables.items()}, total[states])
        return composed.max(axis=1).argmax(axis=1)

    return decide


def expression(n_operators, names, rng):
    """Random operators between random names."""
    text = str(rng.choice(names))
    for _ in range(n_operators):
        text = f"({text}) {rng.choice(big_worlds.OPERATORS)} {rng.choice(names)}"
    return text


def sentence(kind, n):
    """A formula over n goals, and the goals."""
    goals = [f"g{i}" for i in range(n)]
    text = " then ".join(goals) if kind == "in order" else " & ".join(f"F {goal}" for goal in goals)
    return text, [{goal} for goal in goals]


def automata(what, library, points, patience):
    """From the text of a formula to the smallest automaton."""
    kind = what.removeprefix("automata, ")
    ta.automaton(*sentence(kind, 2))

    def measure(point):
        (size,) = point
        text, letters = sentence(kind, size)
        seconds, used, made = best(lambda: ta.automaton(text, letters))
        n = made.n_states
        figures = (what, library, n, n, size, seconds, used, measured.peak())
        return dict(zip(measured.COLUMNS, figures, strict=True))

    return along(points, patience, measure)


def samples(n_goals, seed):
    """Steps in Four Rooms until all values are exact, by three learners."""
    cells = wall_side_goals()
    chosen = np.random.default_rng(n_goals).choice(list(cells), n_goals, replace=False)
    world = ta.FourRooms(goals={str(name): cells[str(name)] for name in chosen})
    space = world.space
    everything = space.task(list(space.goal_names))
    optimum = q_bar_star(space, [everything]).values[0].table
    single = [space.task([name]) for name in space.goal_names]
    return {
        "Q-learning, a table a goal": sum(
            q_learning(task, Stop(optimum=optimal_q(task)), seed=1000 * seed + i).n_steps
            for i, task in enumerate(single)
        ),
        "Algorithm 1": goal_oriented_q_learning(
            everything, Stop(optimum=optimum), seed=seed
        ).n_steps,
        "few steps": master(space, world.tasks, seed=seed).n_steps,
    }


def counts(goals, seeds):
    """Rows of samples over goals: medians over seeds."""
    rows = []
    for n_goals in goals:
        found = [samples(n_goals, seed) for seed in range(seeds)]
        for learner in found[0]:
            count = float(np.median([one[learner] for one in found]))
            rows.append({"what": "samples", "library": learner, "size": n_goals, "count": count})
    return rows


def curves(quick):
    """By file: every curve, the function that measures it, the libraries, and the points."""
    sizes = (400, 900) if quick else (1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000)
    goals = (4, 16) if quick else (4, 16, 64, 256, 1024)
    few = (1, 4) if quick else (1, 2, 4, 8, 16)
    maze, grid = (900, 400) if quick else (64_000, 18_000)
    both = [OURS, TABLES]
    searchers, sweepers = [OURS, *rivals.LIBRARIES], list(stochastic_worlds.LIBRARIES)
    operators = (1, 4) if quick else (1, 4, 16, 64, 256)
    batches = (1, 10) if quick else (1, 10, 100, 1_000, 10_000)
    ordered, patrol = ((2, 4), (2, 3)) if quick else ((2, 4, 8, 16, 32, 64), (2, 4, 6, 8, 10))
    return {
        "planning": [
            ("mazes, states", "mazes", searchers, [(n, n, 16) for n in sizes]),
            ("mazes, goals", "mazes", searchers, [(g, maze, g) for g in goals]),
            ("slips, states", "slippery", sweepers, [(n, n, 1) for n in sizes]),
            ("slips, goals", "slippery", sweepers, [(g, grid, g) for g in few]),
        ],
        "acting": [
            ("acting, goals", "acting", both, [(g, 1, g, DECISIONS) for g in goals]),
            ("acting, operators", "acting", both, [(k, k, 64, DECISIONS) for k in operators]),
            ("acting, batch", "acting", both, [(b, 1, 64, b) for b in batches]),
        ],
        "memory": [
            ("memory, states", "mazes", searchers[:4], [(n, n, 16) for n in sizes]),
            ("memory, goals", "mazes", searchers[:4], [(g, maze, g) for g in goals]),
        ],
        "automata": [
            ("automata, in order", "automata", [OURS], [(n,) for n in ordered]),
            ("automata, any order", "automata", [OURS], [(n,) for n in patrol]),
        ],
    }


apart = partial(measured.apart, "scaling")


def rows_of(report, wanted):
    """The rows of some curves; what is not installed is said."""
    rows = []
    for what, part, libraries, points in wanted:
        for library in libraries:
            start = time.perf_counter()
            try:
                found = apart(part, what, library, points, PATIENCE, patience=20 * PATIENCE)
            except ModuleNotFoundError:
                report.fact(f"{what}: {library}", "not installed")
                continue
            rows += found
            reached = f"{found[-1]['size']:,}" if found else "nothing"
            seconds = time.perf_counter() - start
            report.note(f"{what}: {library}, up to {reached}; in all", seconds, "s")
    return rows


def measure(report, quick, only=None, folder=None):
    """Measure all files, or one of them, and keep them in a folder if there is one."""
    makers = {name: partial(rows_of, report, wanted) for name, wanted in curves(quick).items()}
    makers["samples"] = partial(counts, (4, 8) if quick else (4, 8, 16, 32), 2 if quick else SEEDS)
    for name in makers if only is None else [only]:
        start, used = time.perf_counter(), cpu_with_others()
        rows = makers[name]()
        seconds = time.perf_counter() - start
        if folder is not None:
            measured.keep(name, rows, seconds, cpu_with_others() - used, folder)


def cpu_with_others():
    """CPU seconds of this process and of those that it waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return cpu() + used.ru_utime + used.ru_stime


def main(argv=None):
    """Measure and draw."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is kept")
    parser.add_argument("--draw", action="store_true", help="draw from the rows that are kept")
    parser.add_argument("--only", choices=scaling_page.FILES, help="measure one of the files")
    given = parser.parse_args(argv)
    report = Report()
    if not given.draw:
        start = time.perf_counter()
        measure(report, given.quick, given.only, None if given.quick else measured.RESULTS)
        report.at_most("all of it", time.perf_counter() - start, 480, "s")
    if not given.quick:
        scaling_page.write()
    report.finish()


if __name__ == "__main__":
    main()
