#!/usr/bin/env bash
# Builds outlast. Usage: ./build.sh [tool|plugin|check|test|demo|bench]
#   tool    bin/outlast (the default)
#   demo    bin/outlast, and then its demo: a command rides out a real restart
#   plugin  plugin/outlast.wasm and its digest, from plugin/guest
#   check   formatting, vet, staticcheck, and that the committed plugin is the
#           one that this source builds
#   test    check, and every test
#   bench   the figures of docs/benchmarks.md
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
}

tool() {
  mkdir -p bin
  GOFLAGS=-buildvcs=false go build -trimpath -ldflags='-s -w' -o bin/outlast ./cmd/outlast
}

case "${1:-tool}" in
  plugin) plugin ;;
  tool) tool ;;
  *) echo "build.sh: unknown target '$1'" >&2; exit 2 ;;
esac
