#!/usr/bin/env bash
# Checks the npm package on a fresh machine: installs what is needed from the npm registry
# into node_modules, looks at formatting, lint and types, builds, and runs the tests.
# Needs Node 20.10 or newer. Usage: ./check.sh [test files, such as build/run/run.test.js]
set -euo pipefail
cd "$(dirname "$0")"

# Installed again only when what is to be installed has changed. bundles/ has what carries
# the package elsewhere: bundlers, Bun and Deno.
for folder in . bundles; do
  wanted=$(cd $folder && cat package.json package-lock.json | cksum)
  if [ "$(cat $folder/node_modules/.installed 2>/dev/null)" != "$wanted" ]; then
    (cd $folder && npm ci --no-audit --no-fund --loglevel=error)
    printf '%s' "$wanted" > $folder/node_modules/.installed
  fi
done

npm run --silent lint
npm run --silent build
npm run --silent build:tests
if [ $# -gt 0 ]; then
  node --test "$@"
else
  npm run --silent test
fi
