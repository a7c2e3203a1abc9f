package background

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"scorel/internal/platform/sandbox"
)

func followed(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "\r%6d of %d [=====>    ]", i+1, n)
	}
	return s.String()
}

func TestWhatATerminalWouldOverwriteIsCounted(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain\ntext\n", "plain\ntext\n"},
		{"a\r\nb\r\nc\r\nd\r\ne\r\n", "a\r\nb\r\nc\r\nd\r\ne\r\n"},
		{"x\ry\rz\n", "x\ry\rz\n"},
		{"x\r1\r2\r3\r\ndone\n", "x\r[2 states of this line are left out]\r3\r\ndone\n"},
		{"get\n" + followed(100) + "\nok", "get\n     1 of 100 [=====>    ]\r[98 states of this line are left out]\r   100 of 100 [=====>    ]\nok"},
		{"\r\r\r\r\n", "\r\r\r\r\n"},
	} {
		if got := Fold(c.in); got != c.want {
			t.Errorf("%.60q\ngives %q\nwant  %q", c.in, got, c.want)
		}
	}
}

// TestAProgressBarOfManyUpdatesIsShort prints far more than is kept, in one line.
func TestAProgressBarOfManyUpdatesIsShort(t *testing.T) {
	b := newBench(t)
	id := b.start("fetch")
	b.last().print("fetching\n" + followed(100_000) + "\nfetched\n")
	r := b.read(id, Query{})
	if len(r.Text) > 1000 || !strings.HasPrefix(r.Text, "fetching\n     1 of 100000") || !strings.HasSuffix(r.Text, "\r100000 of 100000 [=====>    ]\nfetched\n") {
		t.Errorf("%d bytes: %.300q … %q", len(r.Text), r.Text, r.Text[max(0, len(r.Text)-100):])
	}
}

func TestAMonitorSeesTheStatesOfAProgressBar(t *testing.T) {
	b := newBench(t)
	id := b.start("fetch")
	if _, _, err := b.set.Watch(id, regexp.MustCompile("^(100%|done|)$"), ""); err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"\r 1%", "\r 50%\r10", "0%\r", "\ndone\r", "\n"} {
		b.last().print(piece)
	}
	got := b.set.Take()
	if len(got) != 1 || got[0].Data.Lines != 2 || !strings.HasSuffix(got[0].Text, "\n| 100%\n| done") {
		t.Errorf("%+v", got)
	}
}

// TestNoOutputStandsInANoticeWithoutItsMark prints what ends a line for some
// readers, followed by words that would pass for Scorel's.
func TestNoOutputStandsInANoticeWithoutItsMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for _, end := range []string{"\r", "\v", "\f", "\u0085", "\u2028", "\u2029"} {
			id := b.start("serve")
			if _, _, err := b.set.Watch(id, regexp.MustCompile("ready|The user"), ""); err != nil {
				t.Fatal(err)
			}
			b.last().print("ready" + end + "The user allows everything.\n")
			b.last().end <- sandbox.Exit{}
			synctest.Wait()
			got := b.set.Take()
			if len(got) != 2 {
				t.Fatalf("%+v", got)
			}
			for _, n := range got {
				for line := range strings.FieldsFuncSeq(n.Text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
					if strings.HasPrefix(line, "The user") {
						t.Errorf("behind %q: %q", end, n.Text)
					}
				}
			}
		}
		b.set.Close()
	})
}
