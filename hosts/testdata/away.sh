#!/bin/sh
# A client of a server that is away for its first two attempts: away.sh COUNTER
# keeps the number of attempts in the file COUNTER.
attempt=$(($(cat "$1" 2>/dev/null || echo 0) + 1))
echo "$attempt" >"$1"
if [ "$attempt" -lt 3 ]; then
  printf '%s\n' 'Error: ' \
    '   0: error sending request for url (http://graph.example:8080/graphs/people/query)' \
    '   1: client error (Connect)' \
    '   2: tcp connect error' \
    '   3: Connection refused (os error 111)' '' >&2
  exit 1
fi
echo "answered at attempt $attempt"
