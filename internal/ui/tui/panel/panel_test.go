package panel

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// none is no session.
type none struct{ live protocol.Live }

func (*none) ID() protocol.SessionID { return "" }
func (n *none) Live() *protocol.Live { return &n.live }
func (n *none) Main() *protocol.Live { return &n.live }

// dark is a screen of 80 cells.
type dark struct{ theme *theme.Theme }

func (d dark) Theme() *theme.Theme { return d.theme }
func (dark) Width() int            { return 80 }

// newBase returns what panels work with, without a host.
func newBase(t *testing.T) Base {
	t.Helper()
	th, problems := theme.New(theme.Options{Name: "dark"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	l := link.New(t.Context(), link.Config{Send: func(tea.Msg) {},
		Connect: func(context.Context, func(client.Change), func(string), func() bool) (*client.Client, error) {
			return nil, errors.New("no host")
		}})
	go l.Run() // ends with the test
	return Base{Link: l, Overlays: &overlay.Stack{}, Toasts: &status.Toasts{}, Session: &none{}, Screen: dark{th}}
}

func TestTheContextIsCountedOnce(t *testing.T) {
	v := &protocol.ContextView{Tokens: 1200, SystemTokens: 700, ToolTokens: 300, Window: 8000}
	if head := NewPages(newBase(t), nil).contextLines(v)[0]; !strings.HasPrefix(head, "1,200 of 8,000 tokens") {
		t.Error(head)
	}
}

func TestTypingOnWaitsForTheSearchThatIsUnderWay(t *testing.T) {
	s := &sessionList{Sessions: NewSessions(newBase(t), nil, nil, nil), picker: &overlay.Picker{List: list.New(list.Config{Can: list.Query})}, all: true}
	s.info = hostinfo.New(hostinfo.Config{})
	s.query = "res"
	first := s.search()
	for _, s.query = range []string{"rest", "resto"} {
		if s.search() != nil {
			t.Errorf("%q is looked for while another search is under way", s.query)
		}
	}
	second := first().(loop.Then)()
	if second == nil {
		t.Fatal("what was typed meanwhile is not looked for")
	}
	if third := second().(loop.Then)(); third != nil || s.searching {
		t.Error("it does not end")
	}
}
