"""What all tests have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from outlast import hooks, testing
from outlast.events import Event

settings.register_profile("outlast", deadline=None)  # nothing here is about speed
settings.load_profile("outlast")

REFUSED = (
    b"Error: \n"
    b"   0: error sending request for url (http://127.0.0.1:8080/query)\n"
    b"   1: client error (Connect)\n"
    b"   2: tcp connect error\n"
    b"   3: Connection refused (os error 111)\n"
    b"\n"
    b"Location:\n"
    b"   crates/omnigraph-cli/src/client.rs:1\n"
)
"""What omnigraph prints when it cannot reach its server."""


def report(cause: bytes) -> bytes:
    """What omnigraph 0.10 prints of a failure. For a write the whole report is evidence
    that nothing was applied; its first lines alone are not.
    """
    return (
        b"Error: \n"
        b"   0: \x1b[91m" + cause + b"\x1b[0m\n"
        b"\n"
        b"Location:\n"
        b"   \x1b[35mcrates/omnigraph-cli/src/client.rs\x1b[0m:\x1b[35m831\x1b[0m\n"
        b"\n"
        b"Backtrace omitted. Run with RUST_BACKTRACE=1 environment variable to display it.\n"
        b"Run with RUST_BACKTRACE=full to include source snippets.\n"
    )


NEEDS_REPAIR = report(
    b"dataset for node type 'Person' is at Lance HEAD version 3, ahead of published dataset "
    b"version 2; run `omnigraph repair` before writing"
)
CAP = report(b"actor in-flight count cap 1 exceeded")


@pytest.fixture
def events() -> Iterator[list[Event]]:
    """The events of the test's calls, told to nobody else."""
    told: list[Event] = []
    hooks.set_hooks([told.append])
    yield told
    hooks.set_hooks(None)


@pytest.fixture
def clock() -> Iterator[testing.VirtualClock]:
    """All calls are on this clock, which moves only when it is slept on."""
    with testing.virtual_time() as virtual:
        yield virtual


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many of the contract's cases have passed."""
    counts = {
        how: sum(
            any(name == "conformance" for name, _ in getattr(report, "user_properties", ()))
            for report in terminalreporter.stats.get(how, ())
        )
        for how in ("passed", "failed")
    }
    if any(counts.values()):
        terminalreporter.write_line(
            f"conformance: {counts['passed']} passed, {counts['failed']} failed"
        )
