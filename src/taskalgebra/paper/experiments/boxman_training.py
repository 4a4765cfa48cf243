"""Another name of `experiments.boxman.training`."""

import sys

from taskalgebra.paper.experiments.boxman import training
from taskalgebra.paper.experiments.boxman.training import *  # noqa: F403

sys.modules[__name__] = training
