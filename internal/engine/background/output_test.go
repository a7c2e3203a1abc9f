package background

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestOutputKeepsBothEndsOfWhatWasPrinted compares with all that was printed.
func TestOutputKeepsBothEndsOfWhatWasPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o output
		var all []byte
		for range rapid.IntRange(0, 12).Draw(t, "writes") {
			p := make([]byte, rapid.SampledFrom([]int{0, 1, 100, 4095, 32 << 10, 100_000, 300_000}).Draw(t, "size"))
			for i := range p {
				p[i] = byte((len(all) + i) * 31 >> 3)
			}
			o.write(p)
			all = append(all, p...)
		}
		size := int64(len(all))
		from := rapid.Int64Range(0, size).Draw(t, "from")
		to := rapid.Int64Range(from, size).Draw(t, "to")
		got := o.read(from, to)
		if int64(len(got.first)+len(got.second))+got.lost != to-from {
			t.Fatalf("of %d bytes %d + %d are given and %d lost", to-from, len(got.first), len(got.second), got.lost)
		}
		want := all[from:to]
		if !bytes.HasPrefix(want, got.first) || !bytes.HasSuffix(want, got.second) {
			t.Fatalf("what is kept of %d to %d of %d is not what was printed", from, to, size)
		}
		if got.lost > 0 && (from+int64(len(got.first)) < headBytes || to-int64(len(got.second)) > max(size-tailBytes, from+int64(len(got.first))+got.lost)) {
			t.Fatalf("from %d to %d of %d more is lost than must be: %d", from, to, size, got.lost)
		}
		if len(o.head) > headBytes || len(o.ring) > tailBytes {
			t.Fatalf("%d + %d bytes are kept", len(o.head), len(o.ring))
		}
	})
}

func TestTextIsCutInTheMiddleAndSaysSo(t *testing.T) {
	p := part{first: []byte(strings.Repeat("é", 40_000))}
	text := p.text(maxText)
	if n := strings.Count(text, "é"); n != maxText || !strings.Contains(text, "[... 20000 bytes are left out here ...]") {
		t.Errorf("%d characters; %.60q", n, text[maxText:])
	}
	p = part{first: []byte("begin"), lost: 7, second: []byte("end")}
	if got := p.text(maxText); got != "begin\n[... 7 bytes are left out here; 7 of them are not kept ...]\nend" {
		t.Errorf("%q", got)
	}
	if got := (part{first: []byte("a\x00b\xffc")}).text(maxText); got != "a\uFFFDb\uFFFDc" {
		t.Errorf("%q", got)
	}
}

func TestACharacterOrLineThatIsStillPrintedIsNotTorn(t *testing.T) {
	var o output
	o.write([]byte("one\ntw"))
	if o.whole(false) != 6 || o.whole(true) != 4 {
		t.Errorf("whole: %d and %d", o.whole(false), o.whole(true))
	}
	o.write([]byte("\xf0\x9f\x98"))
	if o.whole(false) != 6 {
		t.Errorf("a torn character: %d", o.whole(false))
	}
	o.write([]byte("\x80\n"))
	if o.whole(false) != 11 || o.whole(true) != 11 {
		t.Errorf("whole: %d and %d", o.whole(false), o.whole(true))
	}
	o.write([]byte(strings.Repeat("x", 2*maxLine)))
	if o.whole(true) != o.size {
		t.Error("a line without end holds the reader up for ever")
	}
	o = output{}
	o.write([]byte("no line yet"))
	if o.whole(true) != 0 {
		t.Errorf("a first line that is still printed: %d", o.whole(true))
	}
}

func TestGrepCountsWhatItDoesNotShow(t *testing.T) {
	kept, yes, no := (part{first: []byte("a1\r\nb\na2")}).grep(regexp.MustCompile(`^a\d$`))
	if string(kept.first) != "a1\r\na2" || yes != 2 || no != 1 {
		t.Errorf("%q %d %d", kept.first, yes, no)
	}
}

func TestPagesFollowEachOther(t *testing.T) {
	tk := &task{origin: origin{id: "task_x"}}
	all := strings.Repeat("é0123456789\n", 24_000) // 312,000 bytes
	tk.out.write([]byte(all))
	var got strings.Builder
	at, pages := int64(0), 0
	for ; pages < 20; pages++ {
		r := tk.read(Query{Offset: &at})
		got.WriteString(r.Text)
		if utf8.RuneCountInString(r.Text) > maxText+60 {
			t.Fatalf("a page has %d characters", utf8.RuneCountInString(r.Text))
		}
		if at = r.Next; !r.Cut {
			break
		}
	}
	lost := len(all) - headBytes - tailBytes
	text := got.String()
	if i := strings.Index(text, "[... "); i < 0 || !strings.Contains(text, "bytes are not kept ...]") || lost <= 0 ||
		!strings.HasPrefix(all, text[:i-1]) || !strings.HasSuffix(text, all[len(all)-tailBytes+1:]) {
		t.Errorf("%d pages do not give what is kept", pages+1)
	}
	if tk.cursor != 0 {
		t.Errorf("reading pages moved the place to %d", tk.cursor)
	}
}

func TestTheNewestOutputBeginsWithAWholeLine(t *testing.T) {
	for _, lines := range []int{0, 1, 3, 5000, 60_000} {
		var o output
		var all strings.Builder
		for i := range lines {
			fmt.Fprintf(&all, "line %d\n", i)
		}
		o.write([]byte(all.String()))
		text, omitted := o.newest(1000)
		if len(text) > 1000 || all.String()[omitted:] != string(text) {
			t.Errorf("%d lines: %d bytes after %d of %d", lines, len(text), omitted, all.Len())
		}
		if lines > 0 && !strings.HasPrefix(string(text), "line ") {
			t.Errorf("%d lines begin with %.20q", lines, text)
		}
	}
	var o output
	o.write([]byte(strings.Repeat("x", 300_000)))
	if text, omitted := o.newest(1000); len(text) != 1000 || omitted != 299_000 {
		t.Errorf("one long line: %d bytes after %d", len(text), omitted)
	}
}
