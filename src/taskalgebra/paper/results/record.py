"""What an experiment leaves behind: tables of numbers and words, and the configuration.

A result is a few CSV files and one JSON file; pictures and other large arrays are in an npz file.
The JSON file is written last, and all files are written under a temporary name and moved, so a
result that can be read is a finished one.  Numbers are written so that reading gives the same bits
back, and nothing that differs between runs, such as a date, is written at all: equal results are
equal files.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taskalgebra import files, npz

Column = NDArray[Any]  # of int64, float64 or str


@final
class Table(Mapping[str, Column]):
    """Named columns of one length: whole numbers, numbers or words."""

    def __init__(self, columns: Mapping[str, ArrayLike]) -> None:
        """Check that the columns are equally long."""
        self._columns = {name: _column(name, values) for name, values in columns.items()}
        lengths = {name: column.size for name, column in self._columns.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"the columns of a table must be equally long, got {lengths}")

    @classmethod
    def of_rows(cls, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
        """A table from rows in the order of `names`."""
        columns = list(zip(*rows, strict=True)) or [() for _ in names]
        return cls(dict(zip(names, columns, strict=True)))

    @classmethod
    def of_dicts(cls, rows: Sequence[Mapping[str, Any]]) -> Table:
        """A table from one or more rows with the same names in the same order."""
        return cls.of_rows(list(rows[0]), (list(row.values()) for row in rows))

    def __getitem__(self, name: str) -> Column:
        """One column."""
        if name not in self._columns:
            raise KeyError(f"no column {name!r}; this table has {', '.join(self._columns)}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the columns."""
        return iter(self._columns)

    def __len__(self) -> int:
        """The number of columns."""
        return len(self._columns)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(next(iter(self._columns.values())).size)

    def where(self, **values: object) -> Table:
        """The rows in which these columns have these values."""
        keep = np.ones(self.n_rows, np.bool_)
        for name, value in values.items():
            keep &= self[name] == value
        return Table({name: column[keep] for name, column in self._columns.items()})

    def distinct(self, name: str) -> list[Any]:
        """The values of a column, in the order in which they first appear."""
        return list(dict.fromkeys(self[name].tolist()))

    def _tuples(self) -> Iterator[tuple[Any, ...]]:
        return zip(*(column.tolist() for column in self.values()), strict=True)

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of plain Python values."""
        return [dict(zip(self, row, strict=True)) for row in self._tuples()]

    def __eq__(self, other: object) -> bool:
        """Same columns in the same order, same types, same values bit for bit."""
        return (
            isinstance(other, Table)
            and list(self) == list(other)
            and all(_same(self[name], other[name]) for name in self)
        )

    __hash__ = None  # type: ignore[assignment]

    def to_csv(self) -> str:
        """The table as text; floats in the shortest form that reads back to the same bits."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self)
        writer.writerows(self._tuples())
        return out.getvalue()

    @classmethod
    def from_csv(cls, text: str) -> Table:
        """Read what `to_csv` wrote; a column is numbers where every entry is one."""
        rows = list(csv.reader(io.StringIO(text)))
        if not rows:
            raise ValueError("a table needs at least the names of its columns")
        words = cls.of_rows(rows[0], rows[1:])
        return cls({name: _parsed(column.tolist()) for name, column in words.items()})


def _column(name: str, values: ArrayLike) -> Column:
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"column {name!r} has shape {column.shape}, expected one dimension")
    kind = column.dtype.kind
    if kind in "biu":
        column = column.astype(np.int64)
    elif kind == "f":
        column = column.astype(np.float64)
    elif kind != "U":
        raise ValueError(f"column {name!r} has type {column.dtype}, expected numbers or words")
    column.setflags(write=False)
    return column


def _same(one: Column, other: Column) -> bool:
    if one.dtype.kind != other.dtype.kind:
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _parsed(words: Sequence[str]) -> ArrayLike:
    for kind in (int, float):
        try:
            return np.array([kind(word) for word in words])
        except (ValueError, OverflowError):
            pass
    return np.array(words, np.str_)


@final
@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of one experiment."""

    name: str
    config: Mapping[str, Any]  # the fields of the experiment's Config, as JSON has them
    tables: Mapping[str, Table]  # the main one has the name of the experiment
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # such as pictures

    @classmethod
    def of_rows(
        cls, name: str, config: Any, names: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> Result:
        """A result with one table, given by its rows."""
        return cls(name, as_json(config), {name: Table.of_rows(names, rows)})

    @property
    def table(self) -> Table:
        """The main table."""
        return self.tables[self.name]

    def __eq__(self, other: object) -> bool:
        """Same name, same configuration, same numbers bit for bit."""
        return (
            isinstance(other, Result)
            and (self.name, self.config, self.tables) == (other.name, other.config, other.tables)
            and self.arrays.keys() == other.arrays.keys()
            and all(_same(array, other.arrays[name]) for name, array in self.arrays.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def save(self, directory: Path) -> None:
        """Write `<table>.csv` for each table and `<name>.npz` for arrays, then `<name>.json`.

        The result is finished when the last is there; an old one is removed before the others.

        Raises:
            OSError: there is no room, or no right to write; the old result is as it was.
        """
        manifest = directory / f"{self.name}.json"
        contents = {
            directory / f"{name}.csv": table.to_csv().encode()
            for name, table in self.tables.items()
        }
        content = {"experiment": self.name, "config": self.config, "tables": list(self.tables)}
        if self.arrays:
            contents[directory / f"{self.name}.npz"] = npz.write(self.arrays)
            content["arrays"] = list(self.arrays)
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        with files.made(directory):
            files.replace_all(
                {**contents, manifest: text.encode()},
                before=lambda: manifest.unlink(missing_ok=True),
            )


def load(name: str, directory: Path) -> Result:
    """Read a result that `Result.save` wrote.

    Raises:
        FileNotFoundError: the experiment has not been run, or was interrupted.
        ValueError: a file is not what `save` writes.
    """
    manifest = directory / f"{name}.json"
    try:
        content = json.loads(files.read(manifest))
        tables = {
            str(table): Table.from_csv(files.read(directory / f"{table}.csv").decode())
            for table in content["tables"]
        }
        if content["experiment"] != name or name not in tables:
            raise ValueError("it belongs to another experiment")
        arrays = _load_arrays(directory / f"{name}.npz", content.get("arrays", []))
        return Result(name, content["config"], tables, arrays)
    except FileNotFoundError:
        raise
    except (OSError, KeyError, TypeError, ValueError, csv.Error, RecursionError) as error:
        raise ValueError(f"{manifest} is not a saved result: {error}; run with --fresh") from error


def _load_arrays(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    if not names:
        return {}
    with files.opened(path) as file:
        found = npz.read(file, set(names).__contains__)
    return {str(name): found[name] for name in names}


def as_json(config: Any) -> dict[str, Any]:
    """The fields of a Config as JSON gives them back: tuples become lists."""
    fields: dict[str, Any] = json.loads(json.dumps(asdict(config)))
    return fields
