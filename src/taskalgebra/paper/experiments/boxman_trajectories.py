"""Another name of `experiments.boxman.trajectories`."""

import sys

from taskalgebra.paper.experiments.boxman import trajectories
from taskalgebra.paper.experiments.boxman.trajectories import *  # noqa: F403

sys.modules[__name__] = trajectories
