"""What the pages say of the package is so."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import outlast
from httpxes import HTTPX

ROOT = Path(__file__).parents[1]
DOCS = ROOT.parent / "docs"
PAGES = [ROOT / "README.md", DOCS / "python.md", DOCS / "witan-core.md"]
CLIENTS = DOCS / "http-clients.md"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)

PLACES: list[Any] = [
    outlast.retry,
    outlast.attempts,
    outlast.run_command,
    outlast.Policy,
    outlast.Policy.run,
    outlast.Policy.run_in_plugin,
    outlast.Session.next,
]
OPTIONS = set(outlast.RunOptions.__annotations__).union(
    *(inspect.signature(place).parameters for place in PLACES)
)


@pytest.mark.parametrize(
    "page", [*PAGES, DOCS / "fleet.md", DOCS / "http-clients.md"], ids=lambda page: page.name
)
def test_code(page: Path) -> None:
    blocks = BLOCK.findall(page.read_text("utf-8"))
    assert blocks
    for block in blocks:
        if not block.startswith(">>>"):
            compile(block, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            continue
        example = doctest.DocTestParser().get_doctest(
            block.replace("…", "..."), {}, page.name, str(page), 0
        )
        failed = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed
        assert not failed


@pytest.mark.parametrize("page", [*PAGES, CLIENTS], ids=lambda page: page.name)
def test_names(page: Path) -> None:
    names = set(re.findall(r"\boutlast((?:\.[a-zA-Z_]\w*)+)(?!\.?[\w*])", page.read_text("utf-8")))
    names -= {".wasm"}
    if "httpx2" not in HTTPX:
        names = {name for name in names if "httpx2" not in name}
    assert names
    for name in names:
        found: Any = outlast
        path = "outlast"
        for part in name.strip(".").split("."):
            path += f".{part}"
            if not hasattr(found, part):
                importlib.import_module(path)
            found = getattr(found, part)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options(page: Path) -> None:
    used = set(re.findall(r"`(\w+)=(?:True|False)?`", page.read_text("utf-8")))
    assert used - {"text"} <= OPTIONS  # text=True is subprocess's


def test_the_figures_are_beside_the_libraries_that_are_measured() -> None:
    wanted = dict(
        line.split("==")
        for line in (ROOT / "requirements-dev.txt").read_text().splitlines()
        if line.count("==") == 1
    )
    page = PAGES[1].read_text("utf-8")
    for name in ("tenacity", "stamina"):
        assert f"{name} {wanted[name]}" in page
