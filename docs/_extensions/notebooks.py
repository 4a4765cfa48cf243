"""The notebooks of `examples/` as pages of the site.

They are copied into `docs/tutorials` before the site is built.  Links hold beside the files and on
the site: those from a notebook into `docs/`, and those from a page to a notebook.
"""

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.typing import ExtensionMetadata

DOCS = Path(__file__).parents[1]
EXAMPLES = DOCS.parent / "examples"
PAGES = DOCS / "tutorials"
KERNELS = TemporaryDirectory(prefix="kernels-", ignore_cleanup_errors=True)
TO_A_NOTEBOOK = re.compile(r"\]\((?:\.\./)+examples/([\w-]+\.ipynb)")


def as_page(text: str) -> str:
    """A notebook, with its links into `docs/` as they are from `docs/tutorials`."""
    return text.replace("](../docs/", "](../")


def to_pages(text: str, page: str) -> str:
    """A page, with its links to notebooks led to their copies; `page` is its name from `docs`."""
    up = "../" * page.count("/")
    return TO_A_NOTEBOOK.sub(rf"]({up}tutorials/\1", text)


def copy_notebooks(_app: Sphinx, _config: Config) -> None:
    """Copy what is new or has changed, and remove what is no longer there."""
    texts = {path.name: as_page(path.read_text("utf-8")) for path in EXAMPLES.glob("*.ipynb")}
    for old in PAGES.glob("*.ipynb"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        page = PAGES / name
        if not page.exists() or page.read_text("utf-8") != text:
            page.write_text(text, "utf-8")


def lead(_app: Sphinx, page: str, source: list[str]) -> None:
    """Lead the links of a page to the copies."""
    source[0] = to_pages(source[0], page)


def configure_kernels() -> None:
    """Start kernels without a user's settings, and without a warning that they listen on TCP."""
    profile = Path(KERNELS.name) / "profile_default"
    profile.mkdir(exist_ok=True)
    settings = "get_config().IPKernelApp.log_level = 'ERROR'\n"
    (profile / "ipython_kernel_config.py").write_text(settings, "utf-8")
    os.environ["IPYTHONDIR"] = KERNELS.name


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the pages."""
    configure_kernels()
    app.connect("config-inited", copy_notebooks)
    app.connect("source-read", lead)
    return {"parallel_read_safe": True}
