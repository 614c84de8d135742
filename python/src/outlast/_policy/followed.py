"""A policy in a folder that others keep, as it stands there from time to time."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._call.errors import OutlastError, PolicyError
from .._plugin.plugin import Plugin, default_plugin
from . import folder as folders
from .document import Document, is_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from .folder import Release, Stamp

    Change = Callable[[Document, int], Document]

_taking = threading.RLock()  # held for a comparison; never while a file is read or checked
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_taking.acquire, after_in_parent=_taking.release, after_in_child=_taking.release
    )


@dataclass(frozen=True)
class _Seen:
    """What a look has come to."""

    stamp: Stamp | None
    policy: Document  # is in force
    why: Exception | None  # why what is in the folder is not

    def same(self, stamp: Stamp | None) -> bool:
        """Whether another look comes to the same. What is wrong with a content stays so as
        long as the file does; who may write it can change without it.
        """
        return stamp == self.stamp and (self.why is None or isinstance(self.why, PolicyError))


class Followed(Document):
    """A policy in a folder. Threads may share it.

    Args:
        kind: What is made of a document.
        folder: The folder.
        name: The policy's.
        plugin: Decides; ``None``: the one that this package carries.
    """

    def __init__(self, kind: type[Document], folder: str, name: str, plugin: Plugin | None) -> None:
        if not is_name(name):
            raise PolicyError(str(name), "unknown_policy", "is followed by its name, not a path")
        self._plugin = plugin or default_plugin()
        self._name = name
        self._kind = kind
        self._folder = folder
        self._seen: _Seen | None = None
        self._of: Followed | None = None  # of which it is, with what a caller has changed
        self._changes: tuple[tuple[Change, int], ...] = ()

    def in_force(self) -> tuple[Document, Exception | None]:
        """See :meth:`Document.in_force`.

        Raises:
            PolicyError: If nothing can be used, and nothing could before.
        """
        if self._of is not None:
            policy, why = self._of.in_force()
            for change, us in self._changes:
                policy = change(policy, us)
            return policy, why
        stamp = folders.look(folders.path_of(self._folder, self._name))
        seen = self._seen
        if seen is None or not seen.same(stamp):
            # A file that comes after the stamp was taken is read again.
            seen = self._look(stamp)
        return seen.policy, seen.why

    def _look(self, stamp: Stamp | None) -> _Seen:
        try:
            new: Document | None = self._read()
            why: Exception | None = None
        except (OSError, OutlastError) as e:
            new, why = None, e
        spare = self._bundled(why) if new is None and self._seen is None else None
        with _taking:
            held = None if self._seen is None else self._seen.policy
            if new is not None and held is not None:
                why = self._older(new, held)
            chosen = new if why is None else held or spare
            assert chosen is not None
            self._seen = _Seen(stamp, chosen, why)
            return self._seen

    def _read(self) -> Document:
        release, document = folders.read(self._folder, self._name)
        policy = self._kind(document, plugin=self._plugin)
        policy._release = release
        return policy

    def _bundled(self, why: Exception | None) -> Document:
        """What is in force before anything could be taken from the folder."""
        try:
            return self._kind(self._name, plugin=self._plugin)
        except PolicyError:
            text = f"no such policy comes with outlast, and none in the folder can be used: {why}"
            raise PolicyError(self._name, "unknown_policy", text) from why

    def _older(self, new: Document, held: Document) -> PolicyError | None:
        is_, was = new.release, held.release
        if is_ is None or was is None or is_.serial >= was.serial:
            return None
        text = f"serial {is_.serial} is lower than {was.serial}, which is in force"
        return PolicyError(self._name, "invalid_policy", text)

    def check(self) -> Self:
        """Look at the folder."""
        self.in_force()
        return self

    @property
    def digest(self) -> str:
        """Of what is in force now."""
        return self.in_force()[0].digest

    @property
    def document(self) -> dict[str, Any]:
        """Of what is in force now."""
        return self.in_force()[0].document

    @property
    def release(self) -> Release | None:
        """Of what is in force now."""
        return self.in_force()[0].release

    @property
    def asks_failures(self) -> bool:
        """Of what is in force now."""
        return self.in_force()[0].asks_failures

    def waits_for(self, status: int) -> bool:
        """Of what is in force now."""
        return self.in_force()[0].waits_for(status)

    def _with(self, change: Change, us: int) -> Self:
        changed = object.__new__(type(self))
        vars(changed).update(vars(self), _of=self._of or self)
        changed._changes = (*self._changes, (change, us))
        return changed
