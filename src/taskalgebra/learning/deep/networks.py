"""Networks by name."""

from __future__ import annotations

from taskalgebra.learning.deep.cell_networks import EgocentricNetwork
from taskalgebra.learning.deep.planning_network import PlanningNetwork
from taskalgebra.learning.deep.uvfa import UVFA, PaperNetwork, VectorNetwork
from taskalgebra.validation import one_of

LEAST_SIDE = 36  # pixels of an image

IMAGE_NETWORKS: dict[str, type[PaperNetwork] | type[EgocentricNetwork] | type[PlanningNetwork]] = {
    "egocentric": EgocentricNetwork,
    "planning": PlanningNetwork,
    "paper": PaperNetwork,
}


def make_network(name: str, shape: tuple[int, ...], n_actions: int, n_outputs: int) -> UVFA:
    """A network for observations of this shape; vectors have one, in place of those for images."""
    one_of(name, list(IMAGE_NETWORKS), "network")
    if len(shape) == 1:
        if name == "planning":
            raise ValueError("the network 'planning' is for images; observations here are vectors")
        return VectorNetwork(shape, n_actions, n_outputs)
    if len(shape) != 3 or min(shape[:2]) < LEAST_SIDE:
        raise ValueError(
            f"observations have shape {shape}; expected a vector, or an image [H, W, C] of at "
            f"least {LEAST_SIDE} × {LEAST_SIDE} pixels"
        )
    return IMAGE_NETWORKS[name](shape, n_actions, n_outputs)
