"""The contract's cases through the package's own door: policy.session. What it asks of
the plugin must decode as the transcripts' requests do, so its encoders are tested too.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

import outlast
from outlast._call.action import read_action
from outlast._plugin.plugin import Plugin

from .transcripts import Exchange, load

LARGEST = 10**14
"""Microseconds up to which seconds as a float give the same microseconds again."""

DECIDED = {
    name: list(exchanges)
    for name, exchanges in groupby(
        (e for e in load() if e["door"] == "decide"), lambda each: str(each["case"])
    )
}


def seconds(us: Any) -> float:
    """Microseconds as seconds, if the package can express them."""
    if not isinstance(us, int) or abs(us) > LARGEST:
        raise KeyError(us)
    return us / 1e6


def arguments(members: dict[str, Any]) -> dict[str, Any]:
    """Members of the wire as the package's own arguments."""
    return {
        name.removesuffix("_us"): seconds(value) if name.endswith("_us") else value
        for name, value in members.items()
    }


def asked(exchange: Exchange) -> dict[str, Any]:
    """The request of an exchange."""
    request: dict[str, Any] = json.loads(exchange["input"])
    return request


def expressible(exchanges: list[Exchange]) -> bool:
    """Whether the package can say what the case does."""
    try:
        for exchange in exchanges:
            request = asked(exchange)
            call_of(request["call"])
            seconds(request["event"]["now_us"])
            if "result" in request["event"]:
                outlast.Result(**arguments(request["event"]["result"]))
    except (KeyError, ValueError, TypeError):
        return False
    error = json.loads(exchanges[-1]["output"]).get("error", {})
    # The package always gives a seed, so a case that has none must not miss it; and a
    # session knows itself whether a repair was asked for.
    return error.get("field") != "event.random" and not (
        error.get("field") == "event.type" and "result" in asked(exchanges[-1])["event"]
    )


def call_of(members: dict[str, Any]) -> tuple[outlast.Call, int | None]:
    given = arguments(members)
    seed = given.pop("seed", None)
    return outlast.Call(**given), seed


CASES = [name for name, exchanges in DECIDED.items() if expressible(exchanges)]


def test_most_cases_can_be_expressed() -> None:
    assert len(CASES) > 0.8 * len(DECIDED)


@pytest.mark.filterwarnings("ignore::outlast.SurprisingValueWarning")
@pytest.mark.parametrize("case", CASES)
def test_session(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    ask = Plugin.ask

    def overheard(self: Plugin, export: str, data: bytes, *rest: Any) -> Any:
        if export == "decide":
            sent.append(json.loads(data))
        return ask(self, export, data, *rest)

    monkeypatch.setattr(Plugin, "ask", overheard)
    first = asked(DECIDED[case][0])
    call, seed = call_of(first["call"])
    session = outlast.Policy(first["policy"], check=False).session(call, seed)
    for exchange in DECIDED[case]:
        request, answer = asked(exchange), json.loads(exchange["output"])
        if "error" in answer:
            with pytest.raises(outlast.PluginError) as raised:
                send(session, request)
            assert raised.value.code == answer["error"]["code"]
            assert raised.value.field == answer["error"].get("field", "")
        else:
            action = send(session, request)
            if isinstance(action, outlast.Stop):
                action = replace(action, outcome=replace(action.outcome, result=None))
            assert action == read_action(answer["ok"]["action"])
        assert without_choices(sent[-1], request) == without_choices(request, request)


def without_choices(request: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    """A request without what the package decides: how it names the policy, and a seed
    where the case has none. Members that have their default may be left out.
    """
    call = {k: v for k, v in request["call"].items() if k != "seed" or "seed" in like["call"]}
    defaults = {"label": "", "surface_conflict": False, "connect_retry": True, "repeatable": False}
    call = {k: v for k, v in call.items() if defaults.get(k, ...) != v}
    rest = {k: v for k, v in request.items() if k not in ("policy", "call")}
    return {**rest, "call": call}


def send(session: outlast.Session, request: dict[str, Any]) -> outlast.Action:
    event = request["event"]
    now = seconds(event["now_us"])
    random = event["random"] / 2**32 if "random" in event else None
    result = outlast.Result(**arguments(event["result"])) if "result" in event else None
    match event["type"]:
        case "woken":
            return session.woken(event["by"], now, random)
        case "down":
            return session.down(now, random)
        case "not_ready":
            return session.not_ready(now, random)
        case "cancelled":
            return session.cancelled(result, now)
    assert result is not None
    return session.next(result, now, random, explain=request.get("explain", False))
