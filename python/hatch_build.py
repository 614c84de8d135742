"""Takes the plugin and the policies for common commands into what is built.

In a checkout of the project they are beside this folder; in a source distribution
they are in the package already.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = {
    "outlast.wasm": "outlast.wasm",
    "outlast.wasm.sha256": "outlast.wasm.sha256",
    "kernel.wasm": "kernel.wasm",
    **{
        f"policy/builtin/{name}.json": f"{name}.json"
        for name in ("network", "omnigraph", "witan-core")
    },
}
"""The files of the plugin's folder in a checkout, and their names in the package."""

POLICIES = "policies"
"""The folder in the package of the policies for common commands."""


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
        sources = {name: checkout / path for path, name in FILES.items()}
        for path in (root.parent / "commands").glob("*/policy.json"):
            sources[f"{POLICIES}/{path.parent.name}.json"] = path
        if not in_checkout:
            policies = [f"{POLICIES}/{path.name}" for path in packaged.glob(f"{POLICIES}/*.json")]
            sources = {name: packaged / name for name in (*FILES.values(), *policies)}
        for name, source in sources.items():
            if not source.is_file():
                raise FileNotFoundError(f"{source} is missing: build the plugin first")
            build_data["force_include"][str(source)] = str(within / name)
