"""Progress on the terminal: shown where it helps, silent elsewhere."""

import io
import logging
import threading
import time

import pytest

import taskalgebra as ta
from taskalgebra import progress
from taskalgebra.learning.q_learning import Stop, begin
from taskalgebra.learning.tabular import _report
from taskalgebra.progress import Event, Meter, duration, silent
from taskalgebra.skills import making


class Stream(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def hurried(monkeypatch):
    """Patience for a moment."""
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "TICK", 0.02)
    monkeypatch.setattr(progress, "LOGGED_EVERY", 0.05)


def shown(stream, *events, seconds=0.15):
    """What is written about work that takes a moment."""
    with Meter("learning", stream) as meter:
        for event in events:
            meter(event)
        time.sleep(seconds)
    return stream.getvalue()


def told(stop, steps, episodes, before=0, n_runs=1):
    """What a listener is told of a run that stands here."""
    events = []
    run = begin(3, 1, 2, seed=0)
    run.n_steps, run.n_episodes = steps, episodes
    _report(events.append, "top", before, n_runs, stop, run)
    (event,) = events
    return event


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (Stop(steps=200), "learning top: 25 %, about 0 s left"),
        (Stop(steps=200, episodes=8), "learning top: 50 %, about 0 s left"),
    ],
)
def test_a_terminal_shows_the_share_done_and_clears_it(stop, words, hurried):
    text = shown(Stream(), told(stop, 50, 4))
    assert f"\r\x1b[K{words}" in text
    assert text.endswith("\r\x1b[K")


def test_a_line_that_would_wrap_is_cut(hurried, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    lines = shown(Stream(), Event("x" * 100, 0.5)).split("\r\x1b[K")
    assert {len(line) for line in lines[1:-1]} == {19}


def test_a_terminal_keeps_scores_whenever_they_come():
    event = Event("all", 0.5, n_goals=3, score=0.25)
    text = shown(Stream(), event, seconds=0)
    assert text == "\r\x1b[Klearning all: 50 %, about 0 s left, 3 goals met, score 0.250\n"


def test_work_that_reports_nothing_is_shown_all_the_same(hurried):
    assert "\r\x1b[Klearning: 0 s so far" in shown(Stream())


def test_quick_work_shows_nothing():
    assert shown(Stream(), told(Stop(steps=200), 50, 4), seconds=0) == ""
    assert silent(Event("all", 0.5)) is None


def test_off_a_terminal_the_log_has_a_line_now_and_then(hurried, caplog):
    with caplog.at_level(logging.INFO, "taskalgebra"):
        assert shown(io.StringIO(), Event("all", 0.25)) == ""
    assert 1 <= len(caplog.records) <= 3
    for record in caplog.records:
        assert (record.name, record.levelname) == ("taskalgebra", "INFO")
        assert record.getMessage().startswith("learning all: 25 %, about ")


def test_off_a_terminal_quick_work_is_not_logged(caplog):
    with caplog.at_level(logging.INFO, "taskalgebra"):
        shown(io.StringIO(), Event("all", 0.25), seconds=0)
    assert not caplog.records


def test_a_program_without_a_console_works(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    assert ta.solve(ta.FourRooms())["top"].evaluate(10).episodes == 10


def test_a_meter_leaves_no_thread_behind():
    before = threading.active_count()
    with Meter("learning", Stream()):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


@pytest.mark.parametrize("work", ["evaluate", "learn", "solve"])
def test_long_calls_show_progress(work, hurried, caplog, monkeypatch):
    world = ta.FourRooms(slip_probability=0.1)
    skills = ta.solve(world)
    monkeypatch.setattr("taskalgebra.evaluation.exact.CHUNK", 50_000)
    if work == "solve":
        real = making.plan
        monkeypatch.setattr(making, "plan", lambda *a, **k: time.sleep(0.2) or real(*a, **k))
    calls = {
        "evaluate": lambda: skills["top"].evaluate(1_000_000),
        "learn": lambda: ta.learn(world, ["top"], learner=ta.QLearning(steps=4_000_000)),
        "solve": lambda: ta.solve(world),
    }
    with caplog.at_level(logging.INFO, "taskalgebra"):
        calls[work]()
    assert caplog.records
    assert all(record.name == "taskalgebra" for record in caplog.records)


def test_evaluation_tells_a_listener_and_plays_the_same(monkeypatch):
    agent = ta.solve(ta.FourRooms(slip_probability=0.1))["top"]
    whole = agent.evaluate(1000, seed=3)
    monkeypatch.setattr("taskalgebra.evaluation.exact.CHUNK", 777)
    events = []
    assert agent.evaluate(1000, seed=3, listener=events.append) == whole
    shares = [event.share for event in events]
    assert len(shares) > 10 and shares == sorted(shares) and shares[-1] == 1.0


@pytest.mark.parametrize(
    ("seconds", "words"), [(7.6, "8 s"), (200, "3 min 20 s"), (3900, "1 h 5 min"), (-3, "0 s")]
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words


def test_shares_of_several_runs_add_up():
    stop = Stop(steps=200)
    shares = [told(stop, steps, 0, i, 2).share for i in (0, 1) for steps in (50, 200, 300)]
    assert shares == [0.125, 0.5, 0.5, 0.625, 1.0, 1.0]


def test_learning_tells_its_progress_to_a_function_instead_of_the_terminal(capsys):
    events = []
    learner = ta.QLearning(steps=400_000)
    ta.learn(ta.FourRooms(), ["top"], learner=learner, listener=events.append)
    shares = [event.share for event in events]
    assert shares == sorted(shares) and 0 < shares[0] and shares[-1] <= 1
    assert list(dict.fromkeys(event.what for event in events)) == ["M_U", "M_∅", "top"]
    assert all(event.n_goals == 4 and event.n_steps > 0 for event in events)
    assert capsys.readouterr().err == ""
