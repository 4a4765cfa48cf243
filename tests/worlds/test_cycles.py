"""Cycles and components, against their definitions by brute force."""

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskalgebra.planning.exact import PositiveCycleError, optimal_v, plan
from taskalgebra.theory.tasks import TaskSpace
from taskalgebra.worlds import cycles
from taskalgebra.worlds.build import from_arrays


def reachable(successors):
    """For every state, the states that can be reached from it, itself included."""
    reach = {s: {s} for s in successors}
    for _ in successors:
        for s in successors:
            reach[s] = reach[s].union(*(reach[t] for t in successors[s]))
    return reach


def compressed(rows):
    offset = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return offset, np.array([t for row in rows for t in row], np.int32)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 7).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
    )
)
def test_strong_components_are_the_states_that_reach_each_other(rows):
    n = len(rows)
    component = cycles.strong_components(n, *compressed(rows))
    reach = reachable(dict(enumerate(rows)))
    for s in range(n):
        for t in range(n):
            assert (component[s] == component[t]) == (t in reach[s] and s in reach[t])
    assert set(component.tolist()) == set(range(component.max() + 1))


def test_strong_components_of_a_long_chain_need_no_deep_stack():
    n = 50_000
    rows_offset = np.arange(n + 1, dtype=np.int64)
    ring = np.roll(np.arange(n), -1).astype(np.int32)
    assert (cycles.strong_components(n, rows_offset, ring) == 0).all()


@st.composite
def outcomes(draw):
    n_states, n_actions = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    outcome = st.sets(st.integers(0, n_states - 1), min_size=1, max_size=3).map(sorted)
    table = [[draw(outcome) for _ in range(n_actions)] for _ in range(n_states)]
    size = n_states * n_actions
    return table, draw(st.lists(st.booleans(), min_size=size, max_size=size))


def end_components_by_definition(table, allowed):
    """The maximal sets in which the allowed actions can keep an agent, tried one by one."""
    n_states, n_actions = len(table), len(table[0])
    found = []
    for size in range(n_states, 0, -1):
        for members in map(set, combinations(range(n_states), size)):
            staying = {
                s: [
                    table[s][a]
                    for a in range(n_actions)
                    if allowed[s * n_actions + a] and set(table[s][a]) <= members
                ]
                for s in members
            }
            if not all(staying.values()) or any(members <= other for other in found):
                continue
            reach = reachable({s: {t for o in staying[s] for t in o} for s in members})
            if all(reach[s] == members for s in members):
                found.append(members)
    return found


@settings(max_examples=150, deadline=None)
@given(outcomes())
def test_end_components_are_those_of_the_definition(drawn):
    table, allowed = drawn
    n_states, n_actions = len(table), len(table[0])
    offset, successor = compressed([row for actions in table for row in actions])
    component, inner = cycles.end_components(
        offset, successor, n_states, n_actions, np.array(allowed)
    )
    found = {
        frozenset(np.flatnonzero(component == c).tolist()) for c in set(component.tolist()) - {-1}
    }
    expected = end_components_by_definition(table, allowed)
    assert found == set(map(frozenset, expected))
    for s in range(n_states):
        for a in range(n_actions):
            i = s * n_actions + a
            stays = any(s in members and set(table[s][a]) <= members for members in expected)
            assert inner[i] == (allowed[i] and stays)


@st.composite
def reward_graphs(draw):
    n_states, n_actions = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    size = n_states * n_actions
    ends = draw(st.lists(st.integers(0, n_states - 1), min_size=size, max_size=size))
    rewards = draw(st.lists(st.integers(-4, 3), min_size=size, max_size=size))
    alive = draw(st.lists(st.booleans(), min_size=n_states, max_size=n_states))
    shape = (n_states, n_actions)
    return (
        np.array(ends, np.int32).reshape(shape),
        np.array(rewards, float).reshape(shape),
        np.array(alive),
    )


def simple_walks(next_state, reward, alive, start):
    """The rewards of all walks from a state that repeat none, and of the simple cycles to it."""
    walks, loops = [0.0], []
    todo = [(start, 0.0, {start})]
    while todo:
        s, so_far, visited = todo.pop()
        for a in range(next_state.shape[1]):
            t, total = int(next_state[s, a]), so_far + reward[s, a]
            if t == start:
                loops.append(total)
            if alive[t] and t not in visited:
                walks.append(total)
                todo.append((t, total, visited | {t}))
    return walks, loops


@settings(max_examples=200, deadline=None)
@given(reward_graphs())
def test_the_best_walk_is_the_best_of_all_and_a_cycle_that_earns_is_found(drawn):
    next_state, reward, alive = drawn
    h, cycle = cycles.best_walks(next_state, reward, alive, 1e-12)
    searched = {
        s: simple_walks(next_state, reward, alive, s) for s in np.flatnonzero(alive).tolist()
    }
    if not any(total > 0 for _, loops in searched.values() for total in loops):
        assert cycle.size == 0
        for s, (walks, _) in searched.items():
            assert h[s] == max(walks)
        return
    assert alive[cycle].all()
    assert len(set(cycle.tolist())) == cycle.size
    earned = 0.0
    for s, t in zip(cycle, np.roll(cycle, -1), strict=True):
        ways = [reward[s, a] for a in range(reward.shape[1]) if next_state[s, a] == t]
        earned += max(ways)
    assert earned > 0


def ring(rewards):
    """A ring of states; the second action leaves for the goal, behind the ring, at a cost of 1."""
    n = len(rewards)
    dynamics = np.stack([np.roll(np.arange(n), -1), np.full(n, n)], axis=1)
    table = np.zeros((n + 1, 2))
    table[:n, 0], table[:n, 1] = rewards, -1.0
    return TaskSpace(from_arrays(np.vstack((dynamics, [n, n])), table, [n]))


@pytest.mark.parametrize(
    "rewards",
    [
        [0.1, 0.2, -0.3],
        [-0.3, 0.2, 0.1],
        [1e6 + 0.1, -1e6, -0.1],
        [0.1] * 300 + [-0.3] * 100,
        [0.7, -0.1, -0.6] * 500,
        [0.1] * 3000 + [-0.3] * 1000,
    ],
    ids=["thirds", "thirds, turned", "large and small", "a hill", "many hills", "a high hill"],
)
def test_a_cycle_that_sums_to_zero_is_not_called_positive_for_its_rounding(rewards):
    space = ring(rewards)
    sums = np.concatenate(([0.0], np.cumsum(rewards + rewards)))
    values = optimal_v(space.universal)
    n = len(rewards)
    for s in range(0, n, max(1, n // 7)):
        best = (sums[s : s + n] - sums[s]).max() - 1.0 + 2.0
        assert values[s] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("length", [1, 2, 3, 6, 7, 40])
def test_the_error_names_the_states_of_a_positive_cycle(length):
    space = ring([1.0] + [-0.75 / length] * (length - 1))
    with pytest.raises(PositiveCycleError) as caught:
        plan(space, [space.universal])
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert "positive sum" in message
    assert "lower the step rewards" in message
    if length <= 6:
        named = [int(s) for s in re.findall(r"state (\d+)", message)]
        assert named[0] == named[-1]
        assert sorted(named[:-1]) == list(range(length))
    else:
        assert f"a cycle of {length} states" in message


def test_a_positive_cycle_without_a_way_to_a_goal_does_no_harm():
    # 0 → goal 1, or into the ring 2 ⇄ 3, which pays for ever and never ends.
    space = TaskSpace(
        from_arrays(
            [[1, 2], [1, 1], [3, 3], [2, 2]], [[-1, -1], [0, 0], [1, 1], [1, 1]], [1], starts=[0]
        )
    )
    assert optimal_v(space.universal).tolist() == [1.0, 2.0, -np.inf, -np.inf]


@pytest.mark.parametrize("place", [0, 20_100, 39_700])
def test_a_positive_two_cycle_in_a_large_grid_is_named_and_does_not_hang(place):
    size = 200
    row, column = np.divmod(np.arange(size * size), size)
    moves = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    targets = [
        np.clip(row + r, 0, size - 1) * size + np.clip(column + c, 0, size - 1) for r, c in moves
    ]
    rewards = np.full((size * size, 4), -1.0)
    rewards[place, 1] = 1.25  # right, and back to the left for −1
    space = TaskSpace(from_arrays(np.stack(targets, axis=1), rewards, [size * size - 1]))
    with pytest.raises(PositiveCycleError) as caught:
        optimal_v(space.universal)
    named = {int(s) for s in re.findall(r"state (\d+)", str(caught.value))}
    assert named == {place, place + 1}
    finding = space.check()["no positive cycle"]
    assert not finding.holds
    assert set(finding.offender["states"]) == {place, place + 1}


def test_positive_rewards_on_a_long_shuffled_path_are_summed_in_time():
    n = 5_000
    order = np.random.default_rng(0).permutation(n)
    dynamics = np.full((n + 1, 1), n)
    dynamics[order[:-1], 0] = order[1:]
    space = TaskSpace(from_arrays(dynamics, 0.5, [n]))
    assert optimal_v(space.universal)[order[0]] == 2.0 + 0.5 * n
