"""Jobs on threads."""

from __future__ import annotations

import os
import threading
import time
from multiprocessing import active_children

import pytest

from taskalgebra.paper.results.parallel import in_processes, part, seed_of, spread


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_outcomes_come_in_the_order_of_the_jobs(workers):
    def slow_at_first(i):
        time.sleep(0.01 if i == 0 else 0)
        return i * i

    seen = []
    squares = spread(slow_at_first, range(6), workers=workers, progress=seen.append)
    assert squares == [i * i for i in range(6)]
    assert seen == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])


def test_an_error_drops_the_jobs_that_have_not_begun():
    begun = []

    def fails(i):
        begun.append(i)
        time.sleep(0.005)
        raise RuntimeError(f"job {i}")

    with pytest.raises(RuntimeError, match="job 0"):
        spread(fails, range(100), workers=2)
    assert len(begun) < 20
    assert threading.active_count() < 10


def test_no_jobs_no_outcomes():
    assert spread(abs, []) == []


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_the_number_of_workers_is_checked(workers):
    with pytest.raises(ValueError, match="workers"):
        spread(abs, [1], workers=workers)


@pytest.mark.parametrize("workers", [1, 2])
def test_outcomes_of_processes_come_in_the_order_of_the_jobs(workers):
    assert list(in_processes(abs, range(-5, 0), workers)) == [5, 4, 3, 2, 1]
    assert not active_children()


def test_a_process_that_is_killed_is_an_error():
    with pytest.raises(OSError, match="fewer workers"):
        list(in_processes(os._exit, [0, 0], 2))
    assert not active_children()


def test_who_stops_early_does_not_wait_for_processes():
    outcomes = in_processes(time.sleep, [0, 60, 60, 60], 2)
    next(outcomes)
    start = time.monotonic()
    outcomes.close()
    assert time.monotonic() - start < 5
    assert not active_children()


def test_an_error_in_a_process_ends_the_others():
    start = time.monotonic()
    with pytest.raises(ValueError):
        list(in_processes(time.sleep, [-1, 60, 60], 2))
    assert time.monotonic() - start < 30
    assert not active_children()


def test_progress_of_a_part():
    seen = []
    half = part(seen.append, 0.5, 1.0)
    half(0.0)
    half(0.5)
    assert seen == [0.5, 0.75]
    assert part(None, 0.0, 1.0) is None


def test_seeds_of_different_jobs_differ():
    seeds = {seed_of(seed, i, j) for seed in range(3) for i in range(30) for j in range(30)}
    assert len(seeds) == 2700
    assert all(0 <= seed < 2**64 for seed in seeds)
