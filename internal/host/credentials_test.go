package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

const entered = "sk-entered-secret-0123456789"

// hasKey says whether list_models knows a key for a model.
func hasKey(t *testing.T, c *client.Client, ref string) bool {
	t.Helper()
	for _, m := range call[*protocol.ModelList](t, c, "", &protocol.ListModels{Query: ref}).Models {
		if m.Ref == ref {
			return m.HasKey
		}
	}
	t.Fatalf("there is no model %s", ref)
	return false
}

func TestAKeyThatWasEnteredIsUsedUntilItIsForgotten(t *testing.T) {
	w := newWorld(t, setting{key: entered}, `{"again":true,"do":[{"text":"well"}]}`)
	w.config.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home}
	w.restart()
	c := w.connect(false)
	const claude = "anthropic/claude-sonnet-4-5"
	if hasKey(t, c, claude) {
		t.Fatal("there is a key before one was entered")
	}
	call[*protocol.Done](t, c, "", &protocol.SetCredential{Provider: "anthropic", Key: entered})
	call[*protocol.Done](t, c, "", &protocol.SetCredential{Provider: "mock", Key: entered})
	if !hasKey(t, c, claude) {
		t.Error("the key is not known")
	}
	// The server of the alias takes this key and no other.
	e := w.begin(false)
	e.say("hi")
	w.judged()
	if len(w.server.Requests()) != 1 {
		t.Errorf("%d requests", len(w.server.Requests()))
	}
	w.finds("entered", "credentials", "ok", "2 entered", "")
	w.finds("entered", "keys", "ok", "usable: anthropic, mock", "")
	call[*protocol.Done](t, c, "", &protocol.SetCredential{Provider: "anthropic"})
	if hasKey(t, c, claude) {
		t.Error("the key is known after it was forgotten")
	}
}

func TestAVariableWinsOverAKeyThatWasEntered(t *testing.T) {
	w := newWorld(t, setting{key: "of-the-variable"}, `{"again":true,"do":[{"text":"well"}]}`)
	call[*protocol.Done](t, w.connect(false), "", &protocol.SetCredential{Provider: "mock", Key: entered})
	e := w.begin(false)
	e.say("hi")
	w.judged()
}

func TestAKeyIsInNoAnswerErrorEventOrFileButItsOwn(t *testing.T) {
	w := newWorld(t, setting{key: "another"}, `{"again":true,"do":[{"text":"well"}]}`)
	w.config.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home}
	w.restart()
	c := w.connect(false)
	var told []string
	tell := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, string(data))
	}
	for _, r := range []*protocol.SetCredential{
		{Provider: "antropic", Key: entered}, {Provider: "anthropic", Key: entered + " x"}, {Provider: "anthropic", Key: entered + "\n"},
		{Provider: "anthropic", Key: entered + strings.Repeat("x", 5000)},
	} {
		tell(refused(t, c, "", r, protocol.CodeInvalidRequest))
	}
	tell(call[*protocol.Done](t, c, "", &protocol.SetCredential{Provider: "mock", Key: entered}))
	tell(call[*protocol.ModelList](t, c, "", &protocol.ListModels{Query: "mock"}))
	tell(call[*protocol.ConfigReport](t, c, "", &protocol.GetConfig{WorkDir: w.project}))
	tell(call[*protocol.DoctorReport](t, c, "", &protocol.Doctor{WorkDir: w.project}))
	tested := call[*protocol.ModelTest](t, c, "", &protocol.TestModel{Model: "mock"}) // the server wants another key
	if tested.Problem == "" {
		t.Error("a wrong key was taken")
	}
	tell(tested)
	e := w.begin(false)
	call[*protocol.Sent](t, e.c, e.id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("hi")}})
	e.until(func(ev protocol.Event) bool { return ev.Type == protocol.TypeRuntimeEnd })
	for _, ev := range e.events {
		tell(ev)
	}
	told = append(told, strings.Join(w.reports.list, "\n"))
	name := filepath.Join(w.home, ".scorel", "credentials.json")
	w.write(name, `{"version":1,"keys":{"mock":"`+entered)
	tell(refused(t, c, "", &protocol.SetCredential{Provider: "anthropic", Key: "k"}, protocol.CodeStorageError))
	w.finds("damaged", "credentials", "fail", name, "only keys from variables count")
	tell(call[*protocol.DoctorReport](t, c, "", &protocol.Doctor{WorkDir: w.project}))
	tell(call[*protocol.ModelTest](t, c, "", &protocol.TestModel{Model: "anthropic/claude-sonnet-4-5"}))
	if !strings.Contains(told[len(told)-1], "is damaged") {
		t.Errorf("a model without its key does not say why: %s", told[len(told)-1])
	}
	for _, text := range told {
		if strings.Contains(text, "sk-entered") {
			t.Errorf("the key is told: %s", text)
		}
	}
	err := filepath.WalkDir(w.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == name {
			return err
		}
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "sk-entered") {
			t.Errorf("the key stands in %s (%v)", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestACommandGetsNoKeyThatWasEntered(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","input":{"command":"env; echo command ran"}}]}`, `{"again":true,"do":[{"text":"well"}]}`)
	call[*protocol.Done](t, w.connect(false), "", &protocol.SetCredential{Provider: "anthropic", Key: entered})
	e := w.begin(false)
	e.say("look")
	data, err := json.Marshal(e.events)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(data); strings.Contains(text, "sk-entered") || !strings.Contains(text, "command ran\\n") {
		t.Errorf("a command got the key, or none ran: %.2000s", text)
	}
}

func TestOpenKeysAreFoundByTheDoctor(t *testing.T) {
	w := newWorld(t, setting{})
	w.finds("none", "credentials", "ok", "none entered", "")
	call[*protocol.Done](t, w.connect(false), "", &protocol.SetCredential{Provider: "anthropic", Key: entered})
	name := filepath.Join(w.home, ".scorel", "credentials.json")
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	w.finds("open", "credentials", "fail", "can be read by others (mode 0644)", "chmod 600")
}
