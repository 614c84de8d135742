"""What importing the package costs."""

from __future__ import annotations

import subprocess
import sys

import outlast

CODE = """
import sys
import outlast
assert not {'wasmtime', 'ctypes'} & set(sys.modules)
assert not {'asyncio', 'ssl', 'http.client', 'subprocess', 'hashlib'} & set(sys.modules)

call = outlast.Call(remote=True, write=False)
outlast.Policy("omnigraph").run(lambda: outlast.Result(exit_code=0), call)

@outlast.retry(remote=True, write=False)
def f():
    return 1

assert f() == 1
assert 'wasmtime' not in sys.modules
assert outlast.info()['abi']
assert 'wasmtime' in sys.modules
"""


def test_nothing_of_the_plugin_is_loaded_before_a_failure() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE], capture_output=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_all_is_there() -> None:
    assert sorted(outlast.__all__) == sorted(set(outlast.__all__))
    for name in outlast.__all__:
        assert getattr(outlast, name) is not None
