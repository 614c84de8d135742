"""The plugin's file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import wasmtime

from outlast import PluginError
from outlast._plugin import file


def test_the_file_is_the_one_that_was_built() -> None:
    wasm, digest = file.read()
    assert wasm.startswith(b"\0asm\x01\0\0\0")
    assert digest == hashlib.sha256(wasm).hexdigest()
    assert digest == file.find().with_name("outlast.wasm.sha256").read_text().strip()


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package's copy of the file, which is looked for first."""
    copy = tmp_path / "outlast.wasm"
    wasm, digest = file.read()
    copy.write_bytes(wasm)
    copy.with_name("outlast.wasm.sha256").write_text(digest + "\n")
    copy.with_name("kernel.wasm").write_bytes(file.kernel())
    monkeypatch.setattr(file, "PACKAGED", copy)
    return copy


def test_the_package_comes_first(packaged: Path) -> None:
    assert file.find() == packaged
    file.read()


def test_another_file_than_was_built_is_refused(packaged: Path) -> None:
    packaged.write_bytes(packaged.read_bytes() + b"\0")
    with pytest.raises(PluginError, match="checking the plugin: .* has the SHA-256 .*, and was"):
        file.read()


def test_a_file_without_its_digest_is_refused(packaged: Path) -> None:
    packaged.with_name("outlast.wasm.sha256").unlink()
    with pytest.raises(PluginError, match=r"reading the plugin: .*outlast.wasm.sha256"):
        file.read()


def test_no_file_is_a_broken_installation(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged.unlink()
    monkeypatch.setattr(file, "CHECKOUT", packaged)
    with pytest.raises(PluginError, match="finding the plugin: there is no .*install"):
        file.read()


def test_another_plugin_needs_no_recorded_digest(tmp_path: Path) -> None:
    other = tmp_path / "other.wasm"
    other.write_bytes(b"\0asm")
    assert file.read(other) == (b"\0asm", hashlib.sha256(b"\0asm").hexdigest())
    with pytest.raises(PluginError, match="reading the plugin"):
        file.read(tmp_path / "missing.wasm")


def test_the_memorys_module_is_what_its_source_says(packaged: Path) -> None:
    """By another assembler than the one that made it. It adds the names at the end."""
    source = Path(__file__).parents[3] / "plugin" / "kernel" / "kernel.wat"
    assembled = bytes(wasmtime.wat2wasm(source.read_text()))
    kernel = file.kernel()
    assert assembled[: len(kernel)] == kernel
    assert assembled[len(kernel) :].startswith(b"\0")  # a custom section
    assert b"\x04name" in assembled[len(kernel) :][:8]
    packaged.with_name("kernel.wasm").unlink()
    with pytest.raises(PluginError, match=r"reading the plugin: .*kernel.wasm.*install"):
        file.kernel()
