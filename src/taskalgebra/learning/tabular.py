"""Algorithm 1 as a learner: tables, for finite worlds and for goal environments that are played.

Observations that are not numbers of states, such as small grids or vectors of whole numbers, are
numbered as they are met.  At one that was never met, an agent acts on the mean of the values of all
that were.
"""

from __future__ import annotations

import hashlib
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, final
from urllib.parse import quote

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete

from taskalgebra.arrays import Array
from taskalgebra.learning import checkpoint, readable
from taskalgebra.learning.learner import require_shared_absorbing
from taskalgebra.learning.missed import never_met, require_no_traps, require_ways
from taskalgebra.learning.one_copy import OneCopy
from taskalgebra.learning.probe import default_penalty, n_observations
from taskalgebra.learning.q_learning import Run, Settings, Stop, begin, goal_oriented_q_learning
from taskalgebra.progress import Event, Listener, StopLearning
from taskalgebra.theory.family import TableFamily
from taskalgebra.theory.goal_env import MAX_EPISODE_STEPS, GoalEnv
from taskalgebra.theory.numbering import Numbering
from taskalgebra.theory.rewards import checked_r_bar_min, default_r_bar_min
from taskalgebra.theory.tasks import Task, TaskSpace
from taskalgebra.validation import count, instance, listed, number

NUMBERS = "observations.npz"
"""The file with the numbers of observations that have none of their own."""
CHECKPOINTS = rf"\d+ .+\.npz|{re.escape(NUMBERS)}"
"""Their names: one per table."""
FIRST_STATES = 64
"""Rows of a table of observations that have no numbers, before it has to grow."""
SAVED_EVERY = 10.0
"""Seconds between two checkpoints."""
UNSURE = Settings(epsilon=0.5)
"""α and ε for worlds with random outcomes, or with unknown ones."""
LONGER = "learn longer, learner=QLearning(steps=...)"


@final
@dataclass(frozen=True)
class QLearning:
    """Goal-oriented Q-learning (Algorithm 1) as a learner for `taskalgebra.learn`.

    Q̄ of every base task is learned as a table, and so are Q̄_U and Q̄_∅, the bounds of composition.
    A finite world is learned from its tables by compiled code; any other environment is learned by
    playing it.  Its observations are `Discrete`, or arrays of which not too many are different.
    """

    episodes: int | None = None
    """Episodes per task."""
    steps: int | None = None
    """Steps per task; by default, without episodes, a thousand per state and action.  Where states
    have no numbers, these are as many as acting at random for a moment meets."""
    settings: Settings | None = None
    """α, ε and γ; by default the paper's α = ε = 1 in deterministic worlds.  In others ε is 0.5,
    and α is 1 until the outcomes of an action in a state are seen to differ, and then falls."""
    r_bar_min: float | None = None
    """r̄_MIN, the penalty for a wrong goal; by default that of `default_r_bar_min`, and in a world
    that is played that of `probe.default_penalty`: r_∅ where outcomes are seen to differ."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense before anything is learned."""
        for name in ("episodes", "steps"):
            if getattr(self, name) is not None:
                count(getattr(self, name), name)
        if self.settings is not None:
            instance(self.settings, Settings, "settings")
        if self.r_bar_min is not None:
            number(self.r_bar_min, "r_bar_min")

    def learn(
        self,
        env: GoalEnv,
        tasks: Mapping[str, Task],
        *,
        seed: int,
        folder: Path | None,
        listener: Listener,
    ) -> TableFamily:
        """Learn one table after the other; each has a random stream of its own.

        Raises:
            ValueError: some goal was never met, so that its values are unknown; an episode can get
                stuck where no goal can be reached; or tasks end in goals of their own.
        """
        space = env.space
        require_shared_absorbing(env)
        way = _InTables(self, space) if space.finite else _ByPlaying(self, env, seed)
        every = [("M_U", space.universal), ("M_∅", space.empty), *tasks.items()]
        tables = []
        if folder is not None:
            if env.resumed:
                raise ValueError(
                    "tables that are learned with continuing=True keep no checkpoints: an episode "
                    "goes on where the one before ended, and could not be resumed there; leave "
                    "folder out"
                )
            checkpoint.claim(folder, CHECKPOINTS)
        for i, (name, task) in enumerate(every):
            path = None if folder is None else folder / f"{i} {quote(name, safe=' ')}.npz"
            report = partial(_report, listener, name, i, len(every), way.stop)
            run = way.table(task, seed + i * 2**32, path, report)
            _require_goals(run, space, way.goal_without_end)
            tables.append(run.q)
        if way.numbering is not None:
            tables = [_with_mean(table, len(way.numbering)) for table in tables]
        return TableFamily.of(
            space,
            tasks,
            tables,
            r_bar_min=way.r_bar_min,
            error_bound=None,
            numbering=way.numbering,
        )

    def extend(
        self,
        env: GoalEnv,
        family: TableFamily,
        name: str,
        task: Task,
        *,
        start: Array | None,
        seed: int,
        listener: Listener,
    ) -> TableFamily:
        """Learn one more task, with the bounds and the penalty of tables learned before.

        Args:
            env: where to learn.
            family: the tables so far, of observations that have numbers of their own.
            name: of the new task.
            task: the new task.
            start: a table to start from, `[S, G, A]`, in which all goals are known; by default
                zeros.
            seed: equal seeds learn equal values.
            listener: receives progress.

        Raises:
            ValueError: as `learn`.
        """
        space = env.space
        require_shared_absorbing(env)
        if family.bounds.numbering is not None:
            raise ValueError("tables of observations without numbers are learned all at once")
        own = replace(self, r_bar_min=family.r_bar_min)
        way = _InTables(own, space) if space.finite else _ByPlaying(own, env, seed)
        first = None
        if start is not None:
            first = begin(*start.shape, seed=seed)
            first.q, first.seen_goals = start.copy(), np.arange(space.n_goals, dtype=np.int32)
        run = way.table(task, seed, None, partial(_report, listener, name, 0, 1, way.stop), first)
        _require_goals(run, space, way.goal_without_end)
        return family.and_more({name: task}, [run.q], None)


class _Way(ABC):
    """How tables are learned; `_InTables` and `_ByPlaying` are the two ways."""

    goal_without_end = False  # whether info["goal"] came on a step that did not terminate
    numbering: Numbering | None = None  # of observations that are arrays
    stops_anywhere: bool  # whether a run that was stopped within an episode resumes there

    def __init__(
        self,
        learner: QLearning,
        space: TaskSpace,
        n_pairs: int,
        settings: Settings,
        r_bar_min: Callable[[], float],
    ) -> None:
        """Complete what the learner leaves open; `n_pairs` are states times actions."""
        steps = learner.steps
        if steps is None and learner.episodes is None:
            steps = 1000 * n_pairs
        self.stop = Stop(episodes=learner.episodes, steps=steps)
        self.settings = learner.settings or settings
        if learner.r_bar_min is None:
            self.r_bar_min = r_bar_min()
        else:
            self.r_bar_min = checked_r_bar_min(learner.r_bar_min, space)

    @abstractmethod
    def fingerprint(self, task: Task) -> str:
        """A hash of the dynamics and the rewards."""

    @abstractmethod
    def learn(self, task: Task, **options: Any) -> Run:
        """Learn a table; the options are those of `goal_oriented_q_learning`."""

    def keep(self, folder: Path) -> None:
        """Write the numbers of observations; tables written before hold the same ones."""
        if self.numbering is not None:
            arrays = {"observations": self.numbering.observations}
            checkpoint.write(folder / NUMBERS, arrays, NUMBERS)

    def recall(self, folder: Path) -> None:
        """Take the numbers of observations with which tables were written."""
        if self.numbering is not None and not len(self.numbering):
            seen = checkpoint.read(folder / NUMBERS, ("observations",), NUMBERS)["observations"]
            if (seen.dtype, seen.shape[1:]) != (self.numbering.dtype, self.numbering.shape):
                raise checkpoint.CheckpointError(
                    f"{folder / NUMBERS} holds other observations than this environment has"
                )
            self.numbering = Numbering(seen)

    def table(
        self,
        task: Task,
        seed: int,
        path: Path | None,
        report: Callable[[Run], None],
        run: Run | None = None,
    ) -> Run:
        """Learn one table, from its checkpoint if there is one, and keep checkpoints."""
        of = ""
        if path is not None:
            of = f"{self.fingerprint(task)} {seed} {self.settings} {self.r_bar_min}"
            if not self.stops_anywhere:
                of += f" {self.stop}"  # it ends within an episode, and cannot be extended
            if path.exists():
                self.recall(path.parent)
                run = checkpoint.load(path, of)
            if run is not None and self.stop.steps and run.n_steps > self.stop.steps:
                raise checkpoint.CheckpointError(
                    f"{path} has learned for {run.n_steps:,} steps, more than the "
                    f"{self.stop.steps:,} asked for; give another directory"
                )
        saved_at, latest = time.monotonic(), run

        def progress(now: Run) -> None:
            nonlocal saved_at, latest
            latest = now
            report(now)
            if path is not None and time.monotonic() - saved_at > SAVED_EVERY:
                self.keep(path.parent)
                checkpoint.save(path, now, of)
                saved_at = time.monotonic()

        options = {"settings": self.settings, "r_bar_min": self.r_bar_min}
        try:
            run = self.learn(task, stop=self.stop, seed=seed, run=run, progress=progress, **options)
        except StopLearning:
            assert latest is not None  # a listener was told of it
            run = latest
        if path is not None and (self.stops_anywhere or not run.interrupted):
            self.keep(path.parent)
            checkpoint.save(path, run, of)
        if run.interrupted:
            raise KeyboardInterrupt
        return run


@final
class _InTables(_Way):
    """Learning in the tables of a finite world."""

    stops_anywhere = True

    def __init__(self, learner: QLearning, space: TaskSpace) -> None:
        mdp = space.mdp
        require_no_traps(mdp)
        require_ways(mdp)
        settings = Settings() if mdp.deterministic else UNSURE
        n_pairs = mdp.n_states * mdp.n_actions
        super().__init__(learner, space, n_pairs, settings, lambda: default_r_bar_min(space))

    def fingerprint(self, task: Task) -> str:
        return checkpoint.fingerprint(task)

    def learn(self, task: Task, **options: Any) -> Run:
        return goal_oriented_q_learning(task, **options)


@final
class _ByPlaying(_Way):
    """Learning in an environment that is known only by playing it."""

    stops_anywhere = False  # the environment cannot be brought back to the middle of an episode

    def __init__(self, learner: QLearning, env: GoalEnv, seed: int) -> None:
        observations, actions = env.observation_space, env.action_space
        if not isinstance(actions, Discrete):
            raise ValueError(
                f"tables need numbered actions, Discrete, got {actions}; "
                f"ta.wrap(env, goals=label, actions={{name: action}}) makes a few of them"
            )
        if isinstance(observations, Discrete):
            n_states = int(observations.n)
        elif isinstance(observations, Box | MultiBinary | MultiDiscrete):
            self.numbering = Numbering(np.empty((0, *observations.shape), observations.dtype))
            n_states = n_observations(env, seed)
        else:
            raise ValueError(
                f"tables need observations that are numbers or arrays of numbers, and this "
                f"environment has {observations}; ta.wrap(env, goals=label, observation=...) makes "
                f"one of them, or learn with a learner of your own"
            )
        self.env, self.limit = env, env.max_episode_steps or MAX_EPISODE_STEPS
        super().__init__(
            learner,
            env.space,
            n_states * int(actions.n),
            UNSURE,
            lambda: default_penalty(env, seed, self.limit),
        )

    def fingerprint(self, task: Task) -> str:
        """A few seeded steps, and what the task pays."""
        rng = np.random.default_rng(0)
        digest = hashlib.sha256(task.goal_reward.tobytes())
        own = self.numbering
        numbering = None if own is None else Numbering(own.observations[:0])
        with closing(OneCopy(self.env, task, self.limit, 20_20, numbering=numbering)) as copy:
            copy.reset()
            for _ in range(100):
                state, reward, terminated, truncated, info = copy.step(
                    int(rng.integers(self.env.space.n_actions))
                )
                digest.update(repr((state, float(reward), info["goal"])).encode())
                if terminated or truncated:
                    copy.reset()
        if numbering is not None:
            digest.update(numbering.observations.tobytes())
        return digest.hexdigest()

    def learn(self, task: Task, **options: Any) -> Run:
        run, seed = options["run"], options["seed"]
        n_episodes = 0 if run is None else run.n_episodes
        copy = OneCopy(self.env, task, self.limit, seed, n_episodes, self.numbering)
        rows = None if self.numbering is None else FIRST_STATES
        with closing(copy):
            run = readable.goal_oriented_q_learning(copy, rows=rows, **options)
            self.goal_without_end = copy.goal_without_end
            return run


def _with_mean(table: Array, n_states: int) -> Array:
    """A table with a row for every observation, 0 where it met none, and their mean as the last."""
    rows = np.zeros((n_states, *table.shape[1:]))
    rows[: len(table)] = table[:n_states]
    return np.concatenate([rows, rows.mean(0, keepdims=True)])


def _report(
    listener: Listener, what: str, before: int, n_tables: int, stop: Stop, run: Run
) -> None:
    """Report progress on one of several tables, each of which counts the same."""
    limits = ((run.n_steps, stop.steps), (run.n_episodes, stop.episodes))
    done = max(n / limit for n, limit in limits if limit is not None)
    share = (before + min(done, 1.0)) / n_tables
    listener(Event(what, share, n_steps=run.n_steps, n_goals=run.n_seen))


def _require_goals(run: Run, space: TaskSpace, goal_without_end: bool) -> None:
    missed = sorted(set(range(space.n_goals)) - set(run.seen_goals.tolist()))
    if missed:
        names = listed([space.goal_names[g] for g in missed])
        if goal_without_end:
            raise ValueError(
                f"in {run.n_steps:,} steps these goals were never met: {names}; but "
                f'info["goal"] came on a step that did not terminate: an environment terminates an '
                f"episode, and does not truncate it, in the step that reaches a goal"
            )
        if not run.n_seen:
            raise ValueError(
                f"in {run.n_steps:,} steps and {run.n_episodes:,} episodes no episode terminated, "
                f"so no goal was met; an environment terminates an episode in a goal. If it does, "
                f"learn longer, or raise max_episode_steps"
            )
        after = f"{run.n_steps:,} steps and {run.n_episodes:,} episodes"
        raise ValueError(never_met(space, missed, after, LONGER))
