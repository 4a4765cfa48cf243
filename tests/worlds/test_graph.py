"""Graph kernels, against plain Python searches."""

import heapq
import signal
import threading
import time
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskalgebra.worlds import graph


@st.composite
def graphs(draw):
    """A support `[S, W]` and costs of the same shape; costs are exact in float64."""
    n_states, width = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    size = n_states * width
    ends = draw(st.lists(st.integers(0, n_states - 1), min_size=size, max_size=size))
    costs = draw(st.lists(st.integers(0, 20), min_size=size, max_size=size))
    support = np.array(ends, np.int32).reshape(n_states, width)
    return support, np.array(costs, float).reshape(n_states, width) / 8


def edges(support, cost=None):
    for s, row in enumerate(support.tolist()):
        for k, t in enumerate(row):
            yield s, t, 1 if cost is None else float(cost[s, k])


def steps_by_search(support, target):
    back = {}
    for s, t, _ in edges(support):
        back.setdefault(t, []).append(s)
    steps, queue = {target: 0}, deque([target])
    while queue:
        t = queue.popleft()
        for s in back.get(t, []):
            if s not in steps:
                steps[s] = steps[t] + 1
                queue.append(s)
    return [steps.get(s, graph.UNREACHED) for s in range(len(support))]


def costs_by_search(support, cost, target):
    back = {}
    for s, t, c in edges(support, cost):
        back.setdefault(t, []).append((s, c))
    done, heap = {}, [(0.0, target)]
    while heap:
        so_far, t = heapq.heappop(heap)
        if t in done:
            continue
        done[t] = so_far
        for s, c in back.get(t, []):
            heapq.heappush(heap, (so_far + c, s))
    return [done.get(s, np.inf) for s in range(len(support))]


@settings(max_examples=80, deadline=None)
@given(graphs())
def test_the_reversed_graph_has_every_edge_but_the_loops(drawn):
    support, _ = drawn
    offset, state, edge = graph.predecessors(support, with_edges=True)
    found = [
        (int(state[k]), t, int(edge[k]))
        for t in range(len(support))
        for k in range(offset[t], offset[t + 1])
    ]
    width = support.shape[1]
    expected = [
        (s, int(support[s, k]), s * width + k)
        for s in range(len(support))
        for k in range(width)
        if support[s, k] != s
    ]
    assert sorted(found) == sorted(expected)


@settings(max_examples=80, deadline=None)
@given(graphs())
def test_steps_are_those_of_a_breadth_first_search(drawn):
    support, _ = drawn
    targets = np.arange(len(support), dtype=np.int32)
    steps = graph.steps_to(graph.predecessors(support), targets)
    assert steps.tolist() == [steps_by_search(support, t) for t in range(len(support))]


@settings(max_examples=80, deadline=None)
@given(graphs())
def test_costs_are_those_of_dijkstras_search(drawn):
    support, cost = drawn
    targets = np.arange(len(support), dtype=np.int32)
    costs = graph.costs_to(graph.predecessors(support, with_edges=True), cost, targets)
    assert costs.tolist() == [costs_by_search(support, cost, t) for t in range(len(support))]


@settings(max_examples=80, deadline=None)
@given(graphs(), st.data())
def test_a_state_can_reach_targets_when_a_search_finds_one(drawn, data):
    support, _ = drawn
    n = len(support)
    targets = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=3))
    offset, state, _ = graph.predecessors(support)
    met = graph.can_reach(offset, state, np.array(targets, np.int32))
    searches = [steps_by_search(support, t) for t in targets]
    assert met.tolist() == [any(steps[s] >= 0 for steps in searches) for s in range(n)]


@settings(max_examples=80, deadline=None)
@given(graphs())
def test_the_diameter_is_the_largest_number_of_steps_between_connected_states(drawn):
    support, _ = drawn
    longest = max(max(steps_by_search(support, t)) for t in range(len(support)))
    assert graph.diameter(support) == longest
    bound = graph.diameter(support, exact_up_to=0)
    assert bound == len(support) - 1
    assert bound >= longest


@pytest.mark.parametrize("seed", [0, 1])
def test_several_threads_find_what_one_finds(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n = 300
    support = rng.integers(0, n, (n, 2)).astype(np.int32)
    cost = rng.integers(0, 50, (n, 2)) / 8
    targets = rng.permutation(n)[:7].astype(np.int32)
    reversed_graph = graph.predecessors(support, with_edges=True)
    monkeypatch.setattr(graph, "_WORTH_A_THREAD", 0)
    monkeypatch.setenv("TASKALGEBRA_NUM_THREADS", "3")
    steps = graph.steps_to(reversed_graph, targets)
    costs = graph.costs_to(reversed_graph, cost, targets)
    assert steps.tolist() == [steps_by_search(support, t) for t in targets]
    assert costs.tolist() == [costs_by_search(support, cost, t) for t in targets]


@st.composite
def random_outcomes(draw):
    """Possible successors of each state and action; goals have only themselves."""
    n_states, n_actions = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    goals = draw(st.sets(st.integers(0, n_states - 1), min_size=1, max_size=2))
    outcome = st.sets(st.integers(0, n_states - 1), min_size=1, max_size=3).map(sorted)
    return (
        goals,
        [[[s] if s in goals else draw(outcome) for _ in range(n_actions)] for s in range(n_states)],
    )


def compressed(table):
    rows = [row for actions in table for row in actions]
    offset = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return offset, np.array([t for row in rows for t in row], np.int32)


def surely_ends(choice, table, goals):
    """States from which this policy reaches a goal with probability one, by its definition.

    On a finite chain that is: a goal can be reached from every state that can be reached.
    """
    n = len(table)
    reach = {s: {s} for s in range(n)}
    for _ in range(n):
        for s in range(n):
            for t in table[s][choice[s]]:
                reach[s] = reach[s] | reach[t]
    return {s for s in range(n) if all(reach[t] & goals for t in reach[s])}


def policies(table):
    n_states, n_actions = len(table), len(table[0])
    for number in range(n_actions**n_states):
        yield [number // n_actions**s % n_actions for s in range(n_states)]


@settings(max_examples=80, deadline=None)
@given(random_outcomes())
def test_a_state_surely_ends_when_some_policy_of_all_does(drawn):
    goals, table = drawn
    offset, successor = compressed(table)
    is_goal = np.isin(np.arange(len(table)), list(goals))
    inside = graph.almost_surely(offset, successor, len(table[0]), is_goal)
    expected = set().union(*(surely_ends(choice, table, goals) for choice in policies(table)))
    assert set(np.flatnonzero(inside).tolist()) == expected


def test_after_an_error_or_an_interruption_no_further_piece_is_begun(monkeypatch):
    monkeypatch.setattr(graph, "cores", lambda: 2)
    begun, main = [], threading.main_thread()

    def fails(i):
        begun.append(i)
        if i == 0:
            raise RuntimeError("no room")
        time.sleep(0.02)

    with pytest.raises(RuntimeError, match="no room"):
        graph.on_threads(lambda: fails, 100, 10**9)
    assert len(begun) < 10
    begun.clear()

    def interrupts(i):
        begun.append(i)
        if i == 1:
            signal.pthread_kill(main.ident, signal.SIGINT)
        time.sleep(0.02)

    with pytest.raises(KeyboardInterrupt):
        graph.on_threads(lambda: interrupts, 100, 10**9)
    assert len(begun) < 50
