"""httpx and httpx2, by name. Python 3.10 has no httpx2."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

HTTPX: dict[str, Any] = {
    name: import_module(name) for name in ("httpx", "httpx2") if find_spec(name) is not None
}
