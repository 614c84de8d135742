#!/usr/bin/env bash
# Checks the npm package on a fresh machine: installs what is needed from the npm registry
# into node_modules, looks at formatting, lint and types, builds, and runs the tests.
# Needs Node 20.10 or newer. Usage: ./check.sh [test files, such as build/run/run.test.js]
set -euo pipefail
cd "$(dirname "$0")"

# bundles/ has what carries the package elsewhere: bundlers, Bun and Deno.
./install.sh . bundles

npm run --silent lint
npm run --silent build
npm run --silent build:tests
if [ $# -gt 0 ]; then
  node --test "$@"
else
  npm run --silent test
fi
