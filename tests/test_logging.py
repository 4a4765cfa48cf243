"""The library speaks through one logger, and prints only where it is asked to."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src/taskalgebra"
MODULES = sorted(PACKAGE.rglob("*.py"))
ASKED = {
    "apps/": "commands",
    "drawing/terminal.py": "agent.show()",
    "paper/experiments/command.py": "experiments that run as commands",
    "paper/experiments/boxman/training.py": "training that runs as a command",
}
"""Where printing is what was asked for."""


def calls(path):
    """The functions that a module calls, by name, with their arguments."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), [ast.unparse(given) for given in node.args]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_prints_nothing_unasked_and_logs_to_one_logger(path):
    name = str(path.relative_to(PACKAGE))
    for function, given in calls(path):
        if not name.startswith(tuple(ASKED)):
            assert function not in ("print", "warnings.warn", "sys.stdout.write"), function
        if function.endswith("getLogger") and "uvicorn.error" not in str(given):
            assert given == ["'taskalgebra'"]
        assert function not in ("logging.basicConfig", "logging.info", "logging.warning")


def test_where_printing_is_allowed_something_prints():
    for name in ASKED:
        found = [path for path in MODULES if str(path.relative_to(PACKAGE)).startswith(name)]
        assert any(function == "print" for path in found for function, _ in calls(path)), name


def test_planning_learning_and_playing_say_nothing():
    code = (
        "import taskalgebra as ta; world = ta.FourRooms(); ta.solve(world)['top'].evaluate(50);"
        "ta.learn(world, ['top'], learner=ta.QLearning(steps=2000))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""
