"""Extended deep Q-learning as a learner; torch is imported when it learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from taskalgebra.content import ByContent
from taskalgebra.learning.deep import networks
from taskalgebra.learning.deep.networks import Network
from taskalgebra.learning.deep.settings import GENERAL, PAPER, DeepSettings
from taskalgebra.progress import Listener
from taskalgebra.theory.goal_env import GoalEnv
from taskalgebra.theory.tasks import Task
from taskalgebra.validation import closest

if TYPE_CHECKING:
    from taskalgebra.learning.deep.family import NetworkFamily
    from taskalgebra.learning.deep.training import Score


@final
class DeepQ(ByContent):
    """Algorithm 1 with a network over (state, goal), for images and vectors (Section 5).

    Args:
        network: makes the network, `network(shape, n_actions, n_outputs)`: one of
            `taskalgebra.learning.deep.networks`, or your own.  By default the one that suits the
            observations: images of cells, other images, symbolic grids, vectors.
        settings: by default those for any environment.
        start: skills, or a family, whose first network to start from, learned in an environment
            that looks the same.  A network of the same kind, with the same returns and at least
            these actions, is trained further.  A planning network needs a start: it takes over the
            sight of an egocentric network, and learns the rest.
        score: rates networks, higher is better; by default the mean score of the base tasks.  The
            best weights are kept.
        changes: single settings, such as `n_updates=500`; see `DeepSettings`.
    """

    def __init__(
        self,
        network: Network | None = None,
        *,
        settings: DeepSettings = GENERAL,
        start: Any = None,
        score: Score | None = None,
        **changes: Any,
    ) -> None:
        """Put network and settings together."""
        module = hasattr(network, "forward") and not isinstance(network, type)
        if network is not None and (not callable(network) or module):
            raise TypeError(
                f"network must make a module, network(shape, n_actions, n_outputs), got "
                f"{network!r}{'; pass the class, not a module' if module else ''}"
            )
        if not isinstance(settings, DeepSettings):
            raise TypeError(f"settings must be DeepSettings, got {settings!r}")
        self.network, self.start, self.score = network, start, score
        known = [field.name for field in fields(DeepSettings)]
        for name in changes:
            if name not in known:
                raise TypeError(f"unknown setting {name!r}; see DeepSettings{closest(name, known)}")
        self.settings = replace(settings, **changes)

    @classmethod
    def paper(cls, **changes: Any) -> DeepQ:
        """The network and hyperparameters of the supplement, except for what PAPER.md lists."""
        return cls(networks.paper, settings=PAPER, **changes)

    def changed(self, **changes: Any) -> DeepQ:
        """The same learner with some settings changed."""
        own = {"settings": self.settings, "start": self.start, "score": self.score}
        return DeepQ(self.network, **{**own, **changes})

    def learn(
        self,
        env: GoalEnv,
        tasks: Mapping[str, Task],
        *,
        seed: int,
        folder: Path | None,
        listener: Listener,
    ) -> NetworkFamily:
        """Train one network for all tasks, or one per task if they do not share their ends."""
        first = None
        if self.start is not None:
            family = getattr(self.start, "family", self.start)
            first = getattr(family, "first", None)
            if first is None:
                raise TypeError(f"start must be skills that are networks, got {self.start!r}")
        from taskalgebra.learning.deep.training import train

        return train(
            env,
            tasks,
            self.network,
            self.settings,
            seed=seed,
            folder=folder,
            start=first,
            score=self.score,
            listener=listener,
        )[0]

    def __repr__(self) -> str:
        """The network and the settings."""
        name = getattr(self.network, "__name__", repr(self.network or "by observations"))
        return f"DeepQ({name}, {self.settings})"
