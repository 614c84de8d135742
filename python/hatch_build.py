"""Takes the plugin into what is built.

In a checkout of the project it is beside this folder, where the project's own
build puts it; in a source distribution it is in the package already.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = {
    "outlast.wasm": "outlast.wasm",
    "outlast.wasm.sha256": "outlast.wasm.sha256",
    "policy/builtin/witan-core.json": "witan-core.json",
}
"""The files of the plugin's folder in a checkout, and their names in the package."""


class PluginHook(BuildHookInterface[Any]):
    """Takes the plugin into a wheel or a source distribution."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say which files are taken in, and where they go."""
        root = Path(self.root)
        within = Path("src/outlast/_plugin" if self.target_name == "sdist" else "outlast/_plugin")
        if version == "editable":
            return  # the package finds it in the checkout
        checkout = root.parent / "plugin"
        packaged = root / "src" / "outlast" / "_plugin"
        in_checkout = (checkout / "plugin.go").is_file()
        for path, name in FILES.items():
            source = checkout / path if in_checkout else packaged / name
            if not source.is_file():
                raise FileNotFoundError(f"{source} is missing: build the plugin first")
            build_data["force_include"][str(source)] = str(within / name)
