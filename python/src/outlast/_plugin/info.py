"""What this package carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .plugin import default_plugin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .plugin import Plugin


def info(plugin: Plugin | None = None) -> Mapping[str, Any]:
    """What the plugin is and says of itself. Loads it.

    Args:
        plugin: Another than the one that this package carries.

    Returns:
        A mapping with ``sha256`` of the file; ``abi``, the version of the
        contract, as text; ``version`` of the plugin; ``build``, the toolchain;
        ``policies``, the digests of the built-in ones by name; and
        ``replaced``, how many instances have failed in this process.

    Raises:
        PluginError: If the plugin cannot be loaded.
    """
    plugin = plugin or default_plugin()
    said = plugin.ask("describe", b"")
    abi = said["abi"]
    return {
        "sha256": plugin.sha256,
        "abi": f"{abi['major']}.{abi['minor']}.{abi['patch']}",
        "version": said["version"],
        "build": said.get("build", ""),
        "policies": {p["name"]: p["digest"] for p in said["policies"]},
        "replaced": plugin.replaced,
    }
