"""What the package carries."""

from __future__ import annotations

import hashlib
import json

import outlast
from outlast._plugin import file


def test_info() -> None:
    info = outlast.info()
    assert info["sha256"] == hashlib.sha256(file.find().read_bytes()).hexdigest()
    assert info["abi"].split(".")[0] == "1"
    assert info["version"] == outlast.__version__
    assert info["build"].startswith("go1.")
    assert set(info["policies"]) == {"omnigraph", "witan-core", "network"}
    assert info["replaced"] == outlast.default_plugin().replaced
    json.dumps(info)
    assert outlast.info(outlast.Plugin())["sha256"] == info["sha256"]
