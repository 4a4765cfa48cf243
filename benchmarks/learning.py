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
from taskalgebra.planning.exact import q_bar_star
from taskalgebra.theory.tasks import Task
from taskalgebra.worlds.chance import seeded

R_BAR_MIN = -46.2
LEARNING = {4: 50_000, 40: 100_000}
"""Goals, and about how many steps a table takes to converge.

Updates that change nothing are skipped, so steps after that are cheaper than steps before; both
phases are measured, and whatever is compared runs over the same steps.
"""
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
    size = f"{n_goals} goals, {n_steps:,} steps"
    report.note(f"{size}: C, million steps a second", n_steps / min(in_c) / 1e6, "M/s")
    report.note(f"{size}: ours, million steps a second", n_steps / min(ours) / 1e6, "M/s")
    report.at_least(f"{size}: share of C's speed, same table", min(in_c) / min(ours), 0.7)


def against_python(report: Report, n_steps: int) -> None:
    """The readable learner in the Gymnasium environment, 4 goals, over the same steps as ours."""
    world = FourRooms()
    stop = Stop(steps=n_steps)
    goal_oriented_q_learning(world.task, Stop(steps=10))
    slow, fast = [], []
    for _ in range(3):
        slow.append(
            timed(lambda: readable.goal_oriented_q_learning(world, stop, r_bar_min=R_BAR_MIN))[0]
        )
        for _ in range(10):
            fast.append(
                timed(lambda: goal_oriented_q_learning(world.task, stop, r_bar_min=R_BAR_MIN))[0]
            )
    report.note(f"4 goals, {n_steps:,} steps: readable, steps a second", n_steps / min(slow), "/s")
    ratio = min(slow) / min(fast)
    report.at_least(f"4 goals, {n_steps:,} steps: ours / readable Python", ratio, 2000)


def stopping_test(report: Report, n_goals: int, n_steps: int) -> None:
    """The cost of testing the whole table against the optimum before every step."""
    world = FourRooms(n_goals)
    task = next(iter(world.tasks.values()))
    optimum = q_bar_star(world.space, [task]).values[0].table + 1.0  # never reached
    plain, tested = [], []
    for _ in range(7):
        plain.append(timed(lambda: goal_oriented_q_learning(task, Stop(steps=n_steps)))[0])
        stop = Stop(steps=n_steps, optimum=optimum)
        tested.append(timed(lambda s=stop: goal_oriented_q_learning(task, s))[0])
    size = f"{n_goals} goals, {n_steps:,} steps"
    report.at_most(f"{size}: with the stop-on-optimum test / without", min(tested) / min(plain), 3)


def main() -> None:
    """Run all bars, in the phase of learning and, longer, after the table has converged."""
    report = Report()
    for n_steps in (LEARNING[4], 200_000):
        against_python(report, n_steps)
    with tempfile.TemporaryDirectory() as folder:
        library = compile_c(folder)
        if library is None:
            report.fact("C loop", "no compiler")
        else:
            for n_goals, n_steps in LEARNING.items():
                against_c(report, library, n_goals, n_steps)
                against_c(report, library, n_goals, 40 * n_steps)
    for n_goals, n_steps in LEARNING.items():
        stopping_test(report, n_goals, n_steps)
        stopping_test(report, n_goals, 40 * n_steps)
    report.finish()


if __name__ == "__main__":
    main()
