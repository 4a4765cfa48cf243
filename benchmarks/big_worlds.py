"""Big deterministic worlds: planning, memory, acting, evaluation; beside scipy and graphblas.

python benchmarks/big_worlds.py            all bars
python benchmarks/big_worlds.py --quick    small sizes, to see that it runs

Worlds are mazes.  Every figure but the comparison with scipy is taken in a process of its own,
after all kernels are compiled, so that its peak of memory is its own.  Curves over states and goals
are those of `scaling.py`.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from functools import partial

import numpy as np

import measured
import rivals
import taskalgebra as ta
from maze import maze_world
from measured import peak, timed
from planning import scipy_distances
from report import Report
from taskalgebra.planning.exact import return_to_goal
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.threads import limit_threads
from taskalgebra.worlds import graph
from taskalgebra.worlds.returns import Searches, held_returns
from taskalgebra.worlds.search import n_blocks

N_BASE = 16
STATES_PER_TASK = 10
PLAIN_GOALS = 128  # from which the time of plain searches from all goals is scaled up
OPERATORS = ("&", "|", "^", "& ~", "| ~")


def side_of(n_states):
    """The side of a maze with about so many free cells."""
    return int(math.sqrt(n_states / 0.55)) | 1


def base_tasks(n_goals, rng):
    """Sixteen base tasks, each of half of the goals, and of one at least."""
    wanted = rng.random((N_BASE, n_goals)) < 0.5
    wanted[np.arange(N_BASE), np.arange(N_BASE) % n_goals] = True
    return {f"b{k}": np.flatnonzero(row).tolist() for k, row in enumerate(wanted)}


def expressions(n, rng):
    """Random expressions over two to six base tasks."""
    found = []
    for _ in range(n):
        names = rng.choice(N_BASE, rng.integers(2, 7), replace=False)
        text = f"b{names[0]}"
        for name in names[1:]:
            text = f"({text}) {rng.choice(OPERATORS)} b{name}"
        found.append(text)
    return found


def warm():
    """Compile all kernels, for small and for larger numbers of steps; no tables are made."""
    rng = np.random.default_rng(0)
    for side, n_goals, stored in ((31, 8, True), (401, 8, True), (401, 64, True), (501, 64, False)):
        space = TaskSpace(maze_world(side, side, n_goals))
        with tempfile.TemporaryDirectory() as place:
            skills = ta.solve(space, base_tasks(n_goals, rng), storage=place if stored else None)
            skills["b0 & ~b1"].evaluate(2)
            skills.act_many(["b0"], [0, 1])


class Forwards:
    """Searches of scipy from a start to all goals, which know nothing of the planner."""

    def __init__(self, mdp):
        """Take the moves of a world."""
        from scipy.sparse import csr_matrix

        live = np.flatnonzero(~mdp.is_goal)
        source, target = np.repeat(live, mdp.n_actions), mdp.next_state[live].ravel()
        moved = source != target
        edges = (np.ones(moved.sum()), (source[moved], target[moved]))
        self.graph = csr_matrix(edges, shape=(mdp.n_states, mdp.n_states))
        self.goals = mdp.goals

    def steps(self, start):
        """[G], the fewest steps to every goal."""
        from scipy.sparse.csgraph import dijkstra

        return dijkstra(self.graph, indices=start, unweighted=True)[self.goals]


def optimal_paths(skills, texts, n_paths, rng):
    """The share of sampled paths that earn what an independent search says is possible."""
    space, mdp = skills.space, skills.space.mdp
    step, search, optimal = mdp.step_reward[mdp.starts[0], 0], Forwards(mdp), 0
    for _ in range(n_paths):
        agent = skills[texts[rng.integers(len(texts))]]
        state, n = int(rng.choice(mdp.starts)), 0
        paid = np.where(agent.task.desired, space.r_universal, space.r_empty)
        best = (paid + step * search.steps(state)).max()
        while not mdp.is_goal[state] and n < mdp.n_states:
            state = int(mdp.next_state[state, agent.act(state)])
            n += 1
        earned = n * step + agent.task.goal_reward[mdp.goal_of_state[state]]
        optimal += bool(mdp.is_goal[state]) and abs(earned - best) < 1e-6
    return optimal / n_paths


def measure(n_states, n_goals, n_tasks=0, n_paths=0, storage=None):
    """Plan a maze in this process, then act in it; all figures as a mapping."""
    warm()
    rng = np.random.default_rng(1)
    built, _, mdp = timed(lambda: maze_world(side_of(n_states), side_of(n_states), n_goals))
    space, base = TaskSpace(mdp), base_tasks(n_goals, rng)
    wall, used, skills = timed(lambda: ta.solve(space, base, storage=storage))
    found = {"states": mdp.n_states, "goals": n_goals, "built": built, "wall": wall, "cpu": used}
    found["planned_peak"] = peak() / 2**30
    if n_tasks:
        texts = expressions(n_tasks, rng)
        states = rng.choice(mdp.starts, (n_tasks, STATES_PER_TASK))
        skills.act_many(["b0 & ~b1"], states[:1])
        acting, acting_cpu, _ = timed(lambda: skills.act_many(texts, states))
        found |= {"acting": acting, "acting_cpu": acting_cpu, "decisions": states.size}
        agent = skills[texts[0]]
        agent.evaluate(2)
        found["evaluate"], found["evaluate_cpu"], _ = timed(lambda: agent.evaluate(100))
    if n_paths:
        found["optimal"] = optimal_paths(skills, texts, n_paths, rng)
    found["peak"] = peak() / 2**30
    return found


def beside_plain_searches(n_states, n_goals, n_plain):
    """`measure`, then one breadth-first search per goal for the first goals of the same world."""
    found = measure(n_states, n_goals)
    mdp = maze_world(side_of(n_states), side_of(n_states), n_goals)
    reversed_graph, goals = mdp.predecessors, mdp.goals[:n_plain]
    graph.steps_to(reversed_graph, goals[:2])
    wall, used, _ = timed(lambda: graph.steps_to(reversed_graph, goals))
    return found | {"plain": wall * n_goals / n_plain, "plain_cpu": used * n_goals / n_plain}


def on_threads(n_states, n_goals, repeat):
    """The least seconds of planning on one and on two threads: [whole, its blocks alone]."""
    warm()
    mdp = maze_world(side_of(n_states), side_of(n_states), n_goals)
    searches = Searches.of(mdp.predecessors, mdp.goals, -0.1, None)
    numbers, best = range(n_blocks(n_goals, True)), {}
    parts = {
        "planning": lambda: held_returns(mdp, mdp.step_reward),
        "blocks": lambda: searches.blocks(numbers, {}.__setitem__),
    }
    for _ in range(repeat):
        for n_threads in (1, 2):
            limit_threads(n_threads)
            for name, part in parts.items():
                key = f"{name} {n_threads}"
                best[key] = min(best.get(key, math.inf), timed(part)[0])
    return best


apart = partial(measured.apart, "big_worlds")


def libraries(report, n_states):
    """Sixteen goals: ours beside scipy and python-graphblas, in one run."""
    mdp = maze_world(side_of(n_states), side_of(n_states), 16)
    times = []
    for _ in range(3):
        for cached in ("support", "predecessors"):
            mdp.__dict__.pop(cached, None)
        wall, _, returns = timed(lambda: return_to_goal(mdp))
        times.append(wall)
    ours = min(times)
    table = returns.to_goal
    report.note(f"{mdp.n_states:,} states x 16 goals: return_to_goal", ours, "s")
    fastest = math.inf
    for name, (seconds, distances) in scipy_distances(mdp).items():
        assert np.allclose(-0.1 * distances, table, atol=1e-6)
        report.note(f"    scipy {name}", seconds, "s")
        fastest = min(fastest, seconds)
    try:
        wall, _, steps = timed(rivals.graphblas(mdp, mdp.goals[:1]))
        assert np.allclose(-0.1 * steps[0], table[0])
        report.note("    python-graphblas, any_pair, one goal times 16", 16 * wall, "s")
    except ImportError:
        report.fact("    python-graphblas", "not installed")
    return fastest / ours


def main(argv=None):
    """Run all bars."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args(argv).quick
    many, million = (20_000, 20_000) if quick else (4_000_000, 1_000_000)
    n_goals, n_tasks, n_thousand = (64, 200, 64) if quick else (256, 10_000, 1000)
    report = Report()
    warm()
    ratio = libraries(report, million)
    report.at_least("16 goals: fastest scipy routine / ours", ratio, 0.1 if quick else 5)

    found = apart("beside_plain_searches", million, n_thousand, min(n_thousand, PLAIN_GOALS))
    name = f"{found['states']:,} states x {n_thousand} goals"
    report.note(f"{name}: planned, wall", found["wall"], "s")
    report.note("    planned, CPU", found["cpu"], "s")
    scaled = f"a search per goal, {PLAIN_GOALS} goals scaled up"
    report.note(f"    {scaled}, wall", found["plain"], "s")
    share = found["wall"] / found["plain"]
    report.at_most("    ours / that, wall", share, 1e3 if quick else 0.5)
    report.at_most("    peak memory of planning", found["planned_peak"], 1e3 if quick else 3, "GB")

    found = apart("measure", million, 100, n_tasks)
    report.at_most("100 goals: evaluate(100)", found["evaluate"], 1, "s")

    best = apart("on_threads", million, 64 if quick else 256, 1 if quick else 3)
    for part in ("planning", "blocks"):
        efficiency = 50 * best[f"{part} 1"] / best[f"{part} 2"]
        name = f"256 goals, {part}: T1 / (2 T2), best of each"
        report.at_least(name, efficiency, 1 if quick else 80, "%")

    with tempfile.TemporaryDirectory() as place:
        found = apart("measure", many, n_goals, n_tasks, 10, place)
    report.note(f"{found['states']:,} states x {n_goals} goals: planned, CPU", found["cpu"], "s")
    report.at_most("    planned into files, wall", found["wall"], 600, "s")
    report.at_most("    peak memory", found["peak"], 1e3 if quick else 4, "GB")
    rate = found["decisions"] / found["acting"]
    bar = 100 if quick else 1e5
    report.at_least(f"    {n_tasks:,} tasks as texts: decisions a second", rate, bar, "")
    report.exactly("    sampled paths that are optimal", found["optimal"], 1.0)
    report.finish()


if __name__ == "__main__":
    main()
