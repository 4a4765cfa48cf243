"""Cycles and components: where an agent could stay forever, and what it would earn there.

The paper assumes that policies which never end are worth minus infinity (Section 2).  These kernels
find where a world violates that: cycles with a positive sum of rewards, and sets of states in which
an agent can stay forever at no cost.
"""

from __future__ import annotations

import numpy as np

from taskalgebra.arrays import Array, BoolArray, IntArray, LongArray
from taskalgebra.compiled import kernel


@kernel
def best_walks(
    next_state: IntArray, reward: Array, alive: BoolArray, tolerance: float
) -> tuple[Array, IntArray]:
    """The largest reward of a walk from each state, and a cycle that earns without end, if any.

    h(s) = max{0, max_a r(s, a) + h(s')} over the states in `alive`, by sweeps in both directions
    (Bellman and Ford).  If some cycle has a positive sum, the best actions themselves eventually
    form one (Cherkassky and Goldberg 1999), which is tested after every sweep, so that the search
    always ends.  If there is none, the returned cycle is empty.
    """
    n_states, n_actions = next_state.shape
    h = np.zeros(n_states)
    best = np.full(n_states, -1, np.int32)
    upwards = True
    while True:
        improved = False
        for i in range(n_states):
            s = i if upwards else n_states - 1 - i
            if not alive[s]:
                continue
            for a in range(n_actions):
                t = next_state[s, a]
                if alive[t] and reward[s, a] + h[t] > h[s] + tolerance:
                    h[s] = reward[s, a] + h[t]
                    best[s] = a
                    improved = True
        if not improved:
            return h, np.empty(0, np.int32)
        cycle = _cycle_of_best(next_state, best)
        if cycle.size:
            return h, cycle
        upwards = not upwards


@kernel
def _cycle_of_best(next_state: IntArray, best: IntArray) -> IntArray:
    """A cycle in the graph of best actions, or an empty array."""
    n_states = best.size
    met_from = np.full(n_states, -1, np.int32)
    for root in range(n_states):
        s = root
        while met_from[s] < 0 and best[s] >= 0:
            met_from[s] = root
            s = next_state[s, best[s]]
        if met_from[s] == root and best[s] >= 0:
            cycle = [s]
            t = next_state[s, best[s]]
            while t != s:
                cycle.append(t)
                t = next_state[t, best[t]]
            return np.array(cycle, dtype=np.int32)
    return np.empty(0, np.int32)


@kernel
def strong_components(n_states: int, offset: LongArray, successor: IntArray) -> IntArray:
    """Number the strongly connected components (Tarjan 1972, with its own stack)."""
    component = np.full(n_states, -1, np.int32)
    order = np.full(n_states, -1, np.int64)
    low = np.zeros(n_states, np.int64)
    path = np.empty(n_states, np.int32)
    waiting = np.empty(n_states, np.int32)
    cursor = offset[:-1].copy()
    n_path = n_waiting = n_seen = n_components = 0
    for root in range(n_states):
        if order[root] >= 0:
            continue
        path[0], n_path = root, 1
        while n_path > 0:
            s = path[n_path - 1]
            if order[s] < 0:
                order[s] = low[s] = n_seen
                n_seen += 1
                waiting[n_waiting] = s
                n_waiting += 1
            descended = False
            while cursor[s] < offset[s + 1]:
                t = successor[cursor[s]]
                if order[t] < 0:
                    path[n_path] = t
                    n_path += 1
                    descended = True
                    break
                if component[t] < 0:
                    low[s] = min(low[s], low[t])
                cursor[s] += 1
            if descended:
                continue
            n_path -= 1
            if low[s] == order[s]:
                while True:
                    n_waiting -= 1
                    t = waiting[n_waiting]
                    component[t] = n_components
                    if t == s:
                        break
                n_components += 1
    return component


@kernel
def end_components(
    offset: LongArray, successor: IntArray, n_states: int, n_actions: int, allowed: BoolArray
) -> tuple[IntArray, BoolArray]:
    """The largest sets of states in which the allowed actions can keep an agent forever.

    Returns `component[S]`, −1 outside, and `inner[S·A]`, the actions that stay within.  An agent
    can go from any state of such a set to any other with probability one (de Alfaro 1997).
    """
    inner = allowed.copy()
    while True:
        edge_offset = np.zeros(n_states + 1, np.int64)
        for s in range(n_states):
            edge_offset[s + 1] = edge_offset[s]
            for i in range(s * n_actions, (s + 1) * n_actions):
                if inner[i]:
                    edge_offset[s + 1] += offset[i + 1] - offset[i]
        edge = np.empty(edge_offset[n_states], np.int32)
        n_edges = 0
        for i in range(n_states * n_actions):
            if inner[i]:
                for k in range(offset[i], offset[i + 1]):
                    edge[n_edges] = successor[k]
                    n_edges += 1
        component = strong_components(n_states, edge_offset, edge)
        shrank = False
        for s in range(n_states):
            for i in range(s * n_actions, (s + 1) * n_actions):
                if inner[i]:
                    for k in range(offset[i], offset[i + 1]):
                        if component[successor[k]] != component[s]:
                            inner[i] = False
                            shrank = True
        if not shrank:
            break
    for s in range(n_states):
        if not inner[s * n_actions : (s + 1) * n_actions].any():
            component[s] = -1
    return component, inner
