"""How `make docs` builds the site, whose pages fetch nothing from elsewhere."""

import sys
from pathlib import Path

import taskalgebra

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "taskalgebra"
author = "The taskalgebra developers"
release = version = taskalgebra.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "command_reference",
    "docstrings",
    "mathml",
    "notebooks",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_substitutions = {"version": version}
myst_heading_anchors = 3

# The notebooks run whenever the site is built, so a notebook that fails fails the build.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 600  # seconds per cell, for a busy machine
nb_merge_streams = True  # else every flush starts a new block

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"
autodoc_type_aliases = {
    name: name
    for name in ("Array", "ArrayLike", "BoolArray", "Codes", "IntArray", "NDArray", "TaskSource")
}
napoleon_use_rtype = False
default_role = "code"  # docstrings write `name` for code
nitpick_ignore_regex = [
    ("py:.*", r"(?!taskalgebra\.).*"),  # other projects are not linked to
    (
        "py:.*",
        r"taskalgebra\..*\.(ContinuingBoxman|ContinuingVectorEnv|FiniteVectorEnv|FlatReach"
        r"|FlatVectorEnv|Games|Goal|Map|PaysTask|PlannedReach|Predecessors|Sight|T|VectorBoxman"
        r"|VectorLetters|VectorReach)",
    ),  # inner types
]

html_theme = "furo"
html_title = "taskalgebra"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_copyright = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
