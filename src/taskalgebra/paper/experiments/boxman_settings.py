"""Another name of `experiments.boxman.settings`."""

import sys

from taskalgebra.paper.experiments.boxman import settings
from taskalgebra.paper.experiments.boxman.settings import *  # noqa: F403

sys.modules[__name__] = settings
