"""OGBench's 3 × 3 button puzzle: all 512 boards planned exactly, each press done by an arm.

A press switches a button and those beside it.  `Buttons` is this rule, an environment of a few
lines whose actions are presses.  `Arm` is the same environment played by OGBench's simulated robot:
the oracle that comes with OGBench moves the arm, and what is seen are the real buttons afterwards.

    skills = solved()
    skills["F(full & X F dark)"].play(Arm())
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import product
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete, MultiBinary
from numpy.typing import ArrayLike, NDArray

import taskalgebra as ta
from taskalgebra.envs.explore import Explored
from taskalgebra.envs.wrap import Wrapped
from taskalgebra.extras import missing
from taskalgebra.skills.skills import Skills
from taskalgebra.validation import checked_action, checked_options

SIDE = 3
NAMES = tuple(f"b{i}" for i in range(SIDE * SIDE))
"""The buttons, row by row, numbered as OGBench does."""
PATTERNS = {
    "dark": (0, 0, 0, 0, 0, 0, 0, 0, 0),
    "full": (1, 1, 1, 1, 1, 1, 1, 1, 1),
    "corners": (1, 0, 1, 0, 0, 0, 1, 0, 1),
    "cross": (0, 1, 0, 1, 1, 1, 0, 1, 0),
}
"""Whole boards with a name."""
LIMIT = 50
"""Presses of an episode."""
TOP = "btntop_{}"
"""OGBench's name for the top of a button."""

Board = NDArray[np.int8]


class Buttons(gym.Env[Any, Any]):
    """Nine buttons that are on or off; action i presses button i."""

    observation_space = MultiBinary(len(NAMES))
    action_space = Discrete(len(NAMES))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Board, dict[str, Any]]:
        """Begin with a random board, or with `options["buttons"]`, nine zeros and ones."""
        super().reset(seed=seed)
        given = checked_options(options, "buttons")
        drawn = self.np_random.integers(0, 2, len(NAMES))
        self.buttons = drawn.astype(np.int8) if given is None else _board(given)
        return self.buttons.copy(), {}

    def step(self, action: Any) -> tuple[Board, float, bool, bool, dict[str, Any]]:
        """Press a button."""
        self.buttons = pressed(self.buttons, checked_action(action, NAMES))
        return self.buttons.copy(), 0.0, False, False, {}


def pressed(buttons: Board, i: int) -> Board:
    """The board after a press of button i: it and those beside it are switched."""
    board = buttons.reshape(SIDE, SIDE).copy()
    row, column = divmod(i, SIDE)
    board[row, max(column - 1, 0) : column + 2] ^= 1
    board[max(row - 1, 0) : row + 2, column] ^= 1
    board[row, column] ^= 1  # it was switched twice
    return board.ravel()


def _board(given: ArrayLike) -> Board:
    board = np.asarray(given)
    if board.shape != (len(NAMES),) or not np.isin(board, (0, 1)).all():
        raise ValueError(f"a board is {len(NAMES)} zeros and ones, got {given!r}")
    return board.astype(np.int8)


class Arm(Buttons):
    """The same buttons, pressed by OGBench's simulated arm; it needs the extra `ogbench`.

    A step is one press: OGBench's `ButtonMarkovOracle` moves the arm to the button, presses it and
    moves away.  The board that is seen is that of the simulator.  `info["simulator_steps"]` are the
    steps that it took, and `info["as_ruled"]` says whether the buttons changed as they should.

    Raises:
        ModuleNotFoundError: OGBench is not installed.
    """

    def __init__(self) -> None:
        """Build the simulator, which takes some seconds."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # such as that there is no display
                import_module("ogbench")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(missing("the arm", "ogbench", "ogbench")) from error
        oracles = import_module("ogbench.manipspace.oracles.markov.button_markov")
        made = gym.make(
            "puzzle-3x3-v0",
            mode="data_collection",  # in which nothing but the arm and the buttons is set up
            terminate_at_goal=False,
            disable_env_checker=True,
        )
        self.simulator: Any = made.unwrapped
        self.oracle: Any = oracles.ButtonMarkovOracle(env=self.simulator)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Board, dict[str, Any]]:
        """Begin with the board that `Buttons` begins with, and the arm at a random place."""
        board, info = super().reset(seed=seed, options=options)
        _, own = self.simulator.reset(seed=int(self.np_random.integers(2**31)))
        self.simulator.set_state(own["qpos"], own["qvel"], board.astype(np.int64))
        return board, info

    def step(self, action: Any) -> tuple[Board, float, bool, bool, dict[str, Any]]:
        """Let the oracle press a button, or give up after its limit of 100 steps."""
        i = checked_action(action, NAMES)
        ruled, wanted, n = pressed(self.buttons, i), 1 - self.buttons[i], 0
        info = self.simulator.compute_ob_info()
        self._reset_oracle(info)
        while not self.oracle.done:
            told = {
                **info,
                "privileged/target_button": i,
                "privileged/target_button_state": wanted,
                "privileged/target_button_top_pos": self.simulator.data.site(TOP.format(i)).xpos,
            }
            *_, info = self.simulator.step(self.oracle.select_action(None, told))
            n += 1
        self.buttons = np.array(
            [info[f"privileged/button_{j}_state"] for j in range(len(NAMES))], np.int8
        )
        about = {"simulator_steps": n, "as_ruled": bool((self.buttons == ruled).all())}
        return self.buttons.copy(), 0.0, False, False, about

    def _reset_oracle(self, info: Mapping[str, Any]) -> None:
        """Draw where the arm ends; the oracle draws from numpy's global numbers, kept as they are.

        So equal seeds give equal episodes.
        """
        before = np.random.get_state()
        np.random.seed(int(self.np_random.integers(2**31)))
        self.oracle.reset(None, info)
        np.random.set_state(before)

    def close(self) -> None:
        """Close the simulator."""
        self.simulator.close()


def label(observation: Sequence[int] | Board, info: Mapping[str, Any], env: Any) -> dict[str, bool]:
    """What is true of a board: which buttons are on, and whether it is one of the patterns."""
    board = tuple(int(one) for one in observation)
    on = {name: bool(one) for name, one in zip(NAMES, board, strict=True)}
    return on | {name: board == pattern for name, pattern in PATTERNS.items()}


def exactly(board: ArrayLike) -> str:
    """The expression that is true of one board alone.

    >>> exactly([1, 0, 0, 0, 0, 0, 0, 0, 1])
    'b0 & !b1 & !b2 & !b3 & !b4 & !b5 & !b6 & !b7 & b8'
    """
    return " & ".join(
        name if on else f"!{name}" for name, on in zip(NAMES, _board(board), strict=True)
    )


def world() -> Wrapped:
    """The rule as a world in which every press enters a goal, the board that it makes."""
    boards = [label(board, {}, None) for board in product((0, 1), repeat=len(NAMES))]
    return ta.wrap(Buttons, label, among=boards, max_episode_steps=LIMIT)


def explored() -> Explored:
    """All 512 boards, found by trying all presses; episodes begin with five of them."""
    return ta.explore(world(), seeds=range(5), continuing=True)


def solved() -> Skills:
    """The puzzle: formulas over time, planned exactly."""
    return ta.solve(explored())
