"""The documents of the policies that come with this package."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def bundled() -> dict[str, Path]:
    """Those for common commands, by their names."""
    from .._plugin import file

    if file.PACKAGED.is_file():
        found = {path.stem: path for path in file.PACKAGED.parent.glob("policies/*.json")}
    else:
        commands = file.CHECKOUT.parents[1] / "commands"
        found = {path.parent.name: path for path in commands.glob("*/policy.json")}
    return dict(sorted(found.items()))


def built_in(name: str) -> Path:
    """That of a policy which the plugin carries: beside the plugin, or in a checkout's
    folder of them.
    """
    from .._plugin import file

    folder = file.find().parent
    beside = folder / f"{name}.json"
    return beside if beside.is_file() else folder / "policy" / "builtin" / f"{name}.json"
