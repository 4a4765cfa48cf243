"""The command as a whole: help, version, usage, and what it does without its packages."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

import pytest

from taskalgebra import __version__
from taskalgebra.apps import cli

COMMANDS = ("solve", "learn", "evaluate", "check", "reproduce", "play", "bench", "list")


def test_version(run):
    assert run("--version") == (0, f"taskalgebra {__version__}\n", "")


def test_help_lists_every_command_and_ends_with_examples(run):
    code, out, _ = run("--help")
    assert code == 0
    assert all(f" {name} " in out for name in COMMANDS)
    assert "Examples" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples_of_itself(command, run):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert f"taskalgebra {command}" in out.split("Examples")[1]


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "play"])
def test_commands_that_print_figures_have_json_and_quiet(command, run):
    out = run(command, "--help")[1]
    assert "--json" in out and "--quiet" in out


def test_examples_in_help_are_accepted_by_their_own_command():
    from typer.main import get_command

    from taskalgebra.apps.cli import bench, check, evaluate, learn, listing, play, reproduce, solve
    from taskalgebra.apps.cli.app import app

    group = get_command(app)
    for module in (solve, learn, evaluate, check, reproduce, play, bench, listing):
        for given, _ in module.EXAMPLES:
            name, *arguments = shlex.split(given)
            command = group.commands[name]
            command.make_context(name, arguments)  # parsed, not run


def test_nothing_and_nonsense_are_wrong_usage(run):
    assert run()[0] == 2
    code, _, err = run("slove")
    assert code == 2 and "solve" in err
    assert run("solve", "top", "--surprise")[0] == 2


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_its_packages_the_command_names_the_extra(package, monkeypatch, run):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == package else name)
    code, out, err = run("list")
    assert (code, out) == (1, "")
    assert err == f'the command needs {package}: pip install "taskalgebra[cli]"\n'


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from taskalgebra.apps.cli import main; main(['--help']);"
        "print(sorted({'numpy', 'numba', 'gymnasium', 'torch', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def complete(words, tmp_path):
    """What the shell offers behind these words."""
    environment = {
        **os.environ,
        "_TASKALGEBRA_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "taskalgebra.apps.cli"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    return done.stdout.split()


def test_the_shell_completes_commands_worlds_and_maps(tmp_path):
    (tmp_path / "fortress.txt").write_text("#A#")
    assert complete("taskalgebra ev", tmp_path) == ["evaluate"]
    found = complete("taskalgebra solve x --world fo", tmp_path)
    assert found == ["four-rooms", "forty-goals", "fortress.txt"]


def test_output_in_a_pipe_is_plain_and_a_reader_may_leave(tmp_path):
    command = [
        sys.executable,
        "-m",
        "taskalgebra.apps.cli",
        "solve",
        "top ^ left",
        "--episodes",
        "10",
    ]
    environment = {**os.environ, "COLORTERM": "truecolor", "TERM": "xterm-256color"}
    done = subprocess.run(command, capture_output=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0
    assert "◆".encode() in done.stdout
    assert b"\x1b" not in done.stdout + done.stderr and done.stderr == b""
    listing = [*command[:3], "list", "worlds"]
    reader = subprocess.Popen(listing, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    reader.stdout.close()
    assert reader.wait() in (0, 1)
    assert b"Traceback" not in reader.stderr.read()
    reader.stderr.close()


def test_the_module_runs_and_prints_json_alone(tmp_path):
    command = [sys.executable, "-m", "taskalgebra.apps.cli", "list", "worlds", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert [w["name"] for w in json.loads(done.stdout)["worlds"]][:2] == [
        "four-rooms",
        "forty-goals",
    ]
