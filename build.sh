#!/usr/bin/env bash
# Builds outlast. Usage: ./build.sh [tool|demo|plugin|check|test|bench]
#   tool    bin/outlast (the default)
#   demo    bin/outlast, and then its demo: a command rides out a real restart
#   plugin  plugin/outlast.wasm and its digest, from plugin/guest
#   check   formatting, vet, staticcheck, and that the committed plugin is the
#           one that this source builds
#   test    check, and every test, of the Python and npm packages too
#   bench   benchmarks, whose figures compare within one run
set -euo pipefail
cd "$(dirname "$0")"

# The toolchain is pinned in go.mod: another would build other bytes.
build_plugin() {
  # Without inlining in our own packages the file is 7 % smaller, and with it
  # what each host compiles and maps.
  GOOS=wasip1 GOARCH=wasm GOFLAGS=-buildvcs=false go build -buildmode=c-shared \
    -trimpath -ldflags='-s -w' -gcflags='outlast/...=-l' -o "$1" ./plugin/guest
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

plugin() {
  build_plugin plugin/outlast.wasm
  sha256 plugin/outlast.wasm > plugin/outlast.wasm.sha256
  go run ./plugin/stub > plugin/outlast-stub.wasm
}

tool() {
  mkdir -p bin
  GOFLAGS=-buildvcs=false go build -trimpath -ldflags='-s -w' -o bin/outlast ./cmd/outlast
}

# check finds what a reviewer should not have to.
check() {
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
  same_plugin
}

# same_plugin compares the committed files with what this source builds.
same_plugin() {
  local dir
  dir=$(mktemp -d)
  build_plugin "$dir/outlast.wasm"
  sha256 "$dir/outlast.wasm" > "$dir/outlast.wasm.sha256"
  go run ./plugin/stub > "$dir/outlast-stub.wasm"
  for file in outlast.wasm outlast.wasm.sha256 outlast-stub.wasm; do
    if ! cmp -s "$dir/$file" "plugin/$file"; then
      rm -r "$dir"
      echo "build.sh: plugin/$file is not what this source builds; run ./build.sh plugin" >&2
      return 1
    fi
  done
  rm -r "$dir"
}

tests() {
  check
  # The host has goroutines and locks; the rest has none. The vectors have
  # neither, and are slow in an interpreter that is watched for races.
  go test -race -skip '^TestConformance$' ./host/...
  go test -run '^TestConformance$' ./host
  go test $(go list ./... | grep -v '^outlast/host')
  go run ./tests/mutation
  ./python/check.sh
  ./js/check.sh
}

case "${1:-tool}" in
  tool) tool ;;
  demo) tool; ./bin/outlast demo ;;
  plugin) plugin ;;
  check) check ;;
  bench) go test -run '^$' -bench . ./host ./host/internal/engine ./cmd/outlast ;;
  test) tests ;;
  -h | --help | help) sed -n "2,/^set/s/^# \{0,1\}//p" "$0" ;;
  *) echo "build.sh: unknown target '$1'; see its first lines" >&2; exit 2 ;;
esac
