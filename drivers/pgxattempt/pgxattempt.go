// Package pgxattempt makes attempts of functions that ask PostgreSQL by pgx, its
// pools, or database/sql with pgx's driver. Tried with pgx 5.13.0 and PostgreSQL
// 15.18.
package pgxattempt

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"outlast/abi"
	"outlast/drivers/internal/attempt"
	"outlast/httpattempt"
)

// Func is an attempt for host.Task.Attempt, as httpattempt.Func, that also knows what
// pgx's errors mean. A session that did not begin is unconnected: nobody listens, or
// the server starts, stops, or has too many clients. A read rides that out, and a
// write does where host.Task.OnlyRequest says that f makes one request, such as one
// transaction.
func Func(f func(ctx context.Context) error) httpattempt.Attempt {
	return attempt.Func(f, see)
}

func see(err error, r *abi.Result) {
	var refused *pgconn.PgError
	errors.As(err, &refused)
	if errors.As(err, new(*pgconn.ConnectError)) {
		if isAway(err, refused) {
			attempt.Fail(r, abi.FailureUnconnected)
		}
		return
	}
	// pgx read on a connection that had just been closed; of one that was closed
	// before, it is safe to retry.
	if errors.Is(err, pgconn.ErrConnClosed) && !pgconn.SafeToRetry(err) {
		attempt.Fail(r, abi.FailureBroke)
	}
	// What a statement raises may have the same code, but it is no FATAL.
	if refused != nil && refused.SeverityUnlocalized == "FATAL" && ended[refused.Code] {
		attempt.Fail(r, abi.FailureBroke)
	}
}

// away and ended are SQLSTATEs: of a server that begins no session now, and of a
// session that it ended.
var (
	away  = map[string]bool{"57P03": true, "53300": true}
	ended = map[string]bool{"57P01": true, "57P02": true}
)

// isAway says whether an error of connecting may pass by itself. A name that is not
// known and a certificate that is not trusted are told apart by httpattempt.
func isAway(err error, refused *pgconn.PgError) bool {
	switch {
	case refused != nil:
		return away[refused.Code]
	case errors.As(err, new(*net.DNSError)):
		return false
	}
	var op *net.OpError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &op) && op.Op != "remote error" && op.Op != "local error"
}
