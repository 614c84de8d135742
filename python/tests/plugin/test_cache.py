"""Where compiled code is kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from outlast._plugin import cache

if sys.platform == "win32":
    pytest.skip("modes and owners are of other systems", allow_module_level=True)


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache's directory that is not there yet."""
    path = tmp_path / "cache"
    monkeypatch.setenv(cache.ENV_DIR, str(path))
    return path


KEY = "0123abcd"


def test_what_was_kept_is_found(base: Path) -> None:
    code = cache.Code(KEY)
    assert code.find() is None
    assert code.keep(b"code") == ""
    path = code.find()
    assert path is not None
    assert (path.parent, path.read_bytes()) == (base / "python", b"code")
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600
    assert cache.Code("another").find() is None
    assert cache.Code(KEY).find() == path


@pytest.mark.parametrize("text", [b"codf", b"cod", b"code and more", b""])
def test_what_has_changed_is_removed(base: Path, text: bytes) -> None:
    code = cache.Code(KEY)
    code.keep(b"code")
    (path,) = (base / "python").iterdir()
    path.write_bytes(text)
    assert code.find() is None
    assert not path.exists()
    assert code.keep(b"code") == ""
    assert code.find() == path


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
def test_what_is_no_file_is_not_used(base: Path, tmp_path: Path, kind: str) -> None:
    code = cache.Code(KEY)
    code.keep(b"code")
    (path,) = (base / "python").iterdir()
    if kind == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.unlink()
        (os.mkfifo if kind == "pipe" else os.mkdir)(path)
    assert code.find() is None  # and nothing blocks


def test_few_stay_and_those_in_use_do(base: Path) -> None:
    for n in range(cache.KEPT):
        cache.Code(f"{n}").keep(b"code")
        (path,) = (base / "python").glob(f"{n}-*")
        os.utime(path, (n, n))
    assert cache.Code("0").find() is not None
    cache.Code("new").keep(b"code")
    left = {path.name.partition("-")[0] for path in (base / "python").iterdir()}
    assert left == {"0", "2", "3", "new"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written_serves_what_it_has(base: Path) -> None:
    code = cache.Code(KEY)
    code.keep(b"code")
    code.folder.chmod(0o500)
    try:
        assert code.find() is not None
        assert "cannot write" in cache.Code("another").keep(b"code")
    finally:
        code.folder.chmod(0o700)


def test_what_cannot_be_written_is_no_error(base: Path) -> None:
    code = cache.Code(KEY)
    code.folder.rmdir()
    assert "cannot write" in code.keep(b"code")


def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cache.ENV_DIR, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache.directory() == Path("/xdg/outlast")
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", "/home/zoe")
    where = "Library/Caches" if sys.platform == "darwin" else ".cache"
    assert cache.directory() == Path("/home/zoe") / where / "outlast"


@pytest.mark.parametrize(
    ("value", "why"), [("off", "is off"), ("here/below", "not an absolute path")]
)
def test_it_can_be_nowhere(monkeypatch: pytest.MonkeyPatch, value: str, why: str) -> None:
    monkeypatch.setenv(cache.ENV_DIR, value)
    with pytest.raises(cache.UnusableError, match=why):
        cache.Code(KEY)


def refused(match: str) -> None:
    with pytest.raises(cache.UnusableError, match=match):
        cache.Code(KEY)


def test_a_directory_open_to_others_is_not_used(base: Path) -> None:
    cache.Code(KEY)
    (base / "python").chmod(0o750)
    refused("open to others .mode 0750.; mode 0700 is needed")


def test_a_link_is_not_used(base: Path, tmp_path: Path) -> None:
    base.mkdir(mode=0o700)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (base / "python").symlink_to(elsewhere)
    refused("is not a real directory")


def test_a_way_that_others_can_change_is_not_used(base: Path) -> None:
    base.mkdir(mode=0o777)
    base.chmod(0o777)
    refused("others may write in .*cache and could replace it|could replace the cache")


def test_another_users_directory_is_not_used(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.Code(KEY)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    refused("belongs to user")


def test_a_file_in_its_place_is_no_error(base: Path) -> None:
    base.write_text("")
    refused("cannot use")
