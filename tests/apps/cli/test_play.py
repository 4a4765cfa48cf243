"""`taskalgebra play --export`: a page is written, and nothing else is touched."""

from __future__ import annotations

import pytest


def test_a_page_is_written_and_replaced_only_by_force(tmp_path, run):
    folder = tmp_path / "page"
    code, out, _ = run("play", "--export", folder)
    assert code == 0 and "index.html" in out
    text = (folder / "index.html").read_text("utf-8")
    assert "/static/" not in text and 'type="module"' not in text
    code, _, err = run("play", "--export", folder)
    assert code == 1 and "--force" in err
    (folder / "index.html").write_text("old")
    assert run("play", "--export", folder, "--force")[0] == 0
    assert (folder / "index.html").read_text("utf-8") == text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--force"], "--force is for --export"),
        (["--export", "/dev/null"], "is a file"),
        (["--export", "/dev/null/page", "--port", "80"], "a page without a server has no port"),
    ],
)
def test_what_cannot_be_exported_is_said(arguments, words, run):
    code, _, err = run("play", *arguments)
    assert code != 0
    assert words in " ".join(err.replace("│", " ").split())
