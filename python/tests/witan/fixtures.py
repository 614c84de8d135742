"""What the tests with real releases share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import outlast
from outlast import hooks, witan

from . import releases
from .releases import Release


@pytest.fixture(scope="session", params=["0.8.0", "0.45.0"])
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Of each generation the release whose loop its document equals."""
    return _get(request.param, tmp_path_factory)


@pytest.fixture(scope="session", params=releases.BY_CODE)
def variant(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Of each code that decides the newest release."""
    return _get(request.param, tmp_path_factory)


@pytest.fixture(scope="session", params=[v for v in releases.BY_CODE if v in releases.WITH_HTTP])
def variant_with_http(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Release:
    """Each of those that speak HTTP."""
    return _get(request.param, tmp_path_factory)


@pytest.fixture(scope="session", params=releases.SHA256)
def each(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Each release that is known."""
    return _get(request.param, tmp_path_factory)


@pytest.fixture(scope="session", params=releases.WITH_HTTP)
def each_with_http(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Release:
    """Each known release that speaks HTTP."""
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
