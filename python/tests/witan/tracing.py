"""A plugin of pytest's for witan-core's own tests: what decides in each.

It installs outlast.witan if the environment says so ("known": as programs do;
"any": also into a release that is not known), and writes for each test its
outcome, how often witan-core's own code decided, and how often the plugin was
asked. ``pytest -p witan.tracing``.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import outlast
from outlast import Plugin
from outlast import witan as adapter
from outlast.witan import _install, _sources

INSTALL_VARIABLE = "OUTLAST_TEST_INSTALL"
REPORT_VARIABLE = "OUTLAST_TEST_REPORT"

DECIDES = (
    "_classify_cli_error",
    "_cli_failure",
    "_jittered_backoff",
    "_conflict_backoff",
    "_admission_cap_backoff",
    "_unavailable_backoff",
    "_recovery_backoff",
)
"""Functions of witan-core's that decide."""

LOOPS = ("_retry_loop", "_execute")
"""Its loops. In one a failure is handled from the line on that names its text."""

HANDLES = ("err = result.error", "err = result.stderr")

FAILURE = "a failure in the loop"


class Tracer:
    """Counts what decides, test by test."""

    def __init__(self) -> None:
        self.tests: dict[str, dict[str, Any]] = {}
        self.counts: Counter[str] = Counter()
        self.functions: dict[CodeType, str] = {}
        self.loops: dict[CodeType, int] = {}

    def watch(self) -> None:
        """Watch witan-core's code, whatever then takes its place."""
        omnigraph: Any = importlib.import_module("witan_core.omnigraph")

        for name in DECIDES:
            if hasattr(omnigraph, name):
                self.functions[getattr(omnigraph, name).__code__] = name
        http = sys.modules.get("witan_core.omnigraph_http")
        if http is not None:
            self.functions[http.classify_status.__code__] = "classify_status"
        for name in LOOPS:
            function = getattr(omnigraph.OmnigraphClient, name, None)
            line = None if function is None else _line_of_handling(function)
            if function is not None and line is not None:
                self.loops[function.__code__] = line
        assert self.loops, "the loop was not found"

    def trace(self, frame: FrameType, event: str, _arg: Any) -> Any:
        name = self.functions.get(frame.f_code)
        if name is not None:
            self.counts[name] += 1
        return self.in_loop if frame.f_code in self.loops else None

    def in_loop(self, frame: FrameType, event: str, _arg: Any) -> Any:
        if event == "line" and frame.f_lineno == self.loops[frame.f_code]:
            self.counts[FAILURE] += 1
        return self.in_loop


def _line_of_handling(function: Any) -> int | None:
    lines, first = inspect.getsourcelines(function)
    for number, line in enumerate(lines):
        if line.strip() in HANDLES:
            return first + number
    return None


def _as_it_looks(omnigraph: Any, http: Any) -> Any:
    """The generation of a release that need not be known."""
    generation, _ = _sources.shape(omnigraph, http)
    assert generation is not None, "it looks like no generation that is known"
    return generation


tracer = Tracer()


def pytest_configure() -> None:
    tracer.watch()
    install = os.environ.get(INSTALL_VARIABLE)
    if install:
        outlast.default_plugin().load()
        _install.install_as(_sources.recognise if install == "known" else _as_it_looks)
    ask = Plugin.ask

    def counted(self: Plugin, export: str, *args: Any) -> Any:
        tracer.counts[export] += 1
        return ask(self, export, *args)

    Plugin.ask = counted  # type: ignore[method-assign, assignment]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    tracer.counts = Counter()
    threading.settrace(tracer.trace)
    sys.settrace(tracer.trace)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)
        tracer.tests[item.nodeid] = {"counts": dict(tracer.counts)}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    test = tracer.tests.setdefault(report.nodeid, {"counts": {}})
    if report.when == "call" or report.outcome != "passed":
        test["outcome"] = report.outcome


def pytest_sessionfinish() -> None:
    report = {"installed": adapter.installed(), "tests": tracer.tests}
    Path(os.environ[REPORT_VARIABLE]).write_text(json.dumps(report))
