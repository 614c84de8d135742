package conformance

import "testing"

// caseNamed is the case of a name.
func caseNamed(t *testing.T, name string) *Case {
	t.Helper()
	cases, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		if cases[i].Name == name {
			return &cases[i]
		}
	}
	t.Fatalf("there is no case %q", name)
	return nil
}

func TestExceptions(t *testing.T) {
	r := &tally{excepted: Exceptions{"a": "it cannot", "b": "nor this"}, left: map[string]bool{"a": true, "b": true, "c": true}}
	if failures, exception := r.count(&Case{Name: "a"}, []string{"wrong"}); failures != nil || exception != "it cannot" {
		t.Errorf("an excepted case that fails: %q, %q", failures, exception)
	}
	if failures, _ := r.count(&Case{Name: "b"}, nil); len(failures) != 1 {
		t.Errorf("an excepted case that passes must fail: %q", failures)
	}
	if failures, _ := r.count(&Case{Name: "d"}, []string{"wrong", "and wrong"}); len(failures) != 2 {
		t.Errorf("a case that fails: %q", failures)
	}
	if failures, exception := r.count(&Case{Name: "e"}, nil); failures != nil || exception != "" {
		t.Errorf("a case that passes: %q, %q", failures, exception)
	}
	if want := "1 passed, 2 failed, 1 excepted, 0 skipped"; r.summary() != want {
		t.Errorf("want %q, got %q", want, r.summary())
	}
	if len(r.left) != 1 || !r.left["c"] {
		t.Errorf("the exceptions that no case has: %v", r.left)
	}
}
