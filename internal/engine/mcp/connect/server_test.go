package connect

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

func target(t *testing.T, kind string) Target {
	return Target{Name: "test", Command: os.Args[0], Env: append(os.Environ(), asServer+"="+kind, "GIVEN=yes"), Dir: t.TempDir()}
}

func open(t *testing.T, kind string, o Options) *Server {
	t.Helper()
	s, err := Open(t.Context(), target(t, kind), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func text(t *testing.T, a *Answer, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range a.Parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "|")
}

func TestToolsAreListedAndCalled(t *testing.T) {
	s := open(t, "good", Options{Version: "1", Root: "/a b"})
	if got := s.Title() + "; " + s.Instructions(); got != "good 1.2; Be kind.[31m" {
		t.Errorf("it says of itself: %q", got)
	}
	tools, faults, err := s.Tools(t.Context())
	if err != nil || len(faults) > 0 || len(tools) != 5 {
		t.Fatalf("%v, %q, %v", tools, faults, err)
	}
	echo := tools[0]
	if echo.Name != "mcp__test__echo" || !echo.ReadOnly || echo.Destructive || echo.Description != "says it again" {
		t.Errorf("%+v", echo)
	}
	if err := echo.Check(json.RawMessage(`{"text":7}`)); err == nil || !strings.Contains(err.Error(), "/properties/text") {
		t.Errorf("a wrong input: %v", err)
	}
	a, err := s.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(`{"text":"hi"}`)})
	if got := text(t, a, err); got != "hi" || a.IsError {
		t.Errorf("%q", got)
	}
	a, err = s.Call(t.Context(), Call{Tool: "fail"})
	if got := text(t, a, err); got != "no such row" || !a.IsError {
		t.Errorf("%q", got)
	}
	a, err = s.Call(t.Context(), Call{Tool: "where"})
	if got := text(t, a, err); got != "yes 2026-07-28" {
		t.Errorf("%q", got)
	}
	if _, err := s.Call(t.Context(), Call{Tool: "nothing"}); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a tool that there is not: %v", err)
	}
}

func TestACallIsFollowedAndMayTakeLongWhileItTells(t *testing.T) {
	t.Parallel()
	s := open(t, "good", Options{CallTime: 4 * time.Second}) // the call takes 5
	var told []float64
	a, err := s.Call(t.Context(), Call{Tool: "steps", Tell: func(p Progress) { told = append(told, p.Done) }})
	if got := text(t, a, err); got != "all steps" || len(told) < 3 || !slices.Equal(told, []float64{1, 2, 3, 4, 5}[:len(told)]) { // the last may be overtaken by the answer
		t.Errorf("%q after %v", got, told)
	}
}

func TestACancelledCallReturnsAtOnceAndTheServerKnows(t *testing.T) {
	s := open(t, "good", Options{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends when the call runs, or the test gives up
		defer cancel()
		logged(s, "it waits")
	}()
	if _, err := s.Call(ctx, Call{Tool: "wait"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if !logged(s, "cancelled") {
		t.Fatalf("the server does not know of it: %q", s.Log())
	}
	a, err := s.Call(t.Context(), Call{Tool: "echo", Input: json.RawMessage(`{"text":"after"}`)})
	if got := text(t, a, err); got != "after" {
		t.Errorf("%q", got)
	}
}

// logged waits until a server has written a text to stderr, and reports that it has.
func logged(s *Server, text string) bool {
	for late := time.Now().Add(patience); !strings.Contains(s.Log(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			return false
		}
	}
	return true
}

func TestACallThatTellsNothingIsGivenUp(t *testing.T) {
	s := open(t, "good", Options{CallTime: 200 * time.Millisecond})
	_, err := s.Call(t.Context(), Call{Tool: "wait"})
	if !errors.Is(err, ErrUnknownEffect) || !strings.Contains(err.Error(), "told nothing for 200ms") {
		t.Errorf("%v", err)
	}
}

func TestManyChangesOfTheListAreToldOnce(t *testing.T) {
	changed := make(chan struct{}, 100)
	to := target(t, "changing")
	s, err := Open(t.Context(), to, Options{ToolsChanged: func() { changed <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, _, err := s.Tools(t.Context()); err != nil { // changes count that come after it, also before the server tells of them
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to.Dir, "change"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(patience); ; {
		select {
		case <-changed:
		case <-time.After(time.Until(late)):
			t.Fatal("nothing is told")
		}
		if tools, _, err := s.Tools(t.Context()); err != nil || len(tools) == 25 {
			if err != nil {
				t.Error(err)
			}
			break
		}
	}
	if n := len(changed); n > 3 {
		t.Errorf("20 changes were told %d times more", n)
	}
}

func TestAListThatChangedBeforeTheServerTellsOfChangesIsReadAgain(t *testing.T) {
	changed := make(chan struct{}, 100)
	to := target(t, "changing early")
	s, err := Open(t.Context(), to, Options{ToolsChanged: func() { changed <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	say := func(name string) {
		if err := os.WriteFile(filepath.Join(to.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known := func() int {
		tools, _, err := s.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(tools)
	}
	before := known()
	say("change")
	for known() < before+20 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // the library waits 10 ms, and finds nobody to tell
	say("listen")
	select {
	case <-changed:
	case <-time.After(patience):
		t.Fatal("nothing is told")
	}
}

func TestAServerThatMisbehavesIsLeftWithASentence(t *testing.T) {
	for _, test := range []struct{ kind, open, list, call string }{
		{kind: "hang:server/discover"}, // an older one, which knows no such question
		{kind: "exit:server/discover"},
		{kind: "junk:"},
		{kind: "hang:initialize", open: `^it has not answered within 8s$`},
		{kind: "exit:initialize", open: `^its process ended with status 7 before it answered; the last that it wrote to stderr is "I leave at initialize"$`},
		{kind: "error:initialize", open: `^it answers with an error: the disk\[31m is full$`},
		{kind: "bye:initialize", open: `^it answers with an error: no$`},
		{kind: "future:initialize", open: `^it speaks the version "2099-01-01" of the protocol, which Scorel does not know; the last that it wrote to stderr is "I start"$`},
		{kind: "half:initialize", open: `^its process ended with status 0 before it answered; it wrote a line to stdout that is not a message: ".*jsonrpc.*resu"$`},
		{kind: "missing", open: `^its process ended with status 3 .*"the variable DB_DSN is not set"$`},
		{kind: "deaf", open: `^it has not answered within 8s; .*"I do not read"$`},
		{kind: "exit:tools/list", list: `^the connection has ended \(.*\); whether`},
		{kind: "error:tools/list", list: `^it answers with an error: the disk\[31m is full$`},
		{kind: "large:tools/list", list: `the connection has ended`},
		{kind: "flood:tools/list"},
		{kind: "cycle:"},
		{kind: "endless:"},
		{kind: "exit:tools/call", call: `^the connection has ended \(.*\); whether the call took effect is not known`},
		{kind: "half:tools/call", call: `^the connection has ended \(.*\); whether the call took effect is not known`},
		{kind: "hang:tools/call", call: `^it has told nothing for 1s; whether`},
		{kind: "error:tools/call", call: `^it answers with an error: the disk\[31m is full$`},
	} {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			limits := Options{ConnectTime: patience, CallTime: patience}
			switch test.kind {
			case "hang:initialize", "deaf":
				limits.ConnectTime = 8 * time.Second
			case "hang:tools/call":
				limits.CallTime = time.Second
			}
			s, err := Open(t.Context(), target(t, test.kind), limits)
			if !said(t, "open", err, test.open) {
				return
			}
			defer s.Close()
			tools, faults, err := s.Tools(t.Context())
			if !said(t, "list", err, test.list) {
				return
			}
			if len(tools) == 0 {
				t.Error("it has no tools")
			}
			if endless := strings.HasPrefix(test.kind, "cycle") || strings.HasPrefix(test.kind, "endless"); endless != (len(faults) == 1) {
				t.Errorf("faults of the list: %q", faults)
			}
			if strings.HasPrefix(test.kind, "junk") && !strings.Contains(s.Nonsense(), `"Server listening on port 3000[2J"`) {
				t.Errorf("the lines that are not messages: %s", s.Nonsense())
			}
			a, err := s.Call(t.Context(), Call{Tool: "tool"})
			if said(t, "call", err, test.call) && text(t, a, err) != "called" {
				t.Errorf("%+v", a)
			}
		})
	}
}

// said reports whether there was no error, as it should be.
func said(t *testing.T, what string, err error, pattern string) bool {
	t.Helper()
	switch {
	case err == nil && pattern != "":
		t.Errorf("%s: no error, want %s", what, pattern)
	case err != nil && (pattern == "" || !regexp.MustCompile(pattern).MatchString(err.Error())):
		t.Errorf("%s: %v\nwant %s", what, err, pattern)
	}
	return err == nil && pattern == ""
}

func TestAProgramThatThereIsNotIsNamed(t *testing.T) {
	_, err := Open(t.Context(), Target{Name: "x", Command: "no-such-program-anywhere", Dir: t.TempDir()}, Options{})
	if err == nil || err.Error() != "it does not start: no-such-program-anywhere is not on PATH, leaving out folders in which commands write; install it, or correct PATH" {
		t.Errorf("%v", err)
	}
}

func TestNothingOfAServerIsLeftAfterItsEnd(t *testing.T) {
	for _, kind := range []string{"stubborn", "forking"} {
		t.Run(kind, func(t *testing.T) {
			s := open(t, kind, Options{})
			pid := s.process.child.PID()
			var child int
			if kind == "forking" {
				for late := time.Now().Add(patience); child == 0 && time.Now().Before(late); time.Sleep(5 * time.Millisecond) {
					_, after, _ := strings.Cut(s.Log(), "child ")
					child, _ = strconv.Atoi(strings.TrimSpace(after))
				}
			}
			s.Close()
			for _, p := range []int{pid, child} {
				if p != 0 && syscall.Kill(p, 0) == nil && !zombie(p) {
					t.Errorf("process %d is left", p)
				}
			}
		})
	}
}

// zombie reports whether a process has ended and is waited for by another one.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestTheEndOfAServerIsNoticed(t *testing.T) {
	s := open(t, "exit:tools/call", Options{})
	if _, err := s.Call(t.Context(), Call{Tool: "tool"}); !errors.Is(err, ErrUnknownEffect) {
		t.Errorf("%v", err)
	}
	select {
	case <-s.Done():
	case <-time.After(patience):
		t.Fatal("the end is not noticed")
	}
}
