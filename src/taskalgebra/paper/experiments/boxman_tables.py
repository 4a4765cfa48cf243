"""Another name of `experiments.boxman.tables`."""

import sys

from taskalgebra.paper.experiments.boxman import tables
from taskalgebra.paper.experiments.boxman.tables import *  # noqa: F403

sys.modules[__name__] = tables
