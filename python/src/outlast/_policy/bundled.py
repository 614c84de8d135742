"""The policies for common commands that come with this package."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def bundled() -> dict[str, Path]:
    """Their documents by their names."""
    from .._plugin import file

    if file.PACKAGED.is_file():
        found = {path.stem: path for path in file.PACKAGED.parent.glob("policies/*.json")}
    else:
        commands = file.CHECKOUT.parents[1] / "commands"
        found = {path.parent.name: path for path in commands.glob("*/policy.json")}
    return dict(sorted(found.items()))
