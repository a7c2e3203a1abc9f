package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/ui/tui/keymap"
)

// dragged holds the text from a cell of one row through a cell of another.
func (t *Transcript) dragged(row, column, toRow, toColumn int) string {
	t.Press(row, column)
	t.Drag(toRow, toColumn)
	return t.Release(toRow, toColumn).Copy
}

func TestTextThatIsDraggedOverIsCopiedWithoutItsMarks(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	l.user("first line of it\nsecond line")
	l.user("日本語 wide")
	tr := filled(l)
	tr.View(th, 60, 20)
	for _, c := range []struct {
		row, column, toRow, toColumn int
		copied                       string
	}{
		{0, 2, 0, 6, "first"},
		{0, 6, 0, 2, "first"}, // backwards
		{0, 0, 1, 59, "first line of it\nsecond line"},
		{0, 8, 3, 7, "line of it\nsecond line\n\n日本語"},
		{3, 4, 3, 5, "本"},
		{1, 50, 1, 55, ""},
	} {
		if got := tr.dragged(c.row, c.column, c.toRow, c.toColumn); got != c.copied {
			t.Errorf("from %d,%d to %d,%d: %q, not %q", c.row, c.column, c.toRow, c.toColumn, got, c.copied)
		}
	}
	tr.Press(0, 9)
	tr.Release(0, 9)
	tr.Press(0, 9)
	if got := tr.Release(0, 9).Copy; got != "line" {
		t.Errorf("two clicks copied %q", got)
	}
}

func TestReleaseCountsWhereTheLastStepOfTheDragIsLeftOut(t *testing.T) {
	l := &log{}
	l.user("first line of it\nsecond line")
	tr := filled(l)
	tr.View(plainTheme(t), 60, 20)
	tr.Press(0, 2)
	tr.Drag(0, 4)
	if got := tr.Release(1, 7).Copy; got != "first line of it\nsecond" {
		t.Errorf("copied %q", got)
	}
}

func TestTwoClicksFarApartInTimeSelectNoWord(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	l.user("first line of it")
	now := time.Unix(0, 0)
	tr := New(Config{Now: func() time.Time { return now }})
	tr.Append(l.events[0])
	tr.View(th, 60, 20)
	tr.Press(0, 9)
	tr.Release(0, 9)
	now = now.Add(doubleClick)
	tr.Press(0, 9)
	if got := tr.Release(0, 9).Copy; got != "" {
		t.Errorf("copied %q", got)
	}
}

func TestWhatIsSelectedStaysWhileOlderAndNewerEventsCome(t *testing.T) {
	th := plainTheme(t)
	l := long(30)
	p := pagedOf(l, 20)
	row := slices.IndexFunc(p.View(th, 60, 10), func(l string) bool { return strings.Contains(l, "message") })
	p.Press(row, 2)
	p.Drag(row, 8)
	p.Append(l.user("the newest"))
	before := p.View(th, 60, 10)
	p.Prepend(p.log[:p.have])
	p.More(false)
	if after := p.View(th, 60, 10); !slices.Equal(before, after) {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if got := p.Release(row, 8).Copy; got != "message" {
		t.Errorf("copied %q", got)
	}
	if !p.AtBottom() {
		t.Error("the end that was followed is not any more")
	}
}

func TestTheTopIsOnItsWayBeforeTheFirstView(t *testing.T) {
	p := pagedOf(long(500), 200)
	p.Do(keymap.PageUp)
	p.Do(keymap.ScrollTop)
	for _, when := range []string{"before", "behind"} {
		if p.WantOlder() == 0 {
			t.Errorf("%s the first View, Home asks for nothing", when)
		}
		p.View(plainTheme(t), 90, 10)
	}
}

func TestTheTopSaysWhatIsNotHeld(t *testing.T) {
	th := plainTheme(t)
	l := long(maxItems + 300)
	p := pagedOf(l, 200)
	p.View(th, 90, 10)
	p.Do(keymap.ScrollTop)
	if got := p.View(th, 90, 10); !strings.Contains(got[0], "loading earlier messages") {
		t.Errorf("on the way the top is %q", got[0])
	}
	for n := p.WantOlder(); n > 0; n = p.WantOlder() {
		from := max(0, p.have-n)
		p.Prepend(p.log[from:p.have])
		p.have = from
		p.More(from > 0)
		p.Earlier(from)
	}
	got := p.View(th, 90, 10)
	if p.have == 0 || got[0] != fmt.Sprintf("%d earlier messages are not shown here: /tree shows them all, /export writes them", p.have) || !strings.Contains(got[1], fmt.Sprintf("message %d of", p.have)) {
		t.Errorf("the top is %q, %q; %d are not held", got[0], got[1], p.have)
	}
	before := p.View(th, 90, 10)
	p.Wheel(1)
	if after := p.View(th, 90, 10); after[0] != before[1] {
		t.Errorf("a line down, %q is at the top, not %q", after[0], before[1])
	}
	p.Search("nowhere at all")
	if got := p.View(th, 90, 10); !strings.Contains(got[9], "nothing found in what is shown") {
		t.Errorf("the search says %q", got[9])
	}
}

func TestTheScrollbackBeginsWithWhereEarlierMessagesAre(t *testing.T) {
	th := plainTheme(t)
	l := long(10)
	for _, more := range []bool{true, false} {
		tr := New(Config{Earlier: "further up"})
		for _, e := range l.events {
			tr.Append(e)
		}
		tr.More(more)
		lines := tr.Commit(th, 60)
		if has := lines[0] == "further up" && lines[1] == ""; has != more || slices.Contains(lines[1:], "further up") {
			t.Errorf("older events: %t\n%s", more, strings.Join(lines, "\n"))
		}
	}
}

func TestAPageUpBeforeTheFirstFrameCounts(t *testing.T) {
	th := plainTheme(t)
	tr, other := filled(long(50)), filled(long(50))
	tr.Do(keymap.PageUp)
	other.View(th, 60, 10)
	other.Do(keymap.PageUp)
	if got, want := tr.View(th, 60, 10), other.View(th, 60, 10); !slices.Equal(got, want) {
		t.Errorf("%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAPageUpBeyondWhatIsHeldGoesOnWhenThatComes(t *testing.T) {
	th := plainTheme(t)
	l := long(100)
	p, other := pagedOf(l, 4), filled(l)
	p.View(th, 60, 10)
	other.View(th, 60, 10)
	p.Do(keymap.PageUp)
	other.Do(keymap.PageUp)
	p.serve()
	if got, want := p.View(th, 60, 10), other.View(th, 60, 10); !slices.Equal(got, want) {
		t.Errorf("%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
