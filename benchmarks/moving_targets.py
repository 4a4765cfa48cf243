"""Moving targets: composed agents, the agent that goes to the nearest object, and the optimum.

python benchmarks/moving_targets.py                  1,000 episodes of four tasks, by both rules
python benchmarks/moving_targets.py --six            with the optimum of six: 5.2 GB, an hour
python benchmarks/moving_targets.py --rules touch    by one rule
"""

from __future__ import annotations

import argparse

import taskalgebra as ta
from report import Report
from taskalgebra.envs.boxman.moving import NearestFirst, most_pick_ups
from taskalgebra.evaluation.continuing import ContinuingEvaluation, play_on

STEPS = 50
SKILLS = {"pick-up": "boxman-random", "touch": "boxman-touch"}
TASKS = ("blue", "square", "circle | square", "blue ^ square")
NEVER = {"blue ^ square": "blue & square"}
LEAST = 0.8
PLANNED = 3  # wanted objects, for which planning takes seconds


def optimum(world: ta.Boxman, task: ta.Task) -> float:
    """The expected return of the best agent; where an object has to be avoided, at least that."""
    n_wanted = int(task.wanted.sum())
    pick_ups = most_pick_ups(world.board, n_wanted, STEPS, by_touch=world.by_touch)
    return float(task.goal_reward.max()) * pick_ups - 0.1 * STEPS


def nearest(world: ta.Boxman, task: ta.Task, episodes: int, seed: int) -> ContinuingEvaluation:
    """Episodes of the agent that knows all distances."""
    games = world.continuing(min(episodes, world.max_copies))
    agent = NearestFirst(games, task.wanted)
    return play_on(task, games, agent, episodes=episodes, steps=STEPS, seed=seed)


def main(arguments: list[str] | None = None) -> None:
    """Play every task; a line per figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", choices=list(SKILLS), help="default: both")
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--six", action="store_true", help="plan for six wanted objects, too")
    given = parser.parse_args(arguments)
    report = Report()
    for rules in SKILLS if given.rules is None else [given.rules]:
        skills = ta.load(SKILLS[rules])
        world = skills.env
        for expression in TASKS:
            task = world.find_task(expression)
            found = skills[task].evaluate_continuing(
                given.episodes, steps=STEPS, avoid=NEVER.get(expression), seed=given.seed
            )
            name = f"by {rules}, {expression}: "
            low, median, high = found.quartiles
            report.fact(f"{name}median return, quartiles", f"{median:g}, {low:g} to {high:g}")
            report.note(f"{name}mean return", found.mean_return, "")
            report.note(f"{name}standard error", found.standard_error, "")
            report.exactly(f"{name}violations", int(found.violated.sum()), 0)
            if rules == "pick-up":
                report.exactly(f"{name}pick-ups of others", int(found.n_unwanted.sum()), 0)
            exact = nearest(world, task, given.episodes, given.seed)
            report.note(f"{name}mean return, nearest object first", exact.mean_return, "")
            if task.wanted.sum() <= PLANNED or given.six:
                best = optimum(world, task)
                report.note(f"{name}mean return, optimum", best, "")
                report.at_least(f"{name}median / optimum", median / best, LEAST, "")
                report.note(f"{name}mean / optimum", found.mean_return / best, "")
    report.finish()


if __name__ == "__main__":
    main()
