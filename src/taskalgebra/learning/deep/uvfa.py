"""Universal value function approximators: networks from (state, goal) to Q̄ (Schaul et al. 2015).

Every network takes B states and G goals, and yields outputs `[B, G, A, n]` for all pairs.  A goal
is given by an observation, or by a description or a picture of another shape.  States and goals are
encoded once each, so that a batch for all goals costs little more than for one.  Our own networks
for images are in `cell_networks`, `planning_network` and `grid_networks`.

**Heads** say what the n outputs of a value mean.  With γ = 1 a network trained on numbers drifts:
nothing pulls a value back.  So a value is held as a distribution over a fixed row of returns, the
atoms (Bellemare, Dabney and Munos 2017).  The lowest atom stands for "never", the penalty r̄_MIN of
Definition 2; a return cannot fall below it, and values stay bounded.  Where every step costs the
distance between two atoms, the backup

    target = r + Z(s', g, a*),   a* = argmax_a E[Z(s', g, a)]

moves a distribution by one atom, exactly.  `Scalar` is the plain alternative of the paper: one
number per value, and the Huber loss.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

from taskalgebra.learning.deep.settings import DeepSettings, n_intervals


class UVFA(nn.Module):
    """A network over states and goals, with centred inputs.

    `state_mean` and `goal_mean` are subtracted from the inputs: goals are often nearly the same
    image, and what they share would hide how they differ.
    """

    state_mean: Tensor
    goal_mean: Tensor
    needs_start = False  # whether it can be trained only after `take_from`

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
    ) -> None:
        """Take states of this shape; the means are 0 until `centre` is called.

        `goal_shape` is that of a goal, if it is not given by an observation.
        """
        super().__init__()
        self.sizes = (n_actions, n_outputs)  # outputs per value
        self.register_buffer("state_mean", torch.zeros(shape))
        self.register_buffer("goal_mean", torch.zeros(goal_shape or shape))

    @abstractmethod
    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """Outputs `[B, G, A, n]` of states `[B, ...]` and goals `[G, ...]`."""

    def model_loss(
        self, states: Tensor, actions: Tensor, next_states: Tensor, over: Tensor
    ) -> Tensor:
        """The loss of what a network predicts about single steps; 0 if it predicts nothing.

        Args:
            states: `[B, ...]`, s.
            actions: `[B]`, a.
            next_states: `[B, ...]`, s'.
            over: `[B]`, whether the episode ended with this step.
        """
        return torch.zeros((), device=states.device)

    def goal_loss(self, states: Tensor, next_states: Tensor, goals: Tensor, met: Tensor) -> Tensor:
        """The loss of where goals are taken to be; `met`, `[B, G]`, says which steps end there."""
        return torch.zeros((), device=states.device)

    def take_from(self, other: UVFA) -> None:
        """Take the weights of another network; from its last layer, those of the first actions.

        Raises:
            ValueError: it is of another kind, for other observations or returns, or has fewer
                actions.
        """
        mine, theirs = type(self).__name__, type(other).__name__
        if mine != theirs:
            raise ValueError(f"cannot start from another kind of network: {theirs}, not {mine}")
        for what, mean in (("observations", "state_mean"), ("goals", "goal_mean")):
            shapes = [tuple(getattr(network, mean).shape) for network in (other, self)]
            if shapes[0] != shapes[1]:
                raise ValueError(
                    f"cannot start from a network for {what} of shape {shapes[0]}; these have "
                    f"shape {shapes[1]}"
                )
        (n_actions, n_outputs), (own_actions, own_outputs) = other.sizes, self.sizes
        if n_outputs != own_outputs:
            raise ValueError(
                f"cannot start from a network with {n_outputs} outputs per value; this one has "
                f"{own_outputs}: use the same v_min, v_max and spacing"
            )
        if n_actions < own_actions:
            raise ValueError(
                f"cannot start from a network for {n_actions} actions; this world has {own_actions}"
            )
        weights = dict(other.state_dict())
        for name in ("last.weight", "last.bias"):
            weights[name] = weights[name][: own_actions * own_outputs]
        self.load_state_dict(weights)

    def check_steps(self, states: Tensor, next_states: Tensor, over: Tensor) -> None:
        """Refuse, before training, steps that the network can make no sense of.

        Raises:
            ValueError: what the network was started from does not suit this world.
        """

    def watch(self, states: Tensor, next_states: Tensor, over: Tensor) -> None:
        """Find out, before training, what the network needs to know of a world from some steps."""

    def expect_lowest(self, by: float) -> None:
        """Add this to the first output of every value, in the bias of the layer `last`, if any."""
        last = getattr(self, "last", None)
        if isinstance(last, nn.Linear):
            with torch.no_grad():
                last.bias.view(self.sizes)[:, 0] += by

    def centre(self, states: Tensor, goals: Tensor) -> None:
        """Set the means of the inputs from examples."""
        self.state_mean.copy_(states.double().mean(0))
        self.goal_mean.copy_(goals.double().mean(0))


class ScaledUVFA(UVFA):
    """A network whose inputs are also scaled, each number by the range that it is seen to have.

    A velocity may be a hundred times smaller than a position, and matter as much.  Bytes are not
    scaled by examples but to [0, 1].
    """

    state_scale: Tensor
    goal_scale: Tensor

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
    ) -> None:
        """As `UVFA`; the scales are 1 until `centre` is called."""
        super().__init__(shape, n_actions, n_outputs, goal_shape)
        self.register_buffer("state_scale", torch.ones(shape))
        self.register_buffer("goal_scale", torch.ones(goal_shape or shape))

    def centre(self, states: Tensor, goals: Tensor) -> None:
        """Set means and scales of the inputs from examples."""
        super().centre(states, goals)
        for scale, examples in ((self.state_scale, states), (self.goal_scale, goals)):
            if examples.dtype != torch.uint8:
                scale.copy_(_scale(examples.double()))

    def centred_states(self, states: Tensor) -> Tensor:
        """States as floats, centred and scaled."""
        return _floats(states, self.state_mean, self.state_scale)

    def centred_goals(self, goals: Tensor) -> Tensor:
        """Goals as floats, centred and scaled."""
        return _floats(goals, self.goal_mean, self.goal_scale)


def _scale(examples: Tensor) -> Tensor:
    """A quarter of the range, some two standard deviations; 1 where all examples are the same.

    Of a number that is almost always 0, the standard deviation says less than its range.
    """
    scale = (examples.amax(0) - examples.amin(0)) / 4.0
    rounding = 1e-6 * examples.abs().amax(0)
    return torch.where(scale > rounding, scale, 1.0)


def _floats(inputs: Tensor, mean: Tensor, scale: Tensor) -> Tensor:
    return (inputs.float() - mean) / (255.0 if inputs.dtype == torch.uint8 else scale)


def images(inputs: Tensor, mean: Tensor) -> Tensor:
    """Centred images, channels first, bytes scaled to [0, 1]."""
    return ((inputs.float() - mean) / 255.0).permute(0, 3, 1, 2)


@final
class PaperNetwork(UVFA):
    """The network of the supplement: three convolutions and two linear layers.

    Its first layer takes the six channels of state and goal.  A convolution is linear, so the two
    halves are computed once for every state and every goal, and then added: the same function.
    """

    def __init__(self, shape: tuple[int, ...], n_actions: int, n_outputs: int) -> None:
        """Make layers of the supplement's sizes; 84 × 84 images give its 3,136 features."""
        super().__init__(shape, n_actions, n_outputs)
        height, width, channels = shape
        self.first = nn.Conv2d(2 * channels, 32, 8, stride=4)
        self.second = nn.Conv2d(32, 64, 4, stride=2)
        self.third = nn.Conv2d(64, 64, 3)
        rows, columns = (((side - 8) // 4 - 2) // 2 - 1 for side in (height, width))
        self.hidden = nn.Linear(64 * rows * columns, 512)
        self.last = nn.Linear(512, n_actions * n_outputs)

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """All pairs of states and goals, through the same layers."""
        of_states, of_goals = self.first.weight.chunk(2, dim=1)
        state = functional.conv2d(
            images(states, self.state_mean), of_states, self.first.bias, stride=4
        )
        goal = functional.conv2d(images(goals, self.goal_mean), of_goals, stride=4)
        x = torch.relu(state[:, None] + goal).flatten(0, 1)
        x = torch.relu(self.third(torch.relu(self.second(x))))
        x = torch.relu(self.hidden(x.flatten(1)))
        return self.last(x).view(len(states), len(goals), *self.sizes)  # type: ignore[no-any-return]


@final
class UserNetwork(ScaledUVFA):
    """A module of the user's own, with centred and scaled inputs, bytes scaled to [0, 1]."""

    def __init__(
        self,
        module: nn.Module,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
    ) -> None:
        """Wrap the module."""
        super().__init__(shape, n_actions, n_outputs, goal_shape)
        self.module = module

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """The module's outputs, with their shape checked."""
        outputs = self.module(self.centred_states(states), self.centred_goals(goals))
        expected = (len(states), len(goals), *self.sizes)
        if tuple(outputs.shape) != expected:
            raise ValueError(
                f"the network gave outputs of shape {tuple(outputs.shape)}, expected {expected}: "
                f"states, goals, actions, outputs per value"
            )
        return outputs  # type: ignore[no-any-return]

    def take_from(self, other: UVFA) -> None:
        """Take all weights of a module of the same kind."""
        try:
            self.load_state_dict(other.state_dict())
        except RuntimeError:
            raise ValueError(
                f"cannot start from another kind of network: {type(other).__name__} has other "
                f"weights than this module"
            ) from None


@final
class VectorNetwork(ScaledUVFA):
    """Two hidden layers over state and goal vectors, and over their product.

    Arrays of more axes are taken as vectors, number by number.
    """

    HIDDEN = 128

    def __init__(
        self,
        shape: tuple[int, ...],
        n_actions: int,
        n_outputs: int,
        goal_shape: tuple[int, ...] | None = None,
    ) -> None:
        """Layers for vectors of this length."""
        super().__init__(shape, n_actions, n_outputs, goal_shape)
        self.of_state = nn.Linear(math.prod(shape), self.HIDDEN)
        self.of_goal = nn.Linear(math.prod(goal_shape or shape), self.HIDDEN)
        self.first = nn.Linear(3 * self.HIDDEN, self.HIDDEN)
        self.second = nn.Linear(self.HIDDEN, self.HIDDEN)
        self.last = nn.Linear(self.HIDDEN, n_actions * n_outputs)

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """All pairs of states and goals."""
        state = self.of_state(self.centred_states(states).flatten(1))[:, None]
        goal = self.of_goal(self.centred_goals(goals).flatten(1))[None]
        shape = (len(states), len(goals), self.HIDDEN)
        parts = [state.expand(shape), goal.expand(shape), state * goal]
        x = torch.relu(self.first(torch.relu(torch.cat(parts, 2))))
        x = self.last(torch.relu(self.second(x)))
        return x.view(*shape[:2], *self.sizes)  # type: ignore[no-any-return]


class Head(ABC):
    """What a network's outputs mean: n numbers per goal and action."""

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
        """The target of a known return, `[...] → [..., n]`."""

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
        self.n_outputs = n_intervals(v_min, v_max, spacing) + 1
        self.atoms = v_min + spacing * torch.arange(self.n_outputs)

    def values(self, outputs: Tensor) -> Tensor:
        """Σ_i p_i z_i with p the softmax of the outputs."""
        return torch.softmax(outputs, -1) @ self.atoms.to(outputs.device)

    def backup(self, outputs: Tensor, reward: Tensor, discount: float) -> Tensor:
        """Move every atom to r + γ z, and share it between the two atoms around that."""
        chances = torch.softmax(self._of_best(outputs), -1)
        moved = reward[:, None] + discount * self.atoms.to(outputs.device)
        moved[:, 0] = self.v_min  # "never" stays never, whatever it costs to wait for it
        place = (moved.clamp(self.v_min, self.v_max) - self.v_min) / self.spacing
        below = place.floor().clamp(max=self.n_outputs - 2)
        upper = (place - below)[:, None]
        index = below.long()[:, None].expand_as(chances)
        target = torch.zeros_like(chances)
        target.scatter_add_(2, index, chances * (1.0 - upper))
        return target.scatter_add_(2, index + 1, chances * upper)

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
    """One number per value."""

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
