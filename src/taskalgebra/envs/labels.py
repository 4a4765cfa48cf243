"""From labels to goals and base tasks.

A *label* is a function of a user's own that looks at an environment after a step and says which
goal was just reached, if any:

    def label(observation, info, env):
        return {"colour": env.carrying.color, "type": env.carrying.type} if env.carrying else None

It names the goal, or gives its *predicates*.  From predicates follow the goals, one for each
combination of values, and the base tasks: one for each value of a word (`red`), one for each truth
value (`top`), one for each number (`floor 3`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from taskalgebra.validation import closest, listed, unique_names

Value = str | bool | int
Predicates = Mapping[str, Value]
Label = Callable[[Any, Mapping[str, Any], Any], str | Predicates | None]
"""`label(observation, info, env)`: the environment's own observation, and `env` unwrapped."""
Among = Sequence[str] | Sequence[Predicates] | Mapping[str, Iterable[Value]]
"""All goals: their names, the predicates of each, or the values of each predicate."""
MOST_GOALS = 10_000


class GoalLabel(ABC):
    """A label that knows more than which goal was reached; for all else a function will do."""

    @property
    @abstractmethod
    def among(self) -> Among:
        """All goals, as `wrap(..., among=...)` takes them."""

    @abstractmethod
    def __call__(
        self, observation: Any, info: Mapping[str, Any], env: Any
    ) -> str | Predicates | None:
        """The name or the predicates of the goal just reached, or None."""

    def goes_on(self, observation: Any) -> bool:
        """Whether an end of the environment's where no goal is named is none here.

        The environment may have a goal of its own there, which no task knows.  By default ends are
        ends.
        """
        return False


@final
@dataclass(frozen=True)
class Goals:
    """The goals that a label can name, with their predicates, if it gives any.

    >>> goals = goals_among({"colour": ["red", "blue"], "big": [True, False]})
    >>> goals.names
    ('red big', 'red not big', 'blue big', 'blue not big')
    >>> goals.base_tasks()
    {'red': (0, 1), 'big': (0, 2), 'blue': (2, 3)}
    >>> goals.number({"colour": "blue", "big": False})
    3
    """

    names: tuple[str, ...]
    predicates: tuple[Predicates, ...] = ()
    found: bool = False  # by acting at random, so that there may be more
    elsewhere: str | None = None  # the last of the names, for ends that the label does not name

    def number(self, given: str | Predicates) -> int:
        """The number of the goal that a label has given.

        Raises:
            ValueError: it is none of these goals.
        """
        name = goal_name(in_order(given, self.predicates[0] if self.predicates else None))
        if name in self.names:
            return self.names.index(name)
        more = (
            f"these were found by acting at random, which may miss some: {self.with_more(given)}"
            if self.found
            else "give all goals with wrap(..., among=...)"
        )
        raise ValueError(
            f"the label gave {given!r}, which is none of the goals {listed(self.names)}; {more}"
            f"{'' if self.found else closest(name, self.names)}"
        )

    def with_more(self, given: str | Predicates) -> str:
        """How to name these goals and one more, in words."""
        among: object = [name for name in (*self.names, given) if name != self.elsewhere]
        if isinstance(given, Mapping) and self.predicates:
            every = (*self.predicates, given)
            among = {key: list(dict.fromkeys(one.get(key) for one in every)) for key in given}
        return f"wrap(..., among={among!r})"

    def base_tasks(self) -> dict[str, tuple[int, ...]]:
        """What each base task wants: by predicates, or each goal by its name."""
        if not self.predicates:
            return {name: (i,) for i, name in enumerate(self.names) if name != self.elsewhere}
        columns = self._columns()
        words = [word for _, word, _ in columns]
        tasks: dict[str, tuple[int, ...]] = {}
        for key, word, wanted in columns:
            name = word if words.count(word) == 1 else f"{key} {word}"
            if name in tasks:
                raise ValueError(
                    f"two predicates give the base task {name!r}; name their values differently"
                )
            tasks[name] = wanted
        return tasks

    def features(self) -> NDArray[np.float32]:
        """[G, D], a description of each goal: one column per base task, or per goal."""
        n_described = len(self.predicates)  # the others have a column each
        wanted = [goals for _, _, goals in self._columns()]
        wanted += [(i,) for i in range(n_described, len(self.names))]
        found = np.zeros((len(self.names), len(wanted)), np.float32)
        for column, goals in enumerate(wanted):
            found[list(goals), column] = 1.0
        return found

    def with_elsewhere(self, name: str) -> Goals:
        """These and one more, for ends that the label does not name."""
        if not isinstance(name, str) or not name:
            raise ValueError(
                f"elsewhere is {name!r}, expected a name for ends without a goal, such as 'lost'"
            )
        if name in self.names:
            raise ValueError(f"elsewhere is {name!r}, which is a goal of the label; use another")
        return Goals((*self.names, name), self.predicates, self.found, name)

    def _columns(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """Predicate, word and goals of each value; of truth values only what is true."""
        columns: dict[tuple[str, str], list[int]] = {}
        for i, predicates in enumerate(self.predicates):
            for key, value in predicates.items():
                place = columns.setdefault((key, _word(key, value, negated="")), [])
                place.append(i)
        return [(key, word, tuple(goals)) for (key, word), goals in columns.items() if word]


def goals_among(among: Among, *, found: bool = False) -> Goals:
    """The goals with these names, or with these values of predicates, in every combination."""
    if not isinstance(among, Mapping):
        if isinstance(among, str) or not isinstance(among, Iterable):
            raise TypeError(
                f"among is {among!r}, expected the names of all goals or {{predicate: values}}"
            )
        names: list[Any] = list(among)
        if names and all(isinstance(one, Mapping) for one in names):
            return _of_predicates(names, found)
        if any(isinstance(one, Mapping) for one in names):
            raise ValueError(
                f"some goals are names and others predicates: {listed(list(map(repr, names)))}; "
                f"give all of them as names, or all as predicates"
            )
        if not names:
            raise ValueError("among is empty; name at least one goal")
        return Goals(unique_names(names, "goal", "", len(names)), (), found)
    values = []
    for key, given in among.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise TypeError(f"among[{key!r}] is {given!r}, expected a list of its values")
        values.append([(key, value) for value in given])
        if not values[-1]:
            raise ValueError(f"among[{key!r}] has no values; give at least one")
    n_goals = int(np.prod([len(each) for each in values])) if values else 0
    if not 0 < n_goals <= MOST_GOALS:
        raise ValueError(f"among gives {n_goals:,} goals, expected 1 to {MOST_GOALS:,}")
    return _of_predicates([dict(each) for each in product(*values)], found)


def _of_predicates(given: Sequence[Predicates], found: bool) -> Goals:
    keys = set(given[0])
    for predicates in given:
        if set(predicates) != keys:
            raise ValueError(
                f"the label gave the predicates {sorted(predicates)}, and elsewhere "
                f"{sorted(keys)}; give every goal all predicates"
            )
    given = [in_order(predicates, given[0]) for predicates in given]
    names = [goal_name(predicates) for predicates in given]
    return Goals(unique_names(names, "goal", "", len(names)), tuple(given), found)


def in_order(given: Any, like: Any) -> Any:
    """Predicates in the order of others, so that equal ones have one name; all else as it is."""
    if isinstance(given, Mapping) and isinstance(like, Mapping) and set(given) == set(like):
        return {key: given[key] for key in like}
    return given


def goal_name(given: object) -> str:
    """The name of the goal that a label has given: as it is, or of its predicates."""
    if isinstance(given, str) and given:
        return given
    if isinstance(given, Mapping) and given:
        return " ".join(_word(key, value) for key, value in given.items())
    raise TypeError(
        f"the label gave {given!r}, expected the name of a goal, its predicates such as "
        f'{{"colour": "red", "big": True}}, or None where no goal was reached'
    )


def _word(key: object, value: object, negated: str = "not ") -> str:
    if not isinstance(key, str) or not key:
        raise TypeError(f"the label gave a predicate named {key!r}, expected a word")
    if isinstance(value, bool | np.bool_):
        if value:
            return key
        return f"{negated}{key}" if negated else ""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int | np.integer):
        return f"{key} {value}"
    raise TypeError(
        f"the label gave {key!r} the value {value!r}, expected a word, True or False, or a whole "
        f"number"
    )
