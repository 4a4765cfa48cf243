"""A worker keeps to its number of threads: planning, and torch, loaded before or after."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from taskalgebra.threads import OWN, VARIABLES, limit_threads, n_threads, thread_variables


def run(code, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in (*VARIABLES, OWN)} | variables
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


LIMIT = "from taskalgebra.threads import limit_threads, n_threads; limit_threads({})\n"
SHOW = "print(torch.get_num_threads(), n_threads())"


def test_torch_obeys_whether_it_is_loaded_before_or_after():
    assert run("import torch\n" + LIMIT.format(1) + SHOW) == ["1", "1"]
    assert run(LIMIT.format(1) + "import torch\n" + SHOW) == ["1", "1"]
    show = "from taskalgebra.threads import n_threads\nimport torch\n" + SHOW
    assert run(show, **thread_variables(1)) == ["1", "1"]


def test_numpy_obeys_the_variables_with_which_a_process_starts():
    code = (
        "import os, numpy as np\n"
        "a = np.ones((600, 600)); a @ a\n"
        "print(len(os.listdir('/proc/self/task')))"
    )
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("threads are counted in /proc")
    assert run(code, **thread_variables(1)) == ["1"]
    assert run(code) == [str(os.cpu_count())]  # or it would not be the variables


def test_limiting_loads_neither_torch_nor_numba():
    code = LIMIT.format(1) + "import sys; print('torch' in sys.modules, 'numba' in sys.modules)"
    assert run(code) == ["False", "False"]


def test_the_limit_holds_for_planning(monkeypatch):
    for name in (*VARIABLES, OWN):
        monkeypatch.setenv(name, os.environ.get(name, "1"))  # put back afterwards
    monkeypatch.delenv(OWN)
    assert n_threads() == len(os.sched_getaffinity(0))
    limit_threads(5)
    assert n_threads() == 5
    monkeypatch.setenv(OWN, "many")
    with pytest.raises(ValueError, match=f"{OWN} is 'many'"):
        n_threads()


@pytest.mark.parametrize("n", [0, -1, 10**6])
def test_impossible_numbers_are_refused(n):
    with pytest.raises(ValueError, match=f"number of threads is {n}, expected 1 to 1024"):
        limit_threads(n)


def test_numbers_are_whole():
    for n in (1.5, True, "2"):
        with pytest.raises(TypeError, match="expected a whole number"):
            thread_variables(n)
