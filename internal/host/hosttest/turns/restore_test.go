package turns_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// writes is a script that changes a.txt in two turns, reading it before each, and makes
// new.txt in the first.
var writes = []string{
	`{"if":{"user":"first"},"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}],"stop":"tool_use"}`,
	`{"do":[{"call":"Edit","id":"c2","input":{"path":"a.txt","edits":[{"old_string":"one","new_string":"two"}]}},{"call":"Write","id":"c3","input":{"path":"new.txt","content":"new"}}],"stop":"tool_use"}`,
	`{"do":[{"text":"done"}]}`,
	`{"if":{"user":"second"},"do":[{"call":"Read","id":"c4","input":{"path":"a.txt"}}],"stop":"tool_use"}`,
	`{"do":[{"call":"Edit","id":"c5","input":{"path":"a.txt","edits":[{"old_string":"two","new_string":"three"}]}}],"stop":"tool_use"}`,
	`{"do":[{"text":"done"}]}`,
}

// writing is a session in which the agent has made the first change, and then, after what
// between does, the second.
func writing(t *testing.T, between func(w *hosttest.World)) (*hosttest.World, *hosttest.Entry) {
	t.Helper()
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "acceptEdits"}}, writes...)
	w.File("a.txt", "one\n")
	w.Chmod("a.txt", 0o644)
	e := w.Begin(false)
	for i, say := range []string{"first", "second"} {
		if i == 1 {
			between(w)
		}
		if end := e.Say(say); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("end: %+v\n%s", end, e.Trace())
		}
	}
	return w, e
}

// skipped returns why a file was left alone, by its name; one without a name is "".
func skipped(m *protocol.Moved) map[string]protocol.SkippedFile {
	out := map[string]protocol.SkippedFile{}
	for _, s := range m.Skipped {
		name := s.Path
		if name != "" {
			name = filepath.Base(name)
		}
		out[name] = s
	}
	return out
}

func TestARewindLeavesAloneWhatAPersonDidBetweenTwoWritesOfTheAgentAndOffersIt(t *testing.T) {
	for name, between := range map[string]func(w *hosttest.World){
		"content":               func(w *hosttest.World) { w.File("a.txt", "two\nand mine\n") },
		"mode":                  func(w *hosttest.World) { w.Chmod("a.txt", 0o600) },
		"removed and made anew": func(w *hosttest.World) { w.File("a.txt", "mine\ntwo\n") },
	} {
		t.Run(name, func(t *testing.T) {
			w, e := writing(t, between)
			left := w.Read("a.txt")
			moved := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{RestoreFiles: true})
			s := skipped(moved)["a.txt"]
			if w.Read("a.txt") != left || !strings.Contains(s.Why, "between two writes of the agent") || !s.Offered || len(moved.Restored) != 0 {
				t.Fatalf("a.txt holds %q, moved: %+v", w.Read("a.txt"), moved)
			}
			if len(moved.Removed) != 1 || filepath.Base(moved.Removed[0]) != "new.txt" {
				t.Errorf("moved: %+v", moved)
			}
			// It is taken back when a person names it, as the answer has offered.
			moved = hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{Files: []string{s.Path}})
			if w.Read("a.txt") != "one\n" || len(moved.Restored) != 1 || len(moved.Skipped) != 0 {
				t.Errorf("a.txt holds %q, moved: %+v", w.Read("a.txt"), moved)
			}
			other := filepath.Join(w.Project, "other")
			moved = hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{Files: []string{other}})
			if s := skipped(moved)["other"]; !strings.Contains(s.Why, "has not written it") {
				t.Errorf("moved: %+v", moved)
			}
		})
	}
}

func TestARewindLeavesAloneWhatAPersonDidSince(t *testing.T) {
	for name, since := range map[string]struct {
		do  func(w *hosttest.World)
		why string
	}{
		"content": {func(w *hosttest.World) { w.File("a.txt", "mine\n") }, "it was changed since"},
		"mode":    {func(w *hosttest.World) { w.Chmod("a.txt", 0o755) }, "its mode was changed since, from 0644 to 0755"},
		"removed": {func(w *hosttest.World) { _ = os.Remove(filepath.Join(w.Project, "a.txt")) }, "it was deleted since"},
	} {
		t.Run(name, func(t *testing.T) {
			w, e := writing(t, func(*hosttest.World) {})
			since.do(w)
			_ = os.Remove(filepath.Join(w.Project, "new.txt")) // what was made and is gone is as before
			moved := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{RestoreFiles: true})
			if s := skipped(moved)["a.txt"]; s.Why != since.why || !s.Offered || len(moved.Restored)+len(moved.Removed) != 0 || len(moved.Skipped) != 1 {
				t.Fatalf("moved: %+v", moved)
			}
			hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{RestoreFiles: true, Files: []string{moved.Skipped[0].Path}})
			info, err := os.Stat(filepath.Join(w.Project, "a.txt"))
			if err != nil || info.Mode().Perm() != 0o644 || w.Read("a.txt") != "one\n" {
				t.Errorf("it holds %q, %v", w.Read("a.txt"), info)
			}
		})
	}
}

func TestARewindWithNothingOfOthersTakesAllBack(t *testing.T) {
	w, e := writing(t, func(*hosttest.World) {})
	moved := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{RestoreFiles: true})
	if w.Read("a.txt") != "one\n" || len(moved.Restored) != 1 || len(moved.Removed) != 1 || len(moved.Skipped) != 0 {
		t.Errorf("a.txt holds %q, moved: %+v", w.Read("a.txt"), moved)
	}
}

func TestARewindThatIsMadeAgainRestoresWhatTheFirstHasNot(t *testing.T) {
	for name, half := range map[string]func(w *hosttest.World){
		"none":            func(*hosttest.World) {},
		"one of two":      func(w *hosttest.World) { w.File("a.txt", "one\n"); w.Chmod("a.txt", 0o644) },
		"the other":       func(w *hosttest.World) { _ = os.Remove(filepath.Join(w.Project, "new.txt")) },
		"one of a person": func(w *hosttest.World) { w.File("a.txt", "mine\n") },
	} {
		t.Run(name, func(t *testing.T) {
			w, e := writing(t, func(*hosttest.World) {})
			hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{}) // as one that was killed before it restored anything
			half(w)
			mine := w.Read("a.txt") == "mine\n"
			moved := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{RestoreFiles: true})
			if s := skipped(moved)["a.txt"]; mine != (s.Why == "it was changed since") || !mine && w.Read("a.txt") != "one\n" || mine && w.Read("a.txt") != "mine\n" {
				t.Errorf("a.txt holds %q, moved: %+v", w.Read("a.txt"), moved)
			}
			if _, err := os.Stat(filepath.Join(w.Project, "new.txt")); err == nil {
				t.Errorf("new.txt is still there, moved: %+v", moved)
			}
			if again := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{RestoreFiles: true}); len(again.Restored)+len(again.Removed) > 0 {
				t.Errorf("once more: %+v", again)
			}
		})
	}
}

func TestARewindNeverWritesADamagedContent(t *testing.T) {
	w, e := writing(t, func(*hosttest.World) {})
	blobs := filepath.Join(w.Home, ".scorel", "blobs")
	files, err := os.ReadDir(blobs)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := 0
	for _, f := range files {
		name := filepath.Join(blobs, f.Name())
		if w.ReadAll(name) == "one\n" {
			w.Write(name, "ono\n")
			spoilt++
		}
	}
	if spoilt != 1 {
		t.Fatalf("%d payloads are spoilt", spoilt)
	}
	moved := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{RestoreFiles: true})
	if s := skipped(moved)["a.txt"]; w.Read("a.txt") != "three\n" || !strings.Contains(s.Why, "nothing was written") || !strings.Contains(s.Why, "damaged") || len(moved.Restored) != 0 {
		t.Errorf("a.txt holds %q, moved: %+v", w.Read("a.txt"), moved)
	}
}

func TestARewindNamesTheFilesOfDamagedSnapshots(t *testing.T) {
	const snapshot, result = `"type":"file_snapshot"`, `"role":"tool_result"`
	for name, c := range map[string]struct {
		lines   map[string][]int // to be damaged
		file    string           // that is left alone; "" is one whose name is lost
		why     string
		offered bool
		removed int
		all     bool // nothing of the lines can be read
	}{
		"the first of a file":      {map[string][]int{snapshot: {1}}, "a.txt", "damaged where its content from before was noted", false, 1, false},
		"the whole line of it":     {map[string][]int{snapshot: {1}}, "a.txt", "damaged where its content from before was noted", false, 1, true},
		"a later one of a file":    {map[string][]int{snapshot: {3}}, "a.txt", "content between two writes of the agent", true, 1, false},
		"the only one of a file":   {map[string][]int{snapshot: {2}}, "new.txt", "damaged where its content from before was noted", false, 0, false},
		"with the result of it":    {map[string][]int{snapshot: {2}, result: {3}}, "new.txt", "nothing that the log still has", false, 0, false},
		"the result of a write":    {map[string][]int{result: {3}}, "new.txt", "not known how the agent left it", true, 0, false},
		"a result before the last": {map[string][]int{result: {2}}, "a.txt", "between two writes of the agent", true, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, e := writing(t, func(*hosttest.World) {})
			for text, list := range c.lines {
				for _, n := range list {
					w.Spoil(e, text, n, c.all)
				}
			}
			left := w.Read("a.txt")
			w.Restart()
			e = w.Open(w.Connect(false), e.ID)
			moved := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{RestoreFiles: true})
			s, ok := skipped(moved)[c.file]
			if !ok || !strings.Contains(s.Why, c.why) || s.Offered != c.offered || len(moved.Removed) != c.removed || len(moved.Skipped) != 1 {
				t.Errorf("moved: %+v", moved)
			}
			if c.file == "a.txt" && (w.Read("a.txt") != left || len(moved.Restored) != 0) {
				t.Errorf("a.txt holds %q, moved: %+v", w.Read("a.txt"), moved)
			}
			if c.file != "a.txt" && (w.Read("a.txt") != "one\n" || !slices.Contains(moved.Restored, filepath.Join(w.Project, "a.txt"))) {
				t.Errorf("a.txt holds %q, moved: %+v", w.Read("a.txt"), moved)
			}
		})
	}
}
