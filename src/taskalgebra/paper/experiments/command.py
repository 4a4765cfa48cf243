"""Experiments as commands of their own: one option per field of the configuration."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

from taskalgebra.paper.results.record import Result

Config = TypeVar("Config")


def command(
    config: type[Config],
    run: Callable[[Config, Path], Result],
    *,
    out: Path = Path("trained"),
    text: Callable[[Result], str] = lambda result: result.table.to_csv(),
) -> None:
    """Run an experiment as this process was asked to, save its result and print it.

    Args:
        config: the configuration; its defaults are those of the options.
        run: takes the configuration and the directory.
        out: the directory, unless `--out` names another.
        text: what is printed.
    """
    parser = ArgumentParser(description=config.__doc__)
    parser.add_argument("--out", type=Path, default=out, metavar="DIR", help=f"default: {out}")
    for field in fields(config):  # type: ignore[arg-type]
        option = f"--{field.name.replace('_', '-')}"
        if isinstance(field.default, tuple):
            kind = type(field.default[0])
            parser.add_argument(option, type=kind, nargs="+", default=field.default)
        else:
            parser.add_argument(option, type=type(field.default), default=field.default)
    given = vars(parser.parse_args())
    out = given.pop("out")
    own = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    result = run(config(**own), out)
    result.save(out)
    print(text(result))
