package tui_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"scorel/internal/ui/tui/tuitest"
)

// patience bounds what a test waits for beside the screen.
const patience = 2 * time.Minute

// world is a home, a project and a model that plays a script.
type world struct {
	t       *testing.T
	home    string
	project string
	script  string
	env     []string
	width   int
	height  int
	tmux    []string // settings
}

// newWorld makes a world whose model gives the answers, lines of a script, and else
// "Understood.".
func newWorld(t *testing.T, answers ...string) *world {
	t.Helper()
	t.Parallel()
	top, err := os.MkdirTemp("", "st") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	w := &world{t: t, home: filepath.Join(top, "home"), project: filepath.Join(top, "project"), script: filepath.Join(top, "script"), width: 100, height: 30}
	w.env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", tuitest.Races(t), asScorel}
	answers = append(append([]string{`{"script":1}`}, answers...), `{"if":{"kind":"compact"},"do":[{"text":"The summary of all that."}],"again":true}`, `{"do":[{"text":"Understood."}],"again":true}`)
	w.write(w.script, strings.Join(answers, "\n"))
	w.write(filepath.Join(w.project, "main.go"), "package main\n\nfunc main() {\n\tprintln(\"hi\")\n}\n")
	t.Cleanup(w.stopHost)
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// file reads a file of the project, "" when there is none.
func (w *world) file(name string) string {
	text, err := os.ReadFile(filepath.Join(w.project, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(text)
}

// open starts the UI, and gives it when it can be typed into.
func (w *world) open(args ...string) *terminal {
	w.t.Helper()
	s := w.start(append([]string{"--model", "script:" + w.script}, args...)...)
	s.Wait("the editor", func(screen string) bool { return strings.Contains(screen, "❯") || strings.Contains(screen, "> ") })
	return s
}

func (w *world) start(args ...string) *terminal {
	w.t.Helper()
	return &terminal{tuitest.NewTmux(w.t, tuitest.Options{Width: w.width, Height: w.height, Dir: w.project, Env: w.env, Settings: w.tmux}, self(w.t), args...)}
}

func self(t testing.TB) string {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// hostPID gives the process of the host, 0 when none runs.
func (w *world) hostPID() int {
	text, err := os.ReadFile(filepath.Join(w.home, ".scorel", "host.json"))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(`"pid":\s*(\d+)`).FindStringSubmatch(string(text))
	if found == nil {
		return 0
	}
	n := 0
	for _, c := range found[1] {
		n = n*10 + int(c-'0')
	}
	return n
}

// stopHost ends the host that the UI has started.
func (w *world) stopHost() {
	if pid := w.hostPID(); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		w.until("the end of the host", func() bool {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ") // init may take a second to bury it
		})
	}
}

// until waits for what no screen shows.
func (w *world) until(wanted string, holds func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			w.t.Errorf("waited %v for %s", patience, wanted)
			return
		}
		<-tick.C
	}
}

// terminal is a UI that runs.
type terminal struct{ *tuitest.Tmux }

// say types a line and sends it.
func (s *terminal) say(text string) {
	s.Type(text)
	s.Wait(text+" in the editor", func(screen string) bool { return strings.Contains(flat(screen), flat(text)) })
	s.Keys("Enter")
}

// flat is a text without what breaking lines does to it.
func flat(text string) string {
	return strings.NewReplacer(" ", "", "\n", "").Replace(text)
}

// gone waits until a text is on the screen no more.
func (s *terminal) gone(text string) string {
	return s.Wait("no "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// between is how many looks at the screen there are between two keys of until: a
// question takes keys when none has come for half a second.
const between = 100

// until presses a key now and then until a text is on the screen.
func (s *terminal) until(text, key string) {
	looks := 0
	s.Wait(text+" after "+key, func(screen string) bool {
		if strings.Contains(screen, text) {
			return true
		}
		if looks%between == between-1 {
			s.Keys(key)
		}
		looks++
		return false
	})
}

// shut closes what is open over the editor, and waits until it is.
func (s *terminal) shut(title string) {
	s.Keys("Escape")
	s.gone(title)
}

func itoa(n int) string { return strconv.Itoa(n) }

func readAll(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
