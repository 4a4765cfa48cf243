"""Progress on the terminal: shown where it helps, silent elsewhere."""

import io

import pytest

from taskalgebra.learning import progress
from taskalgebra.learning.progress import TerminalProgress
from taskalgebra.learning.q_learning import Stop, begin


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def shown(stream, stop, steps, episodes, monkeypatch, patience=0.0):
    """What is written for a run that stands here."""
    monkeypatch.setattr(progress, "PATIENCE", patience)
    line = TerminalProgress("top", stop, stream)
    run = begin(3, 1, 2, seed=0)
    run.n_steps, run.n_episodes = steps, episodes
    line(run)
    line.close()
    return stream.getvalue()


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (Stop(steps=200), "top: 25%"),
        (Stop(steps=200, episodes=8), "top: 50%"),
        (Stop(optimum=begin(3, 1, 2, seed=0).q), "top: 50 steps"),
    ],
)
def test_a_terminal_shows_the_share_done(stop, words, monkeypatch):
    text = shown(Terminal(), stop, 50, 4, monkeypatch)
    assert words in text
    assert text.endswith("\r\x1b[K")


def test_nothing_is_written_elsewhere_or_in_the_first_seconds(monkeypatch):
    assert shown(io.StringIO(), Stop(steps=200), 50, 4, monkeypatch) == ""
    assert shown(Terminal(), Stop(steps=200), 50, 4, monkeypatch, patience=60.0) == ""
