"""Where native code, compiled from the plugin, is kept between processes.

That code is executed as it is found, so the directory is used only if no one
but the user (and root) can write it: it must be a real directory, the user's
own and closed to others, and so must be the way to it. Where that cannot be
had, nothing is kept, and the plugin is compiled anew: slower, never an error.
"""

from __future__ import annotations

import mmap
import os
import stat
import sys
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

ENV_DIR = "OUTLAST_CACHE_DIR"
"""The variable that says where the cache is; ``off`` is nowhere."""

PRIVATE = 0o700

KEPT = 4
"""How many pieces of code stay (a choice: two releases of the plugin and of wasmtime;
each has some 10 MB)."""


class UnusableError(Exception):
    """There is no cache, and why."""


class Code:
    """The code that was compiled for a key, in a file whose name has its checksum: what
    is found was written whole, and has not changed.

    Args:
        key: Names the plugin and all that its code depends on.

    Raises:
        UnusableError: If there can be no cache.
    """

    def __init__(self, key: str) -> None:
        self.folder = _private(directory() / "python")
        self._key = key

    def find(self) -> Path | None:
        """The file. One that is damaged is removed."""
        for path in self.folder.glob(f"{self._key}-*"):
            try:
                sound = path.name == self._name(_checksum(path))
            except OSError:
                sound = False
            if sound:
                with suppress(OSError):
                    path.touch()  # for the choice of what to remove
                return path
            self.drop(path)
        return None

    def keep(self, code: bytes | bytearray) -> str:
        """Write the file. The answer is why that failed, or ``""``."""
        try:
            _replace(self.folder / self._name(zlib.crc32(code)), code)
            found = sorted(self.folder.iterdir(), key=lambda p: p.lstat().st_mtime, reverse=True)
        except OSError as e:
            return f"cannot write in {self.folder}: {e}"
        for path in found[KEPT:]:
            self.drop(path)
        return ""

    def drop(self, path: Path) -> None:
        """Remove a file, if that can be."""
        with suppress(OSError):
            path.unlink()

    def _name(self, checksum: int) -> str:
        return f"{self._key}-{checksum:08x}"


def _checksum(path: Path) -> int:
    """The checksum of a regular file, without opening what blocks; 0 of an empty one."""
    if not stat.S_ISREG(path.lstat().st_mode) or not path.lstat().st_size:
        return 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
        return zlib.crc32(code)


def directory() -> Path:
    """The directory for caches of this project, which need not exist.

    Raises:
        UnusableError: If there is no such directory.
    """
    chosen = os.environ.get(ENV_DIR, "")
    if chosen == "off":
        raise UnusableError(f"{ENV_DIR} is off")
    if chosen:
        if not os.path.isabs(chosen):
            raise UnusableError(f"{ENV_DIR} is {chosen!r}, which is not an absolute path")
        return Path(chosen)
    return _system_directory() / "outlast"


def _system_directory() -> Path:
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if sys.platform == "win32":
        xdg = os.environ.get("LOCALAPPDATA", "")
    if os.path.isabs(xdg):
        return Path(xdg)
    try:
        home = Path.home()
    except RuntimeError as e:
        raise UnusableError("this user has no home directory") from e
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def _private(path: Path) -> Path:
    """The directory, made if need be, once it is found to be the user's alone."""
    try:
        path.mkdir(PRIVATE, parents=True, exist_ok=True)
        # From here on without symbolic links above it, which could change.
        path = path.parent.resolve(strict=True) / path.name
        _check_private(path)
        for step in path.parents:
            _check_step(step)
    except OSError as e:
        raise UnusableError(f"cannot use {path}: {e}") from e
    return path


def _check_private(path: Path) -> None:
    if sys.platform == "win32":
        return  # modes mean nothing there; the profile's directory is the user's own
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode):
        raise UnusableError(f"{path} is not a real directory")
    if info.st_uid != os.geteuid():
        raise UnusableError(
            f"{path} belongs to user {info.st_uid}, this process runs as user {os.geteuid()}"
        )
    if info.st_mode & 0o077:
        mode = stat.S_IMODE(info.st_mode)
        raise UnusableError(f"{path} is open to others (mode {mode:04o}); mode 0700 is needed")


def _check_step(path: Path) -> None:
    """Refuse a directory on the way in which others could put another in place."""
    if sys.platform == "win32":
        return
    info = path.lstat()
    if info.st_uid not in (os.geteuid(), 0):
        raise UnusableError(f"{path} belongs to user {info.st_uid}, who could replace the cache")
    if info.st_mode & 0o022 and not info.st_mode & stat.S_ISVTX:
        raise UnusableError(f"others may write in {path} and could replace the cache")


def _replace(path: Path, text: bytes | bytearray) -> None:
    """Write a file whole or not at all: another process may be reading it."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
