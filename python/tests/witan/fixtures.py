"""What the tests with real releases share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import outlast
from outlast import hooks, witan

from . import releases
from .releases import Release


@pytest.fixture(scope="session", params=sorted(releases.SHA256))
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Each release that is supported."""
    return _get(request.param, tmp_path_factory)


@pytest.fixture(scope="session")
def latest(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The release that the policy witan-core equals."""
    return _get("0.45.0", tmp_path_factory)


@pytest.fixture(scope="session")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The release that the data file equals."""
    return _get("0.8.0", tmp_path_factory)


_got: dict[str, Release] = {}


def _get(version: str, where: pytest.TempPathFactory) -> Release:
    if version not in _got:
        _got[version] = releases.get(version, where.mktemp(version))
    return _got[version]


@pytest.fixture
def quiet() -> Iterator[None]:
    """Nobody is told of calls: there are thousands."""
    hooks.set_hooks(())
    yield
    hooks.set_hooks(None)


@pytest.fixture
def loaded() -> None:
    """The plugin is loaded, so that no wait has that in it."""
    outlast.default_plugin().load()


@pytest.fixture
def uninstalled() -> Iterator[None]:
    """Whatever the test installs is taken out again."""
    yield
    witan.uninstall()
