"""Universal value function approximators: networks from (state, goal) to Q̄ (Schaul et al. 2015).

Every network here takes B states and G goals, both as observations, and yields outputs
`[B, G, A, n]` for all pairs; what the n outputs of a value mean is up to a `Head`.  States and
goals are encoded once each, so that a batch for all goals costs little more than for one.

- `PaperNetwork`: the convolutional network of the supplement, on state and goal as six channels.
- `EgocentricNetwork`: our own for images.  It looks for the agent and for the goal in the state,
  and then sees the goal from where the agent stands.
- `VectorNetwork`: for observations that are vectors.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional

LEAST_SIDE = 36  # pixels of an image


class UVFA(nn.Module):
    """A network over states and goals, with inputs that are centred.

    `state_mean` and `goal_mean` are subtracted from the inputs: goals are often nearly the same
    image, and what they share would hide in what they differ.
    """

    state_mean: Tensor
    goal_mean: Tensor
    sizes: tuple[int, int]  # actions, and outputs for the value of each

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Take inputs of this shape; the means are 0 until `centre` is called."""
        super().__init__()
        self.register_buffer("state_mean", torch.zeros(shape))
        self.register_buffer("goal_mean", torch.zeros(shape))

    @abstractmethod
    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """Outputs `[B, G, A, n]` of states `[B, ...]` and goals `[G, ...]`."""

    def take_from(self, other: UVFA) -> None:
        """Take the weights of another network, of its last layer those of the first actions."""
        weights = dict(other.state_dict())
        if other.sizes[1] != self.sizes[1]:
            raise ValueError(
                f"cannot start from a network with {other.sizes[1]} outputs for a value; this one "
                f"has {self.sizes[1]}: use the same low, high and spacing"
            )
        for name, own in self.state_dict().items():
            if name not in weights or weights[name].shape[1:] != own.shape[1:]:
                raise ValueError(
                    f"cannot start from a {type(other).__name__} for other observations; this is "
                    f"a {type(self).__name__}, and {name!r} does not fit"
                )
            if name.startswith("last.") and len(weights[name]) > len(own):
                weights[name] = weights[name][: len(own)]
        try:
            self.load_state_dict(weights)
        except RuntimeError as error:
            raise ValueError(f"cannot start from this network: {error}") from None

    def centre(self, states: Tensor, goals: Tensor) -> None:
        """Take the means of the inputs from examples."""
        self.state_mean.copy_(states.double().mean(0))
        self.goal_mean.copy_(goals.double().mean(0))


def _images(inputs: Tensor, mean: Tensor) -> Tensor:
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
            _images(states, self.state_mean), of_states, self.first.bias, stride=4
        )
        goal = functional.conv2d(_images(goals, self.goal_mean), of_goals, stride=4)
        x = torch.relu(state[:, None] + goal).flatten(0, 1)
        x = torch.relu(self.third(torch.relu(self.second(x))))
        x = torch.relu(self.hidden(x.flatten(1)))
        return self.last(x).view(len(states), len(goals), *self.sizes)  # type: ignore[no-any-return]


@final
class EgocentricNetwork(UVFA):
    """Finds agent and goal in an image of cells, and sees the goal from the agent's place.

    1. The image, halved in size, is cut into overlapping patches of 12 × 12 pixels, 8 apart; each
       becomes a vector of features, a *cell*.
    2. The agent is looked for: a softmax over cells says where it stands.
    3. The goal image yields a few unit vectors; their products with the cells are maps of where it
       may be.  A few more maps depend on the state alone.
    4. All maps are also moved so that the agent is in their middle: relative to it, the way to a
       goal is much the same wherever the two are.
    5. Two hidden layers take all maps, those of the state and those of the goal added.
    """

    FEATURES, STATE_MAPS, GOAL_MAPS, HIDDEN = 32, 4, 2, 256

    def __init__(self, shape: tuple[int, ...], n_actions: int, n_outputs: int) -> None:
        """Layers for images of this shape."""
        super().__init__(shape)
        height, width, channels = shape
        self.sizes = (n_actions, n_outputs)
        self.rows, self.columns = ((side // 2 - 6) // 4 + 1 for side in (height, width))
        n_cells = self.rows * self.columns
        n_around = (2 * self.rows - 1) * (2 * self.columns - 1)
        self.patches = nn.Conv2d(channels, 48, 6, stride=4)
        self.features = nn.Conv2d(48, self.FEATURES, 1)
        self.maps = nn.Conv2d(self.FEATURES, self.STATE_MAPS, 1)
        self.agent = nn.Conv2d(self.FEATURES, 1, 1)
        self.goal_hidden = nn.Linear(channels * 14 * 14, 128)
        self.goal_vectors = nn.Linear(128, self.GOAL_MAPS * self.FEATURES)
        of_state = n_cells + self.STATE_MAPS * (n_cells + n_around)
        of_goal = self.GOAL_MAPS * (n_cells + n_around)
        self.state_norm, self.goal_norm = nn.LayerNorm(of_state), nn.LayerNorm(of_goal)
        self.from_state = nn.Linear(of_state, self.HIDDEN)
        self.from_goal = nn.Linear(of_goal, self.HIDDEN, bias=False)
        self.second = nn.Linear(self.HIDDEN, self.HIDDEN)
        self.last = nn.Linear(self.HIDDEN, n_actions * n_outputs)
        self.register_buffer("row_shift", _shifts(self.rows), persistent=False)
        self.register_buffer("column_shift", _shifts(self.columns), persistent=False)

    def forward(self, states: Tensor, goals: Tensor) -> Tensor:
        """All pairs of states and goals."""
        n_states, n_goals = len(states), len(goals)
        cells = self.features(torch.relu(self.patches(self._halved(states))))
        active = torch.relu(cells)
        place = torch.softmax(3.0 * self.agent(active).flatten(1), 1)  # [B, cells]
        own = self.maps(active).flatten(2)  # [B, maps, cells]
        flat = cells.flatten(2)
        where = self._goal_vectors(goals) @ (flat - flat.mean(2, keepdim=True))  # [B, G·maps, …]
        around = self._seen_from(place, torch.cat([own, where], 1))
        of_state = [10.0 * place, own.flatten(1), around[:, : self.STATE_MAPS].flatten(1)]
        of_goal = [where, around[:, self.STATE_MAPS :]]
        state = self.from_state(self.state_norm(torch.cat(of_state, 1)))
        goal = self.from_goal(
            self.goal_norm(torch.cat([part.reshape(n_states, n_goals, -1) for part in of_goal], 2))
        )
        x = torch.relu(self.second(torch.relu(state[:, None] + goal)))
        return self.last(x).view(n_states, n_goals, *self.sizes)  # type: ignore[no-any-return]

    def _halved(self, states: Tensor) -> Tensor:
        """Sums of 2 × 2 pixels, centred; faster than pooling, and bytes become floats once."""
        height, width = 2 * (states.shape[1] // 2), 2 * (states.shape[2] // 2)
        x = states[:, :height, :width]
        mean = self.state_mean[None, :height, :width]
        return (_quarters(x) / 255.0 - _quarters(mean) / 255.0).permute(0, 3, 1, 2)

    def _goal_vectors(self, goals: Tensor) -> Tensor:
        """[G·maps, features], what to look for, as unit vectors."""
        small = functional.adaptive_avg_pool2d(4.0 * _images(goals, self.goal_mean), 14)
        vectors = self.goal_vectors(torch.relu(self.goal_hidden(small.flatten(1))))
        return functional.normalize(vectors.view(-1, self.FEATURES), dim=1)

    def _seen_from(self, place: Tensor, maps: Tensor) -> Tensor:
        """Maps `[B, M, cells]` with the agent's place moved to the middle, `[B, M, around]`.

        Σ_x place(x) · map(x + δ) for every displacement δ.  The place is taken as a row and a
        column, which is exact where the agent was found on one cell.
        """
        n_batch, n_maps, _ = maps.shape
        grid = place.view(n_batch, self.rows, self.columns)
        by_row = functional.pad(grid.sum(2), (0, 1))[:, self.row_shift]
        by_column = functional.pad(grid.sum(1), (0, 1))[:, self.column_shift]
        x = maps.reshape(n_batch, n_maps * self.rows, self.columns) @ by_column.transpose(1, 2)
        x = x.view(n_batch, n_maps, self.rows, -1).transpose(2, 3)
        x = x.reshape(n_batch, -1, self.rows) @ by_row.transpose(1, 2)
        return x.view(n_batch, n_maps, -1)

    row_shift: Tensor
    column_shift: Tensor


def _quarters(x: Tensor) -> Tensor:
    """Sums of 2 × 2 pixels of images `[B, H, W, C]`."""
    return x[:, ::2, ::2].float() + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2]


def _shifts(n: int) -> Tensor:
    """[2n − 1, n], the index y − δ of every displacement δ and place y; n where it is outside."""
    displacement = torch.arange(1 - n, n)[:, None]
    index = torch.arange(n) - displacement
    return torch.where((index >= 0) & (index < n), index, n)


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


IMAGE_NETWORKS: dict[str, type[PaperNetwork] | type[EgocentricNetwork]] = {
    "paper": PaperNetwork,
    "egocentric": EgocentricNetwork,
}


def make_network(name: str, shape: tuple[int, ...], n_actions: int, n_outputs: int) -> UVFA:
    """A network for observations of this shape; vectors have one network, whatever the name."""
    if name not in IMAGE_NETWORKS:
        raise ValueError(f"unknown network {name!r}; expected {' or '.join(IMAGE_NETWORKS)}")
    if len(shape) == 1:
        return VectorNetwork(shape, n_actions, n_outputs)
    if len(shape) != 3 or min(shape[:2]) < LEAST_SIDE:
        raise ValueError(
            f"observations have shape {shape}; expected a vector, or an image [H, W, C] of at "
            f"least {LEAST_SIDE} × {LEAST_SIDE} pixels"
        )
    return IMAGE_NETWORKS[name](shape, n_actions, n_outputs)
