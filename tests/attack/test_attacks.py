"""Every attack at the size of CI, with a fresh seed."""

from __future__ import annotations

import pytest

from attack.harness import NAMES, run


@pytest.mark.parametrize("name", NAMES)
def test_nothing_breaks(name):
    report = run(name)
    assert not report.broken, str(report)
