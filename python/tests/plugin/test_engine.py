"""The plugin on Extism's runtime."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from outlast import PluginError
from outlast._plugin import cache, file
from outlast._plugin.engine import CACHE_VARIABLE, Engine

WASM, _ = file.read()

RUN = b'{"policy":"omnigraph","call":{"remote":true,"write":false,"seed":1}}'
FAILED = b'{"type":"attempted","now_us":1,"result":{"exit_code":1,"stderr":"%s"}}'


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has the plugin's code; tests copy it."""
    base = tmp_path_factory.mktemp("warm") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.ENV_DIR, str(base))
        patch.delenv(CACHE_VARIABLE, raising=False)
        Engine(WASM).compile()
    return base


@pytest.fixture
def base(warm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "cache"
    shutil.copytree(warm, copy)
    (copy / "python" / "runtime.toml").unlink()  # it names the other directory
    monkeypatch.setenv(cache.ENV_DIR, str(copy))
    return copy


def works(engine: Engine) -> bool:
    return engine.instance().call("describe", b"").startswith(b'{"v":1,"ok":')


def entries(base: Path) -> list[Path]:
    return sorted(p for p in (base / "python" / "native").rglob("*") if p.is_file())


def test_code_is_kept_in_a_directory_of_our_own(base: Path) -> None:
    before = [p for p in entries(base) if not p.suffix]
    assert before
    engine = Engine(WASM)
    engine.compile()
    assert works(engine)
    assert engine.loading.cache == base / "python" / "native"
    assert engine.loading.why == ""
    assert [p for p in entries(base) if not p.suffix] == before
    assert CACHE_VARIABLE not in os.environ


def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv(cache.ENV_DIR, str(blocked / "cache"))
    engine = Engine(WASM)
    engine.compile()
    assert works(engine)
    assert engine.loading.cache is None
    assert "cannot use" in engine.loading.why


def test_a_spoilt_entry_is_no_error(base: Path) -> None:
    for entry in entries(base):
        entry.write_bytes(b"spoilt")
    engine = Engine(WASM)
    engine.compile()
    assert works(engine)


@pytest.mark.skipif(sys.platform == "win32", reason="modes are of other systems")
def test_a_runtime_that_refuses_the_cache_is_no_error(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt = base / "python" / "runtime.toml"
    spoilt.write_text("[cache]\nno_such_thing = 1\n")
    monkeypatch.setattr(cache, "configuration", lambda: spoilt)
    engine = Engine(WASM)
    engine.compile()
    assert works(engine)
    assert engine.loading.cache is None
    assert "the runtime refused it" in engine.loading.why


def test_the_users_own_configuration_is_obeyed(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs.toml"
    theirs.write_text(f'[cache]\ndirectory = "{base / "python" / "native"}"\n')
    monkeypatch.setenv(CACHE_VARIABLE, str(theirs))
    engine = Engine(WASM)
    engine.compile()
    assert engine.loading.cache == theirs
    assert os.environ[CACHE_VARIABLE] == str(theirs)
    assert not (base / "python" / "runtime.toml").exists()


def test_the_users_own_configuration_may_be_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "missing.toml"))
    engine = Engine(WASM)
    engine.compile()
    assert works(engine)
    assert engine.loading.cache is None
    assert "which the runtime refused" in engine.loading.why


def test_without_the_runtime_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "extism", None)
    with pytest.raises(PluginError, match="loading the plugin: cannot import extism"):
        Engine(WASM).compile()


class Host:
    """Answers what it is told to, or raises it."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[str] = []
        self.errors: list[BaseException] = []

    def _answer(self, name: str) -> bytes:
        self.calls.append(name)
        answer = self.answers[name]
        if isinstance(answer, BaseException):
            raise answer
        return bytes(answer)

    def now(self) -> bytes:
        return self._answer("now")

    def sleep(self, action: bytes) -> bytes:
        return self._answer("sleep")

    def attempt(self, action: bytes) -> bytes:
        return self._answer("attempt")

    def failed(self, error: BaseException) -> None:
        self.errors.append(error)


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine(WASM)
    engine.compile()
    return engine


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), ValueError("v")])
@pytest.mark.parametrize("where", ["now", "attempt", "sleep"])
def test_what_a_host_function_raises_is_kept(
    engine: Engine, where: str, error: BaseException, capfd: pytest.CaptureFixture[str]
) -> None:
    refused = FAILED % b"graph is loading"
    answers = {"now": b'{"now_us":0}', "attempt": refused, "sleep": b""}
    host = Host(**{**answers, where: error})
    answer = engine.instance().call("run", RUN, host)
    assert b'"code":"host_failed"' in answer
    assert b"outlast_%s" % where.encode() in answer
    assert host.errors == [error]
    assert host.calls[-1] == where
    assert capfd.readouterr().err == ""


def test_without_a_host_the_host_functions_fail(engine: Engine) -> None:
    assert b'"code":"host_failed"' in engine.instance().call("run", RUN)


def test_a_run_within_an_attempt_of_a_run(engine: Engine) -> None:
    inner_host = Host(now=b'{"now_us":5}', attempt=FAILED % b"inner")

    class Outer(Host):
        def attempt(self, action: bytes) -> bytes:
            assert b'"last_error":"inner"' in engine.instance().call("run", RUN, inner_host)
            return FAILED % b"outer"

    outer = Outer(now=b'{"now_us":0}')
    assert b'"last_error":"outer"' in engine.instance().call("run", RUN, outer)
    assert (outer.errors, inner_host.errors) == ([], [])


def test_no_host_function_is_left_for_other_plugins(engine: Engine) -> None:
    from extism.extism import HOST_FN_REGISTRY

    assert engine.instance() is not None
    assert [f for f in HOST_FN_REGISTRY if f.name.startswith("outlast")] == []
