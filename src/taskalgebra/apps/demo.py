"""A demo: Four Rooms solved exactly, and all 16 tasks composed from two.

    python -m taskalgebra.apps.demo

prints a table of all 16 tasks, and draws them to a file if matplotlib is installed.
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from taskalgebra.apps import desired_names
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.evaluation.exact import policy_return
from taskalgebra.extras import hint
from taskalgebra.logic.formulas import all_functions
from taskalgebra.planning.exact import optimal_v
from taskalgebra.signs import adapt
from taskalgebra.skills.agent import Agent
from taskalgebra.skills.making import solve

PICTURE = Path("taskalgebra-demo.png")


def main() -> None:
    """Draw one map, print the table of 16 tasks, and write a picture of all of them."""
    world = FourRooms()
    solve(world)  # compiles the kernels, or reads them from the disk cache
    start = time.perf_counter()
    skills = solve(world, ["top", "left"])
    planned = time.perf_counter() - start

    start = time.perf_counter()
    agents = [skills.for_task(function) for function in all_functions(["top", "left"])]
    composed = time.perf_counter() - start

    print("An exclusive or on the map; ◆ is desired, ◇ is not; brighter cells are better:\n")
    skills.for_task("top ^ left").show()
    print("\nFour Rooms: 104 cells, one goal per room. Two base tasks were planned exactly:")
    for name, task in skills.tasks.items():
        print(f"  {name:<5} wants {' and '.join(desired_names(task)).replace('_', ' ')}")
    print(f"From them, all {skills.n_expressible} tasks are composed without further planning.")
    print("Goals are top left, top right, bottom left, bottom right: ◆ desired, ◇ not desired.\n")
    print(f"  {'task':<28} {'goals':^9} {'mean return':>11} {'optimum':>9}   from every start")
    print(f"  {'-' * 28} {'-' * 9} {'-' * 11} {'-' * 9}   {'-' * 16}")
    exact = sum([_line(agent) for agent in agents])
    print(f"\n{exact} of {len(agents)} composed policies are optimal from every start.")
    print(f"Planning took {1e3 * planned:.1f} ms, composing {1e3 * composed:.1f} ms.")
    if find_spec("matplotlib") is None:
        print(f"To draw all 16: {hint('figures')}")
        return
    _draw(agents, PICTURE)
    print(f"Picture of all 16: {PICTURE.resolve()}")


def _draw(agents: list[Agent], path: Path) -> None:
    """Draw the values and actions of all agents."""
    from taskalgebra.paper.figures.solution import Map, draw_many, write

    maps = [
        Map.of(a.task.space.mdp, str(a.expression), a.v, a.actions, a.task.desired) for a in agents
    ]
    write(draw_many(maps, "Two base tasks, top and left; all 16 tasks composed from them"), path)


def _line(agent: Agent) -> bool:
    """Print one task, and return whether its policy is optimal from every start."""
    mdp = agent.task.space.mdp
    reached = policy_return(agent.task, agent.actions)[mdp.starts]
    optimum = optimal_v(agent.task)[mdp.starts]
    exact = bool(np.abs(reached - optimum).max() <= 1e-12)
    marks = " ".join("◆" if desired else "◇" for desired in agent.task.desired)
    verdict = "optimal" if exact else "NOT optimal"
    print(
        f"  {agent.expression!s:<28} {marks:^9} {reached.mean():>11.4f} {optimum.mean():>9.4f}"
        f"   {verdict}"
    )
    return exact


if __name__ == "__main__":
    adapt(sys.stdout)
    main()
