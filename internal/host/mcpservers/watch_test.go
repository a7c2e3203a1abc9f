package mcpservers

import (
	"slices"
	"testing"
)

func TestAChangeThatCouldNotBeToldIsToldAgain(t *testing.T) {
	o := &Offer{x: newSession()}
	a, b := Updated{"notes", "notes://a"}, Updated{"notes", "notes://b"}
	o.x.watch(a)
	o.x.watch(b)
	o.x.resourceChanged(a.Server, a.URI)
	takes := func(what string, want ...Updated) {
		t.Helper()
		if got := o.TakeUpdated(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	takes("a change", a)
	o.UntakeUpdated()
	takes("after it was not stored", a)
	takes("after it was")
	o.UntakeUpdated()
	takes("after another step was not stored")
	o.x.resourceChanged(a.Server, a.URI)
	takes("a change of what was not read since")
	o.x.watch(a)
	o.x.resourceChanged(a.Server, a.URI)
	o.x.resourceChanged(b.Server, b.URI)
	takes("changes after another look", b, a)
}
