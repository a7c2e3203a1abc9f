package partial

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"scorel/internal/dev/harness"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session = protocol.SessionID("ses_06h0al72cvqv7dkloge9f5q4j7")
	event   = protocol.EventID("evt_53lf2cmkhq8osf8c")
)

// desk is a folder with what was reported.
type desk struct {
	t   *testing.T
	dir string

	mu      sync.Mutex
	reports []string
}

func newDesk(t *testing.T) *desk { return &desk{t: t, dir: filepath.Join(t.TempDir(), "pending")} }

func (d *desk) report(s string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reports = append(d.reports, s)
}

func (d *desk) said() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.reports...)
}

func (d *desk) step(fsys disk.FS) *Step { return NewStep(fsys, d.dir, session, NewReports(d.report)) }

// until waits for something.
func (d *desk) until(what string, is func() bool) {
	d.t.Helper()
	harness.Until(d.t, what, is)
}

// loaded is what another host reads.
func (d *desk) loaded() (Answer, bool) {
	d.t.Helper()
	a, found, err := d.step(disk.OS()).Load()
	if err != nil && !errors.Is(err, ErrDamaged) { // its first line is on its way
		d.t.Fatal(err)
	}
	return a, found
}

func answer() Answer {
	return Answer{SessionID: session, EventID: event, ParentID: event, Provider: "p", Model: "m"}
}

func TestTheTextsOfAnAnswerAreReadBackByBlocks(t *testing.T) {
	d := newDesk(t)
	s := d.step(disk.OS())
	s.Begin(answer())
	for i := range 100 {
		s.Add(0, "one <é> ")
		s.Add(2, fmt.Sprint(i))
	}
	s.Add(1, " \n")
	d.until("all of it is on disk", func() bool { a, _ := d.loaded(); return len(a.Texts) == 2 && strings.HasSuffix(a.Texts[1], "99") })
	s.Leave()
	s.Add(0, "never")
	a, found := d.loaded()
	if !found || a.EventID != event || a.Provider != "p" || a.Texts[0] != strings.Repeat("one <é> ", 100) || a.Cut {
		t.Errorf("%+v", a)
	}
	if info, err := os.Stat(StepName(d.dir, session)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	d.step(disk.OS()).Drop()
	if _, found := d.loaded(); found || len(d.said()) > 0 {
		t.Errorf("it is there yet; %q", d.said())
	}
}

func TestWhatWasHalfWrittenIsLeftOut(t *testing.T) {
	d := newDesk(t)
	s := d.step(disk.OS())
	s.Begin(answer())
	s.Add(0, "first ")
	d.until("it is on disk", func() bool { a, _ := d.loaded(); return len(a.Texts) == 1 })
	s.Add(0, "second")
	d.until("all of it is on disk", func() bool { a, _ := d.loaded(); return a.Texts[0] == "first second" })
	s.Leave()
	name := StepName(d.dir, session)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(name, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		a, found, err := d.step(disk.OS()).Load()
		lines := strings.Count(string(whole[:n]), "\n")
		want := []string{"", "", "first "}[lines]
		if errors.Is(err, ErrDamaged) != (want == "") || !found || (a.EventID != "") != (lines > 0) || strings.Join(a.Texts, "") != want {
			t.Fatalf("of %d bytes: %+v %v %v", n, a, found, err)
		}
	}
	if err := os.WriteFile(name, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found, err := d.step(disk.OS()).Load(); !found || err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v %v", found, err)
	}
}

func TestAnAnswerThatEndsSoonTouchesNoDisk(t *testing.T) {
	d := newDesk(t)
	faulty := &disktest.Faulty{FS: disk.OS(), Err: errors.New("touched")}
	s := d.step(faulty)
	s.Begin(answer())
	s.Add(0, "short")
	s.End()
	s.Begin(answer())
	s.End()
	if n := faulty.Calls(); n > 0 {
		t.Errorf("%d calls", n)
	}
}

func TestADiskThatFailsIsReportedOnceAndStopsNothing(t *testing.T) {
	for n := 1; n <= 3; n++ {
		d := newDesk(t)
		if err := os.MkdirAll(d.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		s := d.step(&disktest.Faulty{FS: disk.OS(), N: n, Sticky: true, Err: errors.New("the disk is gone")})
		s.Begin(answer())
		d.until("it is reported", func() bool { s.Add(0, strings.Repeat("x", writeFull)); return len(d.said()) > 0 })
		for range 100 {
			s.Add(0, "more")
		}
		s.End()
		if said := d.said(); len(said) != 1 || !strings.Contains(said[0], "the disk is gone") {
			t.Errorf("fault %d: %q", n, said)
		}
	}
}

func TestTheFileOfAnOutputIsBoundedAndHasTheNewest(t *testing.T) {
	d := newDesk(t)
	c := Command{SessionID: session, EventID: event, TaskID: "task_a", CallID: "c", Command: "yes"}
	o := NewOutput(disk.OS(), d.dir, c, NewReports(d.report))
	name := outputName(d.dir, session, "task_a")
	piece := []byte(strings.Repeat("0123456789abcde\n", 1<<12)) // 64 KiB
	largest := int64(0)
	for i := range 40 {
		_, _ = o.Write(piece)
		_, _ = fmt.Fprintf(o, "mark %d\n", i)
		d.until("it is on disk", func() bool {
			data, err := os.ReadFile(name)
			if info, serr := os.Stat(name); serr == nil {
				largest = max(largest, info.Size())
			}
			return err == nil && strings.HasSuffix(string(data), fmt.Sprintf("mark %d\n", i))
		})
	}
	o.Leave()
	if largest > MaxOutput+KeptOutput {
		t.Errorf("the file had %d bytes", largest)
	}
	lost := Lose(disk.OS(), d.dir, session, NewReports(d.report))
	if len(lost) != 1 || lost[0].Command != c || lost[0].File != name || !strings.HasSuffix(string(lost[0].Last), "mark 39\n") || len(lost[0].Last) > KeptOutput {
		t.Fatalf("%d, %+v", len(lost), lost[0].Command)
	}
	if err := Remove(disk.OS(), d.dir, session); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) || len(d.said()) > 0 {
		t.Errorf("%v %q", err, d.said())
	}
}

// unlisted is a disk on which no folder can be listed.
type unlisted struct{ disk.FS }

func (unlisted) ReadDir(name string) ([]fs.DirEntry, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
}

func TestAFolderThatCannotBeListedIsNotTakenForAnEmptyOne(t *testing.T) {
	d := newDesk(t)
	if lost := Lose(disk.OS(), d.dir, session, NewReports(d.report)); len(lost) > 0 || len(d.reports) > 0 {
		t.Errorf("without a folder: %v %q", lost, d.reports)
	}
	if err := Remove(disk.OS(), d.dir, session); err != nil {
		t.Errorf("without a folder: %v", err)
	}
	Lose(unlisted{disk.OS()}, d.dir, session, NewReports(d.report))
	if len(d.reports) != 1 || !strings.Contains(d.reports[0], syscall.EMFILE.Error()) {
		t.Errorf("reported: %q", d.reports)
	}
	if err := Remove(unlisted{disk.OS()}, d.dir, session); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("a session is deleted, and what is kept of it: %v", err)
	}
}
