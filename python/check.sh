#!/usr/bin/env bash
# Checks the Python package on a fresh machine: makes a virtual environment in
# .venv, installs what is needed from PyPI, and runs ruff, mypy and the tests.
# Usage: ./check.sh [arguments of pytest]
#        ./check.sh matrix [releases]   witan-core's own tests, release by release
#        ./check.sh databases [arguments of pytest]   only the clients of databases
set -euo pipefail
cd "$(dirname "$0")"

# environment FOLDER FILE makes a virtual environment of what a file lists, and again
# only when what is to be installed has changed.
environment() {
  if [ ! -x "$1/bin/python" ]; then
    "${PYTHON:-python3}" -m venv "$1"
  fi
  local wanted
  wanted=$(cat pyproject.toml "$2" | cksum)
  if [ "$(cat "$1/installed" 2>/dev/null)" != "$wanted" ]; then
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
    printf '%s' "$wanted" > "$1/installed"
  fi
}

# databases tests the clients of databases, in a process of their own: what is written
# in C takes away the evidence that the other tests are about.
databases() {
  environment .venv-databases requirements-databases.txt
  .venv-databases/bin/python -m pytest -q tests/databases "$@"
}

if [ "${1:-}" = databases ]; then
  shift
  databases "$@"
  exit
fi
environment .venv requirements-dev.txt
if [ "${1:-}" = matrix ]; then
  shift
  PYTHONPATH=tests exec .venv/bin/python -m witan.matrix "$@"
fi
.venv/bin/ruff check .
.venv/bin/ruff format --check --quiet .
.venv/bin/mypy
# Half of the tests' time is waiting, so three share one core and a half.
.venv/bin/python -m pytest -q -n 3 --dist worksteal "$@"
if [ $# = 0 ]; then
  databases
fi
