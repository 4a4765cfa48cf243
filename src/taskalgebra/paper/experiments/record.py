"""Another name of `results.record`."""

import sys

from taskalgebra.paper.results import record
from taskalgebra.paper.results.record import *  # noqa: F403

sys.modules[__name__] = record
