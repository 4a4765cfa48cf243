"""Extended deep Q-learning: Algorithm 1 with a network, from pixels or vectors (Section 5).

A universal value function approximator takes the state and the goal and yields Q̄(s, g, a) for all
actions.  The learner knows no goals at first.  When an episode ends in a new goal, what is shown of
it and its rewards are stored: the terminal observation, or its row of `GoalEnv.goal_features`, such
as a description.  Every sampled transition then updates all goals met so far:

    target(g) = the terminal reward if g is the goal reached, else r̄_MIN   where an episode ends
              = r + γ max_a Q̄(s', g, a), from the target network            otherwise

Goals that were never met are not trained, described or not: all that could be learned of them is
"never", which would have to be forgotten when one is met.

By Corollary 1, Q̄_M(s, g, a) = G*(s:g, a) + r_M(g): tasks that share their absorbing states differ
in the rewards of their goals only.  So one network, trained with terminal reward 0, learns the
return to every goal, and serves every task whose rewards were seen (`FAST`).  With `own_rewards`
a network learns Q̄_M of one task, rewards and all (`PAPER`).

Training runs in iterations.  An iteration starts with new episodes, and its random numbers come
from the seed and its own number.  All other state is in the checkpoint, so a training that was
killed resumes and ends with the same weights as one that was not.
"""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, final

import numpy as np
import torch
from gymnasium.spaces import Discrete
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from torch import Tensor, nn

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.evaluation.rollout import rollout
from taskalgebra.learning.deep.checks import check_environment, checked_features, device_of
from taskalgebra.learning.deep.networks import Network, make_network
from taskalgebra.learning.deep.replay import Compact, Replay
from taskalgebra.learning.deep.settings import DeepSettings
from taskalgebra.learning.deep.threads import threads
from taskalgebra.learning.deep.uvfa import UVFA, head_of
from taskalgebra.worlds.finite import NO_GOAL


class DivergedError(ArithmeticError):
    """A training whose loss or weights are no longer finite."""


@dataclass
class Goals:
    """The goals met so far, in the order in which they were met."""

    numbers: list[int] = field(default_factory=list)
    """`info["goal"]` of each."""
    observations: list[NDArray[Any]] = field(default_factory=list)
    """What networks are shown of it: its features, or its terminal observation, as first seen."""
    rewards: list[Array] = field(default_factory=list)
    """[K], what each named task pays for it; [0] if the environment does not say."""

    def meet(self, number: int, observation: NDArray[Any], rewards: Array) -> None:
        """Store a goal if it is new."""
        if number not in self.numbers:
            self.numbers.append(number)
            self.observations.append(observation.copy())
            self.rewards.append(np.array(rewards, np.float64))


@final
class Trainer:
    """A network in training on a vector of goal environments.

    Args:
        env: copies of a goal environment; `infos["task_rewards"]`, if given, is `[N, K]`, what each
            of K tasks pays.  Observations are arrays of numbers; actions are discrete.
        network: makes the network; see `networks`.
        settings: resolved for the environment.
        seed: equal seeds train equal weights, on one machine.
        n_goals: the number of goals, if known.
        goal_features: `[G, ...]`, what to show of every goal; None for its terminal observation.
        wanted: `[G]`, the goals that some task may want, which directed exploration pursues; None
            for all.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        network: Network,
        settings: DeepSettings,
        seed: int,
        n_goals: int | None = None,
        goal_features: NDArray[Any] | None = None,
        wanted: BoolArray | None = None,
    ) -> None:
        """Check the environment and make the networks."""
        check_environment(env, network)
        self.env, self.settings, self.seed, self.n_goals = env, settings, seed, n_goals
        self.wanted = wanted
        self.goal_features = checked_features(goal_features, n_goals)
        self.v_min = settings.returns[0]
        self.head = head_of(settings)
        self.device = device_of(settings)
        shape = env.single_observation_space.shape
        assert shape is not None and isinstance(env.single_action_space, Discrete)
        self.n_actions = int(env.single_action_space.n)
        goal_shape = None if self.goal_features is None else self.goal_features.shape[1:]
        sizes = (shape, self.n_actions, self.head.n_outputs, goal_shape)
        self.new_network = partial(make_network, network, *sizes)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network, self.target = (self.new_network().to(self.device) for _ in range(2))
        if settings.categorical:
            self.network.expect_lowest(settings.pessimism)
        self.target.load_state_dict(self.network.state_dict())
        self.kept = copy.deepcopy(self.network) if settings.averaging else self.network
        """What is scored and saved: the network, or the average of its weights."""
        self.optimiser = torch.optim.Adam(
            self.network.parameters(),
            settings.learning_rate,
            fused=self.device.type == "cpu",  # a quarter of the time of one kernel per weight
        )
        self.compact = env if isinstance(env, Compact) else None
        dtype: Any = env.single_observation_space.dtype
        self.like = np.empty((0, *shape), dtype)  # a batch of no observations
        if self.compact is not None:
            shape, dtype = self.compact.codes.shape[1:], self.compact.codes.dtype
        self.replay = Replay(settings.replay_size, shape, dtype)
        self.goals = Goals()
        self._aims = np.zeros(env.num_envs, np.int64)  # the goal that each copy pursues
        self.fingerprint: str | None = None  # of the environment, for checkpoints
        self.resumed = False  # whether its episodes also begin on goals; see `GoalEnv.resuming`
        self.start: str | None = None  # a hash of the network it was started from
        self.n_iterations = self.n_updates = self.n_steps = 0

    @property
    def finished(self) -> bool:
        """Whether all gradient steps were made."""
        return self.n_updates >= self.settings.n_updates

    def start_from(self, other: UVFA) -> None:
        """Start with the weights of another network, means included; see `UVFA.take_from`."""
        for network in (self.network, self.target):
            network.take_from(other)
        weights = sorted(other.state_dict().items())
        digest = hashlib.sha256(b"".join(w.cpu().numpy().tobytes() for _, w in weights))
        self.start = digest.hexdigest()[:16]

    def iterations(self) -> Iterator[float]:
        """Train to the end; the mean loss of every iteration, as it ends."""
        if self.network.needs_start and self.start is None:
            raise ValueError(
                f"a {type(self.network).__name__} does not learn to see; start it from a network "
                f"that was trained where nothing is in the way (start=...)"
            )
        while not self.finished:
            with threads(self.settings.threads), torch.random.fork_rng():
                torch.manual_seed((self.seed + self.n_iterations * 2**32) % 2**63)
                loss = self._iteration()
            yield loss

    def _iteration(self) -> float:
        rng = np.random.default_rng([self.seed, self.n_iterations])
        for network in (self.network, self.target):
            network.train()  # scoring puts it into eval mode
        stream = self._play(rng)
        if self.n_iterations == 0:
            self._warm_up(stream)
        settings = self.settings
        last = min(settings.n_updates, self.n_updates + settings.updates_per_iteration)
        due, losses = 0.0, []
        while self.n_updates < last:
            due += settings.steps_per_update
            while due >= settings.n_envs:
                next(stream)
                due -= settings.n_envs
            losses.append(self._update(rng))
        loss = float(torch.stack(losses).mean())
        if not math.isfinite(loss):
            raise DivergedError(
                f"the loss is {loss} after {self.n_updates:,} gradient steps; train again with a "
                f"lower learning rate, or look for observations and rewards that are not finite"
            )
        if not all(bool(weight.isfinite().all()) for weight in self.network.parameters()):
            raise DivergedError(
                f"the weights are no longer finite after {self.n_updates:,} gradient steps; "
                f"train again with a lower learning rate"
            )
        self.n_iterations += 1
        return loss

    def _warm_up(self, stream: Iterator[None]) -> None:
        """Play at random until there is something to learn from; set the mean inputs."""
        patience = 100 * self.settings.learning_starts
        while self.n_steps < self.settings.learning_starts or not self.goals.numbers:
            next(stream)
            if self.n_steps > patience:
                raise ValueError(
                    f"no goal was met in {self.n_steps:,} random steps; the environment must "
                    f"put the number of the goal into info['goal'] when an episode terminates, or "
                    f"ta.wrap(env, goals=label) does so. If it does, raise max_episode_steps, "
                    f"which is {self.settings.max_episode_steps}, or repeat every action some "
                    f"steps (hold= of ta.wrap)"
                )
        rng = np.random.default_rng([self.seed, 2**31])
        seen = self.replay.sample(1024, 0.0, rng, self.compact)
        states, over = self._tensor(seen.observations), torch.from_numpy(seen.goals != NO_GOAL)
        steps = (states, self._tensor(seen.next_observations), over.to(self.device))
        for network in (self.network, self.target) if self.start is None else ():
            network.watch(*steps)
            if self.settings.centred:
                network.centre(states, self._goal_tensor())
        self.network.check_steps(*steps)

    def _play(self, rng: np.random.Generator) -> Iterator[None]:
        """Step all copies once for every `next`, and store the transitions."""
        self.replay.forget_last()
        observations, _ = self.env.reset(seed=int(rng.integers(2**31)))
        states = self._states(observations)
        behave = partial(self._behave, rng=rng)
        self._aim(np.ones(self.env.num_envs, np.bool_), rng)
        features = self.goal_features
        for step in rollout(self.env, observations, behave, self.n_goals):
            next_states = self._states(step.next_observations)
            for i in np.flatnonzero(step.goals != NO_GOAL):
                rewards = step.infos.get("task_rewards")
                paid = np.zeros(0) if rewards is None else rewards[i]
                goal = int(step.goals[i])
                shown = step.next_observations[i] if features is None else features[goal]
                self.goals.meet(goal, shown, paid)
            self._aim(step.begins, rng)
            real = ~step.resets
            self.replay.add(states, step.actions, step.rewards, next_states, step.goals, real)
            self.n_steps += int(real.sum())
            went_on = step.observations is step.next_observations
            states = next_states if went_on else self._states(step.observations)
            yield

    def _states(self, observations: NDArray[Any]) -> NDArray[Any]:
        """What to store of the current states: a copy, since environments may reuse arrays."""
        return np.array(observations if self.compact is None else self.compact.codes)

    def _aim(self, begins: BoolArray, rng: np.random.Generator) -> None:
        """Choose a goal to pursue for episodes that begin: one that is wanted, if any was met."""
        met = self.goals.numbers
        if self.settings.directed and begins.any() and met:
            wanted = np.ones(len(met), np.bool_) if self.wanted is None else self.wanted[met]
            rows = np.flatnonzero(wanted if wanted.any() else ~wanted)
            self._aims[begins] = rows[rng.integers(0, len(rows), int(begins.sum()))]

    def _behave(self, observations: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
        """ε-greedy: argmax_a max_g Q̄(s, g, a), or, if directed, argmax_a Q̄(s, g, a) for one g."""
        settings = self.settings
        actions = rng.integers(0, self.n_actions, len(observations))
        annealed = settings.epsilon_steps or 1
        over = max(0, self.n_steps - settings.learning_starts) / annealed
        epsilon = 1.0 - (1.0 - settings.epsilon_end) * min(1.0, over)
        if epsilon < 1.0 and self.n_updates > 0:
            greedy = rng.random(len(observations)) >= epsilon
            if greedy.any():
                self.network.eval()  # a batch of one has no statistics of its own
                with torch.no_grad():
                    q_bar = self.head.values(
                        self.network(self._tensor(observations[greedy]), self._goal_tensor())
                    )
                self.network.train()
                if settings.directed:
                    aims = torch.from_numpy(self._aims[greedy]).to(self.device)
                    q_bar = q_bar[torch.arange(len(aims), device=self.device), aims]
                else:
                    q_bar = q_bar.max(1).values
                actions[greedy] = q_bar.argmax(-1).cpu().numpy()
        return actions

    def _update(self, rng: np.random.Generator) -> Tensor:
        """One gradient step on one batch, for all goals met."""
        settings, head = self.settings, self.head
        batch = self.replay.sample(settings.batch_size, settings.telling_share, rng, self.compact)
        goals = self._goal_tensor()
        numbers = torch.tensor(self.goals.numbers, device=self.device)  # [G]
        if 0 < settings.goals_per_update < len(numbers):
            some = rng.choice(len(numbers), settings.goals_per_update, replace=False)
            goals, numbers = goals[some], numbers[some]
        states = self._tensor(batch.observations)
        next_states = self._tensor(batch.next_observations)
        actions = torch.from_numpy(batch.actions).to(self.device)
        rewards = torch.from_numpy(batch.rewards).to(self.device)
        reached = torch.from_numpy(batch.goals).to(self.device)[:, None]  # [B, 1]
        with torch.no_grad():
            onward = head.backup(self.target(next_states, goals), rewards, settings.discount)
            terminal = rewards if settings.own_rewards else torch.zeros_like(rewards)
            known = torch.where(reached == numbers, terminal[:, None], self.v_min)
            over = reached != NO_GOAL
            target = torch.where(over[..., None], head.certain(known), onward)
        rows = torch.arange(len(actions), device=self.device)
        outputs = self.network(states, goals)
        loss = head.loss(outputs[rows, :, actions], target)
        loss = loss + self.network.model_loss(states, actions, next_states, over.squeeze(1))
        loss = loss + self.network.goal_loss(states, next_states, goals, reached == numbers)
        for group in self.optimiser.param_groups:
            group["lr"] = self._learning_rate()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), settings.gradient_clip)
        self.optimiser.step()
        self.n_updates += 1
        self._update_target()
        self._update_average()
        return loss.detach()

    def _learning_rate(self) -> float:
        done = self.n_updates / self.settings.n_updates
        if not self.settings.annealed or done < 0.5:
            return self.settings.learning_rate
        return self.settings.learning_rate * 0.5 * (1.0 + math.cos(math.pi * (2.0 * done - 1.0)))

    def _update_target(self) -> None:
        """Move the target network towards the network."""
        tau = self.settings.tau
        with torch.no_grad():
            if tau > 0.0:
                torch._foreach_lerp_(
                    list(self.target.parameters()), list(self.network.parameters()), tau
                )
            elif self.n_updates % self.settings.target_interval == 0:
                self.target.load_state_dict(self.network.state_dict())

    def _update_average(self) -> None:
        """θ̄ ← θ̄ + (θ − θ̄) / (1 + share · n), after n gradient steps."""
        if self.kept is self.network:
            return
        if self.n_updates == 1:
            self.kept.load_state_dict(self.network.state_dict())
        mean: list[Tensor] = list(self.kept.parameters())
        now: list[Tensor] = list(self.network.parameters())
        with torch.no_grad():
            torch._foreach_lerp_(mean, now, 1.0 / (1.0 + self.settings.averaging * self.n_updates))
            for old, new in zip(self.kept.buffers(), self.network.buffers(), strict=True):
                old.copy_(new)

    def _goal_tensor(self) -> Tensor:
        return self._tensor(np.stack(self.goals.observations))

    def _tensor(self, observations: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.require(observations, None, ["C", "W"])).to(self.device)
