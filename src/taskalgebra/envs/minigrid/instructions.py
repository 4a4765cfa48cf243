r"""The instructions of BabyAI as formulas over time.

    task = instructions.read("BabyAI-GoToSeqS5R2-v0", seed=3)
    agent = ta.solve(task.explore())[task.formula]
    agent.play(task.make())

A level gives an instruction such as "go to the red ball, then go to a box and the grey key".  Its
tree of parts is read, not its text:

| instruction | formula |
|---|---|
| go to, pick up, open X | `F (X₁ \| X₂ \| …)`, the things that match |
| A and B | `A & B` |
| A, then B | `F (A & B)`, where B has its own F; for two things A₁ and A₂ in both orders |
| A after you B | the same, B first |

A thing is known by where it lay at first: "red ball 2" is the second red ball of the grid.  To go
to it is to have it in front.  Picking up and opening happen in a step, so that what the last step
did is part of the state (`Noticing`).  Nothing is ever put down, so an instruction to pick up two
things cannot be carried out, and one to put a thing next to another is refused.  Strict
instructions, which fail with the first wrong step, are refused, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, final

import gymnasium as gym

from taskalgebra.envs import minigrid_state
from taskalgebra.envs.explore import Explored, explore
from taskalgebra.envs.labels import GoalLabel
from taskalgebra.envs.minigrid.worlds import require_minigrid
from taskalgebra.envs.wrap import Wrapped, wrap
from taskalgebra.logic.expression import And, Expression, Name, Or
from taskalgebra.logic.temporal import Eventually

ACTIONS = {"left": 0, "right": 1, "forward": 2, "pick up": 3, "toggle": 5}
PICK_UP, TOGGLE = 3, 5
NEEDED = {"GoToInstr": (), "PickupInstr": ("pick up",), "OpenInstr": ()}
"""The actions that an instruction needs beside walking and opening doors."""
JOINT = " + "
"""Between the names of things that hold at once."""
VERBS = {"GoToInstr": "at", "PickupInstr": "picked up", "OpenInstr": "opened"}


@final
@dataclass(frozen=True)
class Instruction:
    """One instruction of BabyAI, as a task with time."""

    name: str
    seed: int
    mission: str
    formula: Expression
    world: Wrapped

    def make(self) -> gym.Env[Any, Any]:
        """The level itself."""
        return _make(self.name)

    def explore(self, limit: int = 100_000) -> Explored:
        """The states of the level with this seed, for `solve`."""
        return explore(
            self.world, seeds=(self.seed,), limit=limit, save=save, restore=restore, continuing=True
        )


def read(name: str, seed: int) -> Instruction:
    """The instruction of a level with this seed, and the world in which it is carried out.

    Args:
        name: of a registered level of BabyAI.
        seed: of the episode.

    Raises:
        ValueError: the instruction is of a kind that is not supported.
    """
    require_minigrid()
    env = Noticing(gym.make(name, disable_env_checker=True))
    try:
        env.reset(seed=seed)
        base: Any = env.unwrapped
        if getattr(base, "instrs", None) is None:
            raise ValueError(f"{name} has no instructions; give a level of BabyAI")
        parts = list(_simple(base.instrs))
        names = _things(base)
        goals = tuple(
            dict.fromkeys(
                f"{VERBS[type(part).__name__]} {names[place]}"
                for part in parts
                for place in _places(part, names)
            )
        )
        needed = {"left", "right", "forward", "toggle"}
        needed |= {action for part in parts for action in NEEDED[type(part).__name__]}
        if any(getattr(thing, "is_locked", False) for thing in base.grid.grid):
            needed.add("pick up")  # the key
        label = Done(goals, names)
        world = wrap(
            partial(_make, name),
            label,
            tasks={
                one: [each for each in label.among if one in each.split(JOINT)] for one in goals
            },
            actions={action: i for action, i in ACTIONS.items() if action in needed},
            step_reward=-0.1,
            max_episode_steps=int(base.max_steps),
        )
        return Instruction(name, seed, str(base.mission), _formula(base.instrs, names), world)
    finally:
        env.close()


def _make(name: str, **changes: Any) -> gym.Env[Any, Any]:
    return Noticing(gym.make(name, disable_env_checker=True, **changes))


class Noticing(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps in `env.unwrapped.noticed` which thing the last step picked up or opened, if any."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        found = self.env.reset(**kwargs)
        self.unwrapped.noticed = ()  # type: ignore[attr-defined]
        return found

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Act, and look what became of it."""
        base: Any = self.unwrapped
        held, front = base.carrying, base.grid.get(*base.front_pos)
        place, was_open = _place(base.front_pos), getattr(front, "is_open", None)
        found = self.env.step(action)
        base.noticed = ()
        if int(action) == PICK_UP and held is None and base.carrying is not None:
            base.noticed = ("picked up", place)
        elif int(action) == TOGGLE and was_open is False and front.is_open:
            base.noticed = ("opened", place)
        return found


def save(env: Any) -> tuple[Any, ...]:
    """The state of a level, and what its last step did."""
    return minigrid_state.save(env), env.noticed


def restore(env: Any, saved: tuple[Any, ...]) -> None:
    """Put a level into a state."""
    minigrid_state.restore(env, saved[0])
    env.noticed = saved[1]


@final
@dataclass(frozen=True, eq=False)
class Done(GoalLabel):
    """What was just done to a thing that an instruction speaks of.

    Several may hold at once, such as a door in front that was just opened; they are then one goal,
    with the names of all.
    """

    goals: tuple[str, ...]
    things: Mapping[tuple[int, int], str]

    @property
    def among(self) -> tuple[str, ...]:
        """What can be done, alone and, for a thing in front, together with what was just done."""
        done = [name for name in self.goals if not name.startswith("at ")]
        at = [name for name in self.goals if name.startswith("at ")]
        return (*self.goals, *(f"{one}{JOINT}{other}" for one in done for other in at))

    def goes_on(self, observation: Any) -> bool:
        """A level ends when it takes its instruction for done, which says nothing of the state."""
        return True

    def __call__(self, observation: Any, info: Mapping[str, Any], env: Any) -> str | None:
        """The names of all that hold, or None."""
        found = []
        if env.noticed and env.noticed[1] in self.things:
            found.append(f"{env.noticed[0]} {self.things[env.noticed[1]]}")
        place = _place(env.front_pos)
        if env.grid.get(*env.front_pos) is not None and place in self.things:
            found.append(f"at {self.things[place]}")
        return JOINT.join(name for name in found if name in self.goals) or None


def _place(position: Any) -> tuple[int, int]:
    column, row = position
    return int(column), int(row)


def _things(env: Any) -> dict[tuple[int, int], str]:
    """Names of all things on the grid, by their places: colour, type and, of several, a number."""
    kinds: dict[str, list[tuple[int, int]]] = {}
    for column in range(env.grid.width):
        for row in range(env.grid.height):
            thing = env.grid.get(column, row)
            if thing is not None and thing.type in ("door", "key", "ball", "box"):
                kinds.setdefault(f"{thing.color} {thing.type}", []).append((column, row))
    return {
        place: kind if len(places) == 1 else f"{kind} {i}"
        for kind, places in kinds.items()
        for i, place in enumerate(places, 1)
    }


def _simple(instruction: Any) -> Any:
    """The parts of an instruction that are about one thing."""
    kind = type(instruction).__name__
    if getattr(instruction, "strict", False):
        raise ValueError(
            f"the instruction {kind} is strict: it fails with the first wrong step, and that is "
            f"not read; give a level whose name does not end in Debug"
        )
    if kind in ("AndInstr", "BeforeInstr", "AfterInstr"):
        yield from _simple(instruction.instr_a)
        yield from _simple(instruction.instr_b)
    elif kind in NEEDED:
        yield instruction
    else:
        raise ValueError(
            f"the instruction {kind} is not supported; there are {', '.join(NEEDED)}, and And, "
            f"Before and After of them"
        )


def _formula(instruction: Any, names: Mapping[tuple[int, int], str]) -> Expression:
    kind = type(instruction).__name__
    if kind == "AndInstr":
        return And(_formula(instruction.instr_a, names), _formula(instruction.instr_b, names))
    if kind in ("BeforeInstr", "AfterInstr"):
        first, second = instruction.instr_a, instruction.instr_b
        if kind == "AfterInstr":
            first, second = second, first
        return _then(first, _formula(second, names), names)
    return Eventually(_reached(instruction, names))


def _then(first: Any, rest: Expression, names: Mapping[tuple[int, int], str]) -> Expression:
    """First an instruction is carried out, and from that step on the rest."""
    if type(first).__name__ == "AndInstr":
        one, other = (_reached(part, names) for part in (first.instr_a, first.instr_b))
        return Or(
            Eventually(And(one, Eventually(And(other, rest)))),
            Eventually(And(other, Eventually(And(one, rest)))),
        )
    return Eventually(And(_reached(first, names), rest))


def _reached(instruction: Any, names: Mapping[tuple[int, int], str]) -> Expression:
    """The things that will do, any of them."""
    verb = VERBS[type(instruction).__name__]
    leaves: list[Expression] = [
        Name(f"{verb} {names[place]}") for place in _places(instruction, names)
    ]
    return reduce(Or, leaves)


def _places(instruction: Any, names: Mapping[tuple[int, int], str]) -> list[tuple[int, int]]:
    """Where the things are that will do; to a level, walls are grey objects, too."""
    return [place for place in map(_place, instruction.desc.obj_poss) if place in names]
