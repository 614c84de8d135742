package retry_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"outlast/host"
	"outlast/httpattempt"
	"outlast/internal/recipetest"
	"outlast/retry"
)

type person struct{}

// begin recipe
func people(ctx context.Context, plugin *host.Plugin, query func(context.Context) ([]person, error)) ([]person, error) {
	call := host.Call{Label: "people", Remote: true, Read: true}
	return retry.Do(ctx, plugin, &host.Task{Call: call, Attempts: 5}, query)
}

func peopleInALoop(ctx context.Context, plugin *host.Plugin, query func(context.Context) ([]person, error)) (found []person, err error) {
	loop := retry.Attempts(ctx, plugin, &host.Task{Call: host.Call{Label: "people", Remote: true, Read: true}, Attempts: 5})
	for attempt := range loop.All() {
		found, err = query(attempt.Context())
		attempt.End(err)
	}
	return found, loop.Err()
}

// end recipe

// The recipe of docs/http-clients.md is this one.
func TestTheRecipeIsThePages(t *testing.T) {
	recipetest.IsThePages(t, "recipe_test.go", "../docs/http-clients.md")
}

func TestTheRecipe(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *host.Plugin, func(context.Context) ([]person, error)) ([]person, error){
		"Do": people, "Attempts": peopleInALoop,
	} {
		n, own := 0, errors.New("own")
		query := func(context.Context) ([]person, error) {
			switch n++; n {
			case 1:
				return nil, &httpattempt.StatusError{Status: http.StatusServiceUnavailable}
			case 2:
				return make([]person, 7), nil
			}
			return nil, own
		}
		if found, err := ask(t.Context(), plugin, query); err != nil || len(found) != 7 || n != 2 {
			t.Errorf("%s: %v, %v after %d attempts", name, found, err, n)
		}
		if _, err := ask(t.Context(), plugin, query); !errors.Is(err, own) || n != 3 {
			t.Errorf("%s: %v after %d attempts", name, err, n)
		}
	}
}
