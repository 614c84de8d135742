"""The known releases as the documentation has them."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.witan._known import Known


def order(version: str) -> tuple[int, ...]:
    """A version's numbers: ``"0.45.0"`` is above ``"0.8.0"``."""
    return tuple(int(part) for part in version.split("."))


def table(releases: Sequence[Known]) -> str:
    """The table of docs/witan-core.md."""
    lines = [
        "| release | its tests that pass with its own loop | with the plugin "
        "| in which the plugin decided | document |",
        "|-|-|-|-|-|",
    ]
    lines += [
        f"| {known.version} | {known.own} | {known.plugin} | {known.decided} | {known.document} |"
        for known in sorted(releases, key=lambda known: order(known.version))
    ]
    return "\n".join(lines)
