package policy

import (
	"strings"
	"testing"

	"outlast/abi"
	"outlast/abi/strictjson"
)

func TestWithMaxWait(t *testing.T) {
	doc := parsed(t, tiny)
	changed, err := doc.WithMaxWait(42_500_000)
	if err != nil {
		t.Fatal(err)
	}
	want := parsed(t, change(t, `"max_wait": "60s"`, `"max_wait": "42.5s"`))
	if changed.Normal != want.Normal || changed.Digest != want.Digest {
		t.Errorf("got %s", changed.Normal)
	}
	if doc.Digest != parsed(t, tiny).Digest || doc.Budgets[0].MaxWait != 60*million {
		t.Error("the document itself was changed")
	}
}

func TestWithSpread(t *testing.T) {
	for _, wake := range []string{
		`"spread":"30ms","hold_off":"1s","max_vain":3`,
		`"spread":"30ms","spread_multiplier":4,"spread_cap":"1s","hold_off":"1s","max_vain":3`,
		`"spread":"30ms","spread_multiplier":4,"spread_cap":"9s","hold_off":"1s","max_vain":3`,
	} {
		with := func(wake string) *Document {
			return parsed(t, `{"version":1,"name":"x","budgets":{"a":{"max_wait":"60s","backoff":{"type":"linear","base":"1s","cap":"1s"},"wake":{`+wake+`}},`+
				`"b":{"attempts":2,"backoff":{"type":"linear","base":"1s","cap":"1s"}}},"rules":[{"kind":"failed","then":[{"retry":"a"}]}]}`)
		}
		doc := with(wake)
		changed, err := doc.WithSpread(5 * million)
		if err != nil {
			t.Fatal(err)
		}
		want := with(strings.NewReplacer(`"30ms"`, `"5s"`, `"spread_cap":"1s"`, `"spread_cap":"5s"`).Replace(wake))
		if changed.Normal != want.Normal || changed.Digest != want.Digest || doc.Digest != with(wake).Digest || doc.Budgets[0].Wake.Spread != 30_000 {
			t.Errorf("got %s", changed.Normal)
		}
	}
	for _, micros := range []int64{0, -1} {
		if _, err := builtin(t, "omnigraph").WithSpread(micros); err == nil {
			t.Errorf("a spread of %d", micros)
		}
	}
	_, err := builtin(t, "witan-core").WithSpread(million)
	if e, ok := err.(*abi.Error); !ok || e.Field != "budgets" {
		t.Errorf("a document that is never woken: %v", err)
	}
}

func TestWithMaxWaitRefuses(t *testing.T) {
	doc := parsed(t, tiny)
	for _, micros := range []int64{0, -1, strictjson.MaxInteger + 1} {
		_, err := doc.WithMaxWait(micros)
		if e, ok := err.(*abi.Error); !ok || e.Code != abi.CodeInvalidPolicy || e.Field == "" {
			t.Errorf("a window of %d: %v", micros, err)
		}
	}
	attempts := parsed(t, `{"version":1,"name":"x","budgets":{"b":{"attempts":2,"backoff":{"type":"linear","base":"1s","cap":"1s"}}},`+
		`"rules":[{"kind":"failed","then":[{"retry":"b"}]}]}`)
	_, err := attempts.WithMaxWait(million)
	if e, ok := err.(*abi.Error); !ok || e.Code != abi.CodeInvalidPolicy || e.Field != "budgets" {
		t.Errorf("a document without a window: %v", err)
	}
}
