"""A layered layout of a graph, from left to right: places that do not overlap.

Nodes stand in columns by the longest way from the start; edges that close a cycle count backwards.
The label of an edge has a column between those of nodes, and an edge that passes a column has a
place of its own there.  So nothing is drawn over anything else but lines that cross.

Every place has a box around its centre line.  Columns are ordered by the means of the neighbours,
and heights are found by least squares, under the condition that boxes in a column stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_SWEEPS = 12
_STRAIGHT = 6.0  # how much a line that passes a column counts, where its box is in the way
_GAP = 10.0  # between boxes of a column
_LEAST, _MOST, _SLOPE = 26.0, 110.0, 0.4  # between columns, more where lines are steep


class Box(NamedTuple):
    """The room that something takes around its centre line."""

    width: float
    above: float
    below: float


class Line(NamedTuple):
    """An edge: the columns that it crosses, from its source on, and where its label stands."""

    stops: list[tuple[float, float, float]]  # x where it enters, x where it leaves, y
    label: tuple[float, float]


class Layout(NamedTuple):
    """Where everything stands; the smallest x and y are 0."""

    nodes: list[tuple[float, float]]
    lines: list[Line]
    columns: list[tuple[float, float]]  # of each node: where its column starts and ends
    width: float
    height: float


def layout(nodes: Sequence[Box], edges: Sequence[tuple[int, int]], labels: Sequence[Box]) -> Layout:
    """Places for the nodes, the edges between different nodes and their labels.

    Args:
        nodes: The box of each node; all can be reached from node 0.
        edges: Pairs of nodes.
        labels: The box of the label of each edge.
    """
    backwards = _backwards(len(nodes), edges)
    forward = [(v, u) if back else (u, v) for (u, v), back in zip(edges, backwards, strict=True)]
    ranks = [2 * rank for rank in _ranks(len(nodes), forward)]
    boxes = list(nodes)
    paths: list[list[int]] = []
    for (u, v), label in zip(forward, labels, strict=True):
        path = [u]
        for rank in range(ranks[u] + 1, ranks[v]):
            path.append(len(boxes))
            boxes.append(label if len(path) == 2 else Box(0, 6, 6))
            ranks.append(rank)
        paths.append([*path, v])
    links = sorted({pair for path in paths for pair in pairwise(path)})
    columns = _ordered(ranks, links)
    y = _heights(columns, links, boxes)
    left, right = _widths(columns, links, boxes, y)
    top = min(y[i] - boxes[i].above for i in range(len(boxes)))
    y = [height - top for height in y]
    lines = []
    for path, back in zip(paths, backwards, strict=True):
        stops = [(left[ranks[i]], right[ranks[i]], y[i]) for i in path]
        at = path[1]
        label_at = (left[ranks[at]] + right[ranks[at]]) / 2, y[at]
        if back:
            stops = [(end, start, height) for start, end, height in reversed(stops)]
        lines.append(Line(stops, label_at))
    return Layout(
        [((left[ranks[i]] + right[ranks[i]]) / 2, y[i]) for i in range(len(nodes))],
        lines,
        [(left[ranks[i]], right[ranks[i]]) for i in range(len(nodes))],
        right[-1],
        max(y[i] + boxes[i].below for i in range(len(boxes))),
    )


def _backwards(n: int, edges: Sequence[tuple[int, int]]) -> list[bool]:
    """Whether an edge leads back to a node that a depth-first search has not left yet."""
    following: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for place, (u, v) in enumerate(edges):
        following[u].append((v, place))
    back = [False] * len(edges)
    begun, left = {0}, set[int]()
    stack = [(0, iter(following[0]))]
    while stack:
        node, rest = stack[-1]
        for other, place in rest:
            if other not in begun:
                begun.add(other)
                stack.append((other, iter(following[other])))
                break
            back[place] = other not in left
        else:
            left.add(node)
            stack.pop()
    return back


def _ranks(n: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The number of edges on the longest way to each node of a graph without cycles."""
    ranks = [0] * n
    for _ in range(n):
        longer = [max(ranks[v], ranks[u] + 1) for u, v in edges]
        for (_, v), rank in zip(edges, longer, strict=True):
            ranks[v] = max(ranks[v], rank)
    return ranks


def _ordered(ranks: Sequence[int], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The columns, each in an order with few crossings."""
    before, after = _neighbours(len(ranks), links)
    columns: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for item, rank in enumerate(ranks):
        columns[rank].append(item)
    best, fewest = [list(column) for column in columns], _crossings(columns, after)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for column in columns if down else reversed(columns):
            neighbours = before if down else after
            place = {i: k for other in columns for k, i in enumerate(other)}
            column.sort(
                key=lambda i, near=neighbours, at=place: (  # type: ignore[misc]
                    sum(at[j] for j in near[i]) / len(near[i]) if near[i] else at[i]
                )
            )
        found = _crossings(columns, after)
        if found < fewest:
            best, fewest = [list(column) for column in columns], found
    return best


def _neighbours(
    n: int, links: Sequence[tuple[int, int]]
) -> tuple[list[list[int]], list[list[int]]]:
    before: list[list[int]] = [[] for _ in range(n)]
    after: list[list[int]] = [[] for _ in range(n)]
    for u, v in links:
        before[v].append(u)
        after[u].append(v)
    return before, after


def _crossings(columns: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> int:
    """How many pairs of links cross."""
    total = 0
    for column, following in pairwise(columns):
        place = {item: k for k, item in enumerate(following)}
        ends: list[int] = []
        for item in column:
            found = sorted(place[other] for other in after[item])
            total += sum(earlier > end for end in found for earlier in ends)
            ends += found
    return total


def _heights(
    columns: Sequence[Sequence[int]], links: Sequence[tuple[int, int]], boxes: Sequence[Box]
) -> list[float]:
    """The y of every item: near those of its neighbours, and boxes of a column stay apart."""
    before, after = _neighbours(len(boxes), links)
    y = [0.0] * len(boxes)
    for sweep in range(2 * _SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wanted = []
            for i in column:
                near = (
                    [*before[i], *after[i]] if sweep > 1 else before[i] if sweep == 0 else after[i]
                )
                wanted.append(sum(y[j] for j in near) / len(near) if near else y[i])
            weights = [_STRAIGHT if not boxes[i].width else 1.0 for i in column]
            found = _apart(wanted, weights, [boxes[i] for i in column])
            for i, height in zip(column, found, strict=True):
                y[i] = height
    return y


def _apart(wanted: Sequence[float], weights: Sequence[float], boxes: Sequence[Box]) -> list[float]:
    """The heights nearest to the wanted ones, by least squares, at which boxes stay apart."""
    offset, offsets = 0.0, []
    for k, box in enumerate(boxes):
        offset += boxes[k - 1].below + _GAP + box.above if k else 0.0
        offsets.append(offset)
    blocks: list[list[float]] = []  # weighted sums of wanted heights less offsets, weights, counts
    for want, weight, move in zip(wanted, weights, offsets, strict=True):
        blocks.append([weight * (want - move), weight, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [one + two for one, two in zip(blocks[-1], last, strict=True)]
    levels = [total / weight for total, weight, count in blocks for _ in range(int(count))]
    return [level + move for level, move in zip(levels, offsets, strict=True)]


def _widths(
    columns: Sequence[Sequence[int]],
    links: Sequence[tuple[int, int]],
    boxes: Sequence[Box],
    y: Sequence[float],
) -> tuple[list[float], list[float]]:
    """Where every column starts and ends."""
    rank_of = {item: rank for rank, column in enumerate(columns) for item in column}
    steep = [0.0] * len(columns)
    for u, v in links:
        steep[rank_of[v]] = max(steep[rank_of[v]], abs(y[u] - y[v]))
    left: list[float] = []
    right: list[float] = []
    for rank, column in enumerate(columns):
        gap = min(max(_LEAST, _SLOPE * steep[rank]), _MOST)
        left.append(right[-1] + gap if right else 0.0)
        right.append(left[-1] + max(boxes[i].width for i in column))
    return left, right
