"""Replays the contract's cases in Extism's Python SDK. Run it in the repository's root."""

import sys
from typing import Any

import extism

sys.path.insert(0, "python/tests")
from conformance.transcripts import load, replay

OFFSET = [extism.ValType.I64]


class Plugin:
    """The plugin in Extism's SDK, as the transcripts call it."""

    def __init__(self) -> None:
        self.host: Any = None
        functions = [self.function(name) for name in ("now", "sleep", "attempt")]
        with open("plugin/outlast.wasm", "rb") as file:
            self.plugin = extism.Plugin(file.read(), wasi=True, functions=functions)

    def function(self, name: str) -> Any:
        @extism.host_fn(
            name=f"outlast_{name}", namespace="extism:host/user", signature=(OFFSET, OFFSET)
        )
        def function(plugin: Any, inputs: Any, outputs: Any, *_: Any) -> None:
            given = () if name == "now" else (plugin.input_bytes(inputs[0]),)
            said = getattr(self.host, name)(*given)
            if said:
                block = plugin.alloc(len(said))
                plugin.memory(block)[:] = said
                outputs[0].value = block.offset

        return function

    def call(self, export: str, data: bytes, host: Any = None) -> bytes:
        self.host = host
        return bytes(self.plugin.call(export, data))


plugin = Plugin()
exchanges = load()
failed = 0
for exchange in exchanges:
    problems = replay(plugin, exchange)
    if problems:
        failed += 1
        print(exchange["case"], exchange["door"], problems)
print(f"{len(exchanges) - failed} passed, {failed} failed")
