"""What is known of clients of databases that takes none of them. How they meet real
servers is in tests/databases.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import outlast
from outlast._call.drivers import CLIENTS, postgres

PSQL = Path(__file__).parents[3] / "commands" / "psql" / "policy.json"


def test_the_texts_are_those_of_the_policy_for_psql() -> None:
    texts = [f" failed: {each}" for each in postgres.LIBPQ]
    texts += [f" failed: FATAL:  {each}" for each in postgres.SERVER + postgres.PGBOUNCER]
    told = {
        text
        for rule in json.loads(PSQL.read_text("utf-8"))["rules"]
        for when in rule.get("when", [])
        for condition in when.get("text", [])
        for text in condition.get("any", [])
        if text.startswith(" failed: ")
    }
    assert told == set(texts)


def test_none_is_loaded_in_a_program_without_its_client() -> None:
    code = (
        "import outlast, sys; outlast.result_of(ConnectionRefusedError());"
        "print([m for m in sys.modules if m.startswith('outlast._call.drivers.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


@pytest.mark.parametrize("name", CLIENTS)
def test_another_exception_of_its_package_is_not_known(name: str) -> None:
    error = type("Other", (Exception,), {"__module__": f"{name}.errors"})
    assert import_module(f"outlast._call.drivers.{name}").TRIED
    assert outlast.result_of(error("x")) is None
