"""The library's own networks, and how a network of the user's own is taken.

A network is a callable: `network(shape, n_actions, n_outputs)` makes an `nn.Module` whose
`forward(states, goals)` takes B states and G goals, both as observations of this shape, and yields
outputs `[B, G, A, n]` for all pairs.  `n_outputs` numbers stand for the value of an action; a
`Head` says what they mean, and `forward` need not know.

    class MyModule(nn.Module):
        def __init__(self, shape, n_actions, n_outputs): ...
        def forward(self, states, goals): ...

    skills = ta.learn(env, learner=ta.DeepQ(network=MyModule))

A module of your own receives floats, centred at their means, bytes scaled to [0, 1].  Modules that
are a `UVFA` do that themselves.  The functions below do not import torch until they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taskalgebra.learning.deep.uvfa import UVFA

Network = Callable[[tuple[int, ...], int, int], Any]
"""From the shape of an observation and the numbers of actions and outputs per value to a module."""
LEAST_SIDE = 36  # pixels of an image


def egocentric(shape: tuple[int, ...], n_actions: int, n_outputs: int) -> UVFA:
    """Our own: for images `EgocentricNetwork`, for vectors `VectorNetwork`."""
    from taskalgebra.learning.deep.cell_networks import EgocentricNetwork
    from taskalgebra.learning.deep.uvfa import VectorNetwork

    if len(shape) == 1:
        return VectorNetwork(shape, n_actions, n_outputs)
    return EgocentricNetwork(_image(shape), n_actions, n_outputs)


def planning(shape: tuple[int, ...], n_actions: int, n_outputs: int) -> UVFA:
    """For boards with objects in the way; it needs an egocentric network to start from."""
    from taskalgebra.learning.deep.planning_network import PlanningNetwork

    if len(shape) == 1:
        raise ValueError("the network 'planning' is for images; observations here are vectors")
    return PlanningNetwork(_image(shape), n_actions, n_outputs)


def paper(shape: tuple[int, ...], n_actions: int, n_outputs: int) -> UVFA:
    """The CNN of the supplement; for vectors `VectorNetwork`."""
    from taskalgebra.learning.deep.uvfa import PaperNetwork, VectorNetwork

    if len(shape) == 1:
        return VectorNetwork(shape, n_actions, n_outputs)
    return PaperNetwork(_image(shape), n_actions, n_outputs)


KNOWN: dict[str, Network] = {"egocentric": egocentric, "planning": planning, "paper": paper}
"""The library's own networks, which a file may name."""


def name_of(network: Network) -> str | None:
    """The name of one of the library's own networks; None for a user's."""
    return next((name for name, known in KNOWN.items() if known is network), None)


def make_network(network: Network, shape: tuple[int, ...], n_actions: int, n_outputs: int) -> UVFA:
    """A network for observations of this shape, ready to be trained."""
    from torch import nn

    from taskalgebra.learning.deep.uvfa import UVFA, UserNetwork

    module = network(shape, n_actions, n_outputs)
    if isinstance(module, UVFA):
        return module
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"network(shape, n_actions, n_outputs) must return an nn.Module, got {module!r}"
        )
    return UserNetwork(module, shape, n_actions, n_outputs)


def _image(shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) != 3 or min(shape[:2]) < LEAST_SIDE:
        raise ValueError(
            f"observations have shape {shape}; expected a vector, or an image [H, W, C] of at "
            f"least {LEAST_SIDE} × {LEAST_SIDE} pixels; for others use a network of your own"
        )
    return shape
