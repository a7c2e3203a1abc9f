package protocol

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestEveryRequestIsInTheTableOnce: a request is found by each of its names, and makes
// what its descriptor says.
func TestEveryRequestIsInTheTableOnce(t *testing.T) {
	seen := map[string]bool{}
	if !slices.IsSortedFunc(Specs(), func(a, b *Spec) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the table is not sorted")
	}
	for _, spec := range Specs() {
		for _, name := range append([]string{spec.Name}, spec.Aliases...) {
			if seen[name] || SpecOf(name) != spec {
				t.Errorf("%s is not found, or is another one's too", name)
			}
			seen[name] = true
		}
		r := spec.New()
		if r.Spec() != spec {
			t.Errorf("%s makes a %T, which is %s", spec.Name, r, r.Spec().Name)
		}
		if reflect.TypeOf(spec.Answer(Event{})) != reflect.TypeOf(spec.Reply()) {
			t.Errorf("%s: a repeat is answered with %T", spec.Name, spec.Answer(Event{}))
		}
		if (spec.Method == "") != (spec.Path == "") || strings.Contains(spec.Path, "{sessionId}") && spec.Scope == ScopeDevice {
			t.Errorf("%s stands at %q of HTTP", spec.Name, spec.Path)
		}
		if spec.Grant.Check() != nil {
			t.Errorf("%s: %v", spec.Name, spec.Grant.Check())
		}
	}
	for _, name := range []string{"", "nothing", "zzz", "Ping", "ping "} {
		if s := SpecOf(name); s != nil {
			t.Errorf("%q is %s", name, s.Name)
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d requests were found", len(seen))
	}
}
