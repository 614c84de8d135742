"""The list of known releases, and what the documentation says of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from outlast import Policy, witan
from outlast.witan import _known, _sources
from outlast.witan._known import Known, known, listed
from witan.releases import Release
from witan.table import order, table

PAGE = Path(__file__).parents[3] / "docs" / "witan-core.md"


def test_the_documentation_has_the_list() -> None:
    assert f"<!-- made by `./check.sh matrix` -->\n\n{table(known())}\n\n" in PAGE.read_text(
        "utf-8"
    )


def test_the_list_stands_once() -> None:
    """No other file of the package knows a release but by its document."""
    hashes = [value for k in known() for value in (k.code, k.sdist)]
    for path in _known.FILE.parent.glob("*.py"):
        text = path.read_text("utf-8")
        assert not [value for value in hashes if value in text], path


def test_each_has_passed_its_own_tests() -> None:
    for release in known():
        assert release.own == release.plugin > 0
        assert 0 < release.decided <= release.own
        assert release.document in {"0.45.0", "0.8.0"}
        for digest in (release.code, release.sdist):
            assert re.fullmatch("[0-9a-f]{64}", digest)


def test_it_is_sorted_and_without_repetition() -> None:
    numbers = [order(release.version) for release in known()]
    assert numbers == sorted(set(numbers))


def test_each_is_recognised_by_what_the_list_says(each: Release) -> None:
    (entry,) = (release for release in known() if release.version == each.version)
    generation, code = _sources.shape(each.omnigraph, each.http)
    assert code == entry.code
    assert _sources.version_of(each.omnigraph) == each.version
    assert _sources.recognise(each.omnigraph, each.http) is generation
    assert (
        Policy(witan.document(each.version)).digest == Policy(witan.document(entry.document)).digest
    )


@pytest.mark.parametrize(
    ("versions", "want"),
    [(["0.8.0"], "0.8.0"), (["0.8.0", "0.9.0"], "0.8.0 and 0.9.0"), (list("abc"), "a, b and c")],
)
def test_a_list_in_a_sentence(versions: list[str], want: str) -> None:
    assert listed(versions) == want


def test_versions_are_ordered_by_their_numbers() -> None:
    assert sorted(["0.45.0", "0.8.0", "0.41.10", "0.41.9"], key=order) == [
        *("0.8.0", "0.41.9", "0.41.10", "0.45.0")
    ]


def test_the_table_has_every_number() -> None:
    made = Known("1.2.3", "s", "c", "0.45.0", 11, 12, 13)
    assert table([made]).splitlines()[-1] == "| 1.2.3 | 11 | 12 | 13 | 0.45.0 |"
    assert json.loads(_known.FILE.read_text("utf-8"))[0]["version"] == known()[0].version
