"""The skills `minigrid-fetch` against the fewest steps possible, in MiniGrid itself.

For each of ten expressions, episodes of MiniGrid-Fetch-8x8-N3-v0 in which a wanted object can be
fetched: how often the agent does, and with how many steps more than a breadth-first search.

    python benchmarks/fetch.py [EPISODES] [DIRECTORY]
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import gymnasium as gym
import numpy as np

import taskalgebra as ta
from report import Report
from taskalgebra.envs import minigrid

NAME = "MiniGrid-Fetch-8x8-N3-v0"
EXPRESSIONS: dict[str, Callable[[str, str], bool]] = {
    "red": lambda colour, kind: colour == "red",
    "ball": lambda colour, kind: kind == "ball",
    "yellow & key": lambda colour, kind: colour == "yellow" and kind == "key",
    "purple | grey": lambda colour, kind: colour in ("purple", "grey"),
    "~key & ~red": lambda colour, kind: kind != "key" and colour != "red",
    "blue ^ ball": lambda colour, kind: (colour == "blue") != (kind == "ball"),
    "(red | ball) & ~key": lambda colour, kind: kind == "ball",
    "~(green | blue)": lambda colour, kind: colour not in ("green", "blue"),
    "green & ~ball | grey & ball": lambda colour, kind: (colour, kind)
    in (("green", "key"), ("grey", "ball")),
    "key & ~(red | yellow | grey)": lambda colour, kind: kind == "key"
    and colour in ("green", "blue", "purple"),
}
"""Each with what it wants, written out independently of the library."""
AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(frozen=True)
class Played:
    """Episodes of one expression, in all of which a wanted object could be fetched."""

    success: np.ndarray  # [N]
    steps: np.ndarray  # [N], of the agent
    fewest: np.ndarray  # [N]

    @property
    def rate(self) -> float:
        """How often a wanted object was fetched."""
        return float(self.success.mean())

    @property
    def excess(self) -> float:
        """Steps of successful episodes, as a multiple of the fewest possible."""
        return float(self.steps[self.success].sum() / self.fewest[self.success].sum())


def fewest_steps(env: Any, wanted: Callable[[str, str], bool]) -> int | None:
    """Steps until a wanted object is picked up, by breadth-first search; None if it cannot be."""
    start = (int(env.agent_pos[0]), int(env.agent_pos[1]), int(env.agent_dir))
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        x, y, heading = state = waiting.popleft()
        ahead = (x + AHEAD[heading][0], y + AHEAD[heading][1])
        there = env.grid.get(*ahead)
        if there is not None and there.type in ("key", "ball") and wanted(there.color, there.type):
            return steps[state] + 1
        following = [(x, y, (heading + 1) % 4), (x, y, (heading - 1) % 4)]
        if there is None:
            following.append((*ahead, heading))
        for each in following:
            if each not in steps:
                steps[each] = steps[state] + 1
                waiting.append(each)
    return None


def layouts(wanted: Callable[[str, str], bool], seed: int) -> Iterator[tuple[Any, int]]:
    """Environments in which a wanted object can be fetched, with the fewest steps."""
    for i in count(seed):
        env = gym.make(NAME, disable_env_checker=True).unwrapped
        env.reset(seed=i)
        fewest = fewest_steps(env, wanted)
        if fewest is not None:
            yield env, fewest


def play(skills: Any, expression: str, episodes: int, seed: int = 1_000_000) -> Played:
    """Play an expression in the environment itself, all episodes side by side."""
    wanted, policy = EXPRESSIONS[expression], skills[expression].policy
    envs, fewest = zip(
        *(each for each, _ in zip(layouts(wanted, seed), range(episodes), strict=False)),
        strict=True,
    )
    steps, success = np.zeros(episodes, int), np.zeros(episodes, bool)
    going = list(range(episodes))
    while going:
        seen = np.stack([minigrid.full_grid(None, envs[i]) for i in going])
        for i, action in zip(list(going), policy.actions(seen), strict=True):
            _, _, terminated, truncated, _ = envs[i].step(int(action))
            steps[i] += 1
            if terminated or truncated:
                held = envs[i].carrying
                success[i] = held is not None and wanted(held.color, held.type)
                going.remove(i)
            elif steps[i] >= 100:  # nothing is that far
                going.remove(i)
    return Played(success, steps, np.array(fewest))


def main() -> None:
    """Judge all ten."""
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    skills = ta.load(sys.argv[2] if len(sys.argv) > 2 else "minigrid-fetch")
    report = Report()
    for expression in EXPRESSIONS:
        played = play(skills, expression, episodes)
        report.at_least(f"{expression}: success", 100 * played.rate, 95, " %")
        report.at_most(f"{expression}: steps, of the fewest", played.excess, 1.1)
    report.finish()


if __name__ == "__main__":
    main()
