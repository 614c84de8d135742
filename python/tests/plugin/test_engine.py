"""The plugin on wasmtime."""

from __future__ import annotations

import gc
import shutil
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest
import wasmtime

from outlast import PluginError
from outlast._plugin import cache, file, function
from outlast._plugin import plugin as plugins
from outlast._plugin.engine import Engine
from outlast._plugin.instance import Instance, link

WASM, DIGEST = file.read()

RUN = b'{"policy":"omnigraph","call":{"remote":true,"write":false,"seed":1}}'
FAILED = b'{"type":"attempted","now_us":1,"result":{"exit_code":1,"stderr":"%s"}}'


def loaded(digest: str = DIGEST) -> Engine:
    engine = Engine(WASM, digest)
    engine.compile()
    return engine


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has the plugin's code; tests copy it."""
    base = tmp_path_factory.mktemp("warm") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.ENV_DIR, str(base))
        loaded()
    return base


@pytest.fixture
def base(warm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "cache"
    shutil.copytree(warm, copy)
    monkeypatch.setenv(cache.ENV_DIR, str(copy))
    return copy


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the plugin is compiled for, each time. It is not really: that takes seconds,
    and the code is a small module's.
    """
    targets: list[str] = []
    serialize = wasmtime.Module.serialize

    def instead(engine: Engine, target: str) -> bytearray:
        targets.append(target)
        return serialize(engine._kernel)

    monkeypatch.setattr(Engine, "_compiled", instead)
    return targets


def works(engine: Engine) -> bool:
    return engine.instance().call("describe", b"").startswith(b'{"v":1,"ok":')


def entries(base: Path) -> list[Path]:
    return sorted((base / "python").iterdir())


def test_code_is_taken_from_a_directory_of_our_own(base: Path, compiled: list[str]) -> None:
    before = entries(base)
    assert len(before) == 1
    engine = loaded()
    assert works(engine)
    assert (engine.loading.cache, engine.loading.why) == (base / "python", "")
    assert (entries(base), compiled) == (before, [])


def test_a_cache_that_cannot_be_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: list[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv(cache.ENV_DIR, str(blocked / "cache"))
    engine = loaded()
    assert engine.loading.cache is None
    assert "cannot use" in engine.loading.why
    assert compiled == [""]


def test_a_spoilt_entry_is_replaced(base: Path, compiled: list[str]) -> None:
    (entry,) = entries(base)
    code = bytearray(entry.read_bytes())
    code[len(code) // 2] ^= 1
    entry.write_bytes(code)
    assert loaded().loading.why == ""
    assert compiled == [""]
    (again,) = entries(base)
    assert again != entry


def test_an_entry_that_wasmtime_refuses_is_replaced(base: Path, compiled: list[str]) -> None:
    (entry,) = entries(base)
    key = entry.name.partition("-")[0]
    entry.unlink()
    assert cache.Code(key).keep(b"no code of wasmtime's") == ""
    assert loaded().loading.why == ""
    assert compiled == [""]
    (again,) = entries(base)
    assert again.name.startswith(key)


def test_another_plugin_or_release_has_an_entry_of_its_own(
    base: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded("another digest")
    assert len(entries(base)) == 2
    monkeypatch.setattr(wasmtime.Module, "serialize", lambda _: bytearray(b"another release"))
    loaded()
    assert len(entries(base)) == 3
    assert compiled == ["", ""]


def test_without_the_runtime_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    with pytest.raises(PluginError, match="loading the plugin: cannot import wasmtime"):
        loaded()


def test_an_error_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.ENV_DIR, "off")
    with pytest.raises(PluginError, match="loading the plugin") as raised:
        Engine(b"\0asm\x01\0\0\0\xff", "").compile()
    assert "\n" not in str(raised.value)


def start(text: str) -> Instance:
    """An instance of another module."""
    module = bytes(wasmtime.wat2wasm(f"(module {text})"))
    engine = Engine(module, "")
    engine._start()
    engine._module = wasmtime.Module(engine._engine, module)
    engine._linker = link(engine._engine, engine._module)
    return engine.instance()


EXIT = '(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))'
LIKE = """
(import "extism:host/env" "output_set" (func $set (param i64 i64)))
(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
(memory (export "memory") 1)
(func (export "outlast_abi_1"))
(func (export "describe") (result i32)
  (call $set (call $alloc (i64.const 8)) (i64.const -1)) (i32.const 0))
(func (export "check") (result i32) (i32.const 7))
(func (export "decide") (result i32) (unreachable))
(func (export "run") (result i32) (call $set (i64.const 24) (i64.const 1000000)) (i32.const 0))
"""
"""A plugin each of whose exports breaks the contract in its own way."""


@pytest.mark.parametrize("missing", [ImportError, AttributeError, TypeError])
def test_what_wasmtime_does_not_promise_may_be_missing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, missing: type[Exception]
) -> None:
    quick = engine.instance().call("decide", plugins._DECISION)

    def changed(*_: Any) -> Any:
        raise missing("it is called something else now")

    monkeypatch.setattr(function, "_straight", changed)
    assert engine.instance().call("decide", plugins._DECISION) == quick
    with pytest.raises(Exception, match="unreachable"):
        start(LIKE).call("decide", b"input")


@pytest.mark.parametrize(
    ("export", "what"),
    [
        ("describe", "outside of its memory"),
        ("run", "outside of its memory"),
        ("check", "check returned 7"),
        ("decide", "unreachable"),
        ("another", "has no export 'another'"),
    ],
)
def test_a_plugin_that_breaks_the_contract(export: str, what: str) -> None:
    with pytest.raises(Exception, match=what):
        start(LIKE).call(export, b"input")


def test_an_input_that_does_not_fit() -> None:
    with pytest.raises(MemoryError):
        start(LIKE).call("describe", bytes(64 << 20))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no export 'outlast_abi_1'"),
        ('(func (export "outlast_abi_1"))', "no export 'describe'"),
        ('(import "env" "log" (func))', "it imports 'log' from 'env', which"),
        ('(import "extism:host/env" "http_request" (func))', "imports 'http_request' from 'ext"),
        ('(import "extism:host/env" "alloc" (func))', "incompatible import type"),
        (LIKE + '(func (export "_initialize") (unreachable))', "unreachable"),
        (EXIT + LIKE + '(func (export "_initialize") (call $exit (i32.const 3)))', "itself with 3"),
    ],
)
def test_a_module_that_is_no_plugin(text: str, what: str) -> None:
    with pytest.raises(PluginError, match=f"starting the plugin: .*{what}"):
        start(text)


def test_instances_are_freed(engine: Engine) -> None:
    instances = [engine.instance() for _ in range(3)]
    for instance in instances:
        instance.call("describe", b"")
    instances[0].close()
    left = [weakref.ref(instance._store) for instance in instances]
    del instances, instance
    gc.collect()
    assert [ref() for ref in left] == [None] * 3


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
    return loaded()


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
