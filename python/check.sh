#!/usr/bin/env bash
# Checks the Python package on a fresh machine: makes a virtual environment in
# .venv, installs what is needed from PyPI, and runs ruff, mypy and the tests.
# Usage: ./check.sh [arguments of pytest]
#        ./check.sh matrix [releases]   witan-core's own tests, release by release
set -euo pipefail
cd "$(dirname "$0")"

python="${PYTHON:-python3}"
if [ ! -x .venv/bin/python ]; then
  "$python" -m venv .venv
fi
# Installed again only when what is to be installed has changed.
wanted=$(cat pyproject.toml requirements-dev.txt | cksum)
if [ "$(cat .venv/installed 2>/dev/null)" != "$wanted" ]; then
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
  printf '%s' "$wanted" > .venv/installed
fi

if [ "${1:-}" = matrix ]; then
  shift
  PYTHONPATH=tests exec .venv/bin/python -m witan.matrix "$@"
fi
.venv/bin/ruff check .
.venv/bin/ruff format --check --quiet .
.venv/bin/mypy
# Half of the tests' time is waiting, so three share one core and a half.
.venv/bin/python -m pytest -q -n 3 --dist worksteal "$@"
