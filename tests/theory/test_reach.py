"""How goals are reached × what goals pay: numbers by hand, laws, shapes, and ways of one's own."""

import numpy as np
import pytest

import taskalgebra as ta
from laws import broken_laws
from taskalgebra.theory.policy import DirectedPolicy, GreedyPolicy
from taskalgebra.theory.reach import (
    DirectedReach,
    ExtremeBounds,
    MeanReach,
    Reach,
    ReachBounds,
    ReachQ,
    extremes,
)
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.theory.values import GoalSetQ, Sight
from taskalgebra.worlds.open_world import OpenWorld

SPACE = TaskSpace(
    OpenWorld(("a", "b", "c"), ("left", "right")),
    r_universal=[2.0, 1.5, 2.0],
    r_empty=[-0.125, -0.25, -0.125],
)


class Dyadic(Reach):
    """Sums of eighths, so that adding rewards and taking them off again is exact."""

    observation_ndim = 1

    def __init__(self, seed=0, shape=(3, 2)):
        self.shape = shape
        self.weights = np.random.default_rng(seed).integers(-8, 8, (4, *shape)) / 8
        self.seen = []

    def returns(self, observations):
        self.seen.append(len(observations))
        return np.tensordot(np.asarray(observations), self.weights, 1)


def observations(n=6, seed=0):
    return np.random.default_rng(seed).integers(-4, 4, (n, 4)).astype(np.float64)


def family(reach):
    bounds = ReachBounds(SPACE, reach)
    tasks = [SPACE.task(["a", "b"]), SPACE.task(["b", "c"]), SPACE.task("c")]
    return bounds, tasks, [ReachQ(reach, task.goal_reward, bounds) for task in tasks]


def same(x, y):
    batch = observations(20, seed=3)
    return np.array_equal(x.q_bar(batch), y.q_bar(batch))


def test_values_are_the_return_and_what_the_task_pays():
    reach, batch = Dyadic(), observations()
    bounds, tasks, leaves = family(reach)
    returns = reach.returns(batch)
    for task, values in zip(tasks, leaves, strict=True):
        for b, g, a in np.ndindex(6, 3, 2):
            assert values.q_bar(batch)[b, g, a] == returns[b, g, a] + task.goal_reward[g]
    found = bounds.at(batch)
    assert np.array_equal(found.universal, returns + SPACE.r_universal[:, None])
    assert np.array_equal(found.empty, returns + SPACE.r_empty[:, None])
    assert bounds.observation_ndim == 1


def test_all_boolean_laws_hold_exactly():
    bounds, _, leaves = family(Dyadic())
    for a in leaves:
        for b in leaves:
            assert not broken_laws(a, b, leaves[2], bounds.empty, bounds.universal, same=same)


def test_compositions_are_the_values_of_the_composed_tasks():
    reach = Dyadic()
    bounds, tasks, (a, b, c) = family(reach)
    for values, task in (
        (a & b, tasks[0] & tasks[1]),
        (a ^ c, tasks[0] ^ tasks[2]),
        (~(a | c), ~(tasks[0] | tasks[2])),
    ):
        assert same(values, ReachQ(reach, task.goal_reward, bounds))
        assert same(values, GoalSetQ.of(task, bounds))


def test_a_reach_looks_at_a_batch_once_whatever_the_expression():
    reach = Dyadic()
    _, _, (a, b, c) = family(reach)
    (((a & ~b) | (~a & b & ~c)) ^ (c | ~(a | b))).q_bar(observations(5))
    assert reach.seen == [5]


def test_several_estimates_are_one_reach_their_mean():
    parts = tuple(Dyadic(seed) for seed in (0, 1, 2, 3))
    mean, batch = MeanReach(parts), observations()
    expected = sum(part.returns(batch) for part in parts) / 4
    assert np.array_equal(mean.returns(batch), expected)
    assert mean.observation_ndim == 1
    values = ReachQ(mean, SPACE.task("b").goal_reward, ReachBounds(SPACE, mean))
    paid = np.array([-0.125, 1.5, -0.125])[:, None]
    assert np.array_equal(values.q_bar(batch), expected + paid)
    for part in parts:
        part.seen.clear()
    sight = Sight(batch)
    for reward in (SPACE.r_universal, SPACE.r_empty):
        mean.q_bar(sight, reward)
    parts[0].q_bar(sight, SPACE.r_universal)
    assert [part.seen for part in parts] == [[6]] * 4


def test_extreme_bounds_are_the_largest_and_the_smallest_of_the_base_tasks():
    reaches, batch = (Dyadic(0), Dyadic(1)), observations()
    rewards = np.array([[2.0, 1.5, -0.125], [-0.125, 1.5, 2.0]])
    bounds = ExtremeBounds(SPACE, reaches, rewards)
    values = [r.returns(batch) + paid[:, None] for r, paid in zip(reaches, rewards, strict=True)]
    found = bounds.at(batch)
    assert np.array_equal(found.universal, np.maximum(*values))
    assert np.array_equal(found.empty, np.minimum(*values))
    assert bounds.observation_ndim == 1
    one, two = (ReachQ(r, paid, bounds) for r, paid in zip(reaches, rewards, strict=True))
    assert same(~one, two)  # why two tasks that end apart cannot be negated
    for reach in reaches:
        reach.seen.clear()
    ((one ^ two) | ~one).q_bar(batch)
    assert [reach.seen for reach in reaches] == [[6], [6]]


def test_extremes_are_entry_by_entry():
    found = extremes([np.array([1.0, 5.0, -1.0]), np.array([2.0, 0.0, -1.0]), np.zeros(3)])
    assert found.universal.tolist() == [2.0, 5.0, 0.0]
    assert found.empty.tolist() == [0.0, 0.0, -1.0]


@pytest.mark.parametrize("shape", [(2, 2), (4, 2), (3,), (3, 2, 1)], ids=str)
@pytest.mark.parametrize("kind", ["values", "bounds", "mean"])
def test_returns_of_another_shape_are_refused(shape, kind):
    reach = Dyadic(shape=shape)
    if kind == "mean":
        reach = MeanReach((reach, reach))
    bounds, _, (values, *_) = family(reach)
    with pytest.raises(ValueError, match=r"Dyadic|MeanReach") as caught:
        (bounds.at if kind == "bounds" else values.q_bar)(observations())
    assert f"gave returns of shape {(6, *shape)}" in str(caught.value)
    assert "expected [B, G, A]" in str(caught.value)


def test_lists_and_whole_numbers_are_taken_for_returns():
    class Listed(Reach):
        def returns(self, observations):
            return [[[0, -1], [-2, -3], [-4, -5]] for _ in observations]

    _, _, (values, *_) = family(Listed())
    assert values.q_bar([7])[0].tolist() == [[2.0, 1.0], [-0.5, -1.5], [-4.125, -5.125]]


# Ways of one's own

ROOMS = ta.FourRooms()
PLANNED = ta.solve(ROOMS)


class Critic(Reach):
    """The planner's G*(s:g, a), as a user's agent might know it."""

    def returns(self, observations):
        table = PLANNED["true"].values.table - ROOMS.space.r_universal[:, None]
        return table[np.asarray(observations)]


class Guide(DirectedReach):
    """The same without values of actions: how far every goal is, and a step towards it."""

    def __init__(self):
        self.asked = []

    def values(self, observations):
        return Critic().returns(observations).max(axis=2)

    def act(self, observations, goal):
        self.asked.append((len(observations), goal))
        q_bar = PLANNED["true"].values.table[np.asarray(observations), goal]
        return (q_bar > q_bar.max(axis=1, keepdims=True) - 1e-12).argmax(axis=1)


EXPRESSIONS = [str(e) for e in ta.all_functions(["top", "left"])]
CELLS = np.arange(104)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_directed_agent_earns_what_the_greedy_agent_of_the_same_returns_earns(text):
    critic, guide = ta.from_reach(Critic(), ROOMS), ta.from_reach(Guide(), ROOMS)
    greedy, directed = critic[text], guide[text]
    assert isinstance(greedy.policy, GreedyPolicy)
    assert isinstance(directed.policy, DirectedPolicy)
    assert directed.task == greedy.task == PLANNED[text].task
    earned = [ta.policy_return(agent.task, agent.actions) for agent in (greedy, directed)]
    best = ta.optimal_v(greedy.task)
    for values in earned:
        np.testing.assert_allclose(values[CELLS], best[CELLS], atol=1e-12)
    np.testing.assert_allclose(directed.v[CELLS], greedy.v[CELLS], atol=1e-12)


def test_a_directed_policy_goes_to_the_best_goal_and_asks_once_per_goal():
    guide = Guide()
    agent = ta.from_reach(guide, ROOMS)["top ^ left"]
    q_bar = agent.q_bar(CELLS)
    assert q_bar.shape == (104, 4, 1)
    best = q_bar[..., 0].argmax(axis=1)
    actions = agent.policy.actions(CELLS)
    assert sorted(goal for _, goal in guide.asked) == sorted(set(best.tolist())) == [1, 2]
    assert sum(n for n, _ in guide.asked) == 104
    for state, goal, action in zip(CELLS, best, actions, strict=True):
        assert action == Guide().act([state], int(goal))[0]
        assert agent.act(int(state)) == action and type(agent.act(int(state))) is int


def test_a_way_of_continuous_actions_is_passed_on_as_it_is():
    class Pilot(DirectedReach):
        """On a plane: straight towards the goal."""

        observation_ndim = 1
        places = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])

        def values(self, observations):
            offsets = np.asarray(observations)[:, None] - self.places
            return -np.linalg.norm(offsets, axis=2)

        def act(self, observations, goal):
            return self.places[goal] - np.asarray(observations)

    reach = Pilot()
    bounds, _, (near, *_) = family(reach)
    policy = DirectedPolicy(near & ~near | near, reach)
    batch = np.array([[1.0, 0.0], [3.5, 0.0], [0.0, 3.0]])
    assert policy.act(batch).tolist() == [[-1.0, 0.0], [0.5, 0.0], [0.0, -3.0]]
    assert policy.act(batch[0]).tolist() == [-1.0, 0.0]
    assert bounds.universal.q_bar(batch).shape == (3, 3, 1)


def test_a_way_with_too_few_actions_is_refused():
    class Lazy(Guide):
        def act(self, observations, goal):
            return [0]

    agent = ta.from_reach(Lazy(), ROOMS)["top"]
    with pytest.raises(ValueError, match=r"Lazy.act gave array\(\[0\]\) for \d+ observations"):
        agent.act(CELLS)


def test_agents_of_a_reach_are_evaluated_saved_and_loaded(tmp_path):
    skills = ta.from_reach(Guide(), ROOMS, ["left", "top"])
    assert list(skills) == ["left", "top"]
    assert skills["top ^ left"].evaluate(200, seed=1).score == pytest.approx(1.0)
    skills.save(tmp_path / "skills")
    with pytest.raises(
        ta.StoreError,
        match=r"of your own, 'Guide'; pass it, load\(path, reach=Guide\(\)\); got None",
    ):
        ta.load(tmp_path / "skills")
    with pytest.raises(ta.StoreError, match="pass it"):
        ta.load(tmp_path / "skills", reach="Guide")
    loaded = ta.load(tmp_path / "skills", reach=Guide())
    for text in EXPRESSIONS:
        assert np.array_equal(loaded[text].actions, skills[text].actions)
    PLANNED.save(tmp_path / "tables")
    with pytest.raises(ta.StoreError, match="without a reach; leave out reach="):
        ta.load(tmp_path / "tables", reach=Guide())


def test_what_is_no_reach_is_refused():
    with pytest.raises(TypeError, match="must be a Reach or a DirectedReach, got <function"):
        ta.from_reach(lambda observations: observations, ROOMS)
    with pytest.raises(TypeError, match="abstract"):
        Reach()


WRONG = {
    "NaN": (lambda good: good * np.nan, "NaN or infinite"),
    "infinity": (lambda good: good + np.inf, "NaN or infinite"),
    "one row for all": (lambda good: good[:1], "one row per observation"),
    "words": (lambda good: good.astype(str).astype(object) + "x", "are not numbers"),
    "too few actions": (lambda good: good[:, :, :2], "has values of 2 actions, the world has 5"),
}


@pytest.mark.parametrize(("spoil", "words"), WRONG.values(), ids=WRONG)
def test_returns_that_make_no_sense_are_refused(spoil, words):
    class Wrong(Reach):
        def returns(self, observations):
            good = np.zeros((len(observations), 4, 5))
            return spoil(good)

    skills = ta.from_reach(Wrong(), ta.FourRooms())
    with pytest.raises(ValueError, match=f"Wrong .*{words}"):
        skills["top"].act(np.arange(6))


def test_actions_of_two_goals_keep_their_kind_and_an_empty_batch_has_none():
    class Both(DirectedReach):
        def values(self, observations):
            return np.where(np.asarray(observations)[:, None] % 2 == np.arange(4) % 2, 0.0, -9.0)

        def act(self, observations, goal):
            return np.full(len(observations), 1.7 if goal % 2 else 1)

    agent = ta.from_reach(Both(), ta.FourRooms())["true"]
    assert agent.act(np.arange(4)).tolist() == [1.0, 1.7, 1.0, 1.7]
    assert agent.act(np.arange(0)).tolist() == []
