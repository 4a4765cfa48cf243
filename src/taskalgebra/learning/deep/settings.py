"""What a network is trained with, and two presets; torch is not needed to say so.

`FAST` is our own.  `PAPER` has the hyperparameters of the supplement, but for what PAPER.md lists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from taskalgebra.learning.probe import step_rewards
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.validation import count

LIMIT = 100
"""Steps of an episode where neither settings nor environment have a limit."""
MOST_ATOMS = 200
"""Returns that a categorical value may have, unless told otherwise."""


@dataclass(frozen=True)
class DeepSettings:
    """What a network is trained with; the defaults are those of `FAST`."""

    categorical: bool = True
    """Whether values are distributions over returns; else numbers, trained with the Huber loss."""
    centred: bool = True
    """Whether the mean observation and the mean goal are subtracted from the inputs."""
    own_rewards: bool = False
    """Whether the network learns the rewards of its task; else they are added afterwards."""
    n_updates: int = 3_000
    """Gradient steps in all."""
    updates_per_iteration: int = 500
    """Gradient steps of an iteration; after each, the network is scored and a checkpoint kept."""
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
    tau: float = 0.02
    """How far the target network moves towards the network at each gradient step; 0 copies it as a
    whole."""
    target_interval: int = 250
    """With `tau` 0, gradient steps between two copies."""
    epsilon_end: float = 1.0
    """ε at the end of its annealing from 1; 1 means that the agent acts at random."""
    epsilon_steps: int = 100_000
    """Environment steps over which ε is annealed."""
    discount: float = 1.0
    """γ."""
    v_min: float | None = None
    """The lowest return, which stands for never: r̄_MIN, as seen from the terminal reward.  By
    default what an episode of `max_episode_steps` costs."""
    v_max: float | None = None
    """The highest return; by default 0, or with `own_rewards` what the best goal pays."""
    spacing: float | None = None
    """Between two returns of a categorical value; by default the cost of a step, which makes
    backups exact."""
    max_episode_steps: int | None = None
    """Steps after which an episode of training is given up; by default the environment's own limit,
    or 100."""
    threads: int = 2
    """Threads of torch; the same weights need the same number."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        for name in (
            "n_updates",
            "updates_per_iteration",
            "n_envs",
            "learning_starts",
            "replay_size",
            "batch_size",
            "target_interval",
            "epsilon_steps",
            "threads",
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}, expected a whole number of at least 1")
        some = self.goals_per_update
        if isinstance(some, bool) or not isinstance(some, int) or some < 0:
            raise ValueError(f"goals_per_update is {some!r}, expected a whole number, 0 for all")
        for name in ("telling_share", "tau", "epsilon_end", "discount"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected one in [0, 1]")
        for name in ("steps_per_update", "learning_rate", "gradient_clip"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected a positive number")
        if self.max_episode_steps is not None:
            count(self.max_episode_steps, "max_episode_steps")
        if self.updates_per_iteration * self.steps_per_update < self.n_envs:
            raise ValueError(
                f"an iteration of {self.updates_per_iteration} gradient steps plays "
                f"{self.steps_per_update:g} environment steps for each, less than one of each of "
                f"the {self.n_envs} environments, so that nothing new would be seen; make "
                f"iterations longer"
            )
        if self.resolved:
            self._check_returns()

    @property
    def resolved(self) -> bool:
        """Whether nothing is left to be taken from an environment."""
        numbers = (self.v_min, self.v_max, self.spacing, self.max_episode_steps)
        return all(number is not None for number in numbers)

    @property
    def returns(self) -> tuple[float, float, float]:
        """v_min, v_max and spacing, once they are known."""
        if self.v_min is None or self.v_max is None or self.spacing is None:
            raise ValueError("v_min, v_max and spacing are not known; see `resolved_for`")
        return self.v_min, self.v_max, self.spacing

    def _check_returns(self) -> None:
        v_min, v_max, spacing = self.returns
        if not 0.0 < spacing < math.inf:
            raise ValueError(f"spacing is {spacing!r}, expected a positive number")
        if not -math.inf < v_min < v_max < math.inf:
            raise ValueError(f"v_min = {v_min} is not below v_max = {v_max}, both finite")
        n_apart = (v_max - v_min) / spacing
        if self.categorical and (round(n_apart) < 1 or abs(n_apart - round(n_apart)) > 1e-6):
            raise ValueError(
                f"spacing = {spacing} does not divide the returns from v_min = {v_min} to "
                f"v_max = {v_max}, {n_apart:g} times; choose a whole number of times"
            )


FAST = DeepSettings()
PAPER = DeepSettings(
    own_rewards=True,
    n_updates=10_000,
    updates_per_iteration=1_000,
    steps_per_update=4.0,
    learning_starts=10_000,
    batch_size=32,
    goals_per_update=2,
    learning_rate=5e-4,
    tau=0.0,
    target_interval=250,
    epsilon_end=0.01,
)


def resolved_for(settings: DeepSettings, env: GoalEnv, seed: int) -> DeepSettings:
    """The settings with the limits of an environment: what steps cost, and how many there may be.

    What steps cost is seen in a short look at the environment, acting at random.  "Never" is so low
    that the worst way to any goal is better: v_min + r_U ≤ r_∅ − cost · max_episode_steps.
    """
    if settings.resolved:
        return settings
    space = env.space
    limit = settings.max_episode_steps or env.max_episode_steps or LIMIT
    best, worst = float(space.r_universal.max()), float(space.r_empty.min())
    if not settings.own_rewards:
        best, worst = 0.0, worst - best
    spacing, v_min, v_max = settings.spacing, settings.v_min, settings.v_max
    if spacing is None or v_min is None:
        cost = -step_rewards(env, seed).low
        cost = cost if cost > 0.0 else (best - worst) / limit  # where steps are free
        lowest = worst - cost * limit if v_min is None else v_min
        if spacing is None:
            spacing = max(cost, (best - lowest) / MOST_ATOMS)
        v_min = lowest
    if v_max is None:
        n_above = math.ceil((best - v_min) / spacing - 1e-9)
        v_max = max(best, v_min + spacing * n_above)  # whatever the rounding
        if best == 0.0:  # at a goal the return is 0, exactly
            v_min, v_max = v_min - v_max, 0.0
    return replace(settings, v_min=v_min, v_max=v_max, spacing=spacing, max_episode_steps=limit)
