"""Algorithm 1, compiled, against readable Python and against a loop in C doing the same updates.

python benchmarks/learning.py
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from report import Report
from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning import readable
from taskalgebra.learning.q_learning import Stop, goal_oriented_q_learning
from taskalgebra.learning.stream import seeded
from taskalgebra.planning import q_bar_star
from taskalgebra.tasks import Task

R_BAR_MIN = -46.2
HERE = Path(__file__).parent


def compile_c(folder: str) -> ctypes.CDLL | None:
    """The loop of learning.c, compiled with -O3; None where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    library = Path(folder) / "learning.so"
    source = str(HERE / "learning.c")
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", "-o", str(library), source], check=True)
    return ctypes.CDLL(str(library))


def run_c(library: ctypes.CDLL, task: Task, n_steps: int) -> np.ndarray:
    """Learn in C; the random numbers and the order of updates are those of the kernel."""
    mdp = task.space.mdp
    q = np.zeros((mdp.n_states, mdp.n_goals, mdp.n_actions))
    arrays = [
        np.ascontiguousarray(mdp.next_state, np.int32),
        np.ascontiguousarray(task.steps),
        np.ascontiguousarray(mdp.goal_of_state, np.int32),
        np.ascontiguousarray(task.goal_reward),
        np.ascontiguousarray(mdp.starts, np.int32),
        q,
        seeded(0),
    ]
    library.learn(
        *(a.ctypes.data_as(ctypes.c_void_p) for a in arrays),
        *(ctypes.c_int64(n) for n in (mdp.starts.size, *q.shape, n_steps)),
        *(ctypes.c_double(x) for x in (R_BAR_MIN, 1.0, 1.0)),
    )
    return q


def timed(action) -> tuple[float, object]:
    """Seconds and result of one run."""
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def against_c(report: Report, library: ctypes.CDLL, n_goals: int, n_steps: int) -> None:
    """Alternate both, so that a busy machine slows both alike, and take the best of each."""
    world = FourRooms(n_goals)
    task = next(iter(world.tasks.values()))
    stop = Stop(steps=n_steps)
    goal_oriented_q_learning(task, Stop(steps=10), r_bar_min=R_BAR_MIN)
    in_c, ours = [], []
    for _ in range(7):
        seconds, table = timed(lambda: run_c(library, task, n_steps))
        in_c.append(seconds)
        seconds, run = timed(lambda: goal_oriented_q_learning(task, stop, r_bar_min=R_BAR_MIN))
        ours.append(seconds)
    assert np.array_equal(run.q, table)
    report.note(f"{n_goals} goals: C, million steps a second", n_steps / min(in_c) / 1e6, "M/s")
    report.note(f"{n_goals} goals: ours, million steps a second", n_steps / min(ours) / 1e6, "M/s")
    share = min(in_c) / min(ours)
    report.at_least(f"{n_goals} goals: our speed as a share of C, identical table", share, 0.7)


def against_python(report: Report) -> None:
    """The readable learner in the Gymnasium environment, 4 goals; the best of several each."""
    world = FourRooms()
    few, many = Stop(steps=20_000), Stop(steps=20_000_000)
    goal_oriented_q_learning(world.task, Stop(steps=10))
    slow, fast = [], []
    for _ in range(5):
        run = timed(lambda: readable.goal_oriented_q_learning(world, few, r_bar_min=R_BAR_MIN))
        slow.append(run[0] / 20_000)
        run = timed(lambda: goal_oriented_q_learning(world.task, many, r_bar_min=R_BAR_MIN))
        fast.append(run[0] / 20_000_000)
    report.note("4 goals: readable Python, steps a second", 1 / min(slow), "/s")
    report.at_least("4 goals: ours / readable Python", min(slow) / min(fast), 2000)


def stopping_test(report: Report, n_goals: int, n_steps: int) -> None:
    """The cost of testing the whole table against the optimum before every step."""
    world = FourRooms(n_goals)
    task = next(iter(world.tasks.values()))
    optimum = q_bar_star(world.space, [task]).values[0].table + 1.0  # never reached
    plain, tested = Stop(steps=n_steps), Stop(steps=n_steps, optimum=optimum)
    times: dict[str, list[float]] = {"plain": [], "tested": []}
    for _ in range(5):
        for name, stop in (("plain", plain), ("tested", tested)):
            times[name].append(timed(lambda s=stop: goal_oriented_q_learning(task, s))[0])
    ratio = min(times["tested"]) / min(times["plain"])
    report.at_most(f"{n_goals} goals: with the stop-on-optimum test / without", ratio, 3)


def main() -> None:
    """Run all bars."""
    report = Report()
    against_python(report)
    with tempfile.TemporaryDirectory() as folder:
        library = compile_c(folder)
        if library is None:
            report.fact("C loop", "no compiler")
        else:
            against_c(report, library, 4, 10_000_000)
            against_c(report, library, 40, 2_000_000)
    stopping_test(report, 4, 4_000_000)
    stopping_test(report, 40, 1_000_000)
    report.finish()


if __name__ == "__main__":
    main()
