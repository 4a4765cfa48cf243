"""The command line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys

import pytest

from boxman_skills import write_untrained
from taskalgebra import cli
from taskalgebra.cli import reproduce
from taskalgebra.experiments import deep_suite, suite
from taskalgebra.experiments.record import Table, load
from taskalgebra.figures import deep_gallery, gallery


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """A quick reproduction from nothing, run as a user would."""
    out = tmp_path_factory.mktemp("cli") / "deep" / "out"
    command = [sys.executable, "-m", "taskalgebra.cli", "reproduce", "tabular"]
    done = subprocess.run(
        [*command, "--quick", "--fresh", "--out", str(out)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    return out, done


def test_reproduce_writes_results_figures_and_claims(reproduced):
    out, done = reproduced
    assert done.returncode == 0, done.stderr
    for name, experiment in suite.TABULAR.items():
        assert load(name, out).config == suite.as_json(experiment.quick)
    for name in gallery.FIGURES:
        for kind in ("png", "pdf"):
            assert (out / "figures" / f"{name}.{kind}").stat().st_size > 5000
    assert not [path for path in out.rglob(".*")]
    claims = json.loads((out / "claims.json").read_text(encoding="utf-8"))
    table = Table.from_csv((out / "claims.csv").read_text(encoding="utf-8"))
    assert len(claims) == table.n_rows > 15
    assert [c["claim"] for c in claims] == table["claim"].tolist()
    assert done.stdout.count("measured:") == len(claims)
    assert "claims hold as stated" in done.stdout


def test_progress_is_for_terminals_only(reproduced):
    _, done = reproduced
    assert "\r" not in done.stderr + done.stdout
    assert "left" not in done.stderr


def test_finished_results_are_kept_on_a_second_run(reproduced, capsys, monkeypatch):
    out, done = reproduced
    monkeypatch.setattr(gallery, "draw_all", lambda *args, **kwargs: [])
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.csv")}
    assert cli.main(["reproduce", "tabular", "--quick", "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert captured.err.count("kept") == len(suite.TABULAR)
    assert captured.out == done.stdout
    after = {path: path.stat().st_mtime_ns for path in out.glob("*.csv")}
    assert {p for p in after if after[p] != before[p]} == {out / "claims.csv"}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["reproduce"],
        ["reproduce", "everything"],
        ["reproduce", "tabular", "--workers", "0"],
        ["reproduce", "tabular", "--workers", "two"],
        ["reproduce", "tabular", "--surprise"],
        ["reproduce", "tabular", "--out", __file__],
        ["reproduce", "tabular", "--train"],
        ["reproduce", "tabular", "--skills", "."],
        ["reproduce", "deep", "--train", "--skills", "."],
        ["reproduce", "deep", "--skills", __file__],
    ],
)
def test_wrong_usage_is_2(arguments, capsys):
    assert cli.main(arguments) == 2


def test_help_and_version(capsys):
    for arguments in (["--help"], ["--version"], ["reproduce", "--help"]):
        assert cli.main(arguments) == 0
    assert "taskalgebra 0." in capsys.readouterr().out


def test_ctrl_c_is_130_and_says_what_is_kept(tmp_path, monkeypatch, capsys):
    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(suite, "obtain", stopped)
    assert cli.main(["reproduce", "tabular", "--quick", "--out", str(tmp_path)]) == 130
    assert "kept" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_an_error_in_words(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    code = cli.main(["reproduce", "tabular", "--quick", "--out", str(tmp_path / "file" / "out")])
    assert code == 1
    assert "taskalgebra: " in capsys.readouterr().err


def test_without_matplotlib_the_extra_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(reproduce, "find_spec", lambda name: None)
    assert cli.main(["reproduce", "tabular", "--out", str(tmp_path)]) == 1
    assert "taskalgebra[figures]" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """A quick evaluation of networks that know nothing."""
    place = tmp_path_factory.mktemp("deep")
    write_untrained(place / "skills")
    arguments = ["reproduce", "deep", "--quick", "--skills", str(place / "skills")]
    arguments += ["--out", str(place / "out")]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert cli.main(arguments) == 0
    return place / "out", arguments, out.getvalue()


def test_reproduce_deep_writes_results_figures_films_and_claims(evaluated):
    out, _, text = evaluated
    for name, experiment in deep_suite.DEEP.items():
        config = load(name, out).config
        assert {k: v for k, v in config.items() if k != "skills"} == suite.as_json(experiment.quick)
        assert list(config["skills"]) == ["fixed", "random", "touch"]
    for name in deep_gallery.FIGURES:
        for kind in ("png", "pdf"):
            assert (out / "figures" / f"{name}.{kind}").stat().st_size > 5000
    for name in deep_gallery.FILMS:
        assert 5000 < (out / "figures" / f"{name}.gif").stat().st_size < 600_000
    assert not [path for path in out.rglob(".*")]
    claims = json.loads((out / "claims.json").read_text(encoding="utf-8"))
    assert text.count("measured:") == len(claims) == 8
    assert "DOES NOT HOLD" in text  # they know nothing
    assert "Boxman, at toy size" in text


def test_a_second_evaluation_keeps_results_of_the_same_skills(evaluated, capsys, monkeypatch):
    _, arguments, text = evaluated
    monkeypatch.setattr(deep_gallery, "draw_all", lambda *args, **kwargs: [])
    assert cli.main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err.count("kept") == len(deep_suite.DEEP)
    assert captured.out == text


def test_without_skills_training_is_recommended(tmp_path, capsys):
    arguments = ["reproduce", "deep", "--skills", str(tmp_path / "none")]
    assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "no skills at" in error and "--train" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("package", ["torch", "safetensors", "matplotlib"])
def test_deep_names_the_extra_that_is_missing(package, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(reproduce, "find_spec", lambda name: None if name == package else name)
    assert cli.main(["reproduce", "deep", "--out", str(tmp_path)]) == 1
    extra = "figures" if package == "matplotlib" else "deep"
    error = capsys.readouterr().err
    assert package in error and f"taskalgebra[{extra}]" in error
    assert list(tmp_path.iterdir()) == []


def test_train_trains_every_setting_below_the_results_and_evaluates_that(
    tmp_path, monkeypatch, capsys
):
    trained = []

    def train(name, out, *, recipe, listen):
        trained.append((name, out, recipe.settings.n_updates))
        write_untrained(out)

    checkpoint = tmp_path / "skills" / "training" / "boxman" / "all.safetensors"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_bytes(b"")
    seen = []

    def obtain(name, out, skills, digests, **how):
        seen.append((name, list(skills)))
        raise KeyboardInterrupt

    monkeypatch.setattr(deep_suite.boxman_training, "train", train)
    monkeypatch.setattr(deep_suite, "obtain", obtain)
    arguments = ["reproduce", "deep", "--train", "--quick", "--out", str(tmp_path)]
    assert cli.main(arguments) == 130
    assert [name for name, _, _ in trained] == ["boxman", "boxman-random", "boxman-touch"]
    assert {out for _, out, _ in trained} == {tmp_path / "skills"}
    assert checkpoint.exists()
    assert seen[0][1] == ["fixed", "random", "touch"]
    assert cli.main([*arguments, "--fresh"]) == 130
    assert not checkpoint.exists()


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self):
        return True


def test_the_meter_shows_time_left_on_a_terminal():
    out = Terminal()
    meter = reproduce.Meter({"one": 3.0, "two": 6.0}, out)
    meter.begin("one")
    assert 8.9 < meter.left(0.0) <= 9.1
    meter.end("kept")
    meter.begin("two")
    assert 2.9 < meter.left(0.5) < 3.1 or meter.left(0.5) < 0.1
    meter.end("")
    text = out.getvalue()
    assert "about 9 s left in all" in text
    assert text.count("\n") == 2
    assert "kept" in text
