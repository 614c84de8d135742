#!/usr/bin/env bash
# Installs what folders of the npm package name in their lock files, and again only when
# that has changed. Usage: js/install.sh FOLDER...
set -euo pipefail
cd "$(dirname "$0")"

for folder in "$@"; do
  wanted=$(cd "$folder" && cat package.json package-lock.json | cksum)
  if [ "$(cat "$folder/node_modules/.installed" 2>/dev/null)" != "$wanted" ]; then
    (cd "$folder" && npm ci --no-audit --no-fund --loglevel=error)
    printf '%s' "$wanted" > "$folder/node_modules/.installed"
  fi
done
