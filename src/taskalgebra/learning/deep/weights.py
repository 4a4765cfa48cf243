"""The weights of a network as arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Weights = dict[str, NDArray[Any]]


def weights_of(network: torch.nn.Module) -> Weights:
    """The weights of a network as arrays."""
    return {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}


def put_weights(network: torch.nn.Module, weights: Weights) -> None:
    """Give a network its weights."""
    network.load_state_dict(
        {name: torch.from_numpy(np.array(array)).float() for name, array in weights.items()}
    )
