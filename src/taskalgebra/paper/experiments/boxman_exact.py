"""Another name of `experiments.boxman.exact`."""

import sys

from taskalgebra.paper.experiments.boxman import exact
from taskalgebra.paper.experiments.boxman.exact import *  # noqa: F403

sys.modules[__name__] = exact
