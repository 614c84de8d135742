"""Where native code, compiled from the plugin, is kept between processes.

That code is executed as it is found, so the directory is used only if no one
but the user (and root) can write it: it must be a real directory, the user's
own and closed to others, and so must be the way to it. Where that cannot be
had, nothing is kept, and the plugin is compiled anew: slower, never an error.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from pathlib import Path

ENV_DIR = "OUTLAST_CACHE_DIR"
"""The variable that says where the cache is; ``off`` is nowhere."""

PRIVATE = 0o700


class UnusableError(Exception):
    """There is no cache, and why."""


def configuration() -> Path:
    """The file that tells Extism's runtime to use this cache, made if need be.

    It is never inside the directory that it names: the runtime's clean-up would
    delete it, and the next load would fail.

    Raises:
        UnusableError: If there can be no cache.
    """
    base = _private(directory() / "python")
    native = _private(base / "native")
    try:
        # JSON's escapes are a subset of those of TOML's basic strings.
        text = f"[cache]\ndirectory = {json.dumps(str(native), ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError as e:
        raise UnusableError(f"{native} is no text") from e
    path = base / "runtime.toml"
    try:
        if not path.is_file() or path.is_symlink() or path.read_bytes() != text:
            _replace(path, text)
    except OSError as e:
        raise UnusableError(f"cannot write {path}: {e}") from e
    return path


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


def _replace(path: Path, text: bytes) -> None:
    """Write a file whole or not at all: another process may be reading it."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
