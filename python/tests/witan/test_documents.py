"""The policies' documents."""

from __future__ import annotations

import json

import pytest

from differential.world import replaced
from outlast import Policy, witan
from outlast.witan import _documents
from outlast.witan._generations import TWO_TRANSPORTS, Generation
from witan.releases import Release


def generation_of(release: Release) -> Generation:
    from outlast.witan._sources import recognise

    return recognise(release.omnigraph, release.http)


def values(release: Release) -> _documents.Constants:
    return _documents.constants(generation_of(release), release.omnigraph, release.http)


def test_the_latest_is_the_built_in_policy() -> None:
    document = witan.document()
    assert document == witan.document("0.45.0")
    assert Policy(document).digest == Policy("witan-core").digest


def test_both_are_valid_and_say_what_they_are_sized_against() -> None:
    for version in ("0.45.0", "0.8.0"):
        policy = Policy(witan.document(version))
        assert policy.document is not None
        assert [m["duration"] for m in policy.document["measured"]] == ["61s", "52s"]
        assert policy.document["budgets"]["unavailable"]["max_wait"] == "150s"


def test_a_document_is_the_callers_own() -> None:
    witan.document()["budgets"].clear()
    assert witan.document()["budgets"]


def test_another_version() -> None:
    with pytest.raises(ValueError, match=r"witan-core 0\.9\.0, only for 0\.8\.0, .* and 0\.45\.0"):
        witan.document("0.9.0")


def test_with_witan_cores_own_constants_nothing_changes(release: Release) -> None:
    """So neither the numbers nor the words of the document differ from them."""
    generation = generation_of(release)
    policy = _documents.policy(generation, values(release), True, frozenset())
    assert policy.digest == Policy(witan.document(release.version)).digest
    assert policy is _documents.policy(generation, values(release), True, frozenset())


def test_every_word_of_a_constant_is_in_the_document(release: Release) -> None:
    generation = generation_of(release)
    text = json.dumps(witan.document(release.version))
    for name, words in generation.markers.items():
        module = release.http if name.startswith("http.") else release.omnigraph
        value = getattr(module, name.removeprefix("http."))
        assert words == ((value,) if isinstance(value, str) else tuple(value)), name
        assert json.dumps(list(words)) in text, name


@pytest.mark.parametrize(
    ("name", "value", "budget", "want"),
    [
        ("_UNAVAILABLE_MAX_WAIT", 7.5, "unavailable", {"max_wait": "7.5s"}),
        ("_UNAVAILABLE_MAX_WAIT", 0, "unavailable", {"attempts": 1}),
        ("_UNAVAILABLE_BASE_DELAY", 20, "unavailable", {"base": "10s", "cap": "10s"}),
        ("_UNAVAILABLE_BASE_DELAY", 0, "unavailable", {"base": "1us", "cap": "1us"}),
        ("_ADMISSION_CAP_MAX_ATTEMPTS", 2, "admission_cap", {"attempts": 2}),
        ("_ADMISSION_CAP_MAX_DELAY", 1e-9, "admission_cap", {"base": "1us", "cap": "1us"}),
        ("_MAX_ATTEMPTS", 2.5, "conflict", {"attempts": 3}),
        ("_MAX_ATTEMPTS", -1, "conflict", {"attempts": 1}),
        ("_MAX_ATTEMPTS", 10**9, "conflict", {"attempts": 10_000}),
    ],
)
def test_numbers_that_were_replaced(
    latest: Release, name: str, value: float, budget: str, want: dict[str, object]
) -> None:
    with replaced(latest.omnigraph, name, value):
        policy = _documents.policy(TWO_TRANSPORTS, values(latest), True, frozenset())
    document = policy.check().document
    assert document is not None
    found = document["budgets"][budget] | document["budgets"][budget]["backoff"]
    assert {key: found.get(key) for key in want} == want
    if value == 0 and name == "_UNAVAILABLE_MAX_WAIT":
        assert "max_wait" not in found
