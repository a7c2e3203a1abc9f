package connect

import (
	"slices"
	"testing"
)

func TestAMalformedEntryOfAListLosesNoOther(t *testing.T) {
	s := open(t, "malformed:never", Options{})
	tools, faults, err := s.Tools(t.Context())
	if err != nil || len(tools) != 1 || !slices.Equal(faults, []string{`its tool "bad" is left out: description has a value of the wrong kind, array`}) {
		t.Errorf("%+v %q %v", tools, faults, err)
	}
	for range 2 { // also when it is read again
		l, faults := s.Lists(t.Context())
		if len(l.Prompts) != 2 || l.Prompts[0].Own != "good" || l.Prompts[1].Own != "well" {
			t.Errorf("%+v", l.Prompts)
		}
		if want := []string{"its prompt number 2 of a list is left out: name has a value of the wrong kind, number", `its prompt "odd" is left out: arguments has a value of the wrong kind, string`}; !slices.Equal(faults, want) {
			t.Errorf("%q", faults)
		}
	}
}
