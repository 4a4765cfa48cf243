"""Networks as value functions: numbers against direct computation, one look at every batch."""

import numpy as np
import pytest
import torch

from deep_worlds import short
from laws import broken_laws
from taskalgebra.learning.deep import ways as network_reach
from taskalgebra.learning.deep.networks import make_network, paper
from taskalgebra.learning.deep.uvfa import Scalar, head_of
from taskalgebra.learning.deep.ways import NetworkReach
from taskalgebra.logic.algebra import Bounds
from taskalgebra.theory.policy import GreedyPolicy
from taskalgebra.theory.reach import ExtremeBounds, MeanReach, Reach, ReachBounds, ReachQ
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.theory.values import ExtendedQ, GoalSetQ, ValueBounds
from taskalgebra.worlds.open_world import OpenWorld

WORLD = OpenWorld(("a", "b", "c"), ("left", "right"))
SPACE = TaskSpace(WORLD, r_universal=[2.0, 1.5, 2.0], r_empty=[-0.125, -0.25, -0.125])
HEAD = head_of(short())
GOALS = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)


def observations(n=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4)).astype(np.float32)


class Counted(Reach):
    """A reach that counts how often it looks, and how many observations it saw."""

    def __init__(self, *arguments):
        self.inner = NetworkReach(*arguments)
        self.observation_ndim = self.inner.observation_ndim
        self.seen = []

    def returns(self, batch):
        self.seen.append(len(batch))
        return self.inner.returns(batch)


def network(seed=0, head=HEAD):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make_network(paper, (4,), 2, head.n_outputs)


def returns(seed=0, numbers=(0, 1, 2), included=0.0, head=HEAD, kind=NetworkReach):
    numbers = np.array(numbers)
    extra = np.broadcast_to(np.float64(included), numbers.shape)
    return kind(network(seed, head), head, GOALS[numbers], numbers, 3, extra)


def direct(seed, batch, head=HEAD):
    """G(s:g, a), pair by pair."""
    net = network(seed, head)
    result = np.empty((len(batch), 3, 2))
    with torch.no_grad():
        for b in range(len(batch)):
            for g in range(3):
                pair = (torch.tensor(batch[b : b + 1]), torch.tensor(GOALS[g : g + 1]))
                outputs = net(*pair)
                chances = torch.softmax(outputs.double(), -1).numpy()
                atoms = np.linspace(-2.3, 0.0, 24)
                values = chances @ atoms if head is HEAD else outputs[..., 0].double().numpy()
                result[b, g] = values[0, 0]
    return result


@pytest.mark.parametrize("head", [HEAD, Scalar(-2.3)], ids=["categorical", "scalar"])
def test_returns_are_what_the_network_says_of_every_pair(head):
    batch = observations()
    found = returns(head=head).returns(batch)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, direct(0, batch, head), atol=1e-5)


def test_goals_come_back_in_their_own_order_and_unmet_ones_are_worth_the_lowest_return():
    batch, plain = observations(), returns().returns(observations())
    swapped = returns(numbers=(2, 0)).returns(batch)
    np.testing.assert_allclose(swapped[:, [0, 2]], plain[:, [0, 2]], atol=1e-6)
    assert (swapped[:, 1] == HEAD.v_min).all()


def test_what_the_network_itself_counts_is_taken_off():
    batch = observations()
    paid = np.array([2.0, -0.25])
    found = returns(numbers=(0, 1), included=paid).returns(batch)
    plain = returns(numbers=(0, 1)).returns(batch)
    np.testing.assert_allclose(found[:, :2], plain[:, :2] - paid[:, None])
    assert (found[:, 2] == HEAD.v_min).all()


def test_large_batches_are_looked_at_in_parts_with_the_same_result(monkeypatch):
    batch = observations(50)
    whole = returns().returns(batch)
    monkeypatch.setattr(network_reach, "PAIRS", 7 * 3 + 1)
    np.testing.assert_allclose(returns().returns(batch), whole, atol=1e-6)


def family(kind=NetworkReach):
    """The values of three tasks over one network, with their bounds."""
    source = returns(kind=kind)
    bounds = ReachBounds(SPACE, source)
    tasks = [SPACE.task(["a", "b"]), SPACE.task(["b", "c"]), SPACE.task("c")]
    return source, bounds, [ReachQ(source, task.goal_reward, bounds) for task in tasks]


def test_values_are_the_return_and_what_the_task_pays():
    batch = observations()
    _, bounds, (first, *_) = family()
    expected = direct(0, batch) + np.array([2.0, 1.5, -0.125])[:, None]
    np.testing.assert_allclose(first.q_bar(batch), expected, atol=1e-5)
    found = bounds.at(batch)
    np.testing.assert_allclose(
        found.universal, direct(0, batch) + SPACE.r_universal[:, None], atol=1e-5
    )
    np.testing.assert_allclose(found.empty, direct(0, batch) + SPACE.r_empty[:, None], atol=1e-5)


def test_bounds_of_several_networks_are_their_mean_return_shifted():
    batch = observations()
    found = ReachBounds(SPACE, MeanReach((returns(0), returns(1), returns(2)))).at(batch)
    mean = np.mean([direct(seed, batch) for seed in (0, 1, 2)], axis=0)
    np.testing.assert_allclose(found.universal, mean + SPACE.r_universal[:, None], atol=1e-5)
    np.testing.assert_allclose(found.empty, mean + SPACE.r_empty[:, None], atol=1e-5)


def test_extreme_bounds_are_the_largest_and_the_smallest_of_the_base_tasks():
    batch = observations()
    rewards = np.array([[2.0, 1.5, -0.125], [-0.125, 1.5, 2.0]])
    found = ExtremeBounds(SPACE, (returns(0), returns(1)), rewards).at(batch)
    values = [direct(seed, batch) + rewards[seed][:, None] for seed in (0, 1)]
    np.testing.assert_allclose(found.universal, np.maximum(*values), atol=1e-5)
    np.testing.assert_allclose(found.empty, np.minimum(*values), atol=1e-5)


EXPRESSIONS = {
    "a leaf": lambda a, b, c: a,
    "not": lambda a, b, c: ~a,
    "exclusive or": lambda a, b, c: a ^ b,
    "long": lambda a, b, c: ((a & ~b) | (~a & b & ~c)) ^ (c | ~(a | b)),
    "bounds": lambda a, b, c: (a & a.bounds.universal) | a.bounds.empty,
}


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
def test_one_network_looks_at_a_batch_once_whatever_the_expression(expression):
    source, _, leaves = family(Counted)
    composed = expression(*leaves)
    composed.q_bar(observations(5))
    assert source.seen == [5]
    GreedyPolicy(composed).actions(observations(3))
    GreedyPolicy(composed).act(observations(1)[0])
    assert source.seen == [5, 3, 1]


def test_each_of_several_networks_looks_once():
    sources = tuple(returns(seed, kind=Counted) for seed in (0, 1))
    rewards = np.stack([SPACE.task("a").goal_reward, SPACE.task("b").goal_reward])
    shared = ReachBounds(SPACE, MeanReach(sources))
    for bounds in (shared, ExtremeBounds(SPACE, sources, rewards)):
        one, two = (ReachQ(s, r, bounds) for s, r in zip(sources, rewards, strict=True))
        ((one ^ two) | ~one).q_bar(observations(4))
        bounds.universal.q_bar(observations(2))
        assert [source.seen for source in sources] == [[4, 2], [4, 2]]
        for source in sources:
            source.seen.clear()


def test_a_composition_is_that_of_arrays():
    batch = observations()
    _, bounds, (a, b, c) = family()
    u, e = bounds.at(batch).universal, bounds.at(batch).empty
    x, y, z = (q.q_bar(batch) for q in (a, b, c))
    np.testing.assert_array_equal((a & b).q_bar(batch), np.minimum(x, y))
    np.testing.assert_array_equal((a | b).q_bar(batch), np.maximum(x, y))
    np.testing.assert_array_equal((~c).q_bar(batch), u + e - z)
    expected = np.minimum(np.maximum(x, y), u + e - np.minimum(x, y))
    np.testing.assert_array_equal((a ^ b).q_bar(batch), expected)


def test_a_buffer_that_is_written_over_gives_new_values_and_old_ones_stay():
    _, bounds, (a, b, _) = family()
    buffer = observations(4, seed=1)
    composed = a & ~b
    first = composed.q_bar(buffer)
    kept, bound = first.copy(), bounds.at(buffer)
    universal = bound.universal.copy()
    buffer[:] = observations(4, seed=2)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(bound.universal, universal)
    np.testing.assert_array_equal(composed.q_bar(buffer), composed.q_bar(observations(4, seed=2)))
    assert not np.array_equal(composed.q_bar(buffer), first)


def test_goals_given_as_an_array_that_cannot_be_written_to_are_taken():
    goals = GOALS.copy()
    goals.setflags(write=False)
    source = NetworkReach(network(), HEAD, goals, np.arange(3), 3, np.zeros(3))
    batch = observations()
    batch.setflags(write=False)  # torch warns of such arrays, and warnings are errors here
    np.testing.assert_allclose(source.returns(batch), direct(0, batch), atol=1e-5)
    np.testing.assert_allclose(source.returns(batch[::-1]), direct(0, batch)[::-1], atol=1e-5)


# The Boolean laws


def same_values(x, y):
    batch = observations(20, seed=3)
    return bool(np.allclose(x.q_bar(batch), y.q_bar(batch), rtol=0, atol=1e-12))


def test_boolean_laws_hold_for_values_that_read_one_network():
    _, bounds, leaves = family()
    for a in leaves:
        for b in leaves:
            assert not broken_laws(
                a, b, leaves[2], bounds.empty, bounds.universal, same=same_values
            )


def test_complements_fail_where_each_task_has_a_network_of_its_own():
    sources = tuple(returns(seed) for seed in (0, 1))
    bounds = ReachBounds(SPACE, MeanReach(sources))
    a, b = (ReachQ(s, SPACE.task("a").goal_reward, bounds) for s in sources)
    broken = broken_laws(a, b, a, bounds.empty, bounds.universal, same=same_values)
    assert any("complement" in name for name in broken)


def test_goal_sets_read_off_the_bounds_are_the_values_of_the_network():
    batch = observations()
    _, bounds, (a, b, _) = family()
    for task, values in (
        (SPACE.task(["a", "b"]), a),
        (SPACE.task("b"), a & b),
        (SPACE.task("c"), b & ~a),
    ):
        np.testing.assert_allclose(
            GoalSetQ.of(task, bounds).q_bar(batch), values.q_bar(batch), atol=1e-12
        )


def test_values_of_two_families_do_not_mix():
    (_, _, (a, *_)), (_, _, (b, *_)) = family(), family()
    with pytest.raises(ValueError, match="different bounds"):
        a & b


# What is refused


@pytest.mark.parametrize(
    "batch",
    [
        np.zeros((2, 5), np.float32),
        np.zeros(4, np.float32),
        np.zeros((2, 4), np.float64),
        np.zeros((2, 4), np.uint8),
        np.zeros((2, 4, 1), np.float32),
        [[0.0, 1.0, 2.0, 3.0]],
    ],
    ids=["length", "one", "double", "bytes", "axes", "list"],
)
def test_observations_of_another_shape_or_type_are_refused(batch):
    with pytest.raises(ValueError, match=r"batch of float32 of shape \[B, 4\], got"):
        returns().returns(batch)


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match="the batch of observations is empty"):
        returns().returns(np.zeros((0, 4), np.float32))


def test_networks_obey_the_contract_of_all_value_functions():
    _, bounds, (a, *_) = family()
    assert isinstance(a, ExtendedQ)
    assert isinstance(bounds, ValueBounds)
    assert isinstance(bounds.at(observations()), Bounds)
    assert a.space is SPACE
