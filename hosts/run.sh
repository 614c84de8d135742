#!/usr/bin/env bash
# Builds the hosts in this folder, plays the contract's cases in each, finds out
# what each SDK does with the plugin, and writes the results into docs/hosts.md.
#
#   hosts/run.sh [rust|java|browser|go|python|node|outlast]…     all, unless some are named
#
# Needs cargo, a JDK of 17 or newer with Maven, Node 20, chromium, Go and
# python3, and fetches what it uses from their registries. The first build of
# the Rust host takes minutes. What is built stays in OUTLAST_HOSTS_CACHE
# (~/.cache/outlast-hosts). No part of CI: a browser and two more toolchains are
# much to ask of everybody.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${OUTLAST_HOSTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/outlast-hosts}
said=$cache/said # what each host printed when it ran last
mkdir -p "$said"
probe=$cache/probe.wasm

# away runs a recipe: a command whose server is away for two attempts.
away() {
  local count
  count=$(mktemp -u)
  test "$("$@" hosts/testdata/away.sh "$count")" = "answered at attempt 3"
  rm "$count"
  echo "recipe: passed"
}

venv() {
  test -x "$cache/venv/bin/python" || python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check extism==1.1.1 wasmtime==50.0.1
}

assemble() {
  venv
  "$cache/venv/bin/python" - "$probe" <<'PY'
import sys, wasmtime
text = open("hosts/probe/probe.wat").read()
open(sys.argv[1], "wb").write(wasmtime.wat2wasm(text))
PY
}

rust() {
  local built=$cache/rust/release
  export CARGO_TARGET_DIR=$cache/rust
  (cd hosts/rust && cargo fmt --check && cargo build --quiet --locked --release -j1 --bins --examples && cargo test --quiet --locked --release -j1 --doc)
  echo "versions: crate extism $(sed -n '/name = "extism"/{n;s/.*"\(.*\)"/\1/p}' hosts/rust/Cargo.lock), $(rustc --version | cut -d' ' -f1,2)"
  "$built/outlast-rust-host" facts "$probe"
  away "$built/examples/ride_out" plugin/outlast.wasm
  "$built/outlast-rust-host"
}

java_() {
  (cd hosts/java && mvn --quiet --batch-mode -Dstyle.color=never -Dtarget="$cache/java" process-classes >&2)
  local run=(java -cp "$cache/java/classes:$cache/java/lib/*")
  echo "versions: chicory-sdk $(basename "$cache"/java/lib/chicory-sdk-*.jar .jar | cut -d- -f3), OpenJDK $(java -version 2>&1 | sed -n '1s/.*"\(.*\)".*/\1/p')"
  "${run[@]}" outlast.Facts "$probe"
  away "${run[@]}" outlast.RideOut plugin/outlast.wasm
  "${run[@]}" outlast.Replay
}

browser() {
  echo "versions: $(chromium --version 2>/dev/null | cut -d' ' -f1,2), headless"
  node hosts/browser/drive.mjs "$probe" docs/img/browser.png
}

go_() {
  local tests
  echo "versions: go-sdk $(cd hosts/go && go list -m -f '{{.Version}}' github.com/extism/go-sdk), $(go env GOVERSION)"
  (cd hosts/go && go build -o "$cache/facts" ./facts && go build -o "$cache/rideout" ./rideout)
  "$cache/facts" "$probe"
  away "$cache/rideout" plugin/outlast.wasm
  tests=$(cd hosts/go && go test -count=1 -v .) || true
  echo "$(grep -c -- '--- PASS: TestExtismGoSDK/.*/' <<<"$tests") passed, $(grep -c -- '--- FAIL: ' <<<"$tests" || true) failed"
}

python_() {
  venv
  echo "versions: PyPI extism 1.1.1, $("$cache/venv/bin/python" --version)"
  "$cache/venv/bin/python" hosts/python/facts.py "$probe"
  "$cache/venv/bin/python" hosts/python/decide.py plugin/outlast-stub.json | grep -q '"type": "retry"'
  echo "recipe: passed"
  "$cache/venv/bin/python" hosts/python/replay.py
}

node_() {
  mkdir -p "$cache/node"
  cp hosts/node/package.json "$cache/node"
  (cd "$cache/node" && npm install --no-package-lock --no-audit --no-fund --loglevel=error >&2)
  echo "versions: @extism/extism 1.0.3, Node $(node --version)"
  OUTLAST_NODE_MODULES=$cache/node node --no-warnings hosts/node/facts.mjs "$probe"
  OUTLAST_NODE_MODULES=$cache/node node --no-warnings hosts/node/replay.mjs
}

# outlast is the Go host of this repository. Its facts name the tests that show them, and each
# of these has to pass.
outlast() {
  local name names
  names=$(grep -o 'Test[A-Za-z]*' hosts/go/outlast.txt | sort -u)
  go test -count=1 -v -run "^($(paste -sd'|' <<<"$names"))\$" ./host ./host/internal/engine ./tests >"$cache/outlast.log"
  for name in $names; do
    grep -q -- "^--- PASS: $name" "$cache/outlast.log" || { echo "run.sh: $name did not pass" >&2; return 1; }
  done
  echo "versions: wazero $(go list -m -f '{{.Version}}' github.com/tetratelabs/wazero), $(go env GOVERSION)"
  cat hosts/go/outlast.txt
}

assemble
failed=0
for host in ${*:-rust java browser go python node outlast}; do
  case $host in
    rust | browser | outlast) run=$host ;;
    java | go | python | node) run=${host}_ ;;
    *) echo "run.sh: unknown host '$host'; see its first lines" >&2; exit 2 ;;
  esac
  echo "== $host"
  # In a shell of its own, so that each failing line ends it.
  if bash -euo pipefail -c "$(declare -p cache probe); $(declare -f); $run" >"$said/$host.new" 2>"$cache/$host.log"; then
    echo "date: $(date -u +%F)" >>"$said/$host.new"
    mv "$said/$host.new" "$said/$host"
    grep -E 'passed|versions' "$said/$host"
  else
    failed=1
    cat "$cache/$host.log" "$said/$host.new" >&2
    echo "run.sh: $host failed" >&2
  fi
done
python3 hosts/table.py "$said" docs/hosts.md
exit $failed
