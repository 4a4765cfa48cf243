"""Find Chromium or Chrome for the browser tests; as a script, install Debian's where it may.

    python tests/chromium.py     prints the path; on Debian as root, installs it if there is none

Without a browser the browser tests are skipped, with a sentence that says so.  Where the
environment has CI=true, that is a failure instead: there nothing is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
)
MISSING = (
    "no Chromium or Chrome was found, so the browser tests are skipped; "
    "install one, or name it in the environment variable CHROMIUM"
)


def find() -> str | None:
    """The path of a browser: the one that CHROMIUM names, or the first that is installed."""
    given = os.environ.get("CHROMIUM")
    for name in (given,) if given else (*NAMES, *ELSEWHERE):
        path = shutil.which(name)
        if path:
            return path
    return None


def required() -> bool:
    """Whether a missing browser is a failure."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def may_install() -> bool:
    """Whether this is a Debian, or its like, and we are root there."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return is_root and Path("/etc/debian_version").exists() and bool(shutil.which("apt-get"))


def install() -> bool:
    """Install Debian's Chromium; the lists of packages are fetched only if they are missing."""
    command = ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]
    silent = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for prepare in ([], ["apt-get", "update"]):
        if prepare and subprocess.run(prepare, env=silent, stdout=subprocess.DEVNULL).returncode:
            return False
        if subprocess.run(command, env=silent, stdout=subprocess.DEVNULL).returncode == 0:
            return True
    return False


def main() -> int:
    """Print the path of the browser, or say why there is none."""
    if find() is None and may_install():
        print("installing Debian's chromium for the browser tests")
        install()
    path = find()
    print(f"browser tests use {path}" if path else MISSING)
    return 1 if path is None and required() else 0


if __name__ == "__main__":
    sys.exit(main())
