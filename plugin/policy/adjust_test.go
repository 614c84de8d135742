package policy

import (
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
