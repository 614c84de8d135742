#!/usr/bin/env bash
# Runs a real server of a database, Debian's own, for the tests of clients: in the
# foreground, so that whoever began it can stop and kill it. What is not unpacked yet
# goes into a cache, and leaves the system as it is. None runs as root.
# Usage: serve.sh postgres|redis|mariadb FOLDER PORT [the server's options]
#        serve.sh get         only unpacks, and prints the folder
set -euo pipefail

cache=$([ "$(id -u)" = 0 ] && echo /var/cache || echo "$HOME/.cache")/outlast-tests/databases
root=$cache/root

get() {
  mkdir -p "$cache"
  exec 9> "$cache/lock"
  flock 9
  [ -e "$cache/done" ] && return
  rm -rf "$root" && mkdir -p "$root"
  download || { apt-get update >&2 && download; }
  for deb in "$cache"/debs/*.deb; do [ ! -e "$deb" ] || dpkg-deb -x "$deb" "$root"; done
  rm -r "$cache/debs" && touch "$cache/done"
}

download() {
  mkdir -p "$cache/debs/partial"
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --download-only \
    -o Dir::Cache::archives="$cache/debs" -o Debug::NoLocking=1 \
    postgresql pgbouncer redis-server mariadb-server-core >&2
}

get
exec 9>&-
if [ "$1" = get ]; then
  echo "$root"
  exit
fi

server=$1 data=$2 port=$3
shift 3
LD_LIBRARY_PATH=$(printf '%s:' "$root"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH LC_ALL=C.UTF-8
as=()
if [ "$(id -u)" = 0 ]; then
  chown nobody "$data"
  as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
fi
cd "$data"

# program is the path of one that was unpacked, or else, where apt found it installed
# and got nothing, of the system's.
program() {
  local place
  for place in "$root" ''; do
    ls -d "$place"/usr/{bin,sbin}/"$1" "$place"/usr/lib/postgresql/*/bin/"$1" 2>/dev/null || true
  done | head -n 1
}

case $server in
  postgres)
    if [ ! -e cluster ]; then
      "${as[@]}" "$(program initdb)" -A trust -U postgres -N -D cluster --no-locale -E UTF8 >&2
    fi
    exec "${as[@]}" "$(program postgres)" -D cluster -p "$port" -c listen_addresses=127.0.0.1 \
      -c unix_socket_directories= -c fsync=off "$@" ;;
  redis)
    exec "${as[@]}" "$(program redis-server)" --port "$port" --bind 127.0.0.1 --dir . --save '' "$@" ;;
  mariadb)
    "${as[@]}" mkdir -p tables
    exec "${as[@]}" "$(program mariadbd)" --no-defaults --datadir="$data/tables" --port="$port" \
      --bind-address=127.0.0.1 --socket="$data/s" --pid-file="$data/pid" --skip-grant-tables \
      --skip-networking=0 --innodb-buffer-pool-size=16M --innodb-fast-shutdown=2 \
      --lc-messages-dir="$(dirname "$(dirname "$(program mariadbd)")")/share/mysql" "$@" ;;
esac
