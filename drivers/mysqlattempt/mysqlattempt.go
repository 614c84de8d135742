// Package mysqlattempt makes attempts of functions that ask MariaDB by database/sql
// with github.com/go-sql-driver/mysql. Tried with 1.10.1 of that and MariaDB 10.11,
// not with MySQL.
package mysqlattempt

import (
	"context"
	"errors"

	"github.com/go-sql-driver/mysql"

	"outlast/abi"
	"outlast/drivers/internal/attempt"
	"outlast/httpattempt"
)

// Func is an attempt for host.Task.Attempt, as httpattempt.Func, that also knows what
// the driver's errors mean. Where nobody listens or the server has too many
// connections, it is unconnected. A read rides that out, and a write does where
// host.Task.OnlyRequest says that f makes one request, such as one transaction.
func Func(f func(ctx context.Context) error) httpattempt.Attempt {
	return attempt.Func(f, see)
}

// tooMany is the number of the error of a server that has too many connections.
const tooMany = 1040

func see(err error, r *abi.Result) {
	var refused *mysql.MySQLError
	switch {
	case errors.As(err, &refused):
		// Before a session begins there is no SQLSTATE; with one, a statement raised it.
		if refused.Number == tooMany && refused.SQLState == [5]byte{} {
			attempt.Fail(r, abi.FailureUnconnected)
		}
	case errors.Is(err, mysql.ErrInvalidConn):
		attempt.Fail(r, abi.FailureBroke)
	}
}
