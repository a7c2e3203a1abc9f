package tui

import (
	"errors"
	"testing"

	"scorel/internal/ui/tui/list"
)

func TestTypingOnWaitsForTheSearchThatIsUnderWay(t *testing.T) {
	l := &link{ready: make(chan struct{})}
	l.reached.Store(&reached{err: errors.New("no host")})
	close(l.ready)
	m := &Model{link: l, ctx: t.Context()}
	p := &picker{list: list.New(list.Config{Can: list.Query})}
	s := &sessionPicker{all: true}
	s.query = "res"
	first := s.search(m, p)
	for _, s.query = range []string{"rest", "resto"} {
		if s.search(m, p) != nil {
			t.Errorf("%q is looked for while another search is under way", s.query)
		}
	}
	second := first().(then)(m)
	if second == nil {
		t.Fatal("what was typed meanwhile is not looked for")
	}
	if third := second().(then)(m); third != nil || s.searching {
		t.Error("it does not end")
	}
}
