"""A write that is on record is not applied twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import outlast
from outlast.journal import Earlier, InDoubt, Journal, JournalError, Run

ARGV = ["write", "1"]


def begin(journal: Journal, key: str = "k") -> Run:
    run = journal.begin(key, ARGV)
    assert isinstance(run, Run)
    return run


def test_a_call_under_a_key(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    call = outlast.Call(remote=True, write=True)
    with begin(journal) as run:
        outcome = outlast.Policy("omnigraph").run(
            run.attempting(lambda: outlast.Result(exit_code=0, stdout=b"written")), call
        )
        run.finish(outcome, stdout=b"written")
    again = journal.begin("k", ARGV)
    assert isinstance(again, Earlier)
    assert (again.stdout, again.exit_code) == (b"written", 0)
    with pytest.raises(JournalError, match="another command line"):
        journal.begin("k", ["write", "2"])


def test_a_killed_run_is_in_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "our journal"
    monkeypatch.chdir(tmp_path)
    journal = Journal("our journal")
    run = begin(journal)
    run.attempt()
    run.close()
    with pytest.raises(InDoubt, match="may have been applied") as refused:
        journal.begin("k", ARGV)
    settle = f"outlast journal settle --journal '{path}' {refused.value.record} --applied,"
    assert settle in str(refused.value)
    unsent = begin(journal, "unsent")
    unsent.attempt()
    unsent.ended(effects="none")
    unsent.close()
    begin(journal, "unsent").close()


def test_torn_at_any_byte(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    run = begin(journal)
    run.attempt()
    run.finish(outlast.Outcome("ok"))
    (path,) = tmp_path.glob("*.jsonl")
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut] + b"\0" * (cut % 3))
        lines = whole[:cut].count(b"\n")
        if lines == 2:
            with pytest.raises(InDoubt):
                journal.begin("k", ARGV)
            continue
        got = journal.begin("k", ARGV)
        assert isinstance(got, Earlier if lines == 3 else Run)
        if isinstance(got, Run):
            got.close()


@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_a_directory_that_others_can_write(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "j"
    path.mkdir()
    path.chmod(mode)
    with pytest.raises(JournalError, match="other users can write"):
        Journal(path)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with pytest.raises(JournalError, match="symbolic link"):
        Journal(f"{link}{os.sep}")


@pytest.mark.parametrize("key", ["", "x" * 257, "a\nb"])
def test_no_key(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="key is"):
        Journal(tmp_path).begin(key, ARGV)
