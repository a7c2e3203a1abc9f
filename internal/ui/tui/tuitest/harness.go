package tuitest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// Program is scorel as a test runs it: the host that the UI starts is the same program,
// with the same environment.
type Program struct {
	Path string
	Env  []string // besides HOME, PATH and LANG
}

// Harness is a home, a project and a model that plays a script, in which a test runs
// scorel. Its fields may be changed before a program is started. It belongs to one test.
type Harness struct {
	Home, Project string
	Script        string // the file that the model plays
	Env           []string
	Width, Height int      // of terminals
	Settings      []string // lines for tmux.conf

	t       testing.TB
	program string
}

// New makes a harness whose model has the answers, lines of a script, and else
// "Understood.". A host that is started in it ends with the test.
func New(t testing.TB, p Program, answers ...string) *Harness {
	t.Helper()
	top, err := os.MkdirTemp("", "st") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	h := &Harness{t: t, program: p.Path, Home: filepath.Join(top, "home"), Project: filepath.Join(top, "project"), Script: filepath.Join(top, "script"), Width: 100, Height: 30}
	h.Env = append([]string{"HOME=" + h.Home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", Races(t)}, p.Env...)
	answers = append(append([]string{`{"script":1}`}, answers...), `{"if":{"kind":"compact"},"do":[{"text":"The summary of all that."}],"again":true}`, `{"do":[{"text":"Understood."}],"again":true}`)
	h.Write(h.Script, strings.Join(answers, "\n"))
	h.Write(filepath.Join(h.Project, "main.go"), "package main\n\nfunc main() {\n\tprintln(\"hi\")\n}\n")
	t.Cleanup(h.StopHost)
	return h
}

// Write writes a file, with its folders.
func (h *Harness) Write(name, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// WriteUser writes a file of the user's Scorel folder.
func (h *Harness) WriteUser(name, text string) { h.Write(filepath.Join(h.Home, ".scorel", name), text) }

// Read reads a file.
func (h *Harness) Read(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// File reads a file of the project, "" when there is none.
func (h *Harness) File(name string) string {
	text, err := os.ReadFile(filepath.Join(h.Project, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
	return string(text)
}

// Open starts the UI with the model that plays the script, and returns it when it can be
// typed into.
func (h *Harness) Open(args ...string) *UI {
	h.t.Helper()
	s := h.Start(append([]string{"--model", "script:" + h.Script}, args...)...)
	s.Wait("the editor", func(screen string) bool { return strings.Contains(screen, "❯") || strings.Contains(screen, "> ") })
	return s
}

// Start starts scorel in the project.
func (h *Harness) Start(args ...string) *UI {
	h.t.Helper()
	return h.Run(h.Project, h.program, args...)
}

// Run starts a program in a folder.
func (h *Harness) Run(dir, program string, args ...string) *UI {
	h.t.Helper()
	return &UI{NewTmux(h.t, Options{Width: h.Width, Height: h.Height, Dir: dir, Env: slices.Clip(h.Env), Settings: h.Settings}, program, args...)}
}

// Shell starts a shell that has $SCOREL and the model $SCRIPT.
func (h *Harness) Shell() *UI {
	h.t.Helper()
	with := *h
	with.Env = append(slices.Clip(h.Env), "PS1=$ ", "SCOREL="+h.program, "SCRIPT=script:"+h.Script)
	s := with.Run(h.Project, "/bin/sh", "-i")
	s.WaitFor("$")
	return s
}

// Program is the path of scorel.
func (h *Harness) Program() string { return h.program }

// HostPID returns the process of the host, 0 when none runs.
func (h *Harness) HostPID() int {
	text, err := os.ReadFile(filepath.Join(h.Home, ".scorel", "host.json"))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(`"pid":\s*(\d+)`).FindStringSubmatch(string(text))
	if found == nil {
		return 0
	}
	pid, err := strconv.Atoi(found[1])
	if err != nil {
		h.t.Fatal(err)
	}
	return pid
}

// StopHost ends the host that the UI has started.
func (h *Harness) StopHost() {
	if pid := h.HostPID(); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		h.Until("the end of the host", func() bool {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ") // init may take a second to bury it
		})
	}
}

// Until waits for what no screen shows.
func (h *Harness) Until(wanted string, holds func() bool) {
	h.t.Helper()
	deadline := time.Now().Add(Timeout)
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			h.t.Errorf("waited %v for %s", Timeout, wanted)
			return
		}
		<-tick.C
	}
}

// Store writes a session of the project into the home, before a host runs there: the
// messages in turn of a person and of a model.
func (h *Harness) Store(meta protocol.Meta, messages ...string) protocol.SessionID {
	h.t.Helper()
	const project = "prj_0000000000000001"
	h.WriteUser("projects.json", fmt.Sprintf(`{"version":1,"projects":[{"projectId":%q,"root":%q}]}`, project, h.Project))
	store, err := session.OpenStore(session.Config{Dir: filepath.Join(h.Home, ".scorel")})
	if err != nil {
		h.t.Fatal(err)
	}
	meta.ProjectID, meta.WorkDir = project, h.Project
	now := time.Now()
	id := protocol.NewSessionID(now, rand.Reader)
	log, err := store.Create(h.t.Context(), protocol.Header{SessionID: id, DeviceID: protocol.DeviceIDOf([]byte("test")), CreatedAt: now.UnixMilli(), Meta: meta})
	if err != nil {
		h.t.Fatal(err)
	}
	for batch := range slices.Chunk(stored(id, meta.Model, now, messages), 2000) {
		if err := log.Commit(h.t.Context(), batch); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		h.t.Fatal(err)
	}
	return id
}

// stored makes the events of messages.
func stored(id protocol.SessionID, model string, now time.Time, messages []string) []protocol.Event {
	var leaf protocol.EventID
	var all []protocol.Event
	for i, text := range messages {
		m := protocol.UserText(text)
		if i%2 == 1 {
			m = protocol.Message{Role: protocol.RoleAssistant, Provider: "script", Model: model, StopReason: protocol.StopEndTurn, Content: []protocol.Block{protocol.Text(text)}}
		}
		e := protocol.NewEvent(&protocol.MessageBody{Message: m})
		e.ID, e.ParentID, e.Seq = protocol.NewEventID(rand.Reader), leaf, protocol.Seq(i+1)
		e.SessionID, e.ClientID, e.TS = id, protocol.HostClient, now.UnixMilli()+int64(i)
		leaf = e.ID
		all = append(all, e)
	}
	return all
}
