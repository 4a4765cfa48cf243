"""Steps to goals in deterministic worlds by scipy, networkit, python-graphblas and numpy.

Each is a function of a world and of some of its goals.  It builds what the library wants, and
returns a function that searches and returns `[n, S]` numbers of steps, infinite where there is no
way.  Only the second is timed.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np


def reversed_edges(mdp):
    """Where each move leads to, and where it comes from; moves that stay are left out."""
    source, target = np.repeat(np.arange(mdp.n_states), mdp.n_actions), mdp.next_state.ravel()
    kept = source != target
    return target[kept], source[kept]


def reversed_matrix(mdp):
    """The reversed graph as a sparse matrix of scipy."""
    from scipy.sparse import csr_matrix

    edges = reversed_edges(mdp)
    return csr_matrix((np.ones(edges[0].size), edges), shape=(mdp.n_states, mdp.n_states))


def scipy_dijkstra(mdp, goals):
    """`dijkstra` with unit weights."""
    from scipy.sparse.csgraph import dijkstra

    graph = reversed_matrix(mdp)
    return lambda: dijkstra(graph, indices=goals, unweighted=True)


def scipy_breadth_first(mdp, goals):
    """`breadth_first_order`, and levels from it: one step further than the predecessor."""
    from scipy.sparse.csgraph import breadth_first_order

    graph, n_states = reversed_matrix(mdp), mdp.n_states

    def one(goal):
        order, parent = breadth_first_order(graph, goal)
        place = np.empty(n_states, np.int64)
        place[order] = np.arange(order.size)
        first = np.concatenate(([0], place[parent[order[1:]]]))  # place of each parent
        steps = np.full(n_states, np.inf)
        level_end, level, begin = 1, 0, 0
        while begin < order.size:
            steps[order[begin:level_end]] = level
            begin, level = level_end, level + 1
            level_end = int(np.searchsorted(first, begin, side="left"))
            if level_end <= begin:
                level_end = order.size
        return steps

    return lambda: np.stack([one(goal) for goal in goals])


def networkit(mdp, goals):
    """Some-pairs shortest paths of networkit: a breadth-first search per goal, on all cores."""
    library = import_module("networkit")
    edges = tuple(part.astype(np.int64) for part in reversed_edges(mdp))  # it reads 64 bits each
    graph = library.GraphFromCoo(edges, n=mdp.n_states, directed=True)
    sources = [int(goal) for goal in goals]

    def search():
        steps = library.distance.SPSP(graph, sources).run().getDistances(asarray=True)
        steps[steps > mdp.n_states] = np.inf
        return steps

    return search


def graphblas(mdp, goals):
    """Level by level with the semiring any_pair, masked by what was met."""
    library = import_module("graphblas")
    pairs = np.unique(np.stack(reversed_edges(mdp)), axis=1)
    matrix = library.Matrix.from_coo(*pairs, True, nrows=mdp.n_states, ncols=mdp.n_states)

    def one(goal):
        steps = library.Vector(int, mdp.n_states)
        front = library.Vector.from_coo([int(goal)], True, size=mdp.n_states)
        level = 0
        while front.nvals:
            steps(front.S) << level
            level += 1
            front(~steps.S, replace=True) << library.semiring.any_pair(front @ matrix)
        found = steps.to_dense(-1).astype(float)
        found[found < 0] = np.inf
        return found

    return lambda: np.stack([one(goal) for goal in goals])


def numpy_value_iteration(mdp, goals):
    """Backups of all states for all goals at once, until nothing changes."""

    def solve():
        steps = np.full((len(goals), mdp.n_states), np.inf)
        steps[np.arange(len(goals)), goals] = 0.0
        while True:
            new = np.minimum(steps, 1.0 + steps[:, mdp.next_state].min(axis=2))
            if np.array_equal(new, steps):
                return steps
            steps = new

    return solve


LIBRARIES = {
    "scipy, dijkstra": scipy_dijkstra,
    "scipy, breadth first": scipy_breadth_first,
    "networkit": networkit,
    "python-graphblas": graphblas,
    "numpy value iteration": numpy_value_iteration,
}
