"""Studies from TOML files: every key is known, and every error says where it is.

seed = 0                        # of all random numbers
seeds = 20                      # learnings of each learner in each world
episodes = 1000                 # to play of each task
tasks = ["top & left", "top ^ left"]

[[world]]
name = "four-rooms"             # of `taskalgebra list worlds`; or map = "maze.txt"
slip = 0.1                      # also: goal_reward, touch, base = ["top", "left"], title

[[learner]]
kind = "q-learning"             # planner, q-learning, few-steps or hindsight
steps = 100_000                 # its settings, and a title
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, final

from taskalgebra import files
from taskalgebra.limits import MOST_EPISODES, MOST_SEED
from taskalgebra.logic.formulas import parse
from taskalgebra.studies.measuring import opened
from taskalgebra.studies.study import LEARNERS, LearnerOf, Study, World
from taskalgebra.validation import closest, listed

LARGEST = 2**20
"""Bytes of a file."""
MOST_SEEDS = 1_000_000
TOP = ("seed", "seeds", "episodes", "tasks", "world", "learner")
OF_WORLD = ("name", "map", "slip", "goal_reward", "touch", "base", "title")
_WHOLE = ("steps", "episodes", "max_steps", "patience")


@final
class StudyError(ValueError):
    """A file that is not a study; the message names the file, the line and the key."""


def read(path: Path) -> tuple[Study, bytes]:
    """The study of a file, checked as far as that goes without learning, and the file's bytes.

    Raises:
        StudyError: it is not a study.
    """
    return _Reader(path).study()


class _Reader:
    """One file, and where its keys are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.data = files.read(path, LARGEST)
            self.text = self.data.decode()
            self.content: dict[str, Any] = tomllib.loads(self.text)
        except OSError as error:
            raise StudyError(f"cannot read {path}: {error.strerror or error}") from None
        except RecursionError:
            raise StudyError(f"{path} is not valid TOML: its lists are nested too deeply") from None
        except ValueError as error:  # numbers of thousands of digits are one, too
            raise StudyError(f"{path} is not valid TOML: {error}") from None

    def study(self) -> tuple[Study, bytes]:
        self._known(self.content, TOP, None, 0)
        worlds = tuple(self._world(i, each) for i, each in enumerate(self._tables("world")))
        learners = tuple(self._learner(i, each) for i, each in enumerate(self._tables("learner")))
        for what, own in (("world", worlds), ("learner", learners)):
            titles = [each.title for each in own]
            for i, title in enumerate(titles):
                if title in titles[:i]:
                    self._fail(f"two of them are called {title!r}; give each a title", what, i)
        tasks = self._words(self.content.get("tasks"), "tasks", None, 0)
        study = Study(
            worlds,
            learners,
            tasks,
            self._count("seeds", Study.seeds, 1, MOST_SEEDS),
            self._count("episodes", Study.episodes, 1, MOST_EPISODES),
            self._count("seed", Study.seed, 0, MOST_SEED),
        )
        for i, world in enumerate(worlds):
            self._check_tasks(i, world, tasks)
        return study, self.data

    def _world(self, i: int, given: Mapping[str, Any]) -> World:
        self._known(given, OF_WORLD, "world", i)
        if ("name" in given) == ("map" in given):
            self._fail("a world has a name or a map; give one of them", "world", i)
        key = "name" if "name" in given else "map"
        name = self._word(given[key], key, "world", i)
        text = self._map(name, i) if key == "map" else ""
        slip = self._number(given.get("slip", 0.0), "slip", "world", i)
        reward = given.get("goal_reward")
        if reward is not None and reward != "auto":
            reward = repr(self._number(reward, "goal_reward", "world", i))
        touch = given.get("touch", False)
        if not isinstance(touch, bool):
            self._fail(f"touch must be true or false, got {touch!r}", "world", i, "touch")
        base = self._words(given.get("base", []), "base", "world", i, least=0)
        title = f"{Path(name).stem}, slip {slip:g}" if slip else Path(name).stem
        title = self._word(given.get("title", title), "title", "world", i)
        return World(name, text, slip, reward, touch, base, title)

    def _map(self, name: str, i: int) -> str:
        path = files.at(name)
        path = path if path.is_absolute() else self.path.parent / path
        try:
            text = files.read(path, LARGEST).decode("utf-8-sig")
        except UnicodeDecodeError:
            self._fail(f"the map {path} is not text; draw it with characters", "world", i, "map")
        except OSError as error:
            why = error.strerror or error
            self._fail(f"cannot read the map {path}: {why}", "world", i, "map")
        if not text.strip():
            self._fail(f"the map {path} is empty", "world", i, "map")
        return text

    def _learner(self, i: int, given: Mapping[str, Any]) -> LearnerOf:
        kind = self._word(given.get("kind", ""), "kind", "learner", i)
        if kind not in LEARNERS:
            kinds = list(LEARNERS)
            self._fail(
                f"unknown learner {kind!r}; there are {listed(kinds)}{closest(kind, kinds)}",
                *("learner", i, "kind"),
            )
        self._known(given, ("kind", "title", *LEARNERS[kind]), "learner", i)
        own = {name: value for name, value in given.items() if name not in ("kind", "title")}
        for name, value in own.items():
            self._number(value, name, "learner", i)
            if name in _WHOLE and not isinstance(value, int):
                self._fail(f"{name} must be a whole number, got {value!r}", "learner", i, name)
        words = ", ".join(f"{name} {value:g}" for name, value in own.items())
        title = self._word(given.get("title", f"{kind}, {words}" if words else kind), "title")
        learner = LearnerOf(kind, tuple(sorted(own.items())), title)
        try:
            learner.make()
        except (TypeError, ValueError) as error:
            self._fail(str(error), "learner", i)
        return learner

    def _check_tasks(self, i: int, world: World, tasks: Sequence[str]) -> None:
        try:
            found = opened(world)
        except ValueError as error:
            self._fail(str(error), "world", i)
        for text in tasks:
            try:
                temporal = parse(text, list(found.base)).temporal
            except ValueError as error:
                self._fail(f"in the world {world.title!r}: {error}", None, 0, "tasks")
            if temporal:
                self._fail(
                    f"{text!r} is a formula over time; the tasks of a study are Boolean",
                    *(None, 0, "tasks"),
                )

    def _tables(self, name: str) -> Sequence[Mapping[str, Any]]:
        found = self.content.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            self._fail(f"write [[{name}]] above the keys of each {name}", None, 0, name)
        if not found:
            self._fail(f"a study has at least one [[{name}]]", None, 0)
        return found

    def _known(
        self, given: Mapping[str, Any], names: Sequence[str], table: str | None, i: int
    ) -> None:
        for key in given:
            if key not in names:
                self._fail(
                    f"unknown key {key!r}; there are {listed(names)}{closest(key, names)}",
                    *(table, i, key),
                )

    def _word(self, value: Any, key: str, table: str | None = None, i: int = 0) -> str:
        if not isinstance(value, str) or not value.strip():
            self._fail(f"{key} must be a word, got {value!r}", table, i, key)
        return value

    def _words(
        self, value: Any, key: str, table: str | None, i: int, least: int = 1
    ) -> tuple[str, ...]:
        fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if not fits or len(value) < least:
            self._fail(f'{key} must be a list such as ["top & left"], got {value!r}', table, i, key)
        for n, each in enumerate(value):
            if each in value[:n]:
                self._fail(f"{key} has {each!r} twice; name each once", table, i, key)
        return tuple(value)

    def _number(self, value: Any, key: str, table: str | None, i: int) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._fail(f"{key} must be a number, got {value!r}", table, i, key)
        return value

    def _count(self, key: str, default: int, least: int, most: int) -> int:
        value = self.content.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self._fail(
                f"{key} must be a whole number from {least} to {most:,}, got {value!r}",
                *(None, 0, key),
            )
        return int(value)

    def _fail(self, why: str, table: str | None, i: int, key: str | None = None) -> NoReturn:
        """Say what is wrong, with the line of a key in a table, as far as it can be found."""
        lines = self.text.splitlines()
        start, end = 0, len(lines)
        if table is not None:
            heads = [n for n, line in enumerate(lines) if re.match(r"\s*\[\[", line)]
            own = [n for n in heads if re.match(rf"\s*\[\[\s*{table}\s*\]\]", lines[n])]
            start = own[i] if i < len(own) else 0
            end = next((n for n in heads if n > start), end)
        found = start if table is not None else None
        if key is not None:
            pattern = re.compile(rf'\s*(\[\[?\s*)?"?{re.escape(key)}"?\s*[\]=]')
            found = next((n for n in range(start, end) if pattern.match(lines[n])), found)
        line = "" if found is None else f", line {found + 1}"
        raise StudyError(f"{self.path}{line}: {why}")
