"""A policy in a folder that ``outlast policy pull`` keeps: who may have written it, and
what it says. docs/fleet.md describes its form.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._call.errors import PolicyError
from .._wire import values as wire

if TYPE_CHECKING:
    from datetime import datetime

FORM = 1
"""The version of the forms of a file and of an envelope."""

MAX_FILE_BYTES = 1 << 20
"""An envelope with every byte escaped in two, and what stands around it (a choice)."""

Stamp = tuple[int, int, int, int]
"""Tells one file from the next: a policy is replaced by another file."""

_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)


@dataclass(frozen=True)
class Release:
    """Where a policy comes from that is followed.

    Attributes:
        serial: Grows with each release.
        source: Such as ``oci://registry.example/fleet/orders:stable``; ``""`` if the
            folder does not say.
        since: When it was put in force on this machine; ``None`` likewise.
        made: When it was made.
        expires: Until when it may be pulled; ``None``: for ever. What is in force stays so.
        digest: Of its envelope, ``"sha256:…"``.
    """

    serial: int
    source: str
    since: datetime | None
    made: datetime
    expires: datetime | None
    digest: str


def path_of(folder: str, name: str) -> str:
    """Where a policy is in a folder."""
    return os.path.join(folder, f"{name}.json")


def look(path: str) -> Stamp | None:
    """The stamp of a file; ``None`` where it cannot be looked at."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def read(folder: str, name: str) -> tuple[Release, Mapping[str, Any]]:
    """Read a policy: where it comes from, and its document, which has not been checked.

    Raises:
        OSError: If there is none, or somebody else may have written it.
        PolicyError: If it is not in its form.
    """
    text = _read_own(folder, path_of(folder, name))
    try:
        return _parse(text, name)
    except (ValueError, RecursionError) as e:
        raise PolicyError(path_of(folder, name), "invalid_policy", str(e)) from e


def _read_own(folder: str, path: str) -> bytes:
    """A file that nobody else can have changed. Neither a link is followed, nor a writer
    of a named pipe waited for.
    """
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"{folder} is no directory")
    _check_owner(folder, found)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is no regular file")
        _check_owner(path, found)
        return file.read(MAX_FILE_BYTES + 1)


def _check_owner(path: str, found: os.stat_result) -> None:
    if not hasattr(os, "geteuid"):
        return  # on Windows the mode does not say who may write
    if found.st_uid not in (0, os.geteuid()):
        raise PermissionError(
            f"{path} belongs to user {found.st_uid}, and must belong to you or to root"
        )
    if found.st_mode & 0o022:
        raise PermissionError(
            f"{path} can be written by others (mode {stat.S_IMODE(found.st_mode):04o}), who "
            f"could change what is repeated: chmod go-w {path}"
        )


def _parse(text: bytes, name: str) -> tuple[Release, Mapping[str, Any]]:
    from hashlib import sha256

    if len(text) > MAX_FILE_BYTES:
        raise ValueError(f"the file is longer than {MAX_FILE_BYTES} bytes")
    file = _form(text, "the file")
    published = _member(file, "envelope", str).encode()
    digest = f"sha256:{sha256(published).hexdigest()}"
    if _member(file, "digest", str) != digest:
        raise ValueError(f"digest: the envelope is damaged: its digest is {digest}")
    since, source = _time(file, "pulled"), _member(file, "source", str, "")
    envelope = _form(published, "the envelope")
    made, expires = _time(envelope, "time"), _time(envelope, "expires")
    serial = _member(envelope, "serial", int)
    if not 1 <= serial <= wire.SEED_RANGE - 1:
        raise ValueError(f"envelope: serial: {serial} is out of bounds")
    if made is None:
        raise ValueError("envelope: time: is missing")
    if expires is not None and expires <= made:
        raise ValueError("envelope: expires: is not after time")
    document = _member(envelope, "document", dict)
    for is_called in (_member(envelope, "name", str), document.get("name")):
        if is_called != name:
            raise ValueError(f"has the policy {is_called}")
    return Release(serial, source, since, made, expires, digest), document


def _form(text: bytes, what: str) -> dict[str, Any]:
    try:
        members = json.loads(text.decode())
    except ValueError as e:
        raise ValueError(f"{what} is not JSON as it must be: {e}") from e
    if not isinstance(members, dict):
        raise ValueError(f"{what} is not JSON as it must be: no object")
    if (version := _member(members, "version", int)) != FORM:
        raise ValueError(f"{what}: version: expected {FORM}, not {version}")
    return members


def _member(members: Mapping[str, Any], name: str, kind: type, default: Any = None) -> Any:
    value = members.get(name, default)
    if value is None:
        raise ValueError(f"{name}: is missing")
    if type(value) is not kind:
        raise ValueError(f"{name}: expected {_KINDS[kind]}")
    return value


_KINDS = {str: "a string", int: "a whole number", dict: "an object"}


def _time(members: Mapping[str, Any], name: str) -> datetime | None:
    from datetime import datetime

    text = _member(members, name, str, "")
    if not text:
        return None
    parts = _TIME.fullmatch(text)
    if parts is None:
        raise ValueError(f'{name}: expected a time such as "2026-03-03T10:00:00Z", not {text!r}')
    whole, fraction, zone = parts.groups("")
    return datetime.fromisoformat(f"{whole}.{fraction[:6]:0<6}{zone.replace('Z', '+00:00')}")
