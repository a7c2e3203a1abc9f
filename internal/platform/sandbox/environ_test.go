package sandbox

import (
	"slices"
	"testing"
)

func TestEnvironDropsWhatBendsACommand(t *testing.T) {
	got := Environ([]string{"PATH=/bin", "CDPATH=/x", "BASH_ENV=/x", "BASH_FUNC_ls%%=() { rm x; }", "PS4=$(x)", "LANG=C"}, nil)
	if want := []string{"PATH=/bin", "LANG=C"}; !slices.Equal(got, want) {
		t.Errorf("Environ: %q, want %q", got, want)
	}
}
