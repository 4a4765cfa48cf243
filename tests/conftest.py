"""Shared fixtures: the Four Rooms of the paper, with its own rewards and with dyadic ones."""

from __future__ import annotations

import logging
import signal
import sys
import threading

import pytest
from hypothesis import settings

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.planning.exact import q_bar_star

settings.register_profile("default", deadline=None, max_examples=60)
settings.load_profile("default")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONGEST = (
    "tests/apps/cli/test_reproduce_on_ray.py",
    "tests/test_site.py",
    "tests/sweeps/test_ray.py",
    "tests/attack/test_attacks.py",
    "tests/apps/cli/test_reproduce.py",
    "tests/test_docs.py",
    "tests/apps/playground/browser/test_lessons.py",
    "tests/apps/cli/test_temporal.py",
    "tests/test_benchmarks.py",
    "tests/apps/playground/test_serve.py",
    "tests/apps/cli/test_interrupt.py",
    "tests/apps/playground/test_over_time.py",
    "tests/apps/playground/browser/test_axe.py",
    "tests/learning/deep/test_dqn_checkpoint.py",
    "tests/apps/playground/browser/test_lesson.py",
    "tests/learning/test_tabular.py",
    "tests/skills/test_sb3.py",
    "tests/learning/deep/test_deep.py",
    "tests/test_typing.py",
    "tests/skills/test_temporal.py",
    "tests/envs/boxman/test_boxman.py",
    "tests/logic/test_automaton.py",
)
"""Files that take longest, which begin: workers take files whole, and should end together."""


def pytest_collection_modifyitems(items):
    """Put the longest files first; all others, and tests within a file, keep their order."""
    rank = {file: i for i, file in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(rank)))


@pytest.fixture(autouse=True)
def _no_meter_is_left_running():
    """A meter that outlives its work would write into the output of other tests."""
    yield
    assert "meter" not in {thread.name for thread in threading.enumerate()}


@pytest.fixture(autouse=True)
def _the_log_stays_as_loud_as_it_was():
    """Pages and commands may choose how much is logged; the next test has its own choice."""
    logger = logging.getLogger("taskalgebra")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    """Pyplot keeps figures until they are closed, and warns of too many."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def four_rooms():
    """Step −0.125 and goal 2: all sums are exact in floating point."""
    return FourRooms(step_reward=-0.125)


@pytest.fixture(scope="session")
def space(four_rooms):
    """The task space of Four Rooms."""
    return four_rooms.space


@pytest.fixture(scope="session")
def all_tasks(space):
    """All 16 tasks."""
    return list(space.two_valued_tasks())


@pytest.fixture(scope="session")
def plan_of_all(space, all_tasks):
    """Q̄* of all 16 tasks, planned each on its own reward."""
    return q_bar_star(space, all_tasks)
