"""Build wheel and sdist, install each into a clean environment, and run what was installed.

    python tests/wheel.py DIRECTORY     the environments are made anew in the directory

The wheel is installed with the extras `deep` and `web`, the sdist without any.  Needs the network
for the dependencies.  It prints sizes and times.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = """
import logging, sys
import taskalgebra as ta
assert "site-packages" in ta.__file__, ta.__file__
skills = ta.solve(ta.FourRooms(), ["top", "left"])
found = skills["top ^ left"].evaluate(1000)
assert found.success_rate == 1.0 and abs(found.score - 1.0) < 1e-12, found
agent = ta.solve(ta.Office())["F(coffee & F office) & G !decoration"]
assert agent.evaluate(100).success_rate == 1.0
assert not {"torch", "matplotlib", "pandas", "rich"} & set(sys.modules)
"""
PIXELS = """
import taskalgebra as ta
found = ta.load("boxman")["blue ^ square"].evaluate(50)
assert found.success_rate == 1.0, found
assert ta.load("letter-world").tasks
"""


def run(*command: str | Path, quiet: bool = True) -> str:
    """What a command prints; it stops here if the command fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=tempfile.gettempdir(), capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": ""}, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stdout}{done.stderr}")
    if not quiet:
        print(done.stdout.strip())
    return done.stdout


def size(directory: Path) -> float:
    """Of all files, in MB."""
    return sum(path.lstat().st_size for path in directory.rglob("*") if path.is_file()) / 1e6


def installed(place: Path, package: str) -> Path:
    """The Python of a clean environment with a package, whose time and size are printed."""
    run(sys.executable, "-m", "venv", place)
    python = place / "bin/python"
    before, start = size(place), time.perf_counter()
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", package)
    took = time.perf_counter() - start
    print(f"{Path(package).name}: installed in {took:.0f} s, {size(place) - before:.0f} MB")
    return python


def plays(python: Path) -> None:
    """The playground answers with its page and all that the page asks for."""
    command = [python, "-m", "taskalgebra", "play", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            (address,) = re.findall(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
            page = urlopen(address).read().decode()
            asked = re.findall(r'(?:src|href)="([^"#:]+)"', page)
            assert asked, page
            for name in asked:
                with urlopen(address + name.lstrip("/")) as answer:
                    assert answer.status == 200 and answer.read(), name
        finally:
            server.terminate()


def main(place: Path) -> None:
    """Build, install and run."""
    shutil.rmtree(place, ignore_errors=True)
    dist = place / "dist"
    dist.mkdir(parents=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", dist], cwd=ROOT, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    (wheel,), (source,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    for made in (wheel, source):
        print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")

    python = installed(place / "source", str(source))
    start = time.perf_counter()
    run(python, "-c", LIBRARY)
    print(f"first use, with kernels compiled: {time.perf_counter() - start:.0f} s")
    start = time.perf_counter()
    run(python, "-c", LIBRARY)
    print(f"second use: {time.perf_counter() - start:.1f} s")

    python = installed(place / "wheel", f"{wheel}[deep,web]")
    run(python, "-m", "taskalgebra", "--version", quiet=False)
    assert "optimal   from every start" in run(python, "-m", "taskalgebra", "solve", "top ^ left")
    run(python, "-c", PIXELS)
    plays(python)
    print("solve, load, play and the command run from what was installed")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
