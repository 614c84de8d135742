"""Where compiled code is kept."""

from __future__ import annotations

import os
import re
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


def test_the_configuration_is_outside_of_what_the_runtime_cleans_up(base: Path) -> None:
    path = cache.configuration()
    found = re.fullmatch(r'\[cache\]\ndirectory = "(.*)"\n', path.read_text())
    assert found is not None
    native = Path(found[1])
    assert native.is_dir()
    assert native not in path.parents
    assert path == base / "python" / "runtime.toml"
    for directory in (base / "python", native):
        assert directory.stat().st_mode & 0o777 == 0o700


def test_it_is_written_once_and_mended(base: Path) -> None:
    path = cache.configuration()
    before = path.stat().st_mtime_ns
    assert cache.configuration() == path
    assert path.stat().st_mtime_ns == before
    path.write_text("spoilt")
    cache.configuration()
    assert path.read_text().startswith("[cache]")
    assert sorted(p.name for p in path.parent.iterdir()) == ["native", "runtime.toml"]


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
        cache.configuration()


def refused(match: str) -> None:
    with pytest.raises(cache.UnusableError, match=match):
        cache.configuration()


def test_a_directory_open_to_others_is_not_used(base: Path) -> None:
    cache.configuration()
    (base / "python").chmod(0o750)
    refused("open to others .mode 0750.; mode 0700 is needed")


def test_the_place_of_the_code_itself_must_be_private(base: Path) -> None:
    cache.configuration()
    (base / "python" / "native").chmod(0o777)
    refused("native is open to others")


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
    cache.configuration()
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    refused("belongs to user")


def test_a_file_in_its_place_is_no_error(base: Path) -> None:
    base.write_text("")
    refused("cannot use")


def test_a_configuration_that_cannot_be_written(base: Path) -> None:
    cache.configuration()
    path = base / "python" / "runtime.toml"
    path.unlink()
    path.mkdir()
    (path / "in the way").touch()
    refused("cannot write")
