"""The plugin, for any number of threads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import outlast
from fakes import Failing, envelope
from outlast import Plugin, PluginError, default_plugin, warm_up
from outlast._plugin import file
from outlast._plugin import plugin as plugins
from outlast._plugin.envelope import AnswerError, is_answer, open_envelope

PANIC = envelope("internal", "panic: index out of range")


def test_an_instance_is_used_again() -> None:
    plugin = Failing()
    for _ in range(5):
        assert plugin.ask("describe", b"")["version"]
    assert (plugin.started, plugin.replaced) == (1, 0)


@pytest.mark.parametrize(
    "fault", [RuntimeError("trapped"), PANIC, b"not JSON", b"[]", b'{"v":1}', b'{"v":2,"ok":{}}']
)
def test_an_instance_that_fails_is_replaced(fault: Exception | bytes) -> None:
    plugin = Failing(fault)
    told: list[Exception] = []
    assert plugin.ask("describe", b"", told.append)["version"]
    assert (plugin.started, plugin.replaced, len(told)) == (2, 1, 1)
    plugin.ask("describe", b"")
    assert plugin.started == 2


def test_two_failures_in_a_row_are_an_error() -> None:
    plugin = Failing(RuntimeError("first"), PANIC)
    with pytest.raises(PluginError, match=r"first \(and again: internal: panic: index"):
        plugin.ask("describe", b"")
    assert plugin.replaced == 2
    assert plugin.ask("describe", b"")["version"]


def test_an_answer_that_is_an_error_is_no_failure() -> None:
    plugin = Failing()
    with pytest.raises(AnswerError, match="bad_request"):
        plugin.ask("decide", b"{}")
    plugin.ask("describe", b"")
    assert (plugin.started, plugin.replaced) == (1, 0)


def test_ctrl_c_throws_the_instance_away_and_comes_out() -> None:
    plugin = Failing(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        plugin.ask("describe", b"")
    assert plugin.ask("describe", b"")["version"]
    assert (plugin.started, plugin.replaced) == (2, 0)


def test_no_two_threads_share_an_instance() -> None:
    plugin = Plugin()
    requests = [
        b'{"policy":"omnigraph","call":{"remote":true,"write":false,"seed":%d},"event":{"type":'
        b'"attempted","now_us":%d,"result":{"exit_code":75}}}' % (i, i)
        for i in range(40)
    ]
    want = [plugin.ask("decide", request) for request in requests]
    start = threading.Barrier(20)

    def work(offset: int) -> int:
        start.wait()
        order = [(i * 7 + offset) % 40 for i in range(200)]
        return sum(plugin.ask("decide", requests[n]) != want[n] for n in order)

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(work, range(20))) == 0
    assert plugin._engine is not None
    assert len(plugin._engine.idle) <= (os.cpu_count() or 1)
    assert plugin.replaced == 0


def test_it_is_compiled_once_however_many_ask_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = Plugin()
    plugin._compiled = {}
    loads = []
    run = plugins._Load._load

    def counted(load: plugins._Load) -> None:
        loads.append(load)
        run(load)

    monkeypatch.setattr(plugins._Load, "_load", counted)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: plugin.ask("describe", b"")["version"], range(20)))
    assert len(set(answers)) == 1
    assert len(loads) == 1
    assert plugin.take_loading() is not None
    assert plugin.take_loading() is None


def test_a_thread_that_could_not_be_started_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = Plugin()

    def no_more(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_more)
        with pytest.raises(outlast.PluginError, match="can't start new thread"):
            plugin.load()
    plugin.load()
    assert plugin.loaded


def test_all_of_a_file_share_what_is_compiled(tmp_path: Path) -> None:
    """A thousand objects, of which each decides, take no more memory than a few."""
    copied = tmp_path / "copied.wasm"
    copied.write_bytes(file.find().read_bytes())
    several = [Plugin(), *(Plugin(copied if i % 2 else None) for i in range(1000))]
    for plugin in several:
        plugin.warm_up()
    engine = several[0]._engine
    assert engine is not None
    assert all(plugin._engine is engine for plugin in several)
    assert len(engine.idle) <= (os.cpu_count() or 1)
    assert not any(plugin.take_loading() for plugin in several[1:])


def test_a_file_that_is_no_plugin(tmp_path: Path) -> None:
    path = tmp_path / "other.wasm"
    path.write_bytes(b"\0asm\x01\0\0\0")  # an empty module, which is valid
    with pytest.raises(PluginError, match="no export 'outlast_abi_1'"):
        Plugin(path).load()
    path.write_bytes(b"nonsense")
    plugin = Plugin(path)
    for _ in range(2):  # and it is tried again, since a file can be mended
        with pytest.raises(PluginError, match="loading the plugin"):
            plugin.load()
    assert not plugin.loaded
    with pytest.raises(PluginError, match="reading the plugin"):
        Plugin(tmp_path / "missing.wasm").load()


def test_another_plugin_by_its_path() -> None:
    default = default_plugin()

    other = Plugin(file.find())
    assert other.sha256 == default.sha256
    assert not other.loaded
    assert other.ask("describe", b"") == default.ask("describe", b"")


def test_call_gives_bytes_for_bytes() -> None:
    assert open_envelope(Plugin().call("describe", b""))["version"]
    with pytest.raises(PluginError, match="calling no_such_export"):
        Plugin().call("no_such_export", b"")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_keeps_what_was_loaded() -> None:
    plugin = default_plugin()
    plugin.ask("describe", b"")
    plugin._lock.acquire()  # as another thread might at that moment
    try:
        pid = os.fork()
        if pid == 0:
            ok = plugin.loaded and plugin.ask("describe", b"")["version"]
            os._exit(0 if ok else 1)
    finally:
        plugin._lock.release()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    sys.stdout.flush()


def test_warming_up_loads_and_decides() -> None:
    plugin = Failing()
    plugin.warm_up()
    assert (plugin.loaded, plugin.started) == (True, 1)
    warm_up()
    assert default_plugin().loaded


def test_what_is_missing_is_told_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PluginError, match="reading the plugin"):
        Plugin(tmp_path / "missing.wasm").warm_up()
    with pytest.raises(PluginError, match="asking the plugin: bad_request: nothing is right"):
        Failing(envelope("bad_request", "nothing is right")).warm_up()
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    missing = Plugin()
    missing._compiled = {}  # what was loaded before is there still
    with pytest.raises(PluginError, match="loading the plugin: cannot import wasmtime"):
        missing.warm_up()


@pytest.mark.parametrize("reraise", [False, True])
def test_what_is_missing_does_not_hide_the_callers_own_exception(
    monkeypatch: pytest.MonkeyPatch, reraise: bool
) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    missing = Plugin()
    missing._compiled = {}
    policy = outlast.Policy(plugin=missing)
    own = ConnectionRefusedError(111, "Connection refused")

    @outlast.retry(remote=True, write=False, policy=policy, reraise=reraise)
    def ask() -> None:
        raise own

    with pytest.raises(PluginError, match="cannot import wasmtime") as raised:
        ask()
    assert raised.value.__cause__ is own


def test_which_errors_are_answers() -> None:
    assert is_answer(AnswerError("bad_state", "m", "state", ()))
    assert not is_answer(AnswerError("internal", "m", "", ()))
    assert not is_answer(RuntimeError())


def test_all_faults_of_a_document_are_kept() -> None:
    with pytest.raises(AnswerError) as raised:
        open_envelope(
            b'{"v":1,"error":{"code":"invalid_policy","message":"m","faults":'
            b'[{"field":"a","message":"x"},{"field":"","message":"y"}]}}'
        )
    assert [(f.field, f.message) for f in raised.value.faults] == [("a", "x"), ("", "y")]


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
interpreters.run_string(interpreters.create(), '''
import sys
sys.path[:] = PATH
import outlast
try:
    outlast.warm_up()
except outlast.PluginError as e:
    print(e)
'''.replace("PATH", repr(__import__("sys").path)))
"""


def test_a_subinterpreter_has_no_threads_and_that_is_what_is_said() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SUBINTERPRETER], capture_output=True, text=True, check=False
    )
    said = "outlast: loading the plugin: no thread can be started: .*subinterpreter"
    assert re.match(said, done.stdout), done
