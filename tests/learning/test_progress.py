"""Progress on the terminal: shown where it helps, silent elsewhere."""

import io

import pytest
from taskalgebra.learning.progress import ShareProgress, TerminalProgress

from taskalgebra.envs.four_rooms import FourRooms
from taskalgebra.learning import progress
from taskalgebra.learning.q_learning import Stop, begin
from taskalgebra.skills.making import learn


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


def test_shares_of_several_runs_add_up():
    told = []
    run = begin(3, 1, 2, seed=0)
    for i, name in enumerate(("top", "left")):
        tell = ShareProgress(lambda *told_now: told.append(told_now), name, i, 2, Stop(steps=200))
        for run.n_steps in (50, 200):
            tell(run)
    assert told == [(0.125, "top"), (0.5, "top"), (0.625, "left"), (1.0, "left")]


def test_learning_tells_its_progress_to_a_function_instead_of_the_terminal(capsys):
    told = []
    learn(FourRooms(), ["top"], steps=400_000, progress=lambda *now: told.append(now))
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and 0 < shares[0] and shares[-1] <= 1
    assert list(dict.fromkeys(name for _, name in told)) == ["M_U", "M_∅", "top"]
    assert capsys.readouterr().err == ""
