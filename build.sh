#!/usr/bin/env bash
# Builds outlast. Usage: ./build.sh [tool|demo|plugin|check|test|bench|site|release]
#   tool    bin/outlast (the default); binary FILE builds it there, for GOOS and GOARCH
#   demo    bin/outlast, and then its demo: a command rides out a real restart
#   plugin  plugin/outlast.wasm and its digest, from plugin/guest, the modules that
#           are linked to it, and the transcripts that other hosts replay
#   check   for each save: formatting, vet, staticcheck, that the committed plugin
#           is the one that this source builds, and the tests that are quick
#   test    everything: the same, and every test, of the Python and npm packages too
#   bench   every benchmark, beside other tools, into docs/benchmarks.md; bench
#           outages and the like are parts of it, printed
#   site    site/build/html: the pages of docs/ and each language's reference
#   release dist/: what a version is published as, from the last commit (docs/releasing.md);
#           with --check twice, compared, and then installed
#   version the version of abi/abi.go, written where else it stands
set -euo pipefail
cd "$(dirname "$0")"

# What the tool and the library do not need has modules of its own.
modules="benchmarks commands/capture drivers hosts/go otel prometheus release tests/features tests/ferretdb tests/prometheus tests/registry tests/services"

# The toolchain is pinned in go.mod: another would build other bytes.
build_plugin() {
  # Without the JSON reader's small functions inlined everywhere the file is 6 %
  # smaller, and with it what each host compiles and maps. Inlining in the other
  # packages costs no bytes and makes a decision a third faster.
  GOOS=wasip1 GOARCH=wasm GOFLAGS=-buildvcs=false go build -buildmode=c-shared \
    -trimpath -ldflags='-s -w' -gcflags='outlast/abi/strictjson=-l' -o "$1" ./plugin/guest
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

plugin() {
  build_plugin plugin/outlast.wasm
  sha256 plugin/outlast.wasm > plugin/outlast.wasm.sha256
  go run ./plugin/stub > plugin/outlast-stub.wasm
  go run ./plugin/kernel > plugin/kernel.wasm
  # What other hosts replay: made from the same source.
  go test ./plugin/guest -run '^TestTranscripts$' -update
}

# At a start, in an outage or in a simulation no time is spent in these packages
# that anybody could see. Their functions are not inlined: 1.0 MB less. wazevo is
# wazero's compiler, which only a simulation's comparison with the plugin waits for.
uninlined='github.com/tetratelabs/wazero/internal/engine/wazevo/... net/... crypto/... vendor/... encoding/... log/... regexp/... go/... debug/... math/big image/...
  golang.org/x/... github.com/alecthomas/kong github.com/goccy/go-yaml/... github.com/gofrs/flock aead.dev/minisign
  compress/... fmt hash/... mime/... text/... outlast/cmd/... outlast/commands/... outlast/followed outlast/httpattempt
  outlast/internal/... outlast/journal/... outlast/measure outlast/outages outlast/process/... outlast/ready/... outlast/simulate/plot'

# binary links the tool for GOOS and GOARCH, as each build of a version has it.
binary() {
  local out=$1 package flags=(-trimpath)
  for package in $uninlined; do flags+=("-gcflags=$package=-l"); done
  local strip=-s
  # Of its symbols it reads two, to find which signals were ignored at its start.
  if [ "$(go env GOOS)" = linux ]; then strip=; fi
  # Without cgo the program starts 0.4 ms sooner. Functions that are not aligned
  # to 32 bytes make it 0.2 MB smaller.
  CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build "${flags[@]}" -ldflags="$strip -w -funcalign=4" -o "$out" ./cmd/outlast
  if [ -z "$strip" ]; then GOOS='' GOARCH='' go run ./process/atstart/trim "$out"; fi
}

tool() {
  mkdir -p bin
  binary bin/outlast.linked
  # A copy starts 1.2 ms sooner: it lies in larger pieces in the page cache than
  # what the linker wrote.
  rm -f bin/outlast
  cp bin/outlast.linked bin/outlast
  rm bin/outlast.linked
}

# slow are the packages whose tests need real time, or many real processes.
slow='^outlast/(process|ready|tests/(compare|functions|herd|link|mutation|omnigraph|outer))(/|$)'

check() {
  lint
  go test -short $(go list ./... | grep -vE "$slow")
}

# lint finds what a reviewer should not have to.
lint() {
  local unformatted
  unformatted=$(gofmt -l .)
  if [ -n "$unformatted" ]; then
    printf 'build.sh: not gofmt-ed:\n%s\n' "$unformatted" >&2
    return 1
  fi
  go mod tidy -diff
  go vet ./...
  GOOS=wasip1 GOARCH=wasm go vet -unsafeptr=false ./plugin/guest
  go tool staticcheck ./...
  for module in $modules; do (cd "$module" && go mod tidy -diff && go vet ./...); done
  same_plugin
}

# same_plugin compares the committed files with what this source builds.
same_plugin() {
  local dir
  dir=$(mktemp -d)
  build_plugin "$dir/outlast.wasm"
  sha256 "$dir/outlast.wasm" > "$dir/outlast.wasm.sha256"
  go run ./plugin/stub > "$dir/outlast-stub.wasm"
  go run ./plugin/kernel > "$dir/kernel.wasm"
  for file in outlast.wasm outlast.wasm.sha256 outlast-stub.wasm kernel.wasm; do
    if ! cmp -s "$dir/$file" "plugin/$file"; then
      rm -r "$dir"
      echo "build.sh: plugin/$file is not what this source builds; run ./build.sh plugin" >&2
      return 1
    fi
  done
  rm -r "$dir"
}

# with_default_signals runs a command that ignores no signal: where this was
# started with nohup, or in the background of a script, the tests of signals
# would be ignored with it, and a shell cannot take that back.
with_default_signals() {
  exec python3 -c '
import os, signal, sys
for name in ("HUP", "INT", "QUIT", "TERM", "PIPE"):
    signal.signal(getattr(signal, "SIG" + name), signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}

tests() {
  lint
  # The host has goroutines and locks; the rest has none. The vectors have
  # neither, and are slow in an interpreter. wazero is not watched for races of its
  # own: its compiler would take eight times as long, in each test that loads a plugin.
  # Those that wait more than they compute come first, so that others run beside them.
  go test -p 3 -parallel 4 -race -gcflags='github.com/tetratelabs/wazero/...=-race=false' -skip '^TestConformance' ./process/... ./ready/... ./host/... ./httpattempt ./httpretry ./retry ./logs ./commands/omnigraph
  (cd otel && go test -race -run AtOnce .)
  go test -run '^TestConformance' ./host
  go test -p 3 -parallel 4 ./cmd/outlast ./tests/omnigraph $(go list ./... | grep -vE '^outlast/((host|httpattempt|httpretry|logs|process|ready|retry|commands/omnigraph|tests/functions)(/|$)|(cmd/outlast|tests/omnigraph)$)')
  for module in $modules; do
    case "$module" in tests/features | tests/services) continue ;; esac # see below
    (cd "$module" && go test ./...)
  done
  side_by_side "./python/check.sh tests" node_and_databases
  go test ./tests/functions # from here on with both packages, as they were just installed
  side_by_side "go -C tests/features test ./..." services_and_site
}

# node_and_databases are Node's tests, and those of Python's databases: together they
# take as long as Python's other tests.
node_and_databases() {
  ./js/check.sh && ./python/check.sh databases
}

services_and_site() {
  go -C tests/services test ./... && site
}

# site makes the references from doc comments, and then the pages. A page that the
# navigation lacks or a link that leads nowhere ends it.
site() {
  rm -rf site/build/pages
  go run ./site/gopages site/build/pages/reference/go
  ./js/install.sh .
  (cd js && npx --no-install typedoc --options ../site/typedoc.json)
  rm site/build/pages/reference/node/list.md # of both modules, which the navigation has
  if [ ! -x site/build/venv/bin/python ]; then python3 -m venv site/build/venv; fi
  site/build/venv/bin/pip install --quiet --disable-pip-version-check -r site/requirements.txt
  # Were it told to be quiet, it would not count its warnings.
  (cd site && NO_MKDOCS_2_WARNING=1 build/venv/bin/mkdocs build --strict)
}

# side_by_side runs two commands that keep one core busy each, and shows what
# they print one after the other.
side_by_side() {
  local log failed=0
  log=$(mktemp)
  $2 > "$log" 2>&1 &
  $1 || failed=1
  wait $! || failed=1
  cat "$log"
  rm "$log"
  return $failed
}

# release makes dist/ from a copy of the last commit, so that nothing else of this
# folder gets in.
release() {
  local out=${OUTLAST_DIST:-$PWD/dist} commit date source failed=0
  commit=$(git rev-parse HEAD)
  date=$(git log -1 --format=%ct)
  if [ -n "$(git status --porcelain)" ]; then
    echo "build.sh: what is not committed is not in the release" >&2
  fi
  rm -rf "$out"
  source=$(mktemp -d)
  git archive HEAD | (umask 022 && tar -x -C "$source")
  (cd "$source/release" && umask 022 && go run . -out "$out" -commit "$commit" -date "$date") || failed=1
  rm -rf "$source"
  return $failed
}

# check_release makes it twice, and installs it. The second time nothing is as it
# was: the folder, the user's number and name, the time zone, the language, the
# mask of new files' modes, the clock (for what loads the C library) and, since
# Go's compiler would only be asked for what it made before, its cache.
check_release() {
  local again modules_had
  again=$(mktemp -d)
  modules_had=$(go env GOMODCACHE)
  release
  git clone --quiet . "$again/another folder"
  (
    cd "$again/another folder"
    mkdir "$again/home"
    export HOME="$again/home" USER=other LOGNAME=other TZ=Asia/Kathmandu LC_ALL=C.UTF-8 LANG=tr_TR.UTF-8
    export GOMODCACHE="$modules_had" GOCACHE="$again/cache" TMPDIR="$again" OUTLAST_DIST="$again/dist"
    umask 077
    elsewhere ./build.sh release
  )
  diff dist/SHA256SUMS "$again/dist/SHA256SUMS"
  rm -rf "$again"
  (cd release && OUTLAST_DIST=$PWD/../dist go test -count=1 -timeout 20m -run '^TestInstalled' -v .)
}

# elsewhere runs a command as another user and 400 days later, as far as can be had.
elsewhere() {
  if unshare --user --map-user=1234 true 2>/dev/null; then set -- unshare --user --map-user=1234 "$@"; fi
  if command -v faketime >/dev/null; then set -- faketime -f +400d "$@"; fi
  "$@"
}

case "${1:-tool}" in
  tool) tool ;;
  binary) binary "$2" ;;
  demo) tool; ./bin/outlast demo ;;
  plugin) plugin ;;
  check) check ;;
  bench) shift; cd benchmarks; go run -buildvcs=false . "$@" ;;
  site) site ;;
  release) if [ "${2:-}" = --check ]; then check_release; else release; fi ;;
  version) cd release && go run . version ;;
  test) with_default_signals ./build.sh tests ;;
  tests) tests ;;
  -h | --help | help) sed -n "2,/^set/s/^# \{0,1\}//p" "$0" ;;
  *) echo "build.sh: unknown target '$1'; see its first lines" >&2; exit 2 ;;
esac
