"""Episodes one by one: what an evaluation keeps of them, and as a table.

A row is an episode.  Of very many, the first `MOST_ROWS` are kept, in at most 50 MB.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taskalgebra.extras import missing

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_ROWS = 1_000_000
"""Episodes that are kept one by one."""

Columns = Mapping[str, NDArray[Any] | list[Any]]
"""By name, one entry per episode."""


def kept(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy of the first rows."""
    copy = np.array(array[:MOST_ROWS])
    copy.setflags(write=False)
    return copy


def plain(value: Any) -> Any:
    """Numbers as Python's own, and None for those that are not known."""
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and value != value else value


def records(columns: Columns) -> list[dict[str, Any]]:
    """One dictionary per row."""
    lists = [plain(column) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def frame(columns: Columns) -> DataFrame:
    """A pandas table with the episode as its index.

    Raises:
        ImportError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError(missing("to_frame()", "pandas", "frames")) from error
    return pandas.DataFrame(dict(columns)).rename_axis("episode")
