package transcript

import (
	"fmt"
	"strings"
	"testing"

	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// paged is a transcript that has the newest of a log, and the pages before them.
type paged struct {
	*Transcript
	log   []protocol.Event
	have  int // events of the log that are not held
	asked int
}

func pagedOf(l *log, held int) *paged {
	p := &paged{Transcript: New(Config{}), log: l.events, have: len(l.events) - held}
	for _, e := range l.events[p.have:] {
		p.Append(e)
	}
	p.More(p.have > 0)
	return p
}

// screen is what is seen, without styles.
func (p *paged) screen(th *theme.Theme) string { return plain(strings.Join(p.View(th, 60, 10), "\n")) }

// serve adds the older events that are wanted until none are.
func (p *paged) serve() {
	for n := p.WantOlder(); n > 0; n = p.WantOlder() {
		p.asked++
		from := max(0, p.have-n)
		page := p.log[from:p.have]
		p.have = from
		p.Prepend(page)
		p.More(from > 0)
	}
}

func TestASearchGoesOnInOlderEventsUntilSomethingIsFound(t *testing.T) {
	th := plainTheme(t)
	p := pagedOf(long(5000), 200)
	p.View(th, 60, 10)
	p.Do(keymap.PageUp)
	p.Do(keymap.Search)
	for _, key := range "message 1200 of" {
		p.Insert(string(key))
	}
	if got := p.screen(th); !strings.Contains(got, "looking further back") {
		t.Errorf("it does not say that it looks:\n%s", got)
	}
	p.serve()
	got := p.screen(th)
	if !strings.Contains(got, "message 1200 of the session") || !strings.Contains(got, "/message 1200 of   1 of 1") {
		t.Errorf("it is not shown:\n%s", got)
	}
	if p.have < 100 {
		t.Errorf("it looks on though something was found: %d events are not held", p.have)
	}
	p.Do(keymap.Submit)
	p.Search("no such words")
	p.serve()
	if got := p.screen(th); !strings.Contains(got, "nothing found") || p.have != 0 {
		t.Errorf("%d events are not held:\n%s", p.have, got)
	}
}

func TestTheMatchAboveTheFirstIsLookedForInOlderEvents(t *testing.T) {
	th := plainTheme(t)
	p := pagedOf(long(3000), 200)
	p.View(th, 60, 10)
	p.Search("950 of")
	at, of := p.SearchCount()
	if at != 1 || of != 1 {
		t.Fatalf("match %d of %d is shown", at, of)
	}
	for _, want := range []string{"message 1950 of", "message 950 of", "message 2950 of"} {
		p.Do(keymap.SearchBack)
		p.serve()
		if got := p.screen(th); !strings.Contains(got, want) {
			t.Errorf("%s is not shown:\n%s", want, got)
		}
	}
}

func TestTheMatchThatIsShownStaysWhenOlderEventsAndNewOnesCome(t *testing.T) {
	th := plainTheme(t)
	l := long(300)
	p := pagedOf(l, 200)
	p.View(th, 60, 10)
	p.Search("second line")
	p.Do(keymap.SearchBack)
	shown := p.selected()
	p.Append(l.user("one more\nwith a second line"))
	p.Prepend(p.log[:100])
	p.Do(keymap.SearchBack)
	p.Do(keymap.SearchNext)
	if p.selected() != shown {
		at, of := p.SearchCount()
		t.Errorf("another match is shown: %d of %d", at, of)
	}
}

func TestTheTopIsTheVeryBeginning(t *testing.T) {
	th := plainTheme(t)
	p := pagedOf(long(5000), 200)
	p.View(th, 60, 10)
	p.Do(keymap.ScrollTop)
	p.serve()
	if got := p.View(th, 60, 10); !strings.Contains(got[0], "message 0 of") {
		t.Errorf("the top is %q", got[0])
	}
	p = pagedOf(long(5000), 200)
	p.View(th, 60, 10)
	p.Do(keymap.ScrollTop)
	p.Wheel(3) // whoever scrolls on the way stays there
	before := p.View(th, 60, 10)
	p.serve()
	if after := p.View(th, 60, 10); before[0] != after[0] {
		t.Errorf("%q was at the top, now %q", before[0], after[0])
	}
}

func TestOlderEventsGoOnWhereTheOldestWereDropped(t *testing.T) {
	th := plainTheme(t)
	l := long(maxItems)
	p := pagedOf(l, maxItems)
	p.View(th, 60, 10)
	p.Append(l.user("one too many"))
	if p.Oldest() == l.events[0].ID {
		t.Fatal("nothing was dropped")
	}
	if p.Oldest() != l.events[len(l.events)-keepItems].ID {
		t.Errorf("the oldest is %s", p.Oldest())
	}
}

func TestTheBytesThatAreHeldAreBounded(t *testing.T) {
	l := &log{}
	tr := New(Config{})
	big := strings.Repeat("x", 1<<20)
	for i := range 3 * maxBytes / (1 << 20) / 2 {
		e := l.user(fmt.Sprint(i, big))
		e.SessionID, e.ClientID = "ses_00000000000000000000000000", protocol.HostClient
		e, err := e.Seal()
		if err != nil {
			t.Fatal(err)
		}
		tr.Append(e)
		if tr.bytes > maxBytes {
			t.Fatalf("%d bytes are held", tr.bytes)
		}
	}
	sum := 0
	for _, it := range tr.items {
		sum += it.size
	}
	if sum != tr.bytes || sum == 0 {
		t.Errorf("%d bytes are counted, %d are held", tr.bytes, sum)
	}
	tr.Cut("")
	if tr.bytes != 0 {
		t.Errorf("%d bytes are counted of nothing", tr.bytes)
	}
}

func TestTextIsFoundWhateverItsCase(t *testing.T) {
	for _, c := range []struct {
		text, query string
		n           int
	}{
		{"aAaA", "aa", 2}, {"The end of THE end", "the", 2}, {"Äpfel äpfel", "äpfel", 2}, {"short", "shorter", 0}, {"xyz", "z", 1},
	} {
		if got := count(c.text, c.query); got != c.n {
			t.Errorf("%q has %q %d times, want %d", c.text, c.query, got, c.n)
		}
	}
}

func TestARewindToWhatIsNotHeldIsNoPlaceBetweenOlderEvents(t *testing.T) {
	th := plainTheme(t)
	l := long(400)
	p := pagedOf(l, 50)
	target := l.events[199].ID
	rewind := l.add(&protocol.Rewind{TargetEventID: &target})
	p.Append(rewind)
	p.log, p.have = l.events[:200], 150
	for _, e := range p.log[p.have:] {
		p.Append(e)
	}
	p.More(true)
	if p.Oldest() != p.log[150].ID {
		t.Fatalf("the oldest is %s", p.Oldest())
	}
	if got := p.screen(th); !strings.Contains(got, "message 199 of") {
		t.Fatalf("the end is\n%s", got)
	}
	p.Do(keymap.ScrollTop)
	p.serve()
	if got := p.Raw(); strings.Contains(got, "Rewound") || strings.Count(got, "message 149 of the session\nwith a second line\n\nmessage 150 of") != 1 {
		t.Errorf("the path is\n%s", got[:2000])
	}
}
