"""Counts that are too large, or are no counts, are wrong usage."""

from __future__ import annotations

import pytest

from taskalgebra.limits import MOST, MOST_EPISODES, MOST_SEED


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        (("evaluate", "--episodes"), MOST_EPISODES),
        (("solve", "top", "--episodes"), MOST_EPISODES),
        (("evaluate", "--seed"), MOST_SEED),
        (("learn", "--out", "x", "--steps"), MOST),
        (("learn", "--out", "x", "--episodes"), MOST),
        (("learn", "--out", "x", "--updates"), MOST),
        (("reproduce", "--workers"), 1024),
    ],
)
def test_commands_refuse_them_as_wrong_usage(arguments, most, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for n in ("1e20", str(10**20), str(10**30), "1.5", "nan", str(most + 1)):
        code, out, err = run(*arguments, n)
        assert (code, out) == (2, ""), n
        assert f"Invalid value for '{arguments[-1]}'" in err, err
    assert not list(tmp_path.iterdir())
