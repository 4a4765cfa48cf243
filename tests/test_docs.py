"""Every Python block of README.md and docs/ runs, in order, page by page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^```python\n((?:(?!^```).)*?)^```\n+```text\n(.*?)^```", re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_and_print_what_it_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    shown = {block: output for block, output in OUTPUT.findall(text)}
    names: dict[str, object] = {}
    blocks = BLOCK.findall(text)
    assert blocks, f"{page.name} has no Python block"
    for block in blocks:
        capsys.readouterr()
        exec(compile(block, page.name, "exec"), names)
        if block in shown:
            assert capsys.readouterr().out.rstrip() == shown[block].rstrip()
