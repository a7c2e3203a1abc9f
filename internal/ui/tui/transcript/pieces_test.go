package transcript

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// cutAt returns a text in n pieces that are not empty, or in fewer where it is short.
func cutAt(r *rand.Rand, text string, n int) (pieces []string) {
	at := []int{0, len(text)}
	for range n - 1 {
		at = append(at, r.IntN(len(text)))
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for i := 1; i < len(at); i++ {
		pieces = append(pieces, text[at[i-1]:at[i]])
	}
	return pieces
}

// piece adds a message of an answer, which the output limit has cut unless it is the last.
func (l *log) piece(text string, last bool) protocol.Event {
	m := assistant(protocol.Text(text))
	if !last {
		m.StopReason = protocol.StopMaxTokens
	}
	return l.add(&protocol.MessageBody{Message: m})
}

// answers has one event for each text, and the same in pieces.
func answers(r *rand.Rand, n int) (whole, cut *log) {
	whole, cut = &log{}, &log{}
	for range n {
		text := randomAnswer(r)
		whole.user("do it")
		cut.user("do it")
		whole.answer(protocol.Text(text))
		pieces := cutAt(r, text, 1+r.IntN(4))
		for i, p := range pieces {
			cut.piece(p, i == len(pieces)-1)
		}
	}
	return whole, cut
}

func TestAnAnswerInPiecesIsDrawnAsOne(t *testing.T) {
	th := themed(t, theme.Options{Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor})
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		whole, cut := answers(r, 1+r.IntN(3))
		want := filled(whole)
		wanted := slices.Clone(want.View(th, 70, 4000))

		// As they are read.
		tr := filled(cut)
		tr.Live(&protocol.Live{})
		if got := tr.View(th, 70, 4000); !slices.Equal(got, wanted) {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, visible(got), visible(wanted))
		}
		if got, want := tr.Raw(), want.Raw(); got != want {
			t.Fatalf("seed %d: the text\n%q\nwant\n%q", seed, got, want)
		}
		if got, want := tr.Find("some"), want.Find("some"); got != want {
			t.Fatalf("seed %d: %d places found, want %d", seed, got, want)
		}

		// As older ones come, in two parts.
		tr = New(Config{})
		n := r.IntN(len(cut.events))
		for _, e := range cut.events[n:] {
			tr.Append(e)
		}
		tr.Live(&protocol.Live{})
		tr.View(th, 70, 4000)
		tr.Prepend(cut.events[:n])
		if got := tr.View(th, 70, 4000); !slices.Equal(got, wanted) {
			t.Fatalf("seed %d, older ones after %d:\n%s\nwant\n%s", seed, n, visible(got), visible(wanted))
		}

		// As they come in, on a screen and into the scrollback.
		inline := &run{t: t, r: r, tr: New(Config{}), th: th, width: func() int { return 70 }, live: protocol.Live{Running: true}}
		for i, e := range cut.events {
			if b := e.Body.(*protocol.MessageBody); b.Message.Role == protocol.RoleAssistant {
				text := b.Message.PlainText()
				if r.IntN(4) == 0 && i > 0 { // tried again before anything of it was given
					inline.live.Messages = []protocol.LiveMessage{{EventID: "evt_lost", Role: protocol.RoleAssistant, Blocks: []protocol.LiveBlock{{Type: protocol.BlockText, Text: []byte("zz")}}}}
					inline.tr.Live(&inline.live)
					inline.live.Messages = nil
					inline.tr.Live(&inline.live)
				}
				inline.stream(e.ID, text, r.IntN(len(text)+1))
			}
			inline.tr.Append(e)
			inline.live.Messages = nil
			inline.tr.Live(&inline.live)
			inline.look()
		}
		inline.live.Running = false
		inline.tr.Live(&inline.live)
		inline.look()
		if lines := filled(whole).Commit(th, 70); !slices.Equal(inline.given, lines) {
			t.Fatalf("seed %d: given\n%s\nwant\n%s", seed, visible(inline.given), visible(lines))
		}
		if got := inline.tr.View(th, 70, 4000); !slices.Equal(got, wanted) {
			t.Fatalf("seed %d, as it came in:\n%s\nwant\n%s", seed, visible(got), visible(wanted))
		}
	}
}

func TestPiecesOfAnAnswerGoWithThePathAndTheirBeginning(t *testing.T) {
	th := plainTheme(t)
	l := &log{}
	l.user("go")
	first := l.piece("```go\nfirst", false)
	second := l.piece(" line\n", false)
	l.piece("third\n```\nThe end.", true)
	tr := filled(l)
	tr.Live(&protocol.Live{})
	screen := func() string { return plain(strings.Join(tr.View(th, 60, 20), "\n")) }
	if got := screen(); !strings.Contains(got, "first line") || !strings.Contains(got, "  The end.") {
		t.Errorf("%s", got)
	}
	if got := tr.Text(second.ID); got != " line\n" {
		t.Errorf("the text of the second message is %q", got)
	}
	tr.Cut(second.ID)
	tr.Live(&protocol.Live{})
	if got := screen(); !strings.Contains(got, "first line") || strings.Contains(got, "third") {
		t.Errorf("after a rewind to the second piece:\n%s", got)
	}
	tr.Append(l.user("and now"))
	tr.Append(l.answer(protocol.Text("Something else.")))
	if got := screen(); strings.Index(got, "Something else.") < strings.Index(got, "and now") {
		t.Errorf("what comes after a message of the person is another answer:\n%s", got)
	}
	tr.Cut(first.ID)
	tr.Live(&protocol.Live{})
	if got := screen(); strings.Contains(got, "line") {
		t.Errorf("after a rewind to the first:\n%s", got)
	}
	if given := plain(strings.Join(tr.Commit(th, 60), "\n")); !strings.Contains(given, "first") {
		t.Errorf("an answer that nothing continues any more is held back: %q", given)
	}
}

func TestAPieceWhoseBeginningIsHeldNoLongerStandsForItself(t *testing.T) {
	l := &log{}
	l.piece("The beginning, ", false)
	l.piece("the middle", false)
	tr := filled(l)
	head := tr.items[0]
	tr.promote(head)
	tr.items = tr.items[1:]
	tr.Append(l.piece(" and the end.", true))
	tr.Live(&protocol.Live{})
	if got := tr.Raw(); got != "the middle and the end." {
		t.Errorf("%q", got)
	}
}
