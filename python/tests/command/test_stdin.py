"""A standard input that every attempt reads from its beginning."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from outlast._command.stdin import Stdin


def test_bytes_and_nothing() -> None:
    assert Stdin(None, None).attach() == (subprocess.DEVNULL, b"")
    assert Stdin(None, subprocess.DEVNULL).attach() == (subprocess.DEVNULL, b"")
    assert Stdin(b"", None).attach() == (subprocess.PIPE, b"")
    assert Stdin(b"x", None).attach() == (subprocess.PIPE, b"x")


def test_a_file_stands_where_it_stood(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("0123456789")
    with path.open("r") as file:  # a text file, which has read ahead
        assert file.read(3) == "012"
        stdin = Stdin(None, file)
    descriptor = os.open(path, os.O_RDONLY)
    os.lseek(descriptor, 4, os.SEEK_SET)
    stdin = Stdin(None, descriptor)
    for _ in range(2):
        given, _data = stdin.attach()
        assert os.read(given, 100) == b"456789"
    assert not stdin.is_terminal
    os.close(descriptor)


@pytest.mark.skipif(sys.platform == "win32", reason="no such devices")
def test_a_device_is_handed_on() -> None:
    with open("/dev/null", "rb") as null:
        stdin = Stdin(None, null)
        assert stdin.attach() == (null.fileno(), b"")
        assert not stdin.is_terminal


@pytest.mark.skipif(sys.platform == "win32", reason="no such terminals")
def test_a_terminal_is_handed_on() -> None:
    leader, follower = os.openpty()
    stdin = Stdin(None, follower)
    assert stdin.is_terminal
    assert stdin.attach() == (follower, b"")
    os.close(leader)
    os.close(follower)
