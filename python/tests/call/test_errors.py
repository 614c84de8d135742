"""The exceptions."""

from __future__ import annotations

import pickle

import pytest

import outlast
from outlast import Fault, Outcome, PluginError, PolicyError, Result
from outlast._call.outcome import error_of

TYPES = {
    "failed": outlast.Failed,
    "exhausted": outlast.Exhausted,
    "conflict": outlast.Conflict,
    "precondition_failed": outlast.PreconditionFailed,
    "indeterminate": outlast.Indeterminate,
    "cancelled": outlast.Cancelled,
    "of the future": outlast.CallError,
}


@pytest.mark.parametrize("name", TYPES)
def test_each_outcome_has_its_exception(name: str) -> None:
    outcome = Outcome(name, message="m", remedy="r", last_error="e", result=Result(exit_code=1))  # type: ignore[arg-type]
    error = error_of(outcome, "query")
    assert type(error) is TYPES[name]
    assert isinstance(error, outlast.OutlastError)
    assert error.outcome is outcome
    assert error.result == Result(exit_code=1)
    assert str(error) == "outlast: query: m. r\n  last error: e"
    again = pickle.loads(pickle.dumps(error))
    assert (again.outcome, again.label, str(again)) == (outcome, "query", str(error))


def test_an_outcome_without_words_is_named() -> None:
    assert str(error_of(Outcome("failed"))) == "outlast: failed"


def test_a_policy_error_lists_every_fault() -> None:
    error = PolicyError("p", "invalid_policy", "2 faults", (Fault("a.b", "is odd"), Fault("", "x")))
    assert str(error) == "outlast: policy p: 2 faults\n  a.b: is odd\n  document: x"
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.faults, again.code) == (str(error), error.faults, "invalid_policy")


def test_a_plugin_error_keeps_the_result() -> None:
    error = PluginError("deciding", "bad", code="bad_state", field="state", result=Result())
    assert str(error) == "outlast: deciding: bad_state: state: bad"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.result, again.code, again.field) == (
        str(error),
        Result(),
        "bad_state",
        "state",
    )
    assert str(PluginError("loading", "no")) == "outlast: loading: no"
