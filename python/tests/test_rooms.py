"""Who imports whom: no module, and no folder, needs itself by way of others."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import outlast

ROOT = Path(outlast.__file__).parent
LONGEST = 400
"""Lines of a file (a choice)."""

Graph = dict[str, set[str]]


def imported(module: str, tree: ast.AST, package: bool) -> Iterator[tuple[str, str]]:
    """All that a module imports of the package: for types only and in functions too.
    Each as a module, and as the name in it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            up = node.level - 1 if package else node.level
            base = module.split(".")[: -up or None]
            source = ".".join([*base, *filter(None, [node.module])])
            for alias in node.names:
                yield source, f"{source}.{alias.name}"


def graph(root: Path) -> Graph:
    """Each module with those that it imports."""
    files = {
        ".".join(["outlast", *path.relative_to(root).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): path
        for path in root.rglob("*.py")
    }
    found: Graph = {}
    for module, path in files.items():
        names = imported(module, ast.parse(path.read_text("utf-8")), path.stem == "__init__")
        # `from . import a` needs the module a, and nothing of the package's own.
        found[module] = {name if name in files else source for source, name in names}
    return found


def folders(modules: Graph) -> Graph:
    """The same for folders; a module beside them stands for itself."""
    found: Graph = {}
    for module, needs in modules.items():
        own = ".".join(module.split(".")[:2])
        found.setdefault(own, set()).update(".".join(need.split(".")[:2]) for need in needs)
    return {name: needs - {name} for name, needs in found.items() if name != "outlast"}


def cycle(needs: Graph) -> list[str]:
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as e:
        return list(e.args[1])
    return []


def test_no_module_needs_itself() -> None:
    modules = graph(ROOT)
    assert len(modules) > 50
    assert cycle(modules) == []


def test_no_folder_needs_itself() -> None:
    assert cycle(folders(graph(ROOT))) == []


@pytest.mark.parametrize(
    "text",
    [
        "from .b import x",
        "def f():\n    from . import b",
        "from ..p.b import x",
        "from ..p import b",
    ],
)
def test_a_cycle_is_noticed(tmp_path: Path, text: str) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").write_text("")
    (tmp_path / "p" / "a.py").write_text(text)
    (tmp_path / "p" / "b.py").write_text("if TYPE_CHECKING:\n    from .a import A")
    assert set(cycle(graph(tmp_path))) == {"outlast.p.a", "outlast.p.b"}


def test_no_file_is_long() -> None:
    for path in ROOT.rglob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) <= LONGEST, path


def test_no_two_classes_have_one_name() -> None:
    classes = [
        node.name
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
        # httpx2's transports are called as httpx's are.
        if path != ROOT / "clients" / "httpx2.py"
    ]
    assert len(classes) > 50
    assert [name for name, count in Counter(classes).items() if count > 1] == []
