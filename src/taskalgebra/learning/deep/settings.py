"""Settings of a training, and three presets; without torch.

`GENERAL` is for any environment.  `FAST` acts at random all the time, which is enough where random
walks get everywhere.  `PAPER` has the hyperparameters of the supplement, except for
what PAPER.md lists.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields, replace

from taskalgebra.learning.probe import step_rewards
from taskalgebra.limits import MOST, MOST_COPIES, MOST_THREADS
from taskalgebra.theory.goal_env import LEARNING_STEPS, GoalEnv
from taskalgebra.validation import count, flag, number, share

MOST_OF = {
    "n_envs": MOST_COPIES,
    "threads": MOST_THREADS,
    "batch_size": 10**6,
    "replay_size": 10**9,
}
"""Of numbers that take memory or threads at once."""
MOST_ATOMS = 200
"""Atoms of a categorical value, unless `spacing` is given."""


@dataclass(frozen=True)
class DeepSettings:
    """What a network is trained with; the defaults are those of `FAST`."""

    categorical: bool = True
    """Whether values are distributions over returns, or else numbers with the Huber loss."""
    centred: bool = True
    """Whether the mean observation and the mean goal are subtracted from the inputs."""
    own_rewards: bool = False
    """Whether the network learns the rewards of its task; if not, they are added afterwards."""
    n_updates: int = 3_000
    """Gradient steps in all."""
    updates_per_iteration: int = 500
    """Gradient steps per iteration; after each iteration the network is scored and saved."""
    n_envs: int = 64
    """Copies of the environment that are played at once."""
    steps_per_update: float = 64.0
    """Environment steps per gradient step."""
    learning_starts: int = 12_800
    """Random steps before the first gradient step."""
    replay_size: int = 300_000
    """Transitions in the replay buffer."""
    batch_size: int = 64
    """Transitions per gradient step; each is used for all goals met."""
    goals_per_update: int = 0
    """Goals per gradient step, sampled from those met; 0 means all."""
    telling_share: float = 0.25
    """The share of a batch that is drawn from transitions into or out of goals."""
    learning_rate: float = 1e-3
    """Of Adam."""
    annealed: bool = True
    """Whether the learning rate falls to 0, along a cosine, in the second half of training."""
    gradient_clip: float = 1.0
    """The largest norm of a gradient."""
    tau: float = 0.02
    """How far the target network moves towards the network at each gradient step; 0 copies it every
    `target_interval` steps instead."""
    target_interval: int = 250
    """Gradient steps between two copies if `tau` is 0."""
    averaging: float = 0.0
    """The share of the gradient steps so far over which weights are averaged, exponentially, to be
    scored and kept.  0 keeps the weights as they are, and they vary: of hundreds of layouts, other
    few fail after every iteration."""
    pessimism: float = 0.0
    """How surely an untrained network takes every goal to be out of reach: what is added to its
    outputs for "never", the lowest return of a categorical value.  At 0 all returns are equally
    likely, and many backups are spent on unlearning them; from about 6 on, values grow from the
    goals outwards.  Networks of your own start as they are."""
    epsilon_end: float = 1.0
    """ε after annealing from 1; 1 means that the agent always acts at random."""
    epsilon_steps: int | None = 100_000
    """Environment steps over which ε is annealed; None means half of all."""
    directed: bool = False
    """Whether an episode of training pursues one of the goals met, chosen at random among those
    that some task may want, when it does not act at random; if not, it goes to whichever goal has
    the highest value."""
    discount: float = 1.0
    """γ."""
    v_min: float | None = None
    """The lowest return, which stands for "never": r̄_MIN, relative to the terminal reward.  By
    default what an episode of `max_episode_steps` costs."""
    v_max: float | None = None
    """The highest return; by default 0, or with `own_rewards` what the best goal pays."""
    spacing: float | None = None
    """Between two atoms of a categorical value; by default the cost of a step, which makes backups
    exact."""
    max_episode_steps: int | None = None
    """Steps after which an episode of training is truncated; by default the environment's own
    limit, or 50."""
    scoring_share: float = 1.0
    """Environment steps of scoring, at most this share of those of training.  It sets the number of
    episodes, 20 to 200 for each base task; an iteration for which this is still too many is not
    scored, except for the last one."""
    threads: int = 2
    """Threads of torch; equal weights need an equal number of threads."""
    device: str = "auto"
    """Where networks are trained: "cpu", "cuda", "cuda:1"; "auto" is CUDA if there is any."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "int" or (field.type == "int | None" and value is not None):
                least = 0 if field.name == "goals_per_update" else 1
                most = MOST_OF.get(field.name, MOST)
                value = count(value, field.name, least=least, most=most)
                object.__setattr__(self, field.name, value)
            if field.type == "bool":
                object.__setattr__(self, field.name, flag(value, field.name))
        for name in (
            "telling_share",
            "tau",
            "averaging",
            "epsilon_end",
            "discount",
            "scoring_share",
        ):
            share(getattr(self, name), name)
        for name in ("steps_per_update", "learning_rate", "gradient_clip", "spacing"):
            value = getattr(self, name)
            if name == "spacing" and value is None:
                continue
            if not number(value, name, "a positive number") > 0.0:
                raise ValueError(f"{name} is {value!r}, expected a positive number")
        if self.device not in ("auto", "cpu") and not re.fullmatch(
            r"cuda(:\d+)?", str(self.device)
        ):
            raise ValueError(f'device is {self.device!r}, expected "cpu", "cuda" or "auto"')
        number(self.pessimism, "pessimism", "a number, 0 or more", least=0.0)
        ends = [n for n in ("v_min", "v_max") if getattr(self, n) is not None]
        low, *high = [number(getattr(self, name), name) for name in ends] or [0.0]
        if high and not low < high[0]:
            raise ValueError(f"v_min = {low} is not below v_max = {high[0]}, both finite")
        if self.updates_per_iteration * self.steps_per_update < self.n_envs:
            raise ValueError(
                f"an iteration of {self.updates_per_iteration} gradient steps with "
                f"{self.steps_per_update:g} environment steps each is less than one step of each "
                f"of the {self.n_envs} environments, so nothing new would be seen; make "
                f"iterations longer"
            )
        if self.resolved:
            self._check_returns()

    @property
    def resolved(self) -> bool:
        """Whether nothing is left to take from an environment."""
        numbers = (self.v_min, self.v_max, self.spacing, self.max_episode_steps, self.epsilon_steps)
        return all(number is not None for number in numbers)

    @property
    def returns(self) -> tuple[float, float, float]:
        """v_min, v_max and spacing, once they are known."""
        if self.v_min is None or self.v_max is None or self.spacing is None:
            raise ValueError("v_min, v_max and spacing are not known; see `resolved_for`")
        return self.v_min, self.v_max, self.spacing

    def _check_returns(self) -> None:
        if self.categorical:
            n_intervals(*self.returns)


def n_intervals(v_min: float, v_max: float, spacing: float) -> int:
    """The number of spacings from v_min to v_max, which must be whole."""
    n = (v_max - v_min) / spacing
    if round(n) < 1 or abs(n - round(n)) > 1e-6:
        raise ValueError(
            f"spacing = {spacing} does not divide the returns from v_min = {v_min} to v_max = "
            f"{v_max}: that is {n:g} times; choose a whole number of times"
        )
    return round(n)


FAST = DeepSettings()
GENERAL = DeepSettings(
    n_updates=6_000,
    n_envs=16,
    steps_per_update=16.0,
    learning_starts=3_200,
    epsilon_end=0.1,
    epsilon_steps=None,
    directed=True,
    scoring_share=0.2,
)
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
    """The settings completed for an environment: what steps cost, and how long episodes are.

    The cost of steps is found by acting at random for a moment.  "Never" is so low that the worst
    path to any goal is better: v_min + r_U ≤ r_∅ − cost · max_episode_steps.
    """
    if settings.resolved:
        return settings
    if settings.epsilon_steps is None:
        half = math.ceil(settings.n_updates * settings.steps_per_update / 2)
        return resolved_for(replace(settings, epsilon_steps=half), env, seed)
    space = env.space
    limit = settings.max_episode_steps or env.max_episode_steps or LEARNING_STEPS
    best, worst = float(space.r_universal.max()), float(space.r_empty.min())
    if not settings.own_rewards:
        best, worst = 0.0, worst - best
    spacing, v_min, v_max = settings.spacing, settings.v_min, settings.v_max
    cost = -step_rewards(env, seed).low
    cost = cost if cost > 0.0 else (best - worst) / limit  # where steps are free
    lowest = worst - cost * limit if v_min is None else v_min
    if spacing is None:
        spacing = max(cost, (best - lowest) / MOST_ATOMS)
    if v_min is None:
        v_max = best if v_max is None else v_max
        v_min = v_max - spacing * math.ceil((v_max - lowest) / spacing - 1e-9)
    elif v_max is None:
        n_above = math.ceil((best - v_min) / spacing - 1e-9)
        v_max = max(best, v_min + spacing * n_above)  # whatever the rounding
    return replace(settings, v_min=v_min, v_max=v_max, spacing=spacing, max_episode_steps=limit)
