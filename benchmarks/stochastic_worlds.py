"""Large stochastic worlds: building, planning, evaluating policies; beside other libraries.

python benchmarks/stochastic_worlds.py            all bars; curves are drawn by scaling.py
python benchmarks/stochastic_worlds.py --quick    small sizes, to see that it runs

A square grid with slip 0.1 and a goal near each corner.  Every figure is taken in a process of its
own, after all kernels are compiled, so that its peak of memory is its own.  Libraries solve one of
the goals, given the world in their own form; only solving is timed.  Those that need a discount
below 1 get one that takes off less than the tolerance, and those that need a threshold get the one
that proves the tolerance.
"""

from __future__ import annotations

import argparse
import math
import string
import tempfile
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np

import measured
import taskalgebra as ta
from measured import row
from report import Report
from taskalgebra.planning.stochastic import ShortestPaths
from taskalgebra.theory.rewards import r_bar_min_of
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds import graph

TOLERANCE = 1e-6
AGREE = 1e-4  # values that differ by more are wrong; the defaults of Storm err by some 1e-5
SHARED = 100_000


def grid(n_states, n_goals=4):
    """A square grid of about so many states, with slip 0.1 and goals spread over it."""
    side = max(4, round(n_states**0.5))
    along = np.linspace(1, side - 2, math.ceil(n_goals**0.5)).astype(int).tolist()
    cells = list(product(along, along))[:n_goals]
    goals = {string.ascii_lowercase[i]: cell for i, cell in enumerate(cells)}
    return ta.from_text(["." * side] * side, goals, slip_probability=0.1)


def one_goal(world, goal=0):
    """What goals pay when one is wanted and all others must be avoided (Definition 2)."""
    space = TaskSpace(world)
    terminal = np.full(world.n_goals, r_bar_min_of(space))
    terminal[goal] = float(np.max(space.r_universal))
    return terminal


def ours(n_states):
    """Rows of a world that is built, planned for four goals, and whose policy is evaluated."""
    rows, base = [], {"p": ["a", "b"], "q": ["a", "c"]}
    for size in (100, 20_000, n_states):  # the first two compile all kernels
        built, world = row("build", "taskalgebra", None, 4, lambda size=size: grid(size))
        planned, skills = row(
            "plan", "taskalgebra", world, 4, lambda w=world: ta.solve(w, base, tolerance=TOLERANCE)
        )
        agent = skills["p ^ q"]
        actions = agent.actions
        judged, _ = row(
            "policy_return",
            "taskalgebra",
            world,
            4,
            lambda task=agent.task, chosen=actions: ta.policy_return(task, chosen),
        )
        rows = [built, planned | {"error_bound": skills.family.error_bound}, judged]
    return rows


def lost_chain(n_states):
    """Rows of outcomes in which each state is lost only because the one before it is."""
    after = np.stack((np.arange(n_states) - 1, np.full(n_states, n_states - 1)), axis=1)
    after[0], after[-1] = 0, n_states - 1
    ends = np.arange(n_states) == n_states - 1
    return np.arange(0, 2 * n_states + 1, 2), after.ravel().astype(np.int32), 1, ends


def reachability(n_states):
    """Rows of almost-sure reachability, in a grid and in a chain of lost states."""
    world = grid(n_states)
    of_grid = (world.offset, world.successor, world.n_actions, world.is_goal)
    rows = []
    for what, of in (("grid", of_grid), ("chain", lost_chain(world.n_states))):
        graph.almost_surely(*of)
        found = [
            row(
                f"reachability, {what}",
                "taskalgebra",
                world,
                4,
                lambda o=of: graph.almost_surely(*o),
            )
            for _ in range(3)
        ]
        rows.append(min((one for one, _ in found), key=lambda one: one["cpu_seconds"]))
    return rows


def planner(world, terminal):
    """Ours, from the bare world."""

    def solve():
        world.__dict__.pop("ending", None)
        return ShortestPaths(world, world.step_reward).solve(terminal, TOLERANCE)[0]

    return solve


def _proved(change, values, world, terminal):
    """Whether a change of the last sweep proves the tolerance (see `planning.waves`)."""
    cost = -world.step_reward[~world.is_goal].max()
    return change * (terminal.max() - values[~world.is_goal].min()) <= TOLERANCE * (cost - change)


def numpy_value_iteration(world, terminal):
    """Backups of all states by numpy."""
    n = world.n_states

    def solve():
        values = np.full(n, terminal.max())
        values[world.goals] = terminal
        while True:
            after = np.add.reduceat(world.probability * values[world.successor], world.offset[:-1])
            new = (world.step_reward + after.reshape(n, -1)).max(axis=1)
            new[world.goals] = terminal
            change, values = np.abs(new - values).max(), new
            if _proved(change, values, world, terminal):
                return values

    return solve


def scipy_value_iteration(world, terminal):
    """The same with a sparse matrix of all state-action pairs."""
    from scipy.sparse import csr_matrix

    n = world.n_states
    chances = csr_matrix(
        (world.probability, world.successor, world.offset), (n * world.n_actions, n)
    )

    def solve():
        values = np.full(n, terminal.max())
        values[world.goals] = terminal
        while True:
            new = (world.step_reward + (chances @ values).reshape(n, -1)).max(axis=1)
            new[world.goals] = terminal
            change, values = np.abs(new - values).max(), new
            if _proved(change, values, world, terminal):
                return values

    return solve


def _discounted(world, terminal):
    """A discount that takes less than the tolerance off, and the error to ask for, given it.

    Libraries stop at a change of error · (1 − discount) / (2 · discount).  An episode of n steps
    crosses the grid, and a change of tolerance / n proves the tolerance.
    """
    steps = 4 * world.n_states**0.5
    size = float(np.abs(terminal).max()) + 0.1 * steps
    discount = 1 - 0.1 * TOLERANCE / (steps * size)
    return discount, 2 * TOLERANCE / steps / (1 - discount)


def quantecon_value_iteration(world, terminal):
    """Value iteration of quantecon; goals lead to a sink."""
    from quantecon.markov import DiscreteDP
    from scipy.sparse import csr_matrix

    n, n_actions = world.n_states, world.n_actions
    successor = world.successor.copy()
    reward = np.vstack((world.step_reward, np.zeros((1, n_actions))))
    for g, s in enumerate(world.goals):
        successor[world.offset[s * n_actions] : world.offset[(s + 1) * n_actions]] = n
        reward[s] = terminal[g]
    offset = np.concatenate((world.offset, world.offset[-1] + 1 + np.arange(n_actions)))
    chances = csr_matrix(
        (
            np.concatenate((world.probability, np.ones(n_actions))),
            np.concatenate((successor, np.full(n_actions, n))),
            offset,
        ),
        ((n + 1) * n_actions, n + 1),
    )
    pairs = np.divmod(np.arange((n + 1) * n_actions), n_actions)
    discount, error = _discounted(world, terminal)
    problem = DiscreteDP(reward.ravel(), chances, discount, *pairs)
    known = np.full(n + 1, terminal.max())
    known[n] = 0.0
    asked = {"method": "value_iteration", "v_init": known, "epsilon": error, "max_iter": 10**6}
    return lambda: problem.solve(**asked).v[:n]


def mdpsolver_value_iteration(world, terminal):
    """Value iteration of mdpsolver, on all cores; goals lead to a sink."""
    import mdpsolver

    n_actions, sink = world.n_actions, world.n_states
    rewards = [*world.step_reward.tolist(), [0.0] * n_actions]
    columns, chances = [], []
    for s in range(world.n_states):
        bounds = world.offset[s * n_actions : (s + 1) * n_actions + 1].tolist()
        spans = list(pairwise(bounds))
        columns.append([world.successor[i:j].tolist() for i, j in spans])
        chances.append([world.probability[i:j].tolist() for i, j in spans])
    for g, s in enumerate(world.goals.tolist()):
        columns[s], chances[s] = [[sink]] * n_actions, [[1.0]] * n_actions
        rewards[s] = [float(terminal[g])] * n_actions
    columns.append([[sink]] * n_actions)
    chances.append([[1.0]] * n_actions)
    discount, error = _discounted(world, terminal)
    known = [float(terminal.max())] * sink + [0.0]
    model = mdpsolver.model()
    model.mdp(discount=discount, rewards=rewards, tranMatProbs=chances, tranMatColumns=columns)

    def solve():
        asked = {"algorithm": "vi", "tolerance": error, "initValueVector": known}
        model.solve(**asked, postProcessing=False, makeFinalCheck=False)
        return np.array(model.getValueVector())[:sink]

    return solve


def storm(world, terminal):
    """The least expected cost by Storm, with its own defaults; goals lead to a sink at a cost."""
    import stormpy

    n_actions, sink = world.n_actions, world.n_states
    cost = {int(s): float(terminal.max() - r) for s, r in zip(world.goals, terminal, strict=True)}
    lines = ["@type: MDP", "@parameters", "", "@reward_models", "cost", "@nr_states", str(sink + 1)]
    n_choices = (sink - world.n_goals) * n_actions + world.n_goals + 1
    lines += ["@nr_choices", str(n_choices), "@model"]
    for s in range(sink):
        lines.append(f"state {s} [0] init" if s == 0 else f"state {s} [0]")
        if s in cost:
            lines += [f"\taction 0 [{cost[s]!r}]", f"\t\t{sink} : 1"]
            continue
        for a in range(n_actions):
            lines.append(f"\taction {a} [{float(-world.step_reward[s, a])!r}]")
            first, last = world.offset[s * n_actions + a : s * n_actions + a + 2].tolist()
            pairs = zip(
                world.successor[first:last].tolist(),
                world.probability[first:last].tolist(),
                strict=True,
            )
            lines += [f"\t\t{t} : {p!r}" for t, p in pairs]
    lines += [f"state {sink} [0] done", "\taction 0 [0]", f"\t\t{sink} : 1"]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "world.drn"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        model = stormpy.build_model_from_drn(str(path))
    formula = stormpy.parse_properties('Rmin=? [F "done"]')[0]

    def solve():
        found = stormpy.model_checking(model, formula)
        return terminal.max() - np.array([found.get_value(s) for s in range(sink)])

    return solve


LIBRARIES = {
    "taskalgebra": planner,
    "numpy value iteration": numpy_value_iteration,
    "scipy.sparse value iteration": scipy_value_iteration,
    "quantecon": quantecon_value_iteration,
    "mdpsolver": mdpsolver_value_iteration,
    "stormpy": storm,
}


def beside(name, n_states):
    """The row of one library that solves one goal; it says how far its values are from ours."""
    small = grid(100)
    LIBRARIES[name](small, one_goal(small))()  # whatever compiles, before the clock
    for size in dict.fromkeys((20_000, n_states)):
        world = grid(size)
        exact = planner(world, one_goal(world))()
    found, values = row("one goal", name, world, 1, LIBRARIES[name](world, one_goal(world)))
    return [found | {"off": float(np.abs(values - exact).max())}]


apart = partial(measured.apart, "stochastic_worlds")


def slope(rows, what):
    """Of log CPU time over log states."""
    part = [one for one in rows if one["what"] == what]
    x, y = ([np.log(one[key]) for one in part] for key in ("states", "cpu_seconds"))
    return float(np.polyfit(x, y, 1)[0])


def libraries(report, n_states):
    """Seconds of each library over ours, on one goal of the same world, in one run."""
    mine = apart("beside", "taskalgebra", n_states)[0]
    report.note(f"{mine['states']:,} states, one goal: taskalgebra", mine["seconds"], "s")
    for name in list(LIBRARIES)[1:]:
        try:
            found = apart("beside", name, n_states, patience=600)
        except ModuleNotFoundError:
            report.fact(f"    {name}", "not installed")
            continue
        if not found:
            report.fact(f"    {name}", "over 600 s")
        elif found[0]["off"] > AGREE:  # a wrong answer is no time to compare with
            seconds = found[0]["seconds"]
            report.note(f"    {name}: {seconds:.3g} s for values wrong by", found[0]["off"], "")
        else:
            report.note(f"    {name}", found[0]["seconds"], "s")
            report.at_least(f"    {name} / ours", found[0]["seconds"] / mine["seconds"], 1)


def main(argv=None):
    """Run all bars; quickly at toy size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args(argv).quick
    report = Report()
    for size in (400, 1_600) if quick else (100_000, 1_000_000):
        build, plan, judged = apart("ours", size)
        name = f"{build['states']:,} states"
        report.at_most(f"{name}: built, wall", build["seconds"], 10, "s")
        report.note(f"{name} x 4 goals: planned, CPU", plan["cpu_seconds"], "s")
        report.at_most(f"{name} x 4 goals: planned to 1e-6, wall", plan["seconds"], 300, "s")
        report.at_most(f"{name} x 4 goals: error bound", plan["error_bound"], TOLERANCE, "")
        report.at_most(f"{name}: policy_return, wall", judged["seconds"], 30, "s")
        report.at_most(f"{name}: peak memory of all", judged["peak_bytes"] / 2**30, 4, "GB")
    rows = [one for n in (1_000, 4_000) if quick for one in apart("reachability", n)]
    if not quick:
        rows = [one for n in (10_000, 100_000, 1_000_000) for one in apart("reachability", n)]
    for what in ("reachability, grid", "reachability, chain"):
        steepness = slope(rows, what)
        report.at_most(f"slope of CPU over states: {what}", steepness, 9 if quick else 1.15, "")
    libraries(report, 400 if quick else SHARED)
    report.finish()


if __name__ == "__main__":
    main()
