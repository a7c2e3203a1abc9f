package screen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a terminal that notes what is written and when.
type recorder struct {
	mu    sync.Mutex
	all   []byte
	times []time.Time
	gate  chan struct{} // a value lets a write go on; nil lets all
	fails error
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.gate != nil {
		<-r.gate
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails != nil {
		return 0, r.fails
	}
	r.all = append(r.all, p...)
	r.times = append(r.times, time.Now())
	return len(p), nil
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.all)
}

func start(t *testing.T, w io.Writer, o Options) *Screen {
	t.Helper()
	s, err := New(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestALoneFrameIsDrawnAtOnceAndTheNextAnIntervalLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		s := start(t, r, Options{})
		time.Sleep(time.Second)
		begin := time.Now()
		for i := range 50 {
			s.Show(Frame{Lines: []string{fmt.Sprint("frame ", i)}})
			synctest.Wait()
		}
		time.Sleep(Interval)
		synctest.Wait()
		if len(r.times) != 2 || r.times[0] != begin || r.times[1].Sub(begin) != Interval {
			t.Errorf("written at %v after %v", r.times, begin)
		}
		if !strings.Contains(r.text(), "frame 0") || !strings.Contains(r.text(), "\x1b[7G49") {
			t.Errorf("%q", r.text())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAFrameThatWaitsIsDrawnInTheModeThatItWasMadeFor: one of the whole screen would push out
// what stands on the terminal, and leave nothing above the region.
func TestAFrameThatWaitsIsDrawnInTheModeThatItWasMadeFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		s := start(t, r, Options{Width: 40, Height: 10, Full: true})
		s.Show(Frame{Lines: []string{"first of the whole screen"}})
		synctest.Wait()
		s.Show(Frame{Lines: []string{"second of the whole screen"}})
		s.SetFull(false)
		time.Sleep(time.Second)
		if strings.Contains(r.text(), altOff) || !strings.Contains(r.text(), "second") {
			t.Errorf("%q", r.text())
		}
		s.Show(Frame{Lines: []string{"inline"}})
		synctest.Wait()
		if !strings.Contains(r.text(), altOff) {
			t.Errorf("%q", r.text())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAFrameThatChangesNothingDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		s := start(t, r, Options{})
		s.Show(Frame{Lines: []string{"one"}})
		time.Sleep(time.Second)
		synctest.Wait()
		r.times = nil
		s.Show(Frame{Lines: []string{"one"}})
		synctest.Wait()
		if begin := time.Now(); !s.Free() {
			t.Error("a frame that writes nothing is waited for")
		} else if s.Show(Frame{Lines: []string{"two"}}); true {
			synctest.Wait()
			if len(r.times) != 1 || r.times[0] != begin {
				t.Errorf("written at %v, shown at %v", r.times, begin)
			}
		}
		_ = s.Close()
	})
}

func TestWhoWaitsIsToldWhenAFrameWouldBeDrawnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		s := start(t, r, Options{})
		if !s.Free() {
			t.Fatal("a screen that draws nothing is not free")
		}
		s.Show(Frame{Lines: []string{"one"}})
		synctest.Wait()
		begin := time.Now()
		if s.Free() {
			t.Fatal("free within the interval")
		}
		<-s.Ready()
		if time.Since(begin) != Interval || !s.Free() {
			t.Errorf("told after %v", time.Since(begin))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case <-s.Ready():
			t.Error("told although nobody asked")
		default:
		}
		_ = s.Close()
		if _, ok := <-s.Ready(); ok {
			t.Error("Ready is open after the end")
		}
	})
}

func TestASlowTerminalHoldsUpNobodyAndGetsEveryFinishedLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{gate: make(chan struct{})}
		s := start(t, r, Options{Height: 10})
		var want []string
		for i := range 1000 {
			l := fmt.Sprintf("line %d.", i)
			want = append(want, l)
			s.Show(Frame{Commit: []string{l}, Lines: []string{fmt.Sprintf("region %d.", i)}})
			synctest.Wait()
		}
		if s.Free() {
			t.Error("free while the terminal takes nothing")
		}
		close(r.gate)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		var got []string
		for _, part := range strings.Split(r.text(), "line ")[1:] {
			n, _, _ := strings.Cut(part, ".")
			got = append(got, "line "+n+".")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d lines, want %d", len(got), len(want))
		}
		if n := strings.Count(r.text(), "region"); n > 3 {
			t.Errorf("%d frames were drawn", n)
		}
	})
}

func TestFinishedLinesThatWaitAreBounded(t *testing.T) {
	var b backlog
	big := strings.Repeat("x", 1<<20-1)
	for range 40 {
		b.add([]string{big}, 0)
	}
	lines, left := b.take()
	if len(lines) != maxWaiting>>20 || left != 40-len(lines) {
		t.Errorf("%d lines wait, %d are left out", len(lines), left)
	}
	b.add([]string{"a", "b"}, 0)
	b.add([]string{"c"}, 5) // five lines and before them a and b were given, and the five are gone
	if lines, left = b.take(); !slices.Equal(lines, []string{"c"}) || left != 7 {
		t.Errorf("%v and %d left out", lines, left)
	}
	g := newGlass(80, 10, Options{})
	g.p.work(work{frame: Frame{Lines: []string{"❯"}}, commit: []string{"c"}, left: 7, has: true, width: 80, height: 10})
	if got := g.plain(); got != "… 7 lines are left out here: the terminal did not take them in time\nc\n❯" {
		t.Error(got)
	}
}

func TestAddingDoesNotWriteIntoTheSlicesOfTheCaller(t *testing.T) {
	var b backlog
	mine := make([]string, 1, 4)
	mine[0] = "a"
	b.add(mine, 0)
	b.add([]string{"b"}, 0)
	if mine = mine[:2]; mine[1] != "" {
		t.Errorf("%q", mine)
	}
}

func TestAPausedScreenIsAsBeforeAndComesBack(t *testing.T) {
	for _, full := range []bool{false, true} {
		g := newGlass(40, 10, Options{})
		s := start(t, g, Options{Width: 40, Height: 10, Full: full})
		s.Show(Frame{Commit: []string{"said"}, Lines: []string{"❯ text", "status"}})
		s.Pause()
		if g.term.IsAltScreen() {
			t.Error("paused on the alternate screen")
		}
		if got := strings.TrimSpace(g.plain()); got != "said" {
			t.Errorf("full %t: while it is paused:\n%s", full, got)
		}
		wrote := len(g.out.String())
		s.Show(Frame{Lines: []string{"❯ text and more", "status"}})
		_, _ = io.WriteString(g, "another program\r\n")
		if len(g.out.String()) != wrote+len("another program\r\n") {
			t.Errorf("written while it is paused: %q", g.out.String()[wrote:])
		}
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		got, want := g.plain(), "said\nanother program\n❯ text and more\nstatus"
		if full {
			want = "said\nanother program"
		}
		if got != want {
			t.Errorf("full %t: after it:\n%s\nwant:\n%s", full, got, want)
		}
	}
}

func TestATerminalIsRestoredFromOutsideWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{gate: make(chan struct{}, 1)}
		s := start(t, r, Options{Full: true})
		r.gate <- struct{}{}
		s.Show(Frame{Lines: []string{"one"}})
		synctest.Wait()
		time.Sleep(Interval)
		s.Show(Frame{Lines: []string{"two"}}) // the writer hangs in it
		synctest.Wait()
		var out bytes.Buffer
		s.Restore(&out)
		for _, want := range []string{altOff, showCursor, pasteOff, wrapOn, keysOff, otherOff, mouseOff, focusOff, syncEnd} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in %q", want, out.String())
			}
		}
		n := out.Len()
		s.Restore(&out)
		if out.Len() != n {
			t.Error("restored twice")
		}
		close(r.gate)
		before := len(r.text())
		s.Show(Frame{Lines: []string{"three"}})
		_ = s.Close()
		if after := r.text()[before:]; strings.Contains(after, "three") {
			t.Errorf("%q is written after it was restored", after)
		}
	})
}

func TestARestoredInlineTerminalGoesOnBelowTheRegion(t *testing.T) {
	g := newGlass(40, 10, Options{})
	g.show(Frame{Commit: []string{"said"}, Lines: []string{"a", "b", "c"}, Cursor: &Cursor{Row: 0, Column: 1}})
	g.p.s.Restore(g)
	_, _ = io.WriteString(g, "$")
	if got := g.plain(); got != "said\na\nb\nc\n$" {
		t.Error(got)
	}
}

func TestATerminalThatIsGoneIsTold(t *testing.T) {
	r := &recorder{fails: errors.New("input/output error")}
	s := start(t, r, Options{})
	s.Show(Frame{Lines: []string{"one"}})
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "write to the terminal: input/output error") {
		t.Errorf("the error is %v", err)
	}
}

func TestNothingIsAskedBeforeTheFirstFrame(t *testing.T) {
	r := &recorder{}
	s := start(t, r, Options{Queries: Queries})
	s.Write("\a")
	s.Show(Frame{Lines: []string{"first frame"}})
	s.Write("")
	s.Show(Frame{Lines: []string{"second frame"}})
	_ = s.Close()
	text := r.text()
	if strings.Count(text, Queries) != 1 || strings.Index(text, Queries) < strings.Index(text, "first frame") {
		t.Errorf("%q", text)
	}
	if strings.Count(text, "\a") != 1+strings.Count(Queries, "\a") {
		t.Errorf("the bell is not in %q", text)
	}
}

func TestNothingIsAskedOfATerminalThatIsGivenAway(t *testing.T) {
	frame := Frame{Lines: []string{"the only frame"}}
	for name, k := range map[string]work{
		"closed": {frame: frame, has: true, last: true, width: 80, height: 24},
		"paused": {frame: frame, has: true, width: 80, height: 24, asks: []ask{{pause: true, do: func(p *painter) { p.release(true) }}}},
	} {
		r := &recorder{}
		newPainter(&Screen{out: r, options: Options{Queries: Queries, Width: 80, Height: 24}}).work(k)
		if text := r.text(); !strings.Contains(text, "the only frame") || strings.Contains(text, Queries) {
			t.Errorf("%s: %q", name, text)
		}
	}
}
