"""Exact planning against plain Python and against scipy, in one run on one machine.

python benchmarks/planning.py
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

import rivals
import taskalgebra as ta
from maze import maze_world
from measured import timed
from report import Report, best_time
from taskalgebra.planning.exact import PlannedReach, q_bar_star, return_to_goal
from taskalgebra.theory.reach import ReachBounds, ReachQ
from taskalgebra.theory.rewards import r_bar_min_of
from taskalgebra.theory.tasks import TaskSpace


def plain_value_iteration(mdp, goal_reward, r_bar_min):
    """Q̄* by loops over lists: what one writes first."""
    next_state, step = mdp.next_state.tolist(), mdp.step_reward.tolist()
    states, actions = range(mdp.n_states), range(mdp.n_actions)
    result = []
    for g in range(mdp.n_goals):
        v = {int(s): r_bar_min for s in mdp.goals}
        v[int(mdp.goals[g])] = float(goal_reward[g])
        value = [v.get(s, -float("inf")) for s in states]
        while True:
            q = [[step[s][a] + value[next_state[s][a]] for a in actions] for s in states]
            new = [v.get(s, max(q[s])) for s in states]
            if new == value:
                break
            value = new
        for s, terminal in v.items():
            q[s] = [terminal] * mdp.n_actions
        result.append(q)
    return np.array(result).transpose(1, 0, 2)


def four_rooms(report):
    """All goals of the 40-goal Four Rooms."""
    world = ta.FourRooms(40)
    space, task = world.space, next(iter(world.tasks.values()))
    r_bar_min = r_bar_min_of(space)
    ours = best_time(lambda: q_bar_star(space, [task]), 20)
    start = time.perf_counter()
    plain = plain_value_iteration(space.mdp, task.goal_reward, r_bar_min)
    slow = time.perf_counter() - start
    planned = q_bar_star(space, [task]).values[0].table
    assert np.abs(planned - plain).max() < 1e-12
    report.note("40-goal Four Rooms, plain Python value iteration", slow, "s")
    report.note("40-goal Four Rooms, q_bar_star of one task and both bounds", ours, "s")
    report.at_least("40-goal Four Rooms: plain Python / ours", slow / ours, 200)


def scipy_distances(mdp):
    """Distances to each goal by two routines of scipy.sparse.csgraph; the seconds of each."""
    times = {}
    for name in ("scipy, dijkstra", "scipy, breadth first"):
        seconds, _, distances = timed(rivals.LIBRARIES[name](mdp, mdp.goals))
        times[name] = (seconds, distances)
    return times


def large_maze(report):
    """A 1000 x 1000 maze with 16 goals; returns are kept, Q̄ is expanded on demand."""
    mdp = maze_world(1001, 1001, 16)
    return_to_goal(maze_world(21, 21, 2))
    for cached in ("support", "predecessors"):
        mdp.__dict__.pop(cached, None)
    start = time.perf_counter()
    returns = return_to_goal(mdp)  # from the bare table of next states: reversal included
    ours = time.perf_counter() - start
    report.note(f"maze of {mdp.n_states:,} states, 16 goals: return_to_goal", ours, "s")
    slowest = []
    for name, (seconds, distances) in scipy_distances(mdp).items():
        assert np.allclose(-0.1 * distances, returns.to_goal, atol=1e-6)
        report.note(f"maze: scipy {name}", seconds, "s")
        slowest.append(seconds)
    report.at_least("maze: fastest scipy routine / ours", min(slowest) / ours, 3)

    space = TaskSpace(mdp)
    reach = PlannedReach(returns, r_bar_min_of(space))
    bounds = ReachBounds(space, reach)
    one, two = (
        ReachQ(reach, space.task(goals).goal_reward, bounds) for goals in ([0, 3, 5], [5, 7])
    )
    task = one ^ two
    states = np.arange(1000)
    report.note(
        "maze: Q̄ of a composed task for 1,000 states, on demand",
        best_time(lambda: task.q_bar(states)),
        "s",
    )


def memory(report):
    """Peak memory of a process that only builds and plans the large maze."""
    code = (
        "import sys; sys.path.insert(0, 'benchmarks')\n"
        "from maze import maze_world\nfrom taskalgebra.planning.exact import return_to_goal\n"
        "import resource\nreturn_to_goal(maze_world(1001, 1001, 16))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peak = int(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
    )
    report.at_most(
        "maze: peak memory of a process that builds and plans it", peak / 2**20, 2.5, "GB"
    )


def growth(report):
    """Seconds per state and goal, from small to large."""
    rates = []
    for side, n_goals in ((101, 16), (201, 16), (401, 16), (801, 16), (801, 4), (801, 64)):
        mdp = maze_world(side, side, n_goals)
        mdp.predecessors  # noqa: B018 (reversal is linear too, and paid once)
        rate = best_time(lambda m=mdp: return_to_goal(m), 3) / (mdp.n_states * n_goals)
        report.note(
            f"{mdp.n_states:>9,} states x {n_goals:>2} goals: ns a state and goal", 1e9 * rate, "ns"
        )
        rates.append(rate)
    report.at_most("time a state and goal, slowest size / fastest size", max(rates) / min(rates), 4)


def main():
    """Run all bars."""
    report = Report()
    four_rooms(report)
    large_maze(report)
    memory(report)
    growth(report)
    report.finish()


if __name__ == "__main__":
    main()
