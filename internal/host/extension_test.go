package host_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

// example copies an extension of the examples to where the user's are.
func (w *world) example(name string) {
	w.t.Helper()
	from := filepath.Join("..", "..", "examples", "extensions", name)
	if err := os.CopyFS(filepath.Join(w.home, ".scorel", "extensions", name), os.DirFS(from)); err != nil {
		w.t.Fatal(err)
	}
}

// needs says which program of the machine a test cannot do without.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("this test runs an example in %s, which is not on PATH: %v", program, err)
	}
}

func TestExtensionInPythonGivesATool(t *testing.T) {
	needs(t, "python3")
	w := newWorld(t, setting{},
		`{"do":[{"call":"count_words","id":"c1","input":{"text":"one two Two"}}],"stop":"tool_use"}`,
		`{"if":{"result":"3 words, 2 different"},"do":[{"text":"Three."}]}`)
	w.example("python-words")
	e := w.begin(false)
	if end := e.say("count"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	m := e.messages()
	if got := m[len(m)-1].PlainText(); got != "Three." {
		t.Errorf("answer: %q\n%s", got, e.trace())
	}
	for _, msg := range m {
		if msg.Role == protocol.RoleToolResult && string(msg.Details) != `{"words":3}` {
			t.Errorf("details: %s", msg.Details)
		}
	}
	if strings.Contains(string(w.server.Requests()[1].Body), `"words":3`) {
		t.Error("the model was sent the details")
	}
	w.judged()
}

func TestHookOfAnExtensionBlocksACall(t *testing.T) {
	needs(t, "python3")
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}, tables: "[extensions.python-words]\nforbidden = [\"push\"]\n"},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"git push"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Commands with push are not run here"},"do":[{"text":"Not pushed."}]}`)
	w.example("python-words")
	e := w.begin(false)
	if end := e.say("push"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	m := e.messages()
	if got := m[len(m)-1].PlainText(); got != "Not pushed." {
		t.Errorf("answer: %q\n%s", got, e.trace())
	}
}

func TestExtensionInShellIsAskedForAsItsKindSays(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"note"}}},
		`{"do":[{"call":"note","id":"c1","input":{"text":"a \"quoted\" word\nand a line"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Noted."},"do":[{"text":"Done."}]}`)
	w.example("shell-note")
	e := w.begin(false)
	if end := e.say("note it"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	var note struct{ Text string }
	if err := json.Unmarshal([]byte(w.read("notes.jsonl")), &note); err != nil || note.Text != "a \"quoted\" word\nand a line" {
		t.Errorf("%q, %v", note.Text, err)
	}

	w = newWorld(t, setting{},
		`{"do":[{"call":"note","id":"c1","input":{"text":"x"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Nobody can be asked"},"do":[{"text":"Not noted."}]}`)
	w.example("shell-note")
	e = w.begin(false)
	e.say("note it")
	if _, err := os.Stat(filepath.Join(w.project, "notes.jsonl")); err == nil {
		t.Error("the tool ran without permission")
	}
}

func TestOpeningASessionStartsNoExtension(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"text":"hello"}]}`)
	w.example("shell-note")
	e := w.begin(false)
	list, err := client.Call[*protocol.ExtensionList](t.Context(), e.c, e.id, &protocol.ListExtensions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Extensions) != 1 || list.Extensions[0].State != protocol.ExtensionFound || list.Extensions[0].ID != "shell-note" {
		t.Errorf("%+v", list)
	}
	if _, err := os.Stat(filepath.Join(w.home, ".scorel", "run", string(e.id))); err == nil {
		t.Error("a process was started")
	}
}
