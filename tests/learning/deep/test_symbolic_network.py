"""The network for symbolic grids: it finds the agent, its heading, and sees from there."""

import numpy as np
import pytest
import torch

from taskalgebra.learning.deep.symbolic_network import AHEAD, SymbolicNetwork

AGENT, THING = 7, 3


def grids(rng, n, *, turns=True, size=(5, 6)):
    """Before and after random steps of an agent that goes ahead, or in any direction."""
    before = np.zeros((n, *size, 3), np.uint8)
    after = np.zeros_like(before)
    for i in range(n):
        place = rng.integers(1, 4, 2)
        heading = int(rng.integers(4))
        thing = tuple(rng.integers(0, size))
        moved, facing = place, heading
        if rng.random() < 0.5:
            moved = place + AHEAD[heading if turns else rng.integers(4)]
        elif turns:
            facing = (heading + 1) % 4
        for grid, where, way in ((before[i], place, heading), (after[i], moved, facing)):
            grid[thing] = (THING, 2, 0)
            grid[tuple(where)] = (AGENT, 0, way)
    return torch.from_numpy(before), torch.from_numpy(after)


@pytest.fixture
def network():
    torch.manual_seed(0)
    return SymbolicNetwork((5, 6, 3), 4, 3, (8,))


def test_it_finds_the_agent_and_the_way_that_it_faces(network):
    states, then = grids(np.random.default_rng(0), 400)
    network.watch(states, then, torch.zeros(400, dtype=torch.bool))
    assert network.agent.nonzero().tolist() == [[0, AGENT]]
    assert network.heading.nonzero().tolist() == [[2, way, way] for way in range(4)]


def test_an_agent_that_moves_any_way_has_no_heading(network):
    states, then = grids(np.random.default_rng(0), 400, turns=False)
    network.watch(states, then, torch.zeros(400, dtype=torch.bool))
    assert network.agent.nonzero().tolist() == [[0, AGENT]]
    assert not network.heading.any()


def test_a_world_without_an_agent_is_seen_as_it_lies(network):
    states = torch.randint(0, 4, (50, 5, 6, 3))
    network.watch(states, states, torch.zeros(50, dtype=torch.bool))
    assert not network.agent.any()
    assert network(states, torch.rand(3, 8)).shape == (50, 3, 4, 3)


def test_nothing_but_ends_of_episodes_shows_no_agent(network):
    states, then = grids(np.random.default_rng(0), 20)
    network.watch(states, then, torch.ones(20, dtype=torch.bool))
    assert not network.agent.any()


def square(rng, heading=0):
    """A square grid with things around the agent in the middle, nothing at the rim."""
    grid = np.zeros((9, 9, 3), np.uint8)
    grid[2:7, 2:7, 0] = rng.integers(0, 6, (5, 5))
    grid[4, 4] = (AGENT, 0, heading)
    return grid


def test_what_it_sees_is_the_same_wherever_the_agent_is_and_whichever_way_it_faces():
    rng = np.random.default_rng(1)
    torch.manual_seed(0)
    network = SymbolicNetwork((9, 9, 3), 4, 3, (8,))
    network.agent[0, AGENT] = 1.0
    for way in range(4):
        network.heading[2, way, way] = 1.0
    network.from_agent.weight.data.zero_()  # the agent's own cell holds its heading
    network.numbers.weight.data[network.first[2] :][:4] = 0.0
    grid, goals = square(rng), torch.rand(2, 8)
    turned = np.rot90(grid, -1).copy()  # what lay ahead, to the right, now lies below
    turned[4, 4] = (AGENT, 0, 1)
    shifted = np.roll(grid, (1, 2), (0, 1))
    given = torch.from_numpy(np.stack([grid, turned, shifted]))
    # the rim is empty, so what is outside must look empty as well
    empty = network._held(torch.zeros(1, 1, 3, dtype=torch.long))[0]
    network.holds.bias.data -= empty[0]
    network.maps.bias.data.zero_()
    outputs = network(given, goals)
    assert torch.allclose(outputs[0], outputs[1], atol=1e-5)
    assert torch.allclose(outputs[0], outputs[2], atol=1e-5)


def test_goals_may_be_observations():
    network = SymbolicNetwork((5, 6, 3), 4, 3)
    states, goals = grids(np.random.default_rng(0), 6)
    assert network(states, goals[:2]).shape == (6, 2, 4, 3)


def test_many_channels_and_large_numbers_are_kept_apart():
    network = SymbolicNetwork((3, 3, 13), 2, 1, (4,))
    states = torch.randint(0, 256, (8, 3, 3, 13))
    held, kind = network._held(states.flatten(1, 2))
    directly = network.holds(
        torch.relu(network.numbers(states.flatten(1, 2) + network.first).sum(2))
    )
    assert torch.allclose(held[kind], directly, atol=1e-5)
