package registry_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// injector panics once, in whatever the host calls (its clock, its random source, its
// disk, its diagnostics), when a function is on the stack: so a panic can be put into any
// goroutine without the product knowing of it.
type injector struct {
	disk.FS
	rand  io.Reader
	where atomic.Pointer[[]string] // all must be on the stack; nil: nothing panics
	fired chan struct{}
}

func (i *injector) arm(where ...string) {
	i.fired = make(chan struct{})
	i.where.Store(&where)
}

func (i *injector) maybe() {
	where := i.where.Load()
	if where == nil {
		return
	}
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	found := map[string]bool{}
	for {
		f, more := frames.Next()
		for _, w := range *where {
			if strings.Contains(f.Function, w) {
				found[w] = true
			}
		}
		if !more {
			break
		}
	}
	if len(found) == len(*where) && i.where.CompareAndSwap(where, nil) {
		close(i.fired)
		panic("injected")
	}
}

func (i *injector) now() time.Time { i.maybe(); return time.Now() }

func (i *injector) Read(p []byte) (int, error) { i.maybe(); return i.rand.Read(p) }

func (i *injector) Stat(name string) (os.FileInfo, error) { i.maybe(); return i.FS.Stat(name) }

func (i *injector) ReadDir(name string) ([]os.DirEntry, error) { i.maybe(); return i.FS.ReadDir(name) }

func (i *injector) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	i.maybe()
	f, err := i.FS.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return &injectedFile{f, i}, nil
}

type injectedFile struct {
	disk.File
	i *injector
}

func (f *injectedFile) WriteAt(p []byte, off int64) (int, error) {
	f.i.maybe()
	return f.File.WriteAt(p, off)
}

func (f *injectedFile) Sync() error { f.i.maybe(); return f.File.Sync() }

// faulty makes a world whose host panics where it is told to.
func faulty(t *testing.T, s hosttest.Setting, lines ...string) (*hosttest.World, *injector) {
	t.Helper()
	w := hosttest.New(t, s, lines...)
	i := &injector{FS: disk.OS()}
	i.rand = w.Config.Rand
	w.Config.FS, w.Config.Rand, w.Config.Now = i, i, i.now
	report := w.Config.Report
	w.Config.Report = func(what string, detail []byte) { i.maybe(); report(what, detail) }
	w.Config.Exit = func(code int) { t.Errorf("the process ends with %d", code) }
	w.Restart()
	return w, i
}

// TestAPanicInAGoroutineOfASessionEndsThatSessionAlone injects a panic into each kind of
// goroutine of a session: it is given up, its client is told and opens it again, and what
// was stored is there; another session goes on as if nothing had been.
func TestAPanicInAGoroutineOfASessionEndsThatSessionAlone(t *testing.T) {
	run := func(command string) string {
		return `{"do":[{"call":"Bash","id":"c1","input":{"command":"` + command + `"}}]}`
	}
	back := `{"do":[{"call":"Bash","id":"c1","input":{"command":"sleep 0.1","run_in_background":true}}]}`
	done := `{"again":true,"do":[{"text":"done"}]}`
	send := func(e *hosttest.Entry) error {
		_, err := try(e, &protocol.SendMessage{Content: hosttest.Text("go")})
		return err
	}
	for name, test := range map[string]struct {
		lines []string
		where []string
		do    func(e *hosttest.Entry) error
	}{
		"a request under the lane's lock":      {[]string{done}, []string{"lane.(*sending).start", "journal.(*Journal).Append"}, send},
		"a command that is about to begin":     {[]string{done}, []string{"shell.(*Shells).begin"}, func(e *hosttest.Entry) error { _, err := try(e, &protocol.RunShell{Command: "true"}); return err }},
		"the turn, under both locks":           {[]string{done}, []string{"lane.(*Lane).bridge", "publish.(*Publisher).Put"}, send},
		"the turn, in the runtime":             {[]string{done}, []string{"runtime.(*loop)", "lane.(*Lane).runTurn"}, send},
		"a call of a tool":                     {[]string{run("true"), done}, []string{"runtime.(*loop).runGroup.func"}, send},
		"the writer, in a commit":              {[]string{done}, []string{"publish.(*Publisher).write", "session.(*Log)"}, send},
		"the writer, behind a commit":          {[]string{done}, []string{"publish.(*Publisher).deliver"}, send},
		"a command of a person":                {[]string{done}, []string{"shell.(*Shells).message"}, func(e *hosttest.Entry) error { _, err := try(e, &protocol.RunShell{Command: "true"}); return err }},
		"a background command":                 {[]string{back, done}, []string{"background.(*Set).Start.func"}, send},
		"the output of a command":              {[]string{done}, []string{"sandbox.(*process).start.func"}, func(e *hosttest.Entry) error { _, err := try(e, &protocol.RunShell{Command: "echo hi"}); return err }},
		"the recorder of what operations tell": {[]string{back, done}, []string{"progress.(*Recorder).Flush"}, send},
		"a subscription": {[]string{done}, []string{"host.(*subscription).feed"}, func(e *hosttest.Entry) error {
			again := e.W.Connect(false)
			_, err := again.Open(context.Background(), e.ID, 5)
			return err
		}},
		"the opening of the session, for who comes next": {[]string{done}, []string{"registry.(*Registry).open", "lane.New"}, func(e *hosttest.Entry) error {
			if err := e.S.Close(context.Background()); err != nil {
				return err
			}
			_, err := try(e, &protocol.SetMode{Mode: "plan"})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w, i := faulty(t, hosttest.Setting{Overrides: host.Overrides{Mode: "acceptEdits", Allow: []string{"Bash"}}}, test.lines...)
			other := w.Begin(false)
			e := w.Begin(false)
			i.arm(test.where...)
			err := test.do(e)
			select {
			case <-i.fired:
			case <-time.After(hosttest.Patience):
				t.Fatal("nothing of it was reached")
			}
			if err != nil && protocol.AsError(err).Code != protocol.CodeInternalError {
				t.Errorf("the request ends with %v", err)
			}
			for late := time.Now().Add(hosttest.Patience); !strings.Contains(diagnostics(t, w, e.ID), "injected") && time.Now().Before(late); {
				runtime.Gosched() // it is told where somebody waits for the goroutine
			}
			name := "later"
			for late := time.Now().Add(hosttest.Patience); ; { // the session is being given up: it comes again
				c := w.Connect(false)
				s, err := c.Open(context.Background(), e.ID, 100)
				if err == nil {
					_, err = try(&hosttest.Entry{W: w, C: c, S: s, ID: e.ID}, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
				}
				_ = c.Close()
				if err == nil {
					break
				}
				if pe := protocol.AsError(err); pe.Code != protocol.CodeInternalError || time.Now().After(late) {
					t.Fatalf("it cannot be opened again: %v", err)
				}
			}
			if _, err := try(other, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}}); err != nil {
				t.Errorf("another session: %v", err)
			}
			w.Log(e.ID) // every line is whole
			// What came first above may have been the session before it was given up.
			for late := time.Now().Add(hosttest.Patience); !strings.Contains(diagnostics(t, w, e.ID), "injected"); time.Sleep(time.Millisecond) {
				if time.Now().After(late) {
					t.Fatalf("its diagnostics say nothing of it:\n%s", diagnostics(t, w, e.ID))
				}
			}
			if err := w.Host.Close(); err != nil {
				t.Error(err)
			}
			// Nobody writes there any more, at the latest when the commands of the session that
			// was given up have ended: closing waits for them for a bounded time.
			err = os.RemoveAll(w.Home)
			for late := time.Now().Add(hosttest.Patience); err != nil && time.Now().Before(late); time.Sleep(time.Millisecond) {
				err = os.RemoveAll(w.Home)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAPanicWhileDeletedSessionsAreCleanedUpEndsThatAlone(t *testing.T) {
	w, i := faulty(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"done"}]}`)
	i.arm("session.(*Store).SweepDeleted")
	w.Restart()
	<-i.fired
	w.Begin(false).Say("go")
	w.Restart() // it has been told by then
	w.Reports.Mu.Lock()
	defer w.Reports.Mu.Unlock()
	if all := strings.Join(w.Reports.List, "\n"); !strings.Contains(all, "injected") {
		t.Errorf("the panic is not told:\n%s", all)
	}
}

// TestAPanicWhileWhatAllShareIsLockedEndsTheProcess injects one under the lock of the
// host: what was stored has left before, and the process ends with 70.
func TestAPanicWhileWhatAllShareIsLockedEndsTheProcess(t *testing.T) {
	if os.Getenv("FAULT_HOME") == "" { // in a process of its own, which ends
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "FAULT_HOME="+dir, "TMPDIR="+dir)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 70 || !strings.Contains(string(out), "a fault inside Scorel ended the host: injected") {
			t.Fatalf("it ends with %v:\n%s", err, out)
		}
		data, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil || !strings.Contains(string(data), "the answer") {
			t.Errorf("what was told is not stored: %v\n%s", err, data)
		}
		return
	}
	w, i := faulty(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"the answer"}]}`)
	w.Config.Exit = nil
	w.Restart()
	e := w.Begin(false)
	e.Say("one")
	data, err := os.ReadFile(filepath.Join(w.Home, ".scorel", "sessions", string(e.ID)+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("FAULT_HOME"), "log"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	i.arm("registry.(*Registry).used") // the clock, asked with the lock held
	_ = e.S.Close(context.Background())
	<-i.fired
	select {} // the process ends
}

func diagnostics(t *testing.T, w *hosttest.World, id protocol.SessionID) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Home, ".scorel", "sessions", string(id)+".log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	w.Reports.Mu.Lock()
	defer w.Reports.Mu.Unlock()
	return string(data) + strings.Join(w.Reports.List, "\n")
}

func try(e *hosttest.Entry, r protocol.Request) (protocol.Response, error) {
	return client.Call[protocol.Response](context.Background(), e.C, e.ID, r)
}
