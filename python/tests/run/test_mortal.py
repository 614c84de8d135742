"""A plugin that really dies: one that the project builds for such tests, whose
instances exit at each third attempt that they ask for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import REFUSED
from outlast import Call, Outcome, Plugin, Policy, Result
from outlast import events as e
from outlast.testing import VirtualClock

ROOT = Path(__file__).parents[3]
READ = Call(remote=True, write=False)


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    go = shutil.which("go")
    if go is None:
        pytest.skip("it is built with Go, which is not here")
    path = tmp_path_factory.mktemp("mortal") / "mortal.wasm"
    options = ["-buildmode=c-shared", "-tags", "outlast_mortal", "-trimpath", "-ldflags=-s -w"]
    subprocess.run(
        [go, "build", *options, "-o", path, "./plugin/guest"],
        cwd=ROOT,
        env={**os.environ, "GOOS": "wasip1", "GOARCH": "wasm", "GOFLAGS": "-buildvcs=false"},
        check=True,
        timeout=600,
    )
    return path


def outcome_of(policy: Policy) -> tuple[Outcome, list[float]]:
    clock = VirtualClock()
    outcome = policy.run_in_plugin(
        lambda: Result(exit_code=1, stderr=REFUSED), READ, clock.now, clock.sleep, seed=9
    )
    return outcome, clock.slept


def test_a_call_goes_on_with_its_state(mortal: Path, events: list[e.Event]) -> None:
    plugin = Plugin(mortal)
    outcome, slept = outcome_of(Policy("omnigraph", plugin=plugin))
    sound, without = outcome_of(Policy("omnigraph"))
    assert outcome == sound
    assert slept == without
    # The first attempt is made without it; of the others an instance makes two.
    assert plugin.replaced == (outcome.attempts - 2) // 2
    assert plugin.replaced == sum(isinstance(event, e.InstanceReplaced) for event in events)
