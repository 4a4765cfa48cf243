"""The network for boards of symbols: what it sees, how it searches, and that it learns."""

from collections import deque

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv

import taskalgebra as ta
from taskalgebra.learning.deep import networks
from taskalgebra.learning.deep.board_network import BoardNetwork
from taskalgebra.learning.deep.planning_network import ENDED, ENTERED, STAYED
from taskalgebra.learning.deep.settings import FAST

SIDES = ((-1, 0), (0, 1), (1, 0), (0, -1))
HEIGHT, WIDTH = 4, 5
FREE, WALL, AGENT, RED, BLUE = range(5)
MOVES = {"left": (0, -1), "down": (1, 0), "wait": (0, 0), "up": (-1, 0), "right": (0, 1)}


def ahead(cell, move, torus=False, size=(HEIGHT, WIDTH)):
    """Where a move leads, None for outside."""
    there = [a + b for a, b in zip(cell, move, strict=True)]
    if torus:
        return tuple(a % n for a, n in zip(there, size, strict=True))
    return tuple(there) if all(0 <= a < n for a, n in zip(there, size, strict=True)) else None


def steps_to_all(start, outcome, torus, size):
    """{cell: steps} from a cell, over cells that can be entered, by sets of cells."""
    steps, queue = {start: 0}, deque([start])
    while queue:
        cell = queue.popleft()
        if outcome[cell] != ENTERED and steps[cell]:
            continue
        for move in SIDES:
            there = ahead(cell, move, torus, size)
            if there is not None and outcome[there] != STAYED and there not in steps:
                steps[there] = steps[cell] + 1
                queue.append(there)
    return steps


class Rooms(gym.Env):
    """A board with walls anywhere: two things are red, one is blue, and touching one is the end."""

    observation_space = gym.spaces.Box(0, 4, (HEIGHT, WIDTH, 1), np.uint8)
    action_space = gym.spaces.Discrete(len(MOVES))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        cells = self.np_random.permutation(HEIGHT * WIDTH)[:7]
        self.grid = np.zeros((HEIGHT, WIDTH), np.uint8)
        self.grid.flat[cells[:3]] = WALL
        self.grid.flat[cells[3:6]] = RED, RED, BLUE
        self.place = divmod(int(cells[6]), WIDTH)
        return self.seen(), {}

    def seen(self):
        seen = self.grid.copy()
        seen[self.place] = AGENT
        return seen[..., None]

    def step(self, action):
        there = ahead(self.place, list(MOVES.values())[action])
        if there is None or self.grid[there] == WALL:
            return self.seen(), -0.1, False, False, {}
        self.place = there
        if self.grid[there] == FREE:
            return self.seen(), -0.1, False, False, {}
        shown = self.grid.copy()
        shown[there] = AGENT
        return shown[..., None], -0.1, True, False, {"goal": goals_of(self.grid).index(there)}


def goals_of(grid):
    """The cells of the goals: the red ones in reading order, then the blue one."""
    return [tuple(cell.tolist()) for thing in (RED, BLUE) for cell in np.argwhere(grid == thing)]


def rooms(**options):
    world = ta.OpenEnv(
        lambda n: SyncVectorEnv([Rooms] * n),
        goals=["first red", "second red", "blue"],
        tasks={"red": ["first red", "second red"], "blue": ["blue"]},
        actions=list(MOVES),
        max_episode_steps=15,
        **options,
    )
    world.goal_features = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]], np.float32)
    return world


def searched(grid, place):
    """[G, A], the returns by a search; −∞ for no way."""
    outcome = np.select([grid == FREE, grid == WALL], [ENTERED, STAYED], ENDED)
    found = np.full((3, len(MOVES)), -np.inf)
    stay = steps_to_all(place, outcome, False, grid.shape)
    for a, move in enumerate(MOVES.values()):
        there = ahead(place, move)
        if move == (0, 0) or there is None or outcome[there] == STAYED:
            there, steps = place, stay
        elif outcome[there] == ENDED:
            steps = {there: 0}
        else:
            steps = steps_to_all(there, outcome, False, grid.shape)
        for g, cell in enumerate(goals_of(grid)):
            if cell in steps:
                found[g, a] = -0.1 * steps[cell]
    return found


LEARNER = ta.DeepQ(
    networks.board,
    settings=FAST,
    n_updates=600,
    updates_per_iteration=300,
    n_envs=16,
    steps_per_update=8.0,
    learning_starts=2_000,
    v_min=-1.2,
    v_max=0.0,
    spacing=0.1,
    pessimism=6.0,
    learning_rate=4e-3,
    tau=0.05,
    telling_share=0.5,
    scoring_share=0.0,
    threads=1,
)


@pytest.fixture(scope="module")
def skills():
    return ta.learn(rooms(), learner=LEARNER, seed=0)


def examples(n, seed):
    """Observations of new boards, and the returns by a search."""
    seen, expected = [], []
    room = Rooms()
    for i in range(n):
        seen.append(room.reset(seed=seed + i)[0])
        expected.append(searched(room.grid, room.place))
    return np.stack(seen), np.stack(expected)


def test_returns_on_new_boards_are_those_of_a_search(skills):
    seen, expected = examples(200, seed=10**6)
    found = skills.family.to_goals().returns(seen)
    near = expected > -0.85  # longer ways are rare
    assert near.mean() > 0.5 and np.abs(found[near] - expected[near]).max() < 0.05
    never = np.isinf(expected)
    assert never.sum() > 300 and np.isinf(found[never]).all()
    best = np.take_along_axis(expected, found.argmax(2)[..., None], 2)[..., 0]
    near = expected.max(axis=2) > -0.85
    assert np.array_equal(best[near], expected.max(axis=2)[near])


def test_what_is_never_is_so_for_boolean_tasks_too(skills):
    """Their values stay finite, as those of any network: v_min stands for never."""
    seen, expected = examples(50, seed=10**6)
    raw = skills.family.reaches[0].returns(seen)
    assert np.isfinite(raw).all()
    assert np.abs(raw[np.isinf(expected)] + 1.2).max() < 0.05


def test_it_is_saved_and_loaded(skills, tmp_path):
    skills.save(tmp_path / "rooms")
    again = ta.load(tmp_path / "rooms", rooms())
    seen, _ = examples(20, seed=5)
    found, expected = (each.family.reaches[0].returns(seen) for each in (again, skills))
    assert np.abs(found - expected).max() < 0.02  # weights are halved in precision


@pytest.mark.parametrize("torus", [True, False])
def test_distances_are_those_of_a_search(torus):
    rng = np.random.default_rng(0)
    network = BoardNetwork((4, 6, 1), 5, 3)
    network.joined.fill_(float(torus))
    with torch.no_grad():
        network.moves.copy_(torch.eye(5)[[2, 0, 4, 1, 3]])  # down, up, none, right, left
    directions = [SIDES[2], SIDES[0], None, SIDES[1], SIDES[3]]
    outcome = rng.choice([ENTERED, STAYED, ENDED], (60, 4, 6), p=[0.6, 0.2, 0.2])
    place = rng.integers(0, 24, 60)
    found = network.distances(torch.from_numpy(place), torch.from_numpy(outcome).flatten(1)).numpy()
    for i in range(60):
        here = divmod(int(place[i]), 6)
        first = {}
        for a, move in enumerate(directions):
            there = None if move is None else ahead(here, move, torus, (4, 6))
            if there is None or outcome[i][there] == STAYED:
                continue
            if outcome[i][there] == ENDED:
                first[a] = {there: 1}
            else:
                steps = steps_to_all(there, outcome[i], torus, (4, 6))
                first[a] = {cell: n + 1 for cell, n in steps.items()}
        for a in range(5):
            for cell in np.ndindex(4, 6):
                if a in first:
                    expected = first[a].get(cell, network.far)
                else:
                    ways = [steps.get(cell, network.far) for steps in first.values()]
                    expected = min([network.far, *(1 + n for n in ways)])
                assert found[i, a].reshape(4, 6)[cell] == expected, (i, a, cell)


def steps_of(env, n):
    """Before and after random steps, and whether these ended the episode."""
    rng, before, after, over = np.random.default_rng(0), [], [], []
    observations, _ = env.reset(seed=0)
    ended = np.zeros(env.num_envs, bool)
    while len(before) < n:
        actions = rng.integers(0, env.single_action_space.n, env.num_envs)
        following, _, terminated, truncated, _ = env.step(actions)
        for i in np.flatnonzero(~ended):
            before.append(observations[i])
            after.append(following[i])
            over.append(terminated[i])
        observations, ended = following, terminated | truncated
    return [torch.from_numpy(np.stack(each)) for each in (before, after, over)]


def test_it_finds_the_agent_and_sides_that_are_joined():
    letters = BoardNetwork((7, 7, 13), 4, 3, (14,))
    letters.watch(*steps_of(ta.RandomLetterWorld().vector(16), 400))
    assert letters.agent.nonzero().tolist() == [[12, 1]] and letters.joined.tolist() == [1, 1]
    walls = BoardNetwork((HEIGHT, WIDTH, 1), 5, 3, (3,))
    seen = steps_of(SyncVectorEnv([Rooms] * 8), 400)
    walls.watch(*seen)
    assert walls.agent.nonzero().tolist() == [[0, AGENT]] and walls.joined.tolist() == [0, 0]
    walls.check_steps(*seen)


def test_worlds_in_which_nothing_walks_are_refused():
    network = BoardNetwork((4, 5, 1), 4, 3)
    never = torch.zeros(40, dtype=torch.bool)
    still = torch.randint(0, 4, (40, 4, 5, 1))
    network.watch(still, still, never)
    with pytest.raises(ValueError, match="sees no agent in the first steps"):
        network.check_steps(still, still, never)
    jumps = torch.zeros(2, 40, 20, dtype=torch.long)
    jumps.scatter_(2, torch.randint(0, 20, (2, 40, 1)), 7)
    before, after = jumps.view(2, 40, 4, 5, 1)
    network.watch(before, after, never)
    with pytest.raises(ValueError, match="an agent that jumps"):
        network.check_steps(before, after, never)
