package drivers_test

import (
	"context"
	"database/sql"
	"fmt"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"outlast/drivers/mysqlattempt"
	"outlast/drivers/pgxattempt"
)

const (
	pgDSN    = "postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable"
	mysqlDSN = "root@tcp(127.0.0.1:%d)/test?multiStatements=true"
	insert   = "insert into applied values (1)"
)

func TestPostgreSQL(t *testing.T) {
	s := debian(t, "postgres", "pgx", pgDSN, "-c", "max_connections=4", "-c", "superuser_reserved_connections=1", "-c", "max_wal_senders=0")
	s.deadly = syscall.SIGQUIT
	s.start()
	prepare(t, s, "pgx", pgDSN,
		"create table applied (n int)", "create table invoices (id int, paid bool)", "insert into invoices values (7, false)",
		"create procedure apply_and_wait() language plpgsql as $$ begin "+insert+"; commit; perform pg_sleep(600); end $$")
	tooMany := crowded("too many clients", func(s *server) (func(), error) {
		c, err := pgx.Connect(t.Context(), fmt.Sprintf(pgDSN, s.port))
		return func() { c.Close(context.Background()) }, err
	})
	table(s, "pgx", pgxPool, refused, startingUp, tooMany)
	table(s, "database/sql, pgx", sqlPgx, refused, startingUp, tooMany)
	pool, err := pgxpool.New(t.Context(), fmt.Sprintf(pgDSN, s.port))
	if err != nil {
		t.Fatal(err)
	}
	testPay(t, pool)
	pool.Close()
	c := pgxPool(s)
	own(t, c, c.exec("do $$ begin raise exception 'x' using errcode = '57P03'; end $$"))
}

func TestMariaDB(t *testing.T) {
	s := debian(t, "mariadb", "mysql", mysqlDSN, "--max-connections=10")
	s.begin()
	s.until(func() error {
		return execIn("mysql", "root@tcp("+s.address()+")/", "create database if not exists test")
	})
	prepare(t, s, "mysql", mysqlDSN, "create table applied (n int)")
	tooMany := crowded("too many connections", func(s *server) (func(), error) {
		db := open(t, "mysql", fmt.Sprintf(mysqlDSN, s.port))
		err := db.Ping()
		return func() { db.Close() }, err
	})
	table(s, "database/sql, go-sql-driver/mysql", sqlMySQL, refused, tooMany)
	c := sqlMySQL(s)
	own(t, c, c.exec("signal sqlstate '08004' set mysql_errno = 1040, message_text = 'x'"))
}

func prepare(t *testing.T, s *server, driver, dsn string, statements ...string) {
	for _, statement := range statements {
		if err := execIn(driver, fmt.Sprintf(dsn, s.port), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func execIn(driver, dsn, statement string) error {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(statement)
	return err
}

func open(t *testing.T, driver, dsn string) *sql.DB {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func pgxPool(s *server) *client {
	pool, err := pgxpool.New(s.t.Context(), fmt.Sprintf(pgDSN, s.port))
	if err != nil {
		s.t.Fatal(err)
	}
	exec := func(statement string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := pool.Exec(ctx, statement)
			return err
		}
	}
	return &client{
		attempt: pgxattempt.Func, exec: exec, read: exec("select 1"), write: exec(insert),
		applyAndWait: exec("call apply_and_wait()"), close: pool.Close,
	}
}

func sqlPgx(s *server) *client {
	c := inSQL(open(s.t, "pgx", fmt.Sprintf(pgDSN, s.port)))
	c.attempt, c.applyAndWait = pgxattempt.Func, c.exec("call apply_and_wait()")
	return c
}

func sqlMySQL(s *server) *client {
	c := inSQL(open(s.t, "mysql", fmt.Sprintf(mysqlDSN, s.port)))
	c.attempt, c.applyAndWait = mysqlattempt.Func, c.exec(insert+"; select sleep(600)")
	return c
}

func inSQL(db *sql.DB) *client {
	exec := func(statement string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, statement)
			return err
		}
	}
	return &client{exec: exec, read: exec("select 1"), write: exec(insert), close: func() { db.Close() }}
}
