"""What PostgreSQL, pgbouncer and libpq say of connections that they refuse or cannot
make, in English: in another language it is not known what they say.
"""

from __future__ import annotations

CONNECT_NOW, TOO_MANY = "57P03", "53300"
"""SQLSTATEs of a server that starts or shuts down, and of one without a free slot. As
FATAL errors they come before a session begins; as others, any statement can raise them.
"""

ENDED = ("57P01", "57P02", "08P01")
"""SQLSTATEs of the FATAL errors that end a session: an administrator's, a crash, and
pgbouncer's, which has but one.
"""

SERVER = (
    "the database system is starting up",
    "the database system is shutting down",
    "the database system is in recovery mode",
    "the database system is not yet accepting connections",
    "sorry, too many clients already",
    "remaining connection slots are reserved",
    "too many connections for ",
)

PGBOUNCER = (
    "no more connections allowed",
    "query_wait_timeout",
    "server login has been failing",
    "pgbouncer cannot connect to server",
)

LIBPQ = (
    "Connection refused",
    "Connection timed out",
    "Operation timed out",
    "timeout expired",
    "No route to host",
    "Host is down",
    "Network is unreachable",
    "Connection reset by peer",
    "server closed the connection unexpectedly",
    "No such file or directory",
)
