"""The network that plans: its search, its model of a step, and what learns from what."""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

import taskalgebra as ta
from deep_worlds import digest, short, short_trainer, small_boxman
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.games import all_cells
from taskalgebra.envs.boxman.recipes import SHIPPED
from taskalgebra.learning.checkpoint import CheckpointError
from taskalgebra.learning.deep import checkpoint, networks
from taskalgebra.learning.deep import training as deep
from taskalgebra.learning.deep.checkpoint import Progress
from taskalgebra.learning.deep.family import weights_of
from taskalgebra.learning.deep.networks import KNOWN, make_network
from taskalgebra.learning.deep.planning_network import ENDED, ENTERED, STAYED, PlanningNetwork
from taskalgebra.paper.experiments.boxman.exact import returns_by_touch
from taskalgebra.paper.experiments.boxman.tables import returns_on_cells, starts

torch.set_num_threads(1)

SIDE, N_ACTIONS, N_ATOMS = 60, 4, 6
OFFSETS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def made(name, shape=(SIDE, SIDE, 3), seed=0, actions=N_ACTIONS):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make_network(KNOWN[name], shape, actions, N_ATOMS)


def images(n, seed=0, side=SIDE):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.integers(0, 256, (n, side, side, 3), np.uint8))


@pytest.fixture(scope="module")
def sight():
    """A network that finds agent and goals, wherever they are."""
    return ta.load("boxman-random").family.first


# The search


def searched(outcome, goal, far):
    """Steps from every cell to a goal, by breadth-first search from each."""
    rows, columns = outcome.shape
    result = np.full((rows, columns), float(far))
    for start in np.ndindex(rows, columns):
        queue, seen = deque([(start, 0)]), {start}
        while queue:
            (r, c), steps = queue.popleft()
            if (r, c) == goal:
                result[start] = min(steps, far)
                break
            for i, j in OFFSETS:
                cell = (r + i, c + j)
                inside = 0 <= cell[0] < rows and 0 <= cell[1] < columns
                if inside and cell not in seen and (cell == goal or outcome[cell] == ENTERED):
                    seen.add(cell)
                    queue.append((cell, steps + 1))
    return result


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.7))
def test_distances_are_those_of_a_search(seed, density):
    network = made("planning")
    rng = np.random.default_rng(seed)
    shape = (2, network.rows, network.columns)
    outcome = np.where(rng.random(shape) < density, rng.integers(1, 3, shape), ENTERED)
    goals = rng.integers(0, network.rows * network.columns, (2, 3))
    found = network.distances(torch.from_numpy(outcome), torch.from_numpy(goals)).numpy()
    for b, g in np.ndindex(2, 3):
        goal = tuple(int(i) for i in np.unravel_index(goals[b, g], shape[1:]))
        assert np.array_equal(found[b, g], searched(outcome[b], goal, network.far))


def test_a_way_that_is_too_long_is_no_way():
    network = made("planning", (164, 164, 3))
    assert (network.rows, network.columns) == (20, 20)
    outcome = torch.zeros(1, 20, 20, dtype=torch.int64)
    found = network.distances(outcome, torch.tensor([[0]]))[0, 0]
    rows, columns = torch.meshgrid(torch.arange(20), torch.arange(20), indexing="ij")
    assert torch.equal(found, (rows + columns).clamp(max=network.far).float())


@pytest.mark.parametrize("over", [30.0, -30.0], ids=["over", "going on"])
def test_all_pairs_at_once_are_what_each_pair_gives_alone(over):
    network = made("planning")
    states, goals = images(6), images(3, 1)
    states[0] = goals[1]
    with torch.no_grad():
        network.over.bias.fill_(over)
        cells = network.cells(network.halved(states))
        assert len(set(network._agent(cells).tolist())) > 2
        assert len(set(network._goals(cells, goals).flatten().tolist())) > 2
        read = network._read(states, goals, ())
        assert bool(read[..., :-2].any()) == (over < 0.0)
        together = network(states, goals)
        assert together.shape == (6, 3, N_ACTIONS, N_ATOMS)
        for b, g in np.ndindex(6, 3):
            one = (states[b : b + 1], goals[g : g + 1])
            assert torch.equal(read[b, g], network._read(*one, ())[0, 0])
            torch.testing.assert_close(together[b, g], network(*one)[0, 0], atol=2e-6, rtol=1e-5)


def test_a_state_that_is_over_shows_a_goal_or_another():
    network, world = made("planning", (84, 84, 3)), Boxman(layout="random", collect="touch")
    codes = starts(world, 6, seed=0)
    codes[:, 1] = np.arange(1, 7)
    pictures = torch.from_numpy(world.games(1).frames(codes))
    with torch.no_grad():
        network.over.bias.fill_(30.0)
        shown, other = network._read(pictures, pictures, ())[..., -2:].unbind(2)
    assert torch.equal(shown, torch.eye(6))
    assert torch.equal(other, 1.0 - torch.eye(6))


def test_the_agents_own_cell_is_no_obstacle():
    """Ways of the cells beside it lead through it, whatever the agent's cell looks like."""
    network = made("planning")
    with torch.no_grad():  # all cells look like walls, and the goal is beside the agent
        for layer in (network.maps, network.on_ground):
            layer.weight.zero_()
            layer.bias.copy_(torch.tensor([0.0, 1.0, 0.0]))
    agent, goal, columns = torch.tensor([8]), torch.tensor([[9]]), network.columns
    network._agent = lambda cells: agent
    network._goals = lambda cells, goals: goal
    read = network._read(images(1), images(1, 1), ())[0, 0]
    ways = read[: 5 * (network.far + 1)].view(5, -1).argmax(1)
    assert columns == 7  # so that 8 is the second cell of the second row
    assert ways.tolist() == [1, 2, 0, 2, 2]


# The model of a step


def going_on(n):
    return torch.zeros(n, dtype=torch.bool)


def literal_loss(network, states, actions, next_states, over):
    """−log P of what came of each step, one step at a time, as the docstring has it."""
    rows, columns = network.rows, network.columns
    total, told = 0.0, 0
    for b in range(len(states)):
        halved, after = network.halved(states[b : b + 1]), network.halved(next_states[b : b + 1])
        cells = network.cells(halved)
        here = divmod(int(network.like_agent(torch.relu(cells)).argmax()), columns)
        there = divmod(int(network.like_agent(torch.relu(network.cells(after))).argmax()), columns)

        def finished(image):
            small = functional.adaptive_avg_pool2d(image, 7).flatten()
            return float(network.over.weight[0] @ small + network.over.bias[0])

        logits = network.maps(torch.relu(cells)) + network.on_ground(
            torch.relu(network.ground(halved))
        )
        f = 1.0 / (1.0 + np.exp(-finished(halved)))
        weights = np.exp(10.0 * network.moves[actions[b]].detach().double().numpy())
        weights /= weights.sum()
        chance = {"stayed": (1.0 - f) * weights[4], "ended": f, "entered": 0.0}
        moved = False
        for k, (i, j) in enumerate(OFFSETS):
            cell = (here[0] + i, here[1] + j)
            x = [0.0, 0.0, 0.0]
            if 0 <= cell[0] < rows and 0 <= cell[1] < columns:
                x = logits[0, :, cell[0], cell[1]].detach().double().numpy()
            x = np.exp(x) / np.exp(x).sum()
            chance["stayed"] += (1.0 - f) * weights[k] * x[STAYED]
            chance["ended"] += (1.0 - f) * weights[k] * x[ENDED]
            if cell == there:
                moved = True
                chance["entered"] = (1.0 - f) * weights[k] * x[ENTERED]
        if over[b] or finished(after) > 0:
            kind = "ended"
        elif here == there:
            kind = "stayed"
        elif moved:
            kind = "entered"
        else:
            continue
        told += 1
        total -= np.log(chance[kind])
    return total / max(told, 1)


@pytest.mark.parametrize("seed", range(4))
def test_the_model_loss_is_the_likelihood_of_what_was_seen(seed, sight):
    """On steps of the game, some of which are told to have ended."""
    network = made("planning", (84, 84, 3), seed=seed)
    network.take_from(sight)
    with torch.no_grad():
        network.moves.copy_(0.1 * torch.randn(N_ACTIONS, 5, generator=torch.manual_seed(seed)))
    world = Boxman(layout="random", collect="touch")
    env = world.vector(40, task=world.tasks["square"])
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        before, actions = env.frames_of(env.codes), rng.integers(0, 4, 40)
        codes = env.codes.copy()
        env.step(actions)
    went = (env.codes[:, 0] != codes[:, 0]).sum()
    assert 10 < went < 36  # some enter a cell, some stay
    states, next_states = torch.from_numpy(before), torch.from_numpy(env.frames_of(env.codes))
    over = torch.from_numpy(rng.random(40) < 0.2)
    with torch.no_grad():
        found = network.model_loss(states, torch.from_numpy(actions), next_states, over)
        assert float(found) == pytest.approx(
            literal_loss(network, states, actions, next_states, over), rel=1e-4
        )


def test_steps_that_tell_nothing_cost_nothing():
    network = made("planning")
    with torch.no_grad():
        network.over.bias.fill_(-1e4)
    states, next_states = images(64), images(64, 7)
    with torch.no_grad():
        places = [network._agent(network.cells(network.halved(x))) for x in (states, next_states)]
    here, there = places
    rows = (here // network.columns - there // network.columns).abs()
    columns = (here % network.columns - there % network.columns).abs()
    jumped = rows + columns > 1
    assert jumped.sum() > 10
    n = int(jumped.sum())
    loss = network.model_loss(
        states[jumped], torch.zeros(n, dtype=torch.int64), next_states[jumped], going_on(n)
    )
    assert loss.item() == 0.0


def test_values_and_the_model_learn_apart_and_sight_not_at_all():
    network, other = made("planning"), made("egocentric", seed=1, actions=5)
    network.take_from(other)
    states, next_states, goals = images(8), images(8, 1), images(2, 2)
    next_states[:4] = states[:4]

    def learns(loss):
        network.zero_grad()
        loss.backward()
        return {name.split(".")[0] for name, p in network.named_parameters() if p.grad is not None}

    actions = torch.arange(8) % N_ACTIONS
    assert learns(network(states, goals).square().mean()) == {"hidden", "last"}
    found = learns(network.model_loss(states, actions, next_states, going_on(8)))
    assert found == {"maps", "ground", "on_ground", "over", "moves"}


# Starting


def test_a_planning_network_takes_the_sight_of_another():
    network, other = made("planning"), made("egocentric", seed=1, actions=5)
    other.centre(images(3), images(3, 1))
    network.take_from(other)
    states, goals = images(3, 4), images(2, 5)
    with torch.no_grad():
        cells, theirs = (n.cells(n.halved(states)) for n in (network, other))
        assert torch.equal(cells, theirs)
        active = torch.relu(cells)
        assert torch.equal(network.like_agent(active), other.like_agent(active))
        assert torch.equal(network.like_goals(cells, goals), other.like_goals(cells, goals))


@pytest.mark.parametrize(
    "other", [made("paper"), made("egocentric", (36, 36, 3))], ids=["kind", "size"]
)
def test_a_network_without_that_sight_is_refused(other):
    with pytest.raises(ValueError, match=r"needs the sight .* of shape \(60, 60, 3\); given"):
        made("planning").take_from(other)


def test_without_a_start_it_is_not_trained():
    world = small_boxman(layout="random", collect="touch")
    with pytest.raises(ValueError, match="does not learn to see; start it from a network"):
        deep.train(world, {"blue": world.tasks["blue"]}, networks.planning, short())


def test_a_sight_that_does_not_find_the_agent_is_refused():
    world, sight = Boxman(layout="random", collect="touch"), ta.load("boxman").family.first
    tasks = {"blue": world.tasks["blue"]}
    with pytest.raises(ValueError, match=r"does not find the agent: in \d+% of the steps"):
        deep.train(world, tasks, networks.planning, short(), start=sight)


def test_vectors_cannot_be_planned_over():
    with pytest.raises(ValueError, match="'planning' is for images; observations here are vectors"):
        made("planning", (7,))


@pytest.fixture(scope="module")
def trainer(sight):
    world = Boxman(layout="random", collect="touch")

    def make(start=sight):
        env = world.vector(8, task=world.tasks["blue"], max_episode_steps=50)
        result = short_trainer(env, short(n_updates=32), 3, networks.planning)
        if start is not None:
            result.start_from(start)
        return result

    return make


@pytest.fixture(scope="module")
def whole(trainer):
    result = trainer()
    list(result.iterations())
    return digest(weights_of(result.network))


@pytest.mark.parametrize("stop_after", [1, 3])
@pytest.mark.parametrize("told", [True, False], ids=["start again given", "start not given"])
def test_a_saved_training_resumes_bit_for_bit(tmp_path, trainer, whole, stop_after, told):
    half, resumed = trainer(), trainer() if told else trainer(None)
    for _ in half.iterations():
        if half.n_iterations == stop_after:
            break
    checkpoint.save(tmp_path / "t.safetensors", half, Progress())
    checkpoint.resume(tmp_path / "t.safetensors", resumed)
    list(resumed.iterations())
    assert digest(weights_of(half.network)) != whole
    assert digest(weights_of(resumed.network)) == whole


def test_a_training_resumes_from_its_own_start_only(tmp_path, trainer):
    half = trainer()
    next(half.iterations())
    checkpoint.save(tmp_path / "t.safetensors", half, Progress())
    other = trainer(made("egocentric", (84, 84, 3), actions=5))
    with pytest.raises(CheckpointError, match="was started from another network; pass that one"):
        checkpoint.resume(tmp_path / "t.safetensors", other)


# Learning


@pytest.fixture(scope="module")
def trained(sight):
    """The task square by touch, in the game of the paper."""
    world = Boxman(layout="random", collect="touch")
    changes = {"n_updates": 700, "updates_per_iteration": 700, "learning_rate": 4e-3, "tau": 0.1}
    settings = replace(SHIPPED.settings, threads=1, **changes)
    tasks = {"square": world.tasks["square"]}
    family, _ = deep.train(
        world, tasks, networks.planning, settings, start=sight, score=lambda _: 0.0
    )
    return world, family.reaches[0]


def test_what_comes_of_a_step_is_learned_from_steps(trained):
    world, returns = trained
    network = returns.network
    assert isinstance(network, PlanningNetwork)
    codes = all_cells(starts(world, 20, seed=5), world.board.n_cells)
    with torch.no_grad():
        halved = network.halved(torch.from_numpy(world.games(1).frames(codes)))
        logits = network.maps(torch.relu(network.cells(halved)))
        logits += network.on_ground(torch.relu(network.ground(halved)))
        assert not (network._over(halved) > 0.0).any()  # no board is taken for the end
    outcome = logits.argmax(1).numpy()
    board = np.full(outcome.shape, STAYED)
    cells = np.asarray(world.board.cells)
    board[:, cells[:, 0], cells[:, 1]] = ENTERED
    rows = np.arange(len(codes))
    for g in np.flatnonzero(world.tasks["square"].desired):
        place = cells[codes[:, 2 + g].astype(int)]
        board[rows, place[:, 0], place[:, 1]] = ENDED
    agent = cells[codes[:, 0].astype(int)]
    board[rows, agent[:, 0], agent[:, 1]] = outcome[rows, agent[:, 0], agent[:, 1]]
    corners = np.ix_(rows, [0, -1], [0, -1])  # never beside the agent
    board[corners] = outcome[corners]
    assert (outcome == board).mean() >= 0.998
    assert torch.softmax(10.0 * network.moves, 1).argmax(1).tolist() == [0, 1, 2, 3]


def test_values_are_near_the_exact_ones_also_behind_obstacles(trained):
    world, returns = trained
    codes = starts(world, 20, seed=6)
    wanted = world.desired_goals(world.tasks["square"])
    exact = returns_by_touch(world, codes, wanted, returns.head.v_min)
    found = returns_on_cells(world, returns, codes)
    on_object = (np.arange(world.board.n_cells)[:, None] == codes[:, None, 2:][..., wanted]).any(2)
    off = np.abs(found - exact)[:, :, wanted][~on_object]
    assert (off > 0.1).mean() <= 0.05
