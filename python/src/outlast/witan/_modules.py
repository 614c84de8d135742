"""witan-core's modules as they are at this moment: constants, policies, randomness."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from . import _documents

if TYPE_CHECKING:
    from .._run.policy import Policy
    from ._generations import Generation


@dataclass(frozen=True)
class Modules:
    """witan-core's modules.

    Attributes:
        generation: What is where in them.
        omnigraph: The module ``witan_core.omnigraph``.
        http: The module ``witan_core.omnigraph_http``; ``None``: the release has none.
    """

    generation: Generation
    omnigraph: ModuleType
    http: ModuleType | None

    def policy(self, storage: bool, heard: frozenset[str]) -> Policy:
        """The policy with the constants that witan-core has at this moment."""
        return _documents.policy(self.generation, self._constants(), storage, heard)

    def classifier(self) -> Policy:
        """The policy as a classifier of what a command or a server says."""
        return _documents.classifier(self.generation, self._constants())

    def draw(self) -> float:
        """The chance for one delay, from 0 to 1, from witan-core's randomness."""
        drawn: float = self.omnigraph.random.uniform(0.0, 1.0)
        return max(0.0, min(drawn, 1.0))

    def _constants(self) -> _documents.Constants:
        return _documents.constants(self.generation, self.omnigraph, self.http)
