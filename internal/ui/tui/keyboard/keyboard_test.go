package keyboard

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// feed returns what a keyboard hands on of input that comes in pieces: what each of them
// made whole, with pastes in angle brackets.
func feed(pieces ...string) (handed []string) {
	k := New(nil)
	note := func() {
		if len(k.ready) == 0 {
			return
		}
		text := string(k.ready)
		k.ready = nil
		for n := k.number; n > 0; n-- {
			if mark := pasteBegins + strconv.Itoa(n) + pasteEnds; strings.Contains(text, mark) {
				text = strings.ReplaceAll(text, mark, "<"+k.Pasted(strconv.Itoa(n))+">")
			}
		}
		handed = append(handed, text)
	}
	for _, in := range pieces {
		k.take([]byte(in))
		note()
	}
	k.giveUp()
	note()
	return handed
}

// split takes a text apart.
func split(text string) (all []string) {
	for i := range len(text) {
		all = append(all, text[i:i+1])
	}
	return all
}

func TestNoKeyIsHandedOnInPieces(t *testing.T) {
	whole := []string{"a", "é", "世", "🎉", "\x1b[D", "\x1b[1;5C", "\x1bOP", "\x1b[[A", "\x1bx", "\x1bé", "\x1b]11;rgb:1e1e/1e1e/1e1e\x07",
		"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1bP>|tmux\x1b\\", "\x1b[?62;22c", "\x1b[97;5u", "\x1b[<0;10;20M", "\r", "\x03", "\xff", "z"}
	if handed := feed(split(strings.Join(whole, ""))...); !slices.Equal(handed, whole) {
		t.Errorf("%q came as %q", whole, handed)
	}
	if handed := feed(strings.Join(whole, "")); len(handed) != 1 || handed[0] != strings.Join(whole, "") {
		t.Errorf("all at once came as %q", handed)
	}
}

func TestWhatDoesNotGoOnIsHandedOnAsItIs(t *testing.T) {
	for _, text := range []string{"\x1b", "\x1b[", "\x1b[12", "\x1bO", "\xe4\xb8", "\x1b]0;title", "\x1b\x1b", "\x1b[1\rx", "\x1b]0;a\x1b[A", strings.Repeat("\x1b[", 3*maxWhole), "\x1b]" + strings.Repeat("9", 3*maxWhole)} {
		if got := strings.Join(feed(split(text)...), ""); got != text {
			t.Errorf("%.20q became %.40q", text, got)
		}
	}
}

func TestAPasteComesAsItWasInItsPlaceAmongTheKeys(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[200~one\r\ntwo\tthree\x1b[201~b":                          "a<one\r\ntwo\tthree>b",
		"\x1b[200~\x1b[31mred\x1b[m \x1b]0;T\x07\x00\x1b[200~\x1b[201~x": "<\x1b[31mred\x1b[m \x1b]0;T\x07\x00\x1b[200~>x",
		"\x1b[200~a\xffé\x1b[201~\x1b[200~\x1b[201~":                     "<aé><>",
		"\x1b[200~its end does not come\x1b[20":                          "<its end does not come\x1b[20>",
		"\x1b[200~one\x1b[201~two\x1b[201~":                              "<one>two\x1b[201~",
	} {
		for _, pieces := range [][]string{{in}, split(in)} {
			if got := strings.Join(feed(pieces...), ""); got != want {
				t.Errorf("%q became %q, want %q", in, got, want)
			}
		}
	}
}

func TestPastesAreBounded(t *testing.T) {
	k := New(nil)
	k.take([]byte(pasteBegins))
	for range 10 * MaxPaste / (1 << 20) {
		k.take(make([]byte, 1<<20))
	}
	k.take([]byte(pasteEnds))
	if n := len(k.Pasted("1")); n != MaxPaste {
		t.Errorf("%d bytes are kept", n)
	}
	for range 10 * maxPastes {
		k.take([]byte(pasteBegins + "x" + pasteEnds))
	}
	if len(k.pastes) > maxPastes {
		t.Errorf("%d pastes are kept", len(k.pastes))
	}
	if last := strconv.Itoa(k.number); k.Pasted(last) != "x" || k.Pasted(last) != "" || k.Pasted("none") != "" {
		t.Error("the newest paste is not given, or given twice")
	}
}

func TestAKeyboardReadsUntilItsTerminalEnds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k := New(r)
	p := make([]byte, 4096)
	for _, in := range [][]string{{"a\xe4", "\xb8\x96"}, {"\x1b[B\x1b"}, {"\x03", "\x1b", "[", "D"}} { // what is held back is not seen to be there
		for _, piece := range in {
			if _, err := w.WriteString(piece); err != nil {
				t.Fatal(err)
			}
		}
		want := strings.Join(in, "")
		if n, err := k.Read(p); err != nil || string(p[:n]) != want {
			t.Errorf("%q came as %q (%v)", want, p[:n], err)
		}
	}
	flood := strings.Repeat("世\x1b[D", 10*maxRead)
	go func() { // ends with the flood
		_, _ = w.WriteString(flood)
	}()
	for rest := flood; rest != ""; {
		n, err := k.Read(p)
		if err != nil || n == 0 || !strings.HasPrefix(rest, string(p[:n])) || len(k.ready) > 0 {
			t.Fatalf("%q (%v), and %d bytes are kept back", p[:n], err, len(k.ready))
		}
		rest = rest[n:]
	}
	if _, err := w.WriteString("\x1b["); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if n, err := k.Read(p); err == nil || string(p[:n]) != "\x1b[" {
		t.Errorf("%q %v", p[:n], err)
	}
}

func FuzzNothingIsLostOrMadeUp(f *testing.F) {
	f.Add("a\x1b[D\x1b[200~x\x1b[201~\xff", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = max(1, size%7)
		var pieces []string
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			pieces = append(pieces, rest[:min(size, len(rest))])
		}
		whole, parts := strings.Join(feed(text), ""), strings.Join(feed(pieces...), "")
		if whole != parts {
			t.Errorf("%q is %q at once and %q in pieces of %d", text, whole, parts, size)
		}
		if !strings.Contains(text, pasteBegins) && whole != text {
			t.Errorf("%q became %q", text, whole)
		}
	})
}

func TestSettleDropsWhatComesUntilTheLastAnswerAndNothingBehindIt(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	k := New(r)
	if _, err := w.WriteString("x\x1b]11;rgb:0/0/0\x1b\\\x1b[?2026;2$y\x1b[?62;22cls\n"); err != nil {
		t.Fatal(err)
	}
	k.Settle(time.Now().Add(time.Hour))
	select {
	case <-k.Answered():
	default:
		t.Error("the answer was not seen")
	}
	buf := make([]byte, 4096)
	if n, err := k.Read(buf); err != nil || string(buf[:n]) != "ls\n" {
		t.Errorf("%q, %v is left", buf[:n], err)
	}
	k.Settle(time.Now().Add(time.Hour)) // has nothing to wait for
}

func TestSettleEndsWithTheDeadlineAndWithTheInput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k := New(r)
	k.Settle(time.Now().Add(10 * time.Millisecond))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	k.Settle(time.Now().Add(time.Hour))
}

func TestTheAnswerIsSeenAmongKeysAndInPieces(t *testing.T) {
	k := New(nil)
	for _, in := range split("ab\x1b[?1;2u\x1b[cc\x1b[?62;4") {
		k.take([]byte(in))
	}
	select {
	case <-k.Answered():
		t.Error("it is seen before it is whole")
	default:
	}
	k.take([]byte("c"))
	k.take([]byte("\x1b[?62c")) // and once more
	<-k.Answered()
}
