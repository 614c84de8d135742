"""Asks for one decision with the stub's manifest: decide.py plugin/outlast-stub.json

A tool that cannot give host functions links a module that has them, as the manifest says.
"""

import json
import sys
from pathlib import Path

import extism

path = Path(sys.argv[1])
manifest = json.loads(path.read_text())
for module in manifest["wasm"]:
    module["path"] = str(path.parent / module["path"])  # they stand beside the manifest

request = {
    "policy": "omnigraph",
    "call": {"remote": True, "write": False, "seed": 1},
    "event": {
        "type": "attempted",
        "now_us": 0,
        "result": {"exit_code": 1, "stderr": "graph is loading"},
    },
}
with extism.Plugin(manifest, wasi=True) as plugin:
    answer = json.loads(bytes(plugin.call("decide", json.dumps(request))))
print(json.dumps(answer["ok"]["action"]))
