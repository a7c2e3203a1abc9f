package rendering

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// session is one of which tests say what is live.
type session struct {
	id   protocol.SessionID
	live protocol.Live
}

func (s *session) ID() protocol.SessionID { return s.id }
func (s *session) Live() *protocol.Live   { return &s.live }

// loader returns one whose requests wait for a host until the test ends.
func loader(t *testing.T) (*Loader, *session) {
	x := New(t.Context(), link.New(t.Context(), link.Config{}), func(tea.Msg) {})
	s := &session{id: "ses_1", live: protocol.Live{TurnID: "trn_1"}}
	x.Follow(transcript.New(transcript.Config{}), s)
	t.Cleanup(x.Forget)
	return x, s
}

func call(n int) transcript.Entry {
	return transcript.Entry{Event: protocol.EventID(fmt.Sprint("evt_", n)), Call: fmt.Sprint("c", n), Name: "dice", Width: 80}
}

// answer is one of the host.
func answer(body ...string) *protocol.RenderedEntry {
	return &protocol.RenderedEntry{Source: "painter", Body: &protocol.DrawnLines{Lines: body}}
}

// is reports whether an entry is drawn with these lines, and nothing of it waits.
func is(d transcript.Drawn, body ...string) bool {
	return !d.Coming && d.Call == nil && strings.Join(d.Body, "\n") == strings.Join(body, "\n")
}

func TestAnEntryIsAskedForOnceForEachWidth(t *testing.T) {
	x, s := loader(t)
	e, wide := call(1), call(1)
	wide.Width = 120
	for range 3 {
		if d := x.Drawn(e); !d.Coming || len(x.asked) != 1 {
			t.Fatalf("%+v, %d asked for", d, len(x.asked))
		}
	}
	x.come(s.id, e, answer("six \x1b]0;owned\x07\x1b[2J\x1b[31mred"), false)
	if d := x.Drawn(e); !is(d, "six \x1b[31mred") || len(x.asked) != 0 {
		t.Errorf("%+v, %d asked for", d, len(x.asked))
	}
	if d := x.Drawn(wide); !d.Coming {
		t.Errorf("what was drawn at another width is shown: %+v", d)
	}
}

func TestWhatNobodyDrawsIsAskedForAgainInTheNextTurn(t *testing.T) {
	x, s := loader(t)
	x.Drawn(call(1))
	x.come(s.id, call(1), &protocol.RenderedEntry{}, false)
	if d := x.Drawn(call(2)); !is(d) || len(x.asked) != 0 {
		t.Errorf("another call of the tool: %+v, %d asked for", d, len(x.asked))
	}
	other := call(3)
	other.Name = "cards"
	if !x.Drawn(other).Coming {
		t.Error("another tool is not asked for")
	}
	s.live.TurnID = "trn_2"
	if !x.Drawn(call(1)).Coming {
		t.Error("extensions that came with the next turn are not asked")
	}
}

func TestWhatComesLateIsShownAndWhatFailsLateIsNot(t *testing.T) {
	x, s := loader(t)
	x.Drawn(call(1))
	x.come(s.id, call(1), nil, true) // its time is over
	if d := x.Drawn(call(1)); !is(d) {
		t.Errorf("it is waited for: %+v", d)
	}
	x.come(s.id, call(1), answer("six"), false)
	if d := x.Drawn(call(1)); !is(d, "six") {
		t.Errorf("what came late: %+v", d)
	}
	x.come(s.id, call(1), nil, true)
	if d := x.Drawn(call(1)); !is(d, "six") {
		t.Errorf("a failure after it: %+v", d)
	}
}

func TestAtMostSoManyEntriesWait(t *testing.T) {
	x, _ := loader(t)
	for n := range maxAsked {
		if !x.Drawn(call(n)).Coming {
			t.Fatalf("the entry %d is not asked for", n)
		}
	}
	if d := x.Drawn(call(maxAsked)); !is(d) || len(x.asked) != maxAsked {
		t.Errorf("%+v, %d asked for", d, len(x.asked))
	}
}

func TestAnAnswerForAnotherSessionIsNotShown(t *testing.T) {
	x, s := loader(t)
	x.Drawn(call(1))
	x.Forget()
	s.id = "ses_2"
	x.come("ses_1", call(1), answer("six"), false)
	if d := x.Drawn(call(1)); !d.Coming {
		t.Errorf("%+v", d)
	}
}

// header says that an extension has one, in a version.
func header(source, rev string) protocol.UIState {
	return protocol.UIState{Source: source, Place: protocol.PlaceHeader, Lines: []string{rev}}
}

// areaComes takes an answer for the header of an extension.
func areaComes(x *Loader, source string, of version, err error, lines ...string) {
	a := x.areas[source+" "+protocol.PlaceHeader]
	x.areaDrawn(a, of, answer(lines...), err)
}

func TestAHeaderStaysUntilItIsDrawnAgain(t *testing.T) {
	x, s := loader(t)
	show := func(width int) string { return strings.Join(x.Area(protocol.PlaceHeader, width), "\n") }
	s.live.UIStates = []protocol.UIState{header("a", "1")}
	if got := show(80); got != "" || !x.areas["a header"].asked {
		t.Errorf("%q", got)
	}
	many := make([]string, protocol.MaxAreaLines+5)
	areaComes(x, "a", version{"1", 80, ""}, nil, many...)
	if got := len(x.Area(protocol.PlaceHeader, 80)); got != protocol.MaxAreaLines {
		t.Errorf("it has %d lines", got)
	}
	if x.areas["a header"].asked {
		t.Error("what has not changed is asked for again")
	}
	for _, change := range []func(){
		func() { s.live.UIStates[0] = header("a", "2") },
		func() { s.live.PersistentLastID = "evt_1" },
	} {
		areaComes(x, "a", x.areas["a header"].of, nil, "old\x1b[8m")
		change()
		if got := show(80); got != "old" || !x.areas["a header"].asked {
			t.Errorf("%q", got)
		}
		areaComes(x, "a", version{s.live.UIStates[0].Lines[0], 80, s.live.PersistentLastID}, nil, "new")
		if got := show(80); got != "new" || x.areas["a header"].asked {
			t.Errorf("%q", got)
		}
	}
	s.live.Running, s.live.PersistentLastID = true, "evt_2"
	if show(80); x.areas["a header"].asked {
		t.Error("it is drawn for each event of a turn")
	}
	areaComes(x, "a", x.areas["a header"].of, errors.New("no"), "")
	if got := show(80); got != "new" {
		t.Errorf("after a failure it is %q", got)
	}
}

func TestAHeaderThatWasTakenAwayDoesNotComeBackAsItWas(t *testing.T) {
	x, s := loader(t)
	s.live.UIStates = []protocol.UIState{header("a", "1")}
	x.Area(protocol.PlaceHeader, 80)
	areaComes(x, "a", version{"1", 80, ""}, nil, "old")
	s.live.UIStates[0].Lines = nil
	if got := x.Area(protocol.PlaceHeader, 80); len(got) != 0 {
		t.Errorf("%q", got)
	}
	s.live.UIStates[0] = header("a", "2")
	if got := x.Area(protocol.PlaceHeader, 80); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestSoManyHeadersAreShownAndThoseThatAreGoneAreForgotten(t *testing.T) {
	x, s := loader(t)
	for n := range maxAreas + 2 {
		s.live.UIStates = append(s.live.UIStates, header(fmt.Sprint("x", n), "1"))
	}
	x.Area(protocol.PlaceHeader, 80)
	if len(x.areas) != maxAreas {
		t.Errorf("%d are asked for", len(x.areas))
	}
	s.live.UIStates = s.live.UIStates[:1]
	if x.Area(protocol.PlaceHeader, 80); len(x.areas) != 1 {
		t.Errorf("%d are kept", len(x.areas))
	}
}
