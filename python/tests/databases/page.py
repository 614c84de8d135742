"""The page that has what the tests find."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "databases.md"


def compared(table: str, row: str) -> None:
    """Fail unless a table of the page has a row."""
    _, _, rest = PAGE.read_text("utf-8").partition(f"<!-- python: {table} -->\n")
    rows = rest.partition("<!-- end -->")[0].splitlines()
    print(row)
    assert row in rows
