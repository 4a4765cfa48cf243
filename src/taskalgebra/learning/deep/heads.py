"""Returns as distributions: how networks hold Q̄(s, g, a).

With γ = 1 a network that is trained on numbers drifts: nothing pulls a value back.  So a value is
held as a distribution over a fixed row of returns, the atoms (Bellemare, Dabney and Munos 2017).
The lowest atom stands for "never", the penalty r̄_MIN of Definition 2; a return cannot fall below
it, and values stay bounded.  Where every step costs the distance between two atoms, the backup

    target = r + Z(s', g, a*),   a* = argmax_a E[Z(s', g, a)]

moves a distribution by one atom, exactly.  `Scalar` is the plain alternative, one number a value
and the Huber loss, as the paper has it.

Distributions are indexed `[B, G, A, n]`, or `[B, G, n]` for one action a transition.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor
from torch.nn import functional

from taskalgebra.learning.deep.settings import DeepSettings


class Head(ABC):
    """What a network's outputs mean: n numbers for each goal and action."""

    n_outputs: int
    v_min: float

    @abstractmethod
    def values(self, outputs: Tensor) -> Tensor:
        """The expected return, `[..., n] → [...]`."""

    @abstractmethod
    def backup(self, outputs: Tensor, reward: Tensor, discount: float) -> Tensor:
        """The target r + γ Z(s', g, a*) from outputs `[B, G, A, n]` and rewards `[B]`."""

    @abstractmethod
    def certain(self, returns: Tensor) -> Tensor:
        """The target of a return that is known, `[...] → [..., n]`."""

    @abstractmethod
    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The mean loss of outputs against targets, both `[B, G, n]`."""

    def _of_best(self, outputs: Tensor) -> Tensor:
        """The outputs of the greedy action of every goal, `[B, G, n]`."""
        best = self.values(outputs).argmax(-1, keepdim=True)
        chosen = best[..., None].expand(*best.shape, outputs.shape[-1])
        return outputs.gather(2, chosen).squeeze(2)


@final
class Categorical(Head):
    """A distribution over evenly spaced returns."""

    def __init__(self, v_min: float, v_max: float, spacing: float) -> None:
        """Lay out the atoms; `v_min` stands for never."""
        self.v_min, self.v_max, self.spacing = v_min, v_max, spacing
        n_steps = (v_max - v_min) / spacing
        if round(n_steps) < 1 or abs(n_steps - round(n_steps)) > 1e-6:
            raise ValueError(
                f"spacing = {spacing} does not divide the returns from v_min = {v_min} to v_max = "
                f"{v_max}, {n_steps:g} times; choose a whole number of times"
            )
        self.n_outputs = round(n_steps) + 1
        self.atoms = v_min + spacing * torch.arange(self.n_outputs)

    def values(self, outputs: Tensor) -> Tensor:
        """Σ_i p_i z_i with p the softmax of the outputs."""
        return torch.softmax(outputs, -1) @ self.atoms.to(outputs.device)

    def backup(self, outputs: Tensor, reward: Tensor, discount: float) -> Tensor:
        """Move every atom to r + γ z, and share it between the two atoms around that."""
        chances = torch.softmax(self._of_best(outputs), -1)
        moved = reward[:, None] + discount * self.atoms.to(outputs.device)
        # "Never" stays never, whatever it costs to wait for it.
        moved[:, 0] = self.v_min
        return torch.bmm(chances, self._shares(moved))

    def certain(self, returns: Tensor) -> Tensor:
        """All mass on one return, or on the two atoms around it."""
        return self._shares(returns)

    def _shares(self, returns: Tensor) -> Tensor:
        """The share of every atom in a return, `[...] → [..., n]`; beyond the ends, the last."""
        clipped = returns.clamp(self.v_min, self.v_max)[..., None]
        apart = (clipped - self.atoms.to(returns.device)).abs() / self.spacing
        return (1.0 - apart).clamp(min=0.0)

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The cross entropy."""
        return -(target * torch.log_softmax(outputs, -1)).sum(-1).mean()


@final
class Scalar(Head):
    """One number a value."""

    n_outputs = 1

    def __init__(self, v_min: float) -> None:
        """No target falls below `v_min`."""
        self.v_min = v_min

    def values(self, outputs: Tensor) -> Tensor:
        """The outputs themselves."""
        return outputs.squeeze(-1)

    def backup(self, outputs: Tensor, reward: Tensor, discount: float) -> Tensor:
        """The target r + γ max_a Q̄(s', g, a)."""
        best = outputs.squeeze(-1).max(-1).values
        return (reward[:, None] + discount * best).clamp(min=self.v_min)[..., None]

    def certain(self, returns: Tensor) -> Tensor:
        """The return itself."""
        return returns[..., None]

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The Huber loss."""
        return functional.smooth_l1_loss(outputs, target)


def head_of(settings: DeepSettings) -> Head:
    """What the outputs of a network mean, as its settings say."""
    v_min, v_max, spacing = settings.returns
    return Categorical(v_min, v_max, spacing) if settings.categorical else Scalar(v_min)
