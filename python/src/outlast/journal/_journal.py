"""A journal, and a write that is under way in it."""

from __future__ import annotations

import base64
import json
import os
import socket
import stat
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from .._call.outcome import Outcome
from .._call.result import Result
from ._errors import InDoubt, JournalError, command
from ._files import lock, since_boot, to_disk
from ._records import MAX_FILE, VERSION, Earlier, digest, earlier_of, parse, state_of

MAX_KEY = 256
"""The length of a key in bytes."""
MAX_OUTPUT = 64 << 10
"""How much of each output stream a record keeps, in bytes."""
MAX_RECORDS = 10_000
"""How many keys a journal has at most. Go's package makes room in a full one."""


class Journal:
    """A directory of records; made if there is none.

    Raises:
        JournalError: If another user could change it.
    """

    def __init__(self, path: str | os.PathLike[str], *, secrets: Sequence[str] = ()) -> None:
        self.path = Path(os.path.normpath(path))
        self._secrets = tuple(filter(None, secrets))
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._check(self.path.lstat())
        except OSError as e:
            raise JournalError(f"outlast: the journal {self.path}: {e.strerror}") from e

    def _check(self, info: os.stat_result) -> None:
        why = None
        if stat.S_ISLNK(info.st_mode):
            why = "it is a symbolic link, which somebody may turn elsewhere"
        elif not stat.S_ISDIR(info.st_mode):
            why = "it is not a directory"
        elif info.st_uid != os.geteuid():
            why = f"it belongs to user {info.st_uid}, and this is user {os.geteuid()}"
        elif info.st_mode & 0o022:
            why = f"other users can write it (mode {stat.S_IMODE(info.st_mode):04o}): chmod 700"
        if why:
            raise JournalError(f"outlast: the journal {self.path}: {why}")

    def begin(
        self, key: str, argv: Sequence[str], *, target: str = "", timeout: float | None = None
    ) -> Run | Earlier:
        """Begin the write that *key* names, or get what it came to before.

        Args:
            key: 1 to 256 bytes of printable text: the caller's word that two runs
                with it are the same write.
            argv: What the write is; another with the same key is refused.
            target: What it goes to, for people.
            timeout: For how many seconds to wait for another run with the key;
                ``None``: until it ends.

        Raises:
            InDoubt: If an earlier run may have applied it.
            JournalError: If the key was used for another write, or the journal
                cannot be used.
        """
        if not key or len(key.encode()) > MAX_KEY or not key.isprintable():
            raise ValueError(f"outlast: key is {key!r}, and must be 1 to {MAX_KEY} printable bytes")
        name = "k-" + digest("key", key)
        path = self.path / f"{name}.jsonl"
        try:
            if not path.exists() and sum(1 for p in self.path.glob("*.jsonl")) >= MAX_RECORDS:
                raise JournalError(f"outlast: the journal {self.path} is full")
            fd = lock(path, timeout)
        except OSError as e:
            raise JournalError(f"outlast: the journal's record {path}: {e.strerror}") from e
        run = Run(self, fd, path)
        try:
            earlier = run._decide(key, name, list(argv), target)
        except BaseException:
            run.close()
            raise
        if earlier is not None:
            run.close()
            return earlier
        return run

    def _redact(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[redacted]")
        return text


class Run:
    """A write that is under way. Close it, or use it in a ``with``."""

    def __init__(self, journal: Journal, fd: int, path: Path) -> None:
        self._journal, self._fd, self._path = journal, fd, path
        self._new = False
        self._attempts = 0

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def attempt(self) -> None:
        """Put the next attempt on record. When it comes back, the disk has it.

        Raises:
            JournalError: If it cannot be; the attempt must not be made then.
        """
        self._attempts += 1
        self._append({"record": "attempt", "attempt": self._attempts}, sync=True)
        if self._new:
            self._new = False
            fd = os.open(self._journal.path, os.O_RDONLY)
            try:
                to_disk(fd)
            finally:
                os.close(fd)

    def ended(self, *, effects: Literal["none", "unknown"]) -> None:
        """Note what is known of the last attempt's effects: none by evidence only."""
        self._append({"record": "ended", "attempt": self._attempts, "effects": effects})

    def attempting(self, attempt: Callable[[], Result]) -> Callable[[], Result]:
        """An attempt function that is put on record, for `Policy.run`."""

        def recorded() -> Result:
            self.attempt()
            result = attempt()
            if not result.ok and result.sent == "no":
                self.ended(effects="none")
            return result

        return recorded

    def finish(self, outcome: Outcome, *, stdout: bytes = b"", stderr: bytes = b"") -> None:
        """Put on record how the write ended, and give the lock up."""
        ok = outcome.type == "ok"
        end: dict[str, Any] = {"record": "outcome", "outcome": outcome.type}
        if ok:
            for name, text in (("stdout", stdout), ("stderr", stderr)):
                if text:
                    end[name] = self._output(text)
        else:
            end["effects"] = outcome.effects or "unknown"
        if outcome.result is not None and outcome.result.exit_code is not None:
            end["exit_code"] = outcome.result.exit_code
        try:
            self._append(end, sync=True)
        finally:
            self.close()

    def close(self) -> None:
        """Give the lock up and leave the record as it stands."""
        import fcntl

        if self._fd >= 0:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.close(self._fd)
            self._fd = -1

    def _output(self, text: bytes) -> dict[str, Any]:
        cut = len(text) > MAX_OUTPUT
        for secret in self._journal._secrets:
            text = text.replace(secret.encode(), b"[redacted]")
        out: dict[str, Any] = {}
        try:
            out["text"] = text[:MAX_OUTPUT].decode()
        except UnicodeDecodeError:
            out["base64"] = base64.b64encode(text[:MAX_OUTPUT]).decode()
        if cut or len(text) > MAX_OUTPUT:
            out["cut"] = True
        return out

    def _decide(self, key: str, name: str, argv: list[str], target: str) -> Earlier | None:
        text = os.pread(self._fd, MAX_FILE + 1, 0)
        try:
            records = parse(text)
            state = state_of(records)
        except ValueError as e:
            raise InDoubt(key, name, f"a time that cannot be read ({e})", self._journal.path) from e
        line = digest(*argv)
        head = next((r for r in reversed(records) if r["record"] == "run"), None)
        if head is not None:
            if head.get("line", line) != line:
                raise JournalError(
                    f"outlast: the journal's key {key} was used for another command line "
                    f"({command(self._journal.path, 'show', name)}): a key names one write"
                )
            if state == "applied":
                return earlier_of(records)
            if state == "in_doubt":
                raise InDoubt(key, name, head.get("time", ""), self._journal.path)
        os.ftruncate(self._fd, 0)
        self._new = True
        boot, since = since_boot()
        self._append(
            {
                "record": "run",
                "v": VERSION,
                "key": key,
                "argv": [self._journal._redact(a)[:4096] for a in argv],
                "line": line,
                "dir": str(Path.cwd()),
                "target": target,
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "boot": boot,
                "boot_us": since,
            }
        )
        return None

    def _append(self, record: dict[str, Any], *, sync: bool = False) -> None:
        record["time"] = datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
        line = (json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        end = os.lseek(self._fd, 0, os.SEEK_END)
        try:
            if os.pwrite(self._fd, line, end) != len(line):
                raise OSError(28, "No space left on device")
            if sync:
                to_disk(self._fd)
        except OSError as e:
            os.ftruncate(self._fd, end)
            raise JournalError(
                f"outlast: writing the journal's record {self._path}: {e.strerror}"
            ) from e
