"""Universal value function approximators: networks from (state, goal) to Q̄ (Schaul et al. 2015).

Every network takes B states and G goals, both as observations, and yields outputs `[B, G, A, n]`
for all pairs; what the n outputs of a value mean is up to a `Head`.  States and goals are encoded
once each, so that a batch for all goals costs little more than for one.

- `PaperNetwork`: the convolutional network of the supplement, on state and goal as six channels.
- `VectorNetwork`: for observations that are vectors.

Our own networks for images are in `cell_networks` and `planning_network`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional


class UVFA(nn.Module):
    """A network over states and goals, with inputs that are centred.

    `state_mean` and `goal_mean` are subtracted from the inputs: goals are often nearly the same
    image, and what they share would hide in what they differ.
    """

    state_mean: Tensor
    goal_mean: Tensor
    sizes: tuple[int, int]  # actions, and outputs for the value of each
    needs_start = False  # whether it can be trained only after `take_from`

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Take inputs of this shape; the means are 0 until `centre` is called."""
        super().__init__()
        self.register_buffer("state_mean", torch.zeros(shape))
        self.register_buffer("goal_mean", torch.zeros(shape))

    @abstractmethod
    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """Outputs `[B, G, A, n]` of states `[B, ...]` and goals `[G, ...]`."""

    def model_loss(
        self, states: Tensor, actions: Tensor, next_states: Tensor, over: Tensor
    ) -> Tensor:
        """The loss of what a network says about single steps; 0 where it says nothing.

        Args:
            states: `[B, ...]`, s.
            actions: `[B]`, a.
            next_states: `[B, ...]`, s'.
            over: `[B]`, whether the episode ended with this step.
        """
        return torch.zeros((), device=states.device)

    def take_from(self, other: UVFA) -> None:
        """Take the weights of another network, of its last layer those of the first actions.

        Raises:
            ValueError: it is of another kind, for other observations or other returns, or knows
                fewer actions.
        """
        mine, theirs = type(self).__name__, type(other).__name__
        if mine != theirs:
            raise ValueError(f"cannot start from another kind of network: {theirs}, not {mine}")
        shapes = [tuple(network.state_mean.shape) for network in (other, self)]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"cannot start from a network for observations of shape {shapes[0]}; these have "
                f"shape {shapes[1]}"
            )
        (n_actions, n_outputs), (own_actions, own_outputs) = other.sizes, self.sizes
        if n_outputs != own_outputs:
            raise ValueError(
                f"cannot start from a network with {n_outputs} outputs for a value; this one has "
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
        """Refuse to learn from steps of which the network makes no sense, before it is trained.

        Raises:
            ValueError: what the network was started from does not suit this world.
        """

    def centre(self, states: Tensor, goals: Tensor) -> None:
        """Take the means of the inputs from examples."""
        self.state_mean.copy_(states.double().mean(0))
        self.goal_mean.copy_(goals.double().mean(0))


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
        """Layers of the sizes in the supplement; 84 × 84 images give its 3,136 features."""
        super().__init__(shape)
        height, width, channels = shape
        self.sizes = (n_actions, n_outputs)
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
class UserNetwork(UVFA):
    """A module of the user's own, with inputs that are centred, bytes scaled to [0, 1]."""

    def __init__(
        self, module: nn.Module, shape: tuple[int, ...], n_actions: int, n_outputs: int
    ) -> None:
        """Wrap the module."""
        super().__init__(shape)
        self.sizes = (n_actions, n_outputs)
        self.module = module

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """What the module says, checked."""
        outputs = self.module(_floats(states, self.state_mean), _floats(goals, self.goal_mean))
        expected = (len(states), len(goals), *self.sizes)
        if tuple(outputs.shape) != expected:
            raise ValueError(
                f"the network gave outputs of shape {tuple(outputs.shape)}, expected {expected}: "
                f"states, goals, actions, outputs of a value"
            )
        return outputs  # type: ignore[no-any-return]

    def take_from(self, other: UVFA) -> None:
        """Take all weights of a module of the same kind."""
        self.load_state_dict(other.state_dict())


def _floats(inputs: Tensor, mean: Tensor) -> Tensor:
    scale = 255.0 if inputs.dtype == torch.uint8 else 1.0
    return (inputs.float() - mean) / scale


@final
class VectorNetwork(UVFA):
    """Two hidden layers over state and goal vectors; the product of both is what is compared."""

    HIDDEN = 128

    def __init__(self, shape: tuple[int, ...], n_actions: int, n_outputs: int) -> None:
        """Layers for vectors of this length."""
        super().__init__(shape)
        self.sizes = (n_actions, n_outputs)
        self.of_state = nn.Linear(shape[0], self.HIDDEN)
        self.of_goal = nn.Linear(shape[0], self.HIDDEN)
        self.first = nn.Linear(3 * self.HIDDEN, self.HIDDEN)
        self.second = nn.Linear(self.HIDDEN, self.HIDDEN)
        self.last = nn.Linear(self.HIDDEN, n_actions * n_outputs)

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """All pairs of states and goals."""
        state = self.of_state(states.float() - self.state_mean)[:, None]
        goal = self.of_goal(goals.float() - self.goal_mean)[None]
        shape = (len(states), len(goals), self.HIDDEN)
        parts = [state.expand(shape), goal.expand(shape), state * goal]
        x = torch.relu(self.first(torch.relu(torch.cat(parts, 2))))
        x = self.last(torch.relu(self.second(x)))
        return x.view(*shape[:2], *self.sizes)  # type: ignore[no-any-return]
