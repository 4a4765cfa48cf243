"""The library's own networks, and how a network of the user's own is taken.

A network is a callable: `network(shape, n_actions, n_outputs)` makes an `nn.Module` whose
`forward(states, goals)` takes B states, observations of this shape, and G goals, and yields outputs
`[B, G, A, n]` for all pairs.  `n_outputs` numbers stand for the value of an action; a `Head` says
what they mean, and `forward` need not know.

    class MyModule(nn.Module):
        def __init__(self, shape, n_actions, n_outputs): ...
        def forward(self, states, goals): ...

    skills = ta.learn(env, learner=ta.DeepQ(network=MyModule))

Goals are observations too, unless the environment has `goal_features`.  A callable with a parameter
`goal_shape` is told their shape.

A module of your own receives floats, centred at their means and scaled by their ranges, bytes
scaled to [0, 1].  Modules that are a `UVFA` do that themselves.  The functions below do not import
torch until they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete, Space

if TYPE_CHECKING:
    from taskalgebra.learning.deep.uvfa import UVFA

Network = Callable[..., Any]
"""From the shape of an observation and the numbers of actions and outputs per value to a module."""
Shape = tuple[int, ...]
LEAST_SIDE = 36  # pixels of an image with cells
LEAST_GRID = 3  # rows and columns of a grid that is worth a convolution
MOST_SYMBOLS = 32
"""Numbers in a cell of a symbolic grid, if all that were seen are below this."""


def suited_to(space: Space[Any], largest: Callable[[], float]) -> Network:
    """The network for observations of a space.

    Args:
        space: of one observation.
        largest: the largest number in some observations; asked only where the space does not tell
            a picture from a symbolic grid.
    """
    shape = require_numbers(space)
    if len(shape) != 3 or min(shape[:2]) < LEAST_GRID or not isinstance(space, Box):
        return vector
    if space.dtype.kind in "iub" and space.low.min() >= 0:
        high = int(space.high.max())
        small = min(shape[:2]) < LEAST_SIDE
        if high < MOST_SYMBOLS or (small and high <= 255 and largest() < MOST_SYMBOLS):
            return symbolic
    if space.dtype == np.uint8 and min(shape[:2]) >= LEAST_SIDE:
        return egocentric
    return image


def require_numbers(space: Space[Any]) -> Shape:
    """The shape of observations that networks take: arrays of numbers."""
    if isinstance(space, Box | MultiBinary | MultiDiscrete) and space.shape:
        return space.shape
    if isinstance(space, Discrete):
        raise ValueError(
            f"observations are {space}, numbers of states: learn tables, learner=QLearning()"
        )
    raise ValueError(
        f"networks take observations that are arrays of numbers, a Box, got {space}; "
        f"ta.wrap(env, goals=label, observation=...) makes one of them"
    )


def egocentric(
    shape: Shape, n_actions: int, n_outputs: int, *, goal_shape: Shape | None = None
) -> UVFA:
    """For images of cells, `EgocentricNetwork`; for vectors `VectorNetwork`."""
    from taskalgebra.learning.deep.cell_networks import EgocentricNetwork

    if len(shape) == 1:
        return vector(shape, n_actions, n_outputs, goal_shape=goal_shape)
    return EgocentricNetwork(_image(shape), n_actions, n_outputs, goal_shape)


def image(shape: Shape, n_actions: int, n_outputs: int, *, goal_shape: Shape | None = None) -> UVFA:
    """For pictures `[H, W, C]` of any size, `ImageNetwork`."""
    from taskalgebra.learning.deep.grid_networks import ImageNetwork

    return ImageNetwork(_grid(shape), n_actions, n_outputs, goal_shape)


def symbolic(
    shape: Shape, n_actions: int, n_outputs: int, *, goal_shape: Shape | None = None
) -> UVFA:
    """For grids `[H, W, C]` of small whole numbers, `SymbolicNetwork`."""
    from taskalgebra.learning.deep.symbolic_network import SymbolicNetwork

    return SymbolicNetwork(_grid(shape), n_actions, n_outputs, goal_shape)


def board(shape: Shape, n_actions: int, n_outputs: int, *, goal_shape: Shape | None = None) -> UVFA:
    """For boards `[H, W, C]` of symbols with goals in each other's way, `BoardNetwork`."""
    from taskalgebra.learning.deep.board_network import BoardNetwork

    return BoardNetwork(_grid(shape), n_actions, n_outputs, goal_shape)


def vector(
    shape: Shape, n_actions: int, n_outputs: int, *, goal_shape: Shape | None = None
) -> UVFA:
    """For vectors, and for all other arrays, `VectorNetwork`."""
    from taskalgebra.learning.deep.uvfa import VectorNetwork

    return VectorNetwork(shape, n_actions, n_outputs, goal_shape)


def planning(
    shape: Shape, n_actions: int, n_outputs: int, *, goal_shape: Shape | None = None
) -> UVFA:
    """For boards with objects in the way; it needs an egocentric network to start from."""
    from taskalgebra.learning.deep.planning_network import PlanningNetwork

    if len(shape) == 1:
        raise ValueError("the network 'planning' is for images; observations here are vectors")
    _require_observation(shape, goal_shape, "planning")
    return PlanningNetwork(_image(shape), n_actions, n_outputs)


def paper(shape: Shape, n_actions: int, n_outputs: int, *, goal_shape: Shape | None = None) -> UVFA:
    """The CNN of the supplement; for vectors `VectorNetwork`."""
    from taskalgebra.learning.deep.uvfa import PaperNetwork

    if len(shape) == 1:
        return vector(shape, n_actions, n_outputs, goal_shape=goal_shape)
    _require_observation(shape, goal_shape, "paper")
    return PaperNetwork(_image(shape), n_actions, n_outputs)


KNOWN: dict[str, Network] = {
    "egocentric": egocentric,
    "image": image,
    "symbolic": symbolic,
    "board": board,
    "vector": vector,
    "planning": planning,
    "paper": paper,
}
"""The library's own networks, which a file may name."""


def name_of(network: Network) -> str | None:
    """The name of one of the library's own networks; None for a user's."""
    return next((name for name, known in KNOWN.items() if known is network), None)


def make_network(
    network: Network,
    shape: Shape,
    n_actions: int,
    n_outputs: int,
    goal_shape: Shape | None = None,
) -> UVFA:
    """A network for observations and goals of these shapes, ready to be trained.

    Without `goal_shape`, goals are observations.
    """
    from torch import nn

    from taskalgebra.learning.deep.uvfa import UVFA, UserNetwork

    goal_shape = goal_shape or shape
    told = {"goal_shape": goal_shape} if _takes_goal_shape(network) else {}
    module = network(shape, n_actions, n_outputs, **told)
    if isinstance(module, UVFA):
        return module
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"network(shape, n_actions, n_outputs) must return an nn.Module, got {module!r}"
        )
    return UserNetwork(module, shape, n_actions, n_outputs, goal_shape)


def _takes_goal_shape(network: Network) -> bool:
    try:
        parameters = signature(network).parameters.values()
    except (TypeError, ValueError):  # compiled code may have no signature
        return False
    return any(p.name == "goal_shape" or p.kind == p.VAR_KEYWORD for p in parameters)


def _require_observation(shape: Shape, goal_shape: Shape | None, name: str) -> None:
    if goal_shape not in (None, shape):
        raise ValueError(
            f"the network {name!r} takes goals that are observations, of shape {shape}; here a "
            f"goal has shape {goal_shape}: make the world with shown='observation', or take "
            f"another network"
        )


def _grid(shape: Shape) -> Shape:
    if len(shape) != 3 or min(shape[:2]) < LEAST_GRID:
        raise ValueError(
            f"observations have shape {shape}; expected a grid [H, W, C] of at least "
            f"{LEAST_GRID} × {LEAST_GRID}; for others use the network 'vector', or your own"
        )
    return shape


def _image(shape: Shape) -> Shape:
    if len(shape) != 3 or min(shape[:2]) < LEAST_SIDE:
        raise ValueError(
            f"observations have shape {shape}; expected a vector, or an image [H, W, C] of at "
            f"least {LEAST_SIDE} × {LEAST_SIDE} pixels; for others use the network 'image', or "
            f"your own"
        )
    return shape
