"""What is equal once decoded, and what is not."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_STATE = 1024


def decoded(text: bytes | str) -> Any:
    """A JSON text. Whole numbers are equal however they are written."""
    return json.loads(text)


def differences(path: str, want: Any, got: Any, *, open_ended: bool = False) -> list[str]:
    """Where *got* is not what is wanted, by the member's path.

    Args:
        path: What is compared.
        want: What is wanted.
        got: What there is.
        open_ended: Members that are not wanted may be there.
    """
    if not isinstance(want, dict) or not isinstance(got, dict):
        same = want == got and isinstance(want, bool) == isinstance(got, bool)
        return [] if same else [f"{path}: want {json.dumps(want)}, got {json.dumps(got)}"]
    found = []
    for name, value in want.items():
        if name not in got:
            found.append(f"{path}.{name}: want {json.dumps(value)}, got nothing")
        else:
            found += differences(f"{path}.{name}", value, got[name], open_ended=open_ended)
    if not open_ended:
        found += [
            f"{path}.{name}: want nothing, got {json.dumps(value)}"
            for name, value in got.items()
            if name not in want
        ]
    return found


def opened(answer: bytes) -> dict[str, Any]:
    """An envelope, which has either an ok or an error that says why."""
    envelope: dict[str, Any] = decoded(answer)
    assert envelope.get("v") == 1, answer[:200]
    assert ("ok" in envelope) != ("error" in envelope), answer[:200]
    if "error" in envelope:
        assert envelope["error"]["code"], answer[:200]
        assert envelope["error"]["message"], answer[:200]
    return envelope


def mismatch(want: dict[str, Any] | None, got: dict[str, Any] | None) -> list[str]:
    """Compare an envelope's error with the one wanted; ``None`` wants none."""
    if want is None and got is None:
        return []
    if want is None or got is None:
        return [f"want the error {want}, got {got}"]
    if (want["code"], want.get("field", "")) != (got["code"], got.get("field", "")):
        return [f"want the error {want}, got {got}"]
    if "faults" in want:
        fields = [fault.get("field", "") for fault in got.get("faults", ())]
        return differences("faults", want["faults"], fields)
    return []


def state_problems(state: str, *, wanted: bool) -> list[str]:
    """What the contract says of every state."""
    if not wanted:
        return ["a state comes with a stop"] if state else []
    if not state:
        return ["no state comes with a retry"]
    if len(state) > MAX_STATE:
        return [f"a state of {len(state)} bytes"]
    if not re.fullmatch(r"[!#-\[\]-~]+", state):
        return [f"a state with odd characters: {state!r}"]
    return []
