"""Networks over states and goals: what they compute, against plainer ways to compute it."""

import numpy as np
import pytest
import torch
from torch import nn

from taskalgebra.learning.deep.cell_networks import EgocentricNetwork
from taskalgebra.learning.deep.networks import KNOWN, LEAST_SIDE, make_network, name_of
from taskalgebra.learning.deep.uvfa import PaperNetwork, UserNetwork, VectorNetwork

torch.set_num_threads(1)

ATOMS, ACTIONS = 6, 5


def made(name, shape, seed=0, outputs=ATOMS, actions=ACTIONS):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make_network(KNOWN[name], shape, actions, outputs)


def images(n, side, seed=0, channels=3):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.integers(0, 256, (n, side, side, channels), np.uint8))


def vectors(n, length, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, length)).astype(np.float32))


NETWORKS = {
    "paper": (made("paper", (84, 84, 3)), images(4, 84), images(3, 84, 1)),
    "egocentric": (made("egocentric", (60, 60, 3)), images(4, 60), images(3, 60, 1)),
    "grey": (made("egocentric", (36, 36, 1)), images(4, 36, 0, 1), images(3, 36, 1, 1)),
    "vector": (made("paper", (7,)), vectors(4, 7), vectors(3, 7, 1)),
}
ALL = pytest.mark.parametrize(
    ("network", "states", "goals"), NETWORKS.values(), ids=NETWORKS.keys()
)


def literal_cnn(network, states, goals):
    """The supplement's network as printed: six channels, conv 32-64-64, 3136 features, 512."""
    flat = network.hidden.in_features
    cnn = nn.Sequential(
        nn.Conv2d(6, 32, kernel_size=8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, kernel_size=4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, kernel_size=3, stride=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(flat, 512),
        nn.ReLU(),
        nn.Linear(512, ACTIONS * ATOMS),
    )
    layers = (network.first, network.second, network.third, network.hidden, network.last)
    own = [layer for layer in cnn if hasattr(layer, "weight")]
    for there, here in zip(own, layers, strict=True):
        there.load_state_dict(here.state_dict())
    result = torch.empty(len(states), len(goals), ACTIONS, ATOMS)
    for b, state in enumerate(states):
        for g, goal in enumerate(goals):
            both = torch.cat([state - network.state_mean, goal - network.goal_mean], dim=-1)
            result[b, g] = cnn((both / 255.0).permute(2, 0, 1)[None]).view(ACTIONS, ATOMS)
    return result


@pytest.mark.parametrize("side", [84, 60, 37])
@pytest.mark.parametrize("centred", [False, True])
def test_the_network_of_the_paper_is_the_cnn_of_the_supplement_on_six_channels(side, centred):
    network = made("paper", (side, side, 3))
    states, goals = images(3, side), images(2, side, 1)
    if centred:
        network.centre(images(9, side, 2), images(5, side, 3))
    with torch.no_grad():
        torch.testing.assert_close(
            network(states, goals), literal_cnn(network, states, goals), atol=2e-6, rtol=1e-5
        )


def test_images_of_84_pixels_give_the_3136_features_of_the_supplement():
    network = made("paper", (84, 84, 3))
    shapes = {name: tuple(weight.shape) for name, weight in network.named_parameters()}
    assert shapes == {
        "first.weight": (32, 6, 8, 8),
        "first.bias": (32,),
        "second.weight": (64, 32, 4, 4),
        "second.bias": (64,),
        "third.weight": (64, 64, 3, 3),
        "third.bias": (64,),
        "hidden.weight": (512, 3136),
        "hidden.bias": (512,),
        "last.weight": (ACTIONS * ATOMS, 512),
        "last.bias": (ACTIONS * ATOMS,),
    }


@ALL
def test_all_pairs_at_once_are_what_each_pair_gives_alone(network, states, goals):
    with torch.no_grad():
        together = network(states, goals)
        assert together.shape == (4, 3, ACTIONS, ATOMS)
        for b in range(4):
            for g in range(3):
                alone = network(states[b : b + 1], goals[g : g + 1])[0, 0]
                torch.testing.assert_close(together[b, g], alone, atol=2e-6, rtol=1e-5)


@ALL
def test_the_output_depends_on_state_and_goal(network, states, goals):
    with torch.no_grad():
        outputs = network(states, goals).flatten(2)
    for pairs in (outputs, outputs.transpose(0, 1)):
        assert (pairs[1:] - pairs[:-1]).abs().amax(-1).min() > 1e-6


@ALL
def test_gradients_reach_every_weight(network, states, goals):
    network.zero_grad()
    network(states, goals).square().sum().backward()
    for name, weight in network.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().sum() > 0, name
    network.zero_grad()


@ALL
def test_centring_subtracts_the_mean_of_examples(network, states, goals):
    del network
    name = "paper" if states.ndim == 2 or states.shape[1] == 84 else "egocentric"
    plain, centred = (made(name, tuple(states.shape[1:])) for _ in range(2))
    one = (torch.full_like(states[:1], 30), torch.full_like(goals[:1], 50))
    centred.centre(*one)
    assert (centred.state_mean == 30).all()
    assert (centred.goal_mean == 50).all()
    low_states, low_goals = states.float() * 0 + 40, goals.float() * 0 + 60
    with torch.no_grad():
        moved = plain(low_states - 30, low_goals - 50)
        torch.testing.assert_close(centred(low_states, low_goals), moved, atol=1e-5, rtol=1e-5)
    centred.centre(states, goals)
    np.testing.assert_allclose(centred.state_mean, states.double().mean(0), rtol=1e-6)
    np.testing.assert_allclose(centred.goal_mean, goals.double().mean(0), rtol=1e-6)


def slow_seen_from(network, place, maps):
    """Σ_x row(x)·column(x)·map(x + δ), by loops over places and displacements."""
    rows, columns = network.rows, network.columns
    n_batch, n_maps, _ = maps.shape
    result = np.zeros((n_batch, n_maps, 2 * columns - 1, 2 * rows - 1))
    grid = place.reshape(n_batch, rows, columns)
    board = maps.reshape(n_batch, n_maps, rows, columns)
    for b in range(n_batch):
        by_row, by_column = grid[b].sum(1), grid[b].sum(0)
        for m in range(n_maps):
            for r in range(rows):
                for c in range(columns):
                    for y in range(rows):
                        for x in range(columns):
                            result[b, m, x - c + columns - 1, y - r + rows - 1] += (
                                by_row[r] * by_column[c] * board[b, m, y, x]
                            )
    return result.reshape(n_batch, n_maps, -1)


@pytest.mark.parametrize("shape", [(36, 36, 3), (36, 52, 3)])
def test_maps_seen_from_the_agent_are_those_of_the_slow_loop(shape):
    network = EgocentricNetwork(shape, ACTIONS, ATOMS)
    n_cells = network.rows * network.columns
    rng = np.random.default_rng(0)
    place = rng.dirichlet(np.ones(n_cells), 2)
    maps = rng.normal(size=(2, 3, n_cells))
    seen = network._seen_from(
        torch.tensor(place, dtype=torch.float32), torch.tensor(maps, dtype=torch.float32)
    )
    np.testing.assert_allclose(seen, slow_seen_from(network, place, maps), atol=1e-5)


def test_an_agent_found_on_one_cell_sees_the_map_moved_by_its_place():
    network = EgocentricNetwork((36, 36, 3), ACTIONS, ATOMS)
    rows, columns = network.rows, network.columns
    board = torch.arange(1.0, rows * columns + 1)
    for cell in range(rows * columns):
        place = torch.eye(rows * columns)[cell][None]
        seen = network._seen_from(place, board[None, None])
        seen = seen.view(2 * columns - 1, 2 * rows - 1).T
        row, column = divmod(cell, columns)
        window = seen[rows - 1 - row :, columns - 1 - column :][:rows, :columns]
        assert torch.equal(window, board.view(rows, columns))
        assert seen.sum() == board.sum()  # nothing but 0 outside the board


def test_an_egocentric_network_takes_images_of_odd_and_unequal_sides():
    network = made("egocentric", (37, 61, 3))
    states = torch.randint(0, 256, (2, 37, 61, 3), dtype=torch.uint8)
    assert network(states, states).shape == (2, 2, ACTIONS, ATOMS)


@pytest.mark.parametrize("shape", [(84, 84, 3), (37, 61, 3), (36, 36, 1)], ids=str)
def test_halved_images_are_the_centred_sums_of_two_by_two_pixels(shape):
    network = made("egocentric", shape)
    rng = np.random.default_rng(3)
    states = rng.integers(0, 256, (5, *shape), np.uint8)
    network.centre(torch.from_numpy(states), torch.from_numpy(states))
    height, width = shape[0] // 2, shape[1] // 2
    slow = np.zeros((5, shape[2], height, width))
    centred = states - states.mean(axis=0)
    for row in range(height):
        for column in range(width):
            square = centred[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            slow[:, :, row, column] = square.sum(axis=(1, 2)) / 255
    np.testing.assert_allclose(network.halved(torch.from_numpy(states)), slow, atol=1e-5)


def test_the_agent_is_found_by_what_changes_when_it_acts():
    """A dot that steps over a board of squares in all colours, and nothing said of rewards."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    network = made("egocentric", (44, 44, 3))

    def drawn(boards, places):
        seen = np.repeat(np.repeat(boards, 8, 1), 8, 2)
        seen = np.pad(seen, ((0, 0), (2, 2), (2, 2), (0, 0)))
        for image, (row, column) in zip(seen, places, strict=True):
            image[8 * row + 5 : 8 * row + 8, 8 * column + 5 : 8 * column + 8] = (250, 90, 10)
        return torch.from_numpy(seen)

    def batch(n):
        boards = np.where(rng.random((n, 5, 5, 1)) < 0.3, rng.integers(0, 200, (n, 5, 5, 3)), 30)
        here = rng.integers(0, 5, (n, 2))
        move = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])[rng.integers(0, 4, n)]
        there = np.clip(here + move, 0, 4)
        boards = boards.astype(np.uint8)
        return drawn(boards, here), drawn(boards, there), here

    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    for _ in range(150):
        now, after, _ = batch(64)
        optimiser.zero_grad()
        ends = torch.zeros(64, dtype=torch.bool)
        network.model_loss(now, torch.zeros(64), after, ends).backward()
        optimiser.step()
    now, _, here = batch(200)
    found = network.like_agent(torch.relu(network.cells(network.halved(now)))).argmax(1)
    assert (found.numpy() == here @ (5, 1)).mean() >= 0.97


def test_steps_that_change_nothing_or_everything_tell_nothing_of_the_agent():
    network = made("egocentric", (60, 60, 3))
    network.centre(images(8, 60), images(3, 60))
    states, others = images(8, 60), images(8, 60, 5)
    actions, on = torch.zeros(8), torch.zeros(8, dtype=torch.bool)
    assert network.model_loss(states, actions, states, on) == 0.0
    assert network.model_loss(states, actions, others, on) == 0.0
    moved = states.clone()
    moved[:, 20:24, 20:24] = 255 - moved[:, 20:24, 20:24]
    assert network.model_loss(states, actions, moved, on) > 0.0
    assert network.model_loss(states, actions, moved, ~on) == 0.0  # the episode was over


def test_vectors_have_one_network_whatever_the_name():
    assert isinstance(made("paper", (7,)), VectorNetwork)
    assert isinstance(made("egocentric", (7,)), VectorNetwork)
    assert isinstance(made("paper", (84, 84, 3)), PaperNetwork)
    assert isinstance(made("egocentric", (84, 84, 3)), EgocentricNetwork)


def test_a_vector_network_is_two_hidden_layers_over_state_goal_and_their_product():
    network, states, goals = NETWORKS["vector"]
    weights = {name: w.detach().double().numpy() for name, w in network.named_parameters()}

    def linear(name, x):
        return weights[f"{name}.weight"] @ x + weights[f"{name}.bias"]

    with torch.no_grad():
        outputs = network(states, goals).numpy()
    for b in range(4):
        for g in range(3):
            state = linear("of_state", states[b].double().numpy())
            goal = linear("of_goal", goals[g].double().numpy())
            x = np.maximum(np.concatenate([state, goal, state * goal]), 0)
            x = np.maximum(linear("first", x), 0)
            x = linear("last", np.maximum(linear("second", x), 0))
            np.testing.assert_allclose(outputs[b, g].ravel(), x, atol=2e-6)


@pytest.mark.parametrize("name", ["paper", "egocentric", "planning"])
def test_the_smallest_image_works_and_a_smaller_one_is_refused(name):
    least = made(name, (LEAST_SIDE, LEAST_SIDE, 3))
    assert least(images(1, LEAST_SIDE), images(1, LEAST_SIDE)).shape == (1, 1, ACTIONS, ATOMS)
    for shape in [(35, 84, 3), (84, 35, 3), (84, 84), (2, 84, 84, 3), ()]:
        with pytest.raises(ValueError, match=r"observations have shape .*at least 36 × 36"):
            made(name, shape)


def test_networks_of_the_library_have_names_and_others_have_none():
    assert {name: name_of(network) for name, network in KNOWN.items()} == {
        name: name
        for name in ("egocentric", "image", "symbolic", "board", "vector", "planning", "paper")
    }
    assert name_of(VectorNetwork) is None


# Networks of one's own


class Product(nn.Module):
    """Linear in the product of state and goal."""

    def __init__(self, shape, n_actions, n_outputs):
        super().__init__()
        self.sizes = (n_actions, n_outputs)
        self.last = nn.Linear(int(np.prod(shape)), n_actions * n_outputs)

    def forward(self, states, goals):
        assert states.dtype == goals.dtype == torch.float32
        pairs = states.flatten(1)[:, None] * goals.flatten(1)[None]
        return self.last(pairs).view(len(states), len(goals), *self.sizes)


def test_a_module_of_ones_own_sees_what_is_centred_and_scaled():
    network = make_network(Product, (6, 6, 1), ACTIONS, ATOMS)
    assert isinstance(network, UserNetwork) and network.sizes == (ACTIONS, ATOMS)
    states, goals = images(4, 6, channels=1), images(3, 6, 1, channels=1)
    network.centre(states, goals)
    with torch.no_grad():
        found = network(states, goals)
        inputs = [(x.float() - x.double().mean(0).float()) / 255.0 for x in (states, goals)]
        torch.testing.assert_close(found, network.module(*inputs))
    network = make_network(Product, (7,), ACTIONS, ATOMS)
    states, goals = vectors(4, 7), vectors(3, 7, 1)
    with torch.no_grad():
        torch.testing.assert_close(network(states, goals), network.module(states, goals))


def test_a_module_that_is_a_uvfa_is_taken_as_it_is():
    network = make_network(VectorNetwork, (7,), ACTIONS, ATOMS)
    assert type(network) is VectorNetwork


def test_a_module_of_ones_own_starts_from_one_of_its_kind():
    one, two = (make_network(Product, (7,), ACTIONS, ATOMS) for _ in range(2))
    one.centre(vectors(5, 7), vectors(2, 7))
    two.take_from(one)
    with torch.no_grad():
        assert torch.equal(one(vectors(2, 7), vectors(2, 7)), two(vectors(2, 7), vectors(2, 7)))


def test_outputs_of_another_shape_are_refused():
    class Flat(Product):
        def forward(self, states, goals):
            return super().forward(states, goals).flatten(2)

    network = make_network(Flat, (7,), ACTIONS, ATOMS)
    with pytest.raises(ValueError, match=r"outputs of shape \(4, 3, 30\), expected \(4, 3, 5, 6\)"):
        network(vectors(4, 7), vectors(3, 7))


def test_what_makes_no_module_is_refused():
    with pytest.raises(TypeError, match=r"must return an nn.Module"):
        make_network(lambda *sizes: sizes, (7,), ACTIONS, ATOMS)


# Starting from another network


@pytest.mark.parametrize("name", ["egocentric", "paper"])
def test_a_network_with_fewer_actions_takes_the_first_ones_of_another(name):
    other, own = made(name, (36, 36, 3), 1), made(name, (36, 36, 3), 2, actions=3)
    other.centre(images(3, 36), images(3, 36, 1))
    own.take_from(other)
    states, goals = images(3, 36, 4), images(2, 36, 5)
    with torch.no_grad():
        torch.testing.assert_close(own(states, goals), other(states, goals)[:, :, :3])


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (made("egocentric", (36, 36, 3), outputs=9), "9 outputs per value; this one has 6"),
        (made("egocentric", (36, 36, 3), actions=2), "for 2 actions; this world has 3"),
        (
            made("egocentric", (60, 60, 3)),
            r"of shape \(60, 60, 3\); these have shape \(36, 36, 3\)",
        ),
        (made("paper", (36, 36, 3)), "another kind of network: PaperNetwork, not Egocentric"),
        (made("planning", (36, 36, 3)), "another kind of network: PlanningNetwork, not Egocen"),
    ],
    ids=["more atoms", "fewer actions", "larger images", "another kind", "planning"],
)
def test_a_network_that_does_not_fit_is_refused_as_a_start(other, words):
    own = made("egocentric", (36, 36, 3), 2, actions=3)
    with pytest.raises(ValueError, match=words):
        own.take_from(other)
