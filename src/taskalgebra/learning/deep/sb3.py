"""Goal-conditioned agents that Stable-Baselines3 trained, as a reach.

Their observations are a `Dict` with `desired_goal`, so one critic holds the ways to all goals: it
is asked once for each.  DQN has the values of numbered actions.  The critics of SAC, TD3, DDPG and
TQC value any continuous action; on offer are those of the agent's own policy towards each goal, so
that G(s:g, a) is the smallest critic at (s, g, π(s, h)), for each pair of goals g and h.  The actor
climbs its critic, so π(s, g) is the best action towards g: where the critic likes that of another
goal more, it errs, and that action is valued just below π(s, g).

Stable-Baselines3 itself is not imported: whoever has a model has it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from taskalgebra.arrays import Array, BoolArray
from taskalgebra.theory.reach import OfferedReach, Reach

NUMBERED, CONTINUOUS = ("DQN",), ("SAC", "TD3", "DDPG", "TQC")
DESIRED = "desired_goal"
MOST_ROWS = 2**15
"""Pairs of observations and actions that critics value at a time."""
BELOW = 1e-9
"""How far below the policy's own action others stay, as a share of the largest value."""


def algorithm_of(model: Any) -> str | None:
    """The algorithm of a model, if its critics can be composed."""
    names = [each.__name__ for each in type(model).__mro__]
    return next((name for name in names if name in (*NUMBERED, *CONTINUOUS)), None)


def digest(model: Any) -> str:
    """The SHA-256 of all parameters of a model, in the order of their names."""
    found = hashlib.sha256()
    for name, tensor in sorted(model.policy.state_dict().items()):
        array = np.ascontiguousarray(tensor.detach().cpu().numpy())
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(array.tobytes())
    return found.hexdigest()


class _Critic:
    """What agents of both kinds share: how a model is asked about some goals.

    Args:
        model: of Stable-Baselines3.
        points: `[G, ...]`, the goals as the model knows them.
        near: an action that reaches another goal than the one it is valued for within this many
            steps, as far as the critic knows, is worth less than any other; None for no such rule.
        n_others: goals that the model knows no way to, after its own.
    """

    observation_ndim = 1

    def __init__(
        self, model: Any, points: NDArray[Any], near: float | None = None, n_others: int = 0
    ) -> None:
        """Take a model as it is."""
        self.policy, self.points, self.near, self.n_others = model.policy, points, near, n_others
        own = model.observation_space
        keys = [key for key in own.spaces if key != DESIRED]
        self._parts = spaces.Dict({key: own[key] for key in keys}).spaces
        self._lowest = -1.0 / (1.0 - min(float(model.gamma), 0.999))
        self.policy.set_training_mode(False)

    def _asked(self, observations: NDArray[Any]) -> Any:
        """Tensors of each observation with each goal, B · G rows."""
        n_goals = len(self.points)
        given = unflattened(self._parts, np.asarray(observations))
        rows = {key: np.repeat(part, n_goals, axis=0) for key, part in given.items()}
        rows[DESIRED] = np.concatenate([self.points] * len(observations))
        return self.policy.obs_to_tensor(rows)[0]

    def _left_out(self, returns: Array) -> BoolArray:
        """`[B, G, A]`, the actions that arrive in another goal than the one they are valued for.

        Where all do, as in the midst of another goal, none is left out.
        """
        if self.near is None:
            return np.zeros(returns.shape, np.bool_)
        there = -returns < self.near  # the critic counts steps, from 0 for the one that arrives
        elsewhere: BoolArray = there.sum(1, keepdims=True) > there
        return elsewhere & ~elsewhere.all(axis=2, keepdims=True)

    def _finished(self, returns: Array, left_out: BoolArray) -> Array:
        """Returns `[B, G, A]`, with the rule about other goals, and goals that are never met."""
        returns = np.where(left_out, returns + 2.0 * self._lowest, returns)
        if self.n_others:
            never = np.full((len(returns), self.n_others, returns.shape[2]), -np.inf)
            returns = np.concatenate([returns, never], axis=1)
        return returns


@final
class ValuesOfModel(_Critic, Reach):
    """The critic of a DQN agent, asked about every goal."""

    kept: Mapping[str, Any] | None = None

    def returns(self, observations: Any) -> Array:
        """The network's values of numbered actions, `[B, G, A]`."""
        with torch.no_grad():
            values = self.policy.q_net(self._asked(observations)).cpu().numpy()
        shape = (len(observations), len(self.points), -1)
        found = values.astype(np.float64).reshape(shape)
        return self._finished(found, self._left_out(found))


@final
class ActionsOfModel(_Critic, OfferedReach):
    """An actor and its critics: the actions towards each goal, valued for each goal."""

    kept: Mapping[str, Any] | None = None

    def offers(self, observations: Any) -> NDArray[Any]:
        """The policy's action towards each goal, `[B, G, ...]`, as the environment takes it."""
        space = self.policy.action_space
        with torch.no_grad():
            scaled = self._towards(self._asked(observations)).cpu().numpy()
        own = scaled.reshape(-1, *space.shape)
        if self.policy.squash_output:
            own = self.policy.unscale_action(own)
        own = np.clip(own, space.low, space.high).astype(space.dtype)
        found: NDArray[Any] = own.reshape(len(observations), len(self.points), *space.shape)
        return found

    def returns(self, observations: Any) -> Array:
        """The smallest critic of each action on offer, for each goal, `[B, G, A = G]`.

        No action is worth more than the policy's own towards the goal, unless that is left out.
        """
        n_goals = len(self.points)
        given = np.asarray(observations)
        n_rows = max(1, MOST_ROWS // n_goals**2)
        parts = [
            self._valued(given[first : first + n_rows]) for first in range(0, len(given), n_rows)
        ]
        found = np.concatenate(parts) if parts else np.empty((0, n_goals, n_goals))
        left_out = self._left_out(found)
        return self._finished(_below_own(found, left_out), left_out)

    def _valued(self, observations: NDArray[Any]) -> Array:
        n_goals, n_batch = len(self.points), len(observations)
        with torch.no_grad():
            asked = self._asked(observations)
            towards = self._towards(asked).reshape(n_batch, 1, n_goals, -1)
            actions = towards.expand(-1, n_goals, -1, -1).reshape(n_batch * n_goals**2, -1)
            rows = {key: part.repeat_interleave(n_goals, dim=0) for key, part in asked.items()}
            values = self._smallest(self.policy.critic(rows, actions)).cpu().numpy()
        found: Array = values.astype(np.float64).reshape(n_batch, n_goals, n_goals)
        return found

    def _towards(self, asked: Any) -> Any:
        """Actions between −1 and 1, as critics take them."""
        return self.policy._predict(asked, deterministic=True)

    def _smallest(self, critics: Any) -> Any:
        if isinstance(critics, Sequence):
            return torch.cat(tuple(critics), dim=1).min(dim=1).values
        return critics.mean(dim=2).min(dim=1).values  # TQC: quantiles of each critic


def _below_own(returns: Array, left_out: BoolArray) -> Array:
    """Returns `[B, G, G]`, the entries (g, h) below (g, g), unless (g, g) is left out."""
    own = np.arange(returns.shape[1])
    best = returns[:, own, own, None]
    least = BELOW * (1.0 + np.abs(returns).max(axis=(1, 2), keepdims=True, initial=0.0))
    bounded = ~left_out[:, own, own, None] & (own[:, None] != own)
    return np.where(bounded, np.minimum(returns, best - least), returns)


def reach_of(
    model: Any, points: NDArray[Any], *, near: float | None = None, n_others: int = 0
) -> ValuesOfModel | ActionsOfModel:
    """A model as a reach; the arguments are those of `_Critic`."""
    kind = ValuesOfModel if algorithm_of(model) in NUMBERED else ActionsOfModel
    return kind(model, points, near, n_others)


def unflattened(
    parts: Mapping[str, spaces.Space[Any]], vectors: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """The parts of observations, `[B, ...]` each, from vectors `[B, D]` of all of them."""
    found, first = {}, 0
    for key, part in parts.items():
        width = spaces.flatdim(part)
        flat = vectors[:, first : first + width]
        first += width
        if isinstance(part, spaces.Box | spaces.MultiBinary):
            found[key] = flat.reshape(-1, *part.shape).astype(part.dtype)
        else:  # numbers are flattened to a vector with a single one
            whole = flat.astype(np.int64)
            found[key] = np.stack([np.asarray(spaces.unflatten(part, row)) for row in whole])
    return found
