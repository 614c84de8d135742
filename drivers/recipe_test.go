package drivers_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"outlast/drivers/pgxattempt"
	"outlast/host"
	"outlast/internal/recipetest"
)

func pay(ctx context.Context, plugin *host.Plugin, pool *pgxpool.Pool, invoice int) error {
	call := host.Call{Label: "pay", Remote: true}
	// begin recipe
	task := &host.Task{Call: call, OnlyRequest: true, Attempt: pgxattempt.Func(func(ctx context.Context) error {
		_, err := pool.Exec(ctx, "update invoices set paid = true where id = $1", invoice)
		return err
	})}
	outcome, err := plugin.Run(ctx, task)
	// end recipe
	_ = outcome
	return err
}

func testPay(t *testing.T, pool *pgxpool.Pool) {
	if err := pay(t.Context(), plugin, pool, 7); err != nil {
		t.Fatal(err)
	}
	var paid bool
	if err := pool.QueryRow(t.Context(), "select paid from invoices where id = 7").Scan(&paid); err != nil || !paid {
		t.Error(err, paid)
	}
}

func TestTheRecipeIsThePages(t *testing.T) {
	recipetest.IsThePages(t, "recipe_test.go", "../docs/databases.md")
}
