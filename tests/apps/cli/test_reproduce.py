"""`taskalgebra reproduce`: the whole at toy size, stopped in the middle and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from boxman_skills import write_untrained
from taskalgebra.apps import cli
from taskalgebra.apps.cli.claims import TOY
from taskalgebra.apps.cli.output import Output
from taskalgebra.apps.cli.reproduce import reporter
from taskalgebra.paper import reproduce
from taskalgebra.paper.catalogue import PICTURES
from taskalgebra.paper.experiments import suite
from taskalgebra.paper.experiments.boxman import training
from taskalgebra.paper.results.record import Table, as_json, load
from taskalgebra.progress import Event

HALVES = {
    half: {name: e for name, e in suite.EXPERIMENTS.items() if e.half == half}
    for half in ("tabular", "deep")
}
COMMAND = [sys.executable, "-m", "taskalgebra.apps.cli", "reproduce"]
ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "utf-8"}


def results_in(text):
    """The parts that a run says it has finished."""
    first_words = [line.partition(" ")[0] for line in text.splitlines()]
    return [word for word in first_words if word in suite.EXPERIMENTS]


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """Everything from nothing, as a user would: Ctrl-C in the middle, then again to the end."""
    place = tmp_path_factory.mktemp("reproduce")
    write_untrained(place / "skills")
    out = place / "deep" / "out"
    command = [*COMMAND, "--quick", "--skills", str(place / "skills"), "--out", str(out)]
    lines = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as first:
        for line in first.stderr:
            lines.append(line)
            if line.startswith("n_tasks"):
                first.send_signal(signal.SIGINT)
    left = sorted(path.relative_to(out) for path in out.rglob("*"))
    second = subprocess.run([*command, "--json"], capture_output=True, text=True, env=ENVIRONMENT)
    assert second.returncode == 0, second.stderr
    return SimpleNamespace(
        out=out,
        options=["--quick", "--skills", str(place / "skills"), "--out", str(out)],
        stopped=first.returncode,
        said="".join(lines),
        left=left,
        finished=results_in("".join(lines)),
        second=second,
        document=json.loads(second.stdout),
    )


def test_ctrl_c_is_130_says_what_is_kept_and_leaves_whole_files(reproduced):
    assert reproduced.stopped == 130
    said = f"finished results are kept in {reproduced.out}, and the same command continues"
    assert reproduced.said.splitlines()[-1] == f"stopped; {said}"
    assert "Traceback" not in reproduced.said
    assert "n_tasks" in reproduced.finished
    assert "baselines" not in reproduced.finished
    assert not [path for path in reproduced.left if path.suffix == ".tmp"]
    manifests = {p.stem for p in reproduced.left if p.suffix == ".json"} - {"provenance"}
    assert manifests >= set(reproduced.finished)
    assert "claims" not in manifests and "index" not in {p.stem for p in reproduced.left}


def test_the_second_run_resumes_where_the_first_was_stopped(reproduced):
    kept = [part["name"] for part in reproduced.document["parts"] if part["kept"]]
    assert kept[: len(reproduced.finished)] == reproduced.finished
    assert len(kept) <= len(reproduced.finished) + 1  # Ctrl-C may come while one is being reported
    assert [part["name"] for part in reproduced.document["parts"]] == [
        *HALVES["tabular"],
        "tabular figures",
        *HALVES["deep"],
        "deep figures",
        "report",
    ]


def test_off_a_terminal_progress_is_whole_lines(reproduced):
    assert not set("\r\x1b") & set(reproduced.second.stderr)


def test_results_are_of_the_quick_configuration(reproduced):
    for name, experiment in suite.EXPERIMENTS.items():
        config = dict(load(name, reproduced.out / "results" / experiment.half).config)
        if experiment.skilled:
            assert list(config.pop("skills")) == ["fixed", "random", "touch"]
        assert config == as_json(experiment.config(quick=True))


def test_every_figure_is_drawn(reproduced):
    for name, picture in PICTURES.items():
        half = suite.EXPERIMENTS[picture.needs[0]].half
        for ending in picture.endings:
            path = reproduced.out / "results" / half / "figures" / f"{name}.{ending}"
            assert path.stat().st_size > 5000
    assert not [path for path in reproduced.out.rglob(".*")]


def test_claims_are_written_as_table_and_as_json_and_printed(reproduced):
    for half in ("tabular", "deep"):
        directory = reproduced.out / "results" / half
        claims = json.loads((directory / "claims.json").read_text(encoding="utf-8"))
        table = Table.from_csv((directory / "claims.csv").read_text(encoding="utf-8"))
        assert [c["verdict"] for c in claims] == table["verdict"].tolist()
        assert reproduced.document["claims"][half] == claims
    verdicts = {c["where"]: c["verdict"] for c in reproduced.document["claims"]["deep"]}
    assert verdicts["Fig. 5"] == "does not hold"  # the networks know nothing


def test_the_report_says_that_it_is_of_toy_size(reproduced):
    path = reproduced.out / "report" / "index.html"
    assert reproduced.document["report"] == str(path)
    assert "Toy size." in path.read_text(encoding="utf-8")


def test_a_figure_of_finished_results_is_drawn_and_its_claims_are_printed(reproduced, capsys):
    assert cli.main(["reproduce", "figure-4", *reproduced.options]) == 0
    said = capsys.readouterr()
    assert "kept" in said.err
    assert said.out.count("measured:") == 1
    assert "does not hold  Fig. 4" in said.out
    assert "of 1 claims, 0 hold, 0 hold in part, 1 does not hold" in said.out
    assert "figure_4_extended_values.png" in said.out
    assert said.out.splitlines()[-1] == TOY


def test_a_damaged_result_is_reported_with_a_remedy(reproduced, capsys):
    path = reproduced.out / "results" / "tabular" / "rewards.csv"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace("average", "mean", 1), encoding="utf-8")
    try:
        code = cli.main(["reproduce", "figure-1", "--quick", "--out", str(reproduced.out)])
    finally:
        path.write_text(whole, encoding="utf-8")
    assert code == 1
    error = capsys.readouterr().err
    assert "damaged" in error and "'average'" in error and "--fresh" in error


def test_a_figure_runs_only_what_it_needs(tmp_path, capsys):
    arguments = ["reproduce", "Fig. 3b", "--quick", "--quiet", "--out", str(tmp_path)]
    assert cli.main(arguments) == 0
    said = capsys.readouterr()
    assert said.out == said.err == ""
    found = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    drawn = {"figure_3b_n_tasks.png", "figure_3b_n_tasks.pdf"}
    assert found == {"n_tasks.csv", "n_tasks.json", "provenance.json", *drawn}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("figure_1_rewards", ["figure_1_rewards"]),
        ("figure-3", ["figure_3a_samples", "figure_3b_n_tasks", "figure_3c_forty_goals"]),
        ("3a", ["figure_3a_samples"]),
        ("Figure 10", ["supplement_slips"]),
        ("fig12", ["supplement_touch_extended_values"]),
        ("Table 1", ["supplement_layout"]),
        ("supplement-touch-returns", ["supplement_touch_returns"]),
        ("boxman_blue", ["boxman_blue_xor_square"]),
    ],
)
def test_figures_have_several_names(given, meant):
    assert [name for names in reproduce.figures_of(given).values() for name in names] == meant


@pytest.mark.parametrize("number", range(1, 17))
def test_every_figure_of_the_paper_has_a_name(number):
    assert reproduce.figures_of(f"figure-{number}")


@pytest.mark.parametrize(
    "arguments",
    [
        ["everything"],
        ["figure-17"],
        ["figur"],
        [""],
        ["figure-1", "--skills", "."],
        ["figure-1", "--train"],
        ["tabular", "--workers", "0"],
        ["tabular", "--workers", "two"],
        ["tabular", "--surprise"],
        ["tabular", "--out", __file__],
        ["tabular", "--train"],
        ["tabular", "--skills", "."],
        ["deep", "--train", "--skills", "."],
        ["deep", "--skills", __file__],
    ],
)
def test_wrong_usage_is_2(arguments, capsys):
    assert cli.main(["reproduce", *arguments]) == 2
    assert capsys.readouterr().out == ""


def test_an_unknown_figure_is_answered_with_the_known_ones(capsys):
    assert cli.main(["reproduce", "figure_2_compositoin"]) == 2
    error = "".join(capsys.readouterr().err.split())
    assert "figure_2_composition" in error and "supplement_slips" in error and "tabular" in error
    assert cli.main(["reproduce", "nothing"]) == 2
    assert "no figure 'nothing'. Known: figure_1_rewards" in capsys.readouterr().err
    assert cli.main(["reproduce", "tabulr"]) == 2
    assert "did you mean 'tabular'?" in capsys.readouterr().err


def test_the_library_refuses_skills_where_no_network_acts(tmp_path):
    options = reproduce.Options(tmp_path, skills=tmp_path)
    with pytest.raises(ValueError, match="figure-1 needs no networks"):
        reproduce.reproduce("figure-1", options)
    with pytest.raises(ValueError, match="give one of them"):
        reproduce.Options(tmp_path, train=True, skills=tmp_path)


def test_a_place_that_cannot_be_written_is_an_error_in_words(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    code = cli.main(["reproduce", "figure-1", "--out", str(tmp_path / "file" / "out")])
    assert code == 1
    assert "taskalgebra: " in capsys.readouterr().err


def test_without_skills_training_is_recommended(tmp_path, capsys):
    arguments = ["reproduce", "deep", "--skills", str(tmp_path / "none")]
    assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "no skills at" in error and "--train" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("package", ["torch", "safetensors", "matplotlib"])
def test_the_extra_that_is_missing_is_named(package, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(reproduce, "find_spec", lambda name: None if name == package else name)
    assert cli.main(["reproduce", "all", "--out", str(tmp_path)]) == 1
    extra = "figures" if package == "matplotlib" else "deep"
    error = capsys.readouterr().err
    assert package in error and f"taskalgebra[{extra}]" in error
    assert list(tmp_path.iterdir()) == []


def test_train_trains_every_setting_below_the_results_and_evaluates_that(tmp_path, monkeypatch):
    trained = []

    def train(name, out, *, recipe, listener):
        trained.append((name, out, recipe.learner.settings.n_updates))
        write_untrained(out)

    skills = tmp_path / "results" / "deep" / "skills"
    checkpoint = skills / "training" / "boxman" / "all.safetensors"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_bytes(b"")
    seen = []

    def obtain(experiment, directory, *, shelf, **how):
        seen.append(shelf)
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "train", train)
    monkeypatch.setattr(suite, "obtain", obtain)
    arguments = ["reproduce", "deep", "--train", "--quick", "--out", str(tmp_path)]
    assert cli.main(arguments) == 130
    assert [name for name, _, _ in trained] == ["boxman", "boxman-random", "boxman-touch"]
    assert {out for _, out, _ in trained} == {skills}
    assert checkpoint.exists()
    assert list(seen[0].digests) == ["fixed", "random", "touch"]
    assert cli.main([*arguments, "--fresh"]) == 130
    assert not checkpoint.exists()


def test_trainings_are_parts_with_a_share_that_is_done(tmp_path, monkeypatch):
    def train(world, tasks, network, settings, *, listener, **how):
        names = list(tasks) if world.by_touch else ["all"]
        for i, name in enumerate(names):
            for n in (1, 2):
                event = Event(name, (i + n / 2) / len(names), n_steps=100, n_updates=n, n_goals=6)
                listener(replace(event, loss=0.5, score=0.9))
        write_untrained(tmp_path / "results" / "deep" / "skills")
        return None, {}

    heard = []
    monkeypatch.setattr(training.deep, "train", train)
    store = SimpleNamespace(manifest=training.store.manifest, write=lambda *_: None)
    monkeypatch.setattr(training, "store", store)
    monkeypatch.setattr(reproduce, "_do", lambda *_: [])
    options = reproduce.Options(tmp_path, train=True, quick=True)
    outcome = reproduce.reproduce("deep", options, heard.append)
    names = [f"training {name}" for name in ("boxman", "boxman-random", "boxman-touch")]
    assert [part.what for part in outcome.parts] == names
    assert [event for event in heard if event.seconds is not None] == outcome.parts
    whole = 3.0 + sum(e.seconds for e in HALVES["deep"].values()) + 1.5 * 11
    first = [(event.what, event.score, round(whole * event.share, 3)) for event in heard[:4]]
    assert first == [
        (names[0], None, 0.0),
        (f"{names[0]}, all", 0.9, 0.5),
        (f"{names[0]}, all", 0.9, 1.0),
        (names[0], None, 1.0),
    ]
    touch = [event for event in heard if event.what.startswith(f"{names[2]}, ")]
    assert [round(whole * event.share - 2, 3) for event in touch] == [
        *(0.167, 0.333, 0.5, 0.667, 0.833, 1.0)
    ]
    assert {event.what.partition(", ")[2] for event in touch} == {"purple", "blue", "square"}
    assert touch[0].n_updates == 1 and touch[0].n_steps == 100 and touch[0].n_goals == 6
    assert training.seconds_of("boxman-random") > 60


def test_the_share_done_counts_work_only():
    heard = []
    run = reproduce._Run(heard.append, {"one": 30.0, "two": 6.0, "three": 2.0})
    with run.part("one") as part:
        part.kept = True
    with run.part("two") as part:
        part.progress(0.5)
    with run.part("three"):
        pass
    assert [(round(event.share, 3), event.what) for event in heard] == [
        (0.0, "one"),
        (0.0, "one"),
        (0.0, "two"),
        (0.375, "two"),
        (0.75, "two"),
        (0.75, "three"),
        (1.0, "three"),
    ]
    assert [event.kept for event in run.over] == [True, False, False]
    with pytest.raises(ZeroDivisionError), run.part("three"):
        raise ZeroDivisionError
    assert len(run.over) == 3  # what failed is not done


def test_what_is_done_is_reported_in_a_line_and_a_share(tmp_path, capsys):
    shares = []
    report = reporter(Output(), lambda event: shares.append((event.share, event.what)))
    report(Event("one", 0.0))
    report(Event("one", 0.25, seconds=0.01, kept=True))
    report(Event("two", 0.5, n_steps=2000, n_updates=1000, loss=0.5, score=0.9))
    report(Event("two", 1.0, seconds=5.0, written=(tmp_path, tmp_path)))
    assert shares == [(0.0, "one"), (0.25, "one"), (0.5, "two"), (1.0, "two")]
    assert [line.split() for line in capsys.readouterr().err.splitlines()] == [
        ["one", "kept"],
        "two: 1,000 updates, 2,000 steps, loss 0.500, worst score 0.9000".split(),
        ["two", "5.0", "s,", "2", "files"],
    ]
