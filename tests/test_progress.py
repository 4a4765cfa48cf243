"""Progress on the terminal: shown where it helps, silent elsewhere."""

import io

import pytest

import taskalgebra as ta
from taskalgebra import progress
from taskalgebra.learning.q_learning import Stop, begin
from taskalgebra.learning.tabular import _report
from taskalgebra.progress import Event, Terminal, silent


class Stream(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def shown(stream, event, monkeypatch, patience=0.0):
    """What is written for some event."""
    monkeypatch.setattr(progress, "PATIENCE", patience)
    line = Terminal("learning", stream)
    line(event)
    line.close()
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
        (Stop(steps=200), "learning top: 25%, 0 s left"),
        (Stop(steps=200, episodes=8), "learning top: 50%, 0 s left"),
    ],
)
def test_a_terminal_shows_the_share_done(stop, words, monkeypatch):
    text = shown(Stream(), told(stop, 50, 4), monkeypatch)
    assert words in text
    assert text.endswith("\r\x1b[K")


def test_a_terminal_keeps_scores_whenever_they_come(monkeypatch):
    event = Event("all", 0.5, n_goals=3, score=0.25)
    text = shown(Stream(), event, monkeypatch, patience=60.0)
    assert text == "\r\x1b[Klearning all: 50%, 0 s left, 3 goals met, score 0.250\n"


def test_nothing_is_written_elsewhere_or_in_the_first_seconds(monkeypatch):
    event = told(Stop(steps=200), 50, 4)
    assert shown(io.StringIO(), event, monkeypatch) == ""
    assert shown(Stream(), event, monkeypatch, patience=60.0) == ""
    assert shown(io.StringIO(), Event("all", 0.5, score=0.25), monkeypatch) == ""
    assert silent(event) is None


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
