"""What a network is trained with, and two presets; torch is not needed to say so.

`fast` is our own.  `paper` has the network and the hyperparameters of the supplement, but for what
PAPER.md lists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from taskalgebra.validation import one_of

NETWORKS = ("egocentric", "planning", "paper")


@dataclass(frozen=True)
class DeepSettings:
    """What a network is trained with; the defaults are those of the preset `fast`."""

    network: str = "egocentric"
    """The architecture: "egocentric"; "planning", for worlds in which objects are in the way, which
    needs an egocentric network to start from; or "paper", the CNN of the supplement."""
    categorical: bool = True
    """Whether values are distributions over returns; else numbers, trained with the Huber loss."""
    centred: bool = True
    """Whether the mean observation and the mean goal are subtracted from the inputs."""
    own_rewards: bool = False
    """Whether the network learns the rewards of its task; else they are added afterwards."""
    n_updates: int = 3_000
    """Gradient steps in all."""
    chapter: int = 500
    """Gradient steps between two checkpoints."""
    n_envs: int = 64
    """Environments that are played at once."""
    steps_per_update: float = 64.0
    """Steps of an environment for each gradient step."""
    learning_starts: int = 12_800
    """Steps at random before the first gradient step."""
    replay_size: int = 300_000
    """Transitions that are remembered."""
    batch_size: int = 64
    """Transitions in a gradient step; each is used for all goals met."""
    goals_per_update: int = 0
    """Goals that a gradient step is for, sampled from those met; 0 means all."""
    telling_share: float = 0.25
    """The share of a batch that is drawn from transitions into or out of goals."""
    learning_rate: float = 1e-3
    """Of Adam."""
    annealed: bool = True
    """Whether the learning rate falls to 0, along a cosine, in the second half."""
    gradient_clip: float = 1.0
    """The largest norm of a gradient."""
    target_rate: float = 0.02
    """How far the slower copy follows at each gradient step; 0 copies it as a whole."""
    target_every: int = 250
    """With `target_rate` 0, gradient steps between two copies."""
    epsilon_end: float = 1.0
    """ε at the end of its annealing from 1; 1 means that the agent acts at random."""
    epsilon_steps: int = 100_000
    """Environment steps over which ε is annealed."""
    discount: float = 1.0
    """γ."""
    low: float = -2.3
    """The lowest return, which stands for never: r̄_MIN, as seen from the terminal reward."""
    high: float = 0.0
    """The highest return."""
    spacing: float = 0.1
    """Between two returns of a categorical value; the cost of a step makes backups exact."""
    threads: int = 2
    """Threads of torch; the same weights need the same number."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        for name in (
            "n_updates",
            "chapter",
            "n_envs",
            "learning_starts",
            "replay_size",
            "batch_size",
            "target_every",
            "epsilon_steps",
            "threads",
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}, expected a whole number of at least 1")
        some = self.goals_per_update
        if isinstance(some, bool) or not isinstance(some, int) or some < 0:
            raise ValueError(f"goals_per_update is {some!r}, expected a whole number, 0 for all")
        for name in ("telling_share", "target_rate", "epsilon_end", "discount"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected one in [0, 1]")
        for name in ("steps_per_update", "learning_rate", "gradient_clip", "spacing"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected a positive number")
        if not -math.inf < self.low < self.high < math.inf:
            raise ValueError(f"low = {self.low} is not below high = {self.high}, both finite")
        if self.chapter * self.steps_per_update < self.n_envs:
            raise ValueError(
                f"a chapter of {self.chapter} gradient steps plays {self.steps_per_update:g} "
                f"environment steps for each, less than one of each of the {self.n_envs} "
                f"environments, so that nothing new would be seen; make chapters longer"
            )
        one_of(self.network, NETWORKS, "network")
        n_apart = (self.high - self.low) / self.spacing
        if self.categorical and (round(n_apart) < 1 or abs(n_apart - round(n_apart)) > 1e-6):
            raise ValueError(
                f"spacing = {self.spacing} does not divide the returns from low = {self.low} to "
                f"high = {self.high}, {n_apart:g} times; choose a whole number of times"
            )


FAST = DeepSettings()
PAPER = DeepSettings(
    network="paper",
    own_rewards=True,
    n_updates=10_000,
    chapter=1_000,
    steps_per_update=4.0,
    learning_starts=10_000,
    batch_size=32,
    goals_per_update=2,
    learning_rate=5e-4,
    target_rate=0.0,
    target_every=250,
    epsilon_end=0.01,
    low=-2.0,
    high=2.0,
)


def preset(name: str, **changes: Any) -> DeepSettings:
    """The settings of a preset, "fast" or "paper", with some of them changed."""
    presets = {"fast": FAST, "paper": PAPER}
    if name not in presets:
        raise ValueError(f"unknown preset {name!r}; expected 'fast' or 'paper'")
    return replace(presets[name], **changes)
