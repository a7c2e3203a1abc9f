package admin_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const entered = "sk-entered-secret-0123456789"

// hasKey reports whether list_models knows a key for a model.
func hasKey(t *testing.T, c *client.Client, ref string) bool {
	t.Helper()
	for _, m := range hosttest.Call[*protocol.ModelList](t, c, "", &protocol.ListModels{Query: ref}).Models {
		if m.Ref == ref {
			return m.HasKey
		}
	}
	t.Fatalf("there is no model %s", ref)
	return false
}

func TestAKeyThatWasEnteredIsUsedUntilItIsForgotten(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Key: entered}, `{"again":true,"do":[{"text":"well"}]}`)
	w.Config.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.Home}
	w.Restart()
	c := w.Connect(false)
	const claude = "anthropic/claude-sonnet-4-5"
	if hasKey(t, c, claude) {
		t.Fatal("there is a key before one was entered")
	}
	hosttest.Call[*protocol.Done](t, c, "", &protocol.SetCredential{Provider: "anthropic", Key: entered})
	hosttest.Call[*protocol.Done](t, c, "", &protocol.SetCredential{Provider: "mock", Key: entered})
	if !hasKey(t, c, claude) {
		t.Error("the key is not known")
	}
	// The server of the alias takes this key and no other.
	e := w.Begin(false)
	e.Say("hi")
	w.Judged()
	if len(w.Server.Requests()) != 1 {
		t.Errorf("%d requests", len(w.Server.Requests()))
	}
	w.Finds("entered", "credentials", "ok", "2 entered", "")
	w.Finds("entered", "keys", "ok", "usable: anthropic, mock", "")
	hosttest.Call[*protocol.Done](t, c, "", &protocol.SetCredential{Provider: "anthropic"})
	if hasKey(t, c, claude) {
		t.Error("the key is known after it was forgotten")
	}
	for provider, want := range map[string]string{"anthropic": "No key of anthropic was entered", "nope": "nope"} {
		if err := hosttest.Refused(t, c, "", &protocol.SetCredential{Provider: provider}, protocol.CodeInvalidRequest); !strings.Contains(err.Message, want) {
			t.Errorf("a key of %s is forgotten that there is not: %s", provider, err.Message)
		}
	}
}

func TestAVariableWinsOverAKeyThatWasEntered(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Key: "of-the-variable"}, `{"again":true,"do":[{"text":"well"}]}`)
	hosttest.Call[*protocol.Done](t, w.Connect(false), "", &protocol.SetCredential{Provider: "mock", Key: entered})
	e := w.Begin(false)
	e.Say("hi")
	w.Judged()
}

func TestAKeyIsInNoAnswerErrorEventOrFileButItsOwn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Key: "another"}, `{"again":true,"do":[{"text":"well"}]}`)
	w.Config.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.Home}
	w.Restart()
	c := w.Connect(false)
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
		tell(hosttest.Refused(t, c, "", r, protocol.CodeInvalidRequest))
	}
	tell(hosttest.Call[*protocol.Done](t, c, "", &protocol.SetCredential{Provider: "mock", Key: entered}))
	tell(hosttest.Call[*protocol.ModelList](t, c, "", &protocol.ListModels{Query: "mock"}))
	tell(hosttest.Call[*protocol.ConfigReport](t, c, "", &protocol.GetConfig{WorkDir: w.Project}))
	tell(hosttest.Call[*protocol.DoctorReport](t, c, "", &protocol.Doctor{WorkDir: w.Project}))
	tested := hosttest.Call[*protocol.ModelTest](t, c, "", &protocol.TestModel{Model: "mock"}) // the server wants another key
	if tested.Problem == "" {
		t.Error("a wrong key was taken")
	}
	tell(tested)
	e := w.Begin(false)
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("hi")}})
	e.Until(func(ev protocol.Event) bool { return ev.Type == protocol.TypeRuntimeEnd })
	for _, ev := range e.Events {
		tell(ev)
	}
	told = append(told, strings.Join(w.Reports.List, "\n"))
	name := filepath.Join(w.Home, ".scorel", "credentials.json")
	w.Write(name, `{"version":1,"keys":{"mock":"`+entered)
	tell(hosttest.Refused(t, c, "", &protocol.SetCredential{Provider: "anthropic", Key: "k"}, protocol.CodeStorageError))
	w.Finds("damaged", "credentials", "fail", name, "only keys from variables count")
	tell(hosttest.Call[*protocol.DoctorReport](t, c, "", &protocol.Doctor{WorkDir: w.Project}))
	tell(hosttest.Call[*protocol.ModelTest](t, c, "", &protocol.TestModel{Model: "anthropic/claude-sonnet-4-5"}))
	if !strings.Contains(told[len(told)-1], "is damaged") {
		t.Errorf("a model without its key does not say why: %s", told[len(told)-1])
	}
	for _, text := range told {
		if strings.Contains(text, "sk-entered") {
			t.Errorf("the key is told: %s", text)
		}
	}
	err := filepath.WalkDir(w.Home, func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // the host runs, and has removed or renamed it
		}
		if err != nil || !d.Type().IsRegular() || path == name {
			return err
		}
		if data, err := os.ReadFile(path); err != nil && !errors.Is(err, os.ErrNotExist) || strings.Contains(string(data), "sk-entered") {
			t.Errorf("the key stands in %s (%v)", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestACommandGetsNoKeyThatWasEntered(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","input":{"command":"env; echo command ran"}}]}`, `{"again":true,"do":[{"text":"well"}]}`)
	hosttest.Call[*protocol.Done](t, w.Connect(false), "", &protocol.SetCredential{Provider: "anthropic", Key: entered})
	e := w.Begin(false)
	e.Say("look")
	data, err := json.Marshal(e.Events)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(data); strings.Contains(text, "sk-entered") || !strings.Contains(text, "command ran\\n") {
		t.Errorf("a command got the key, or none ran: %.2000s", text)
	}
}

func TestOpenKeysAreFoundByTheDoctor(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.Finds("none", "credentials", "ok", "none entered", "")
	hosttest.Call[*protocol.Done](t, w.Connect(false), "", &protocol.SetCredential{Provider: "anthropic", Key: entered})
	name := filepath.Join(w.Home, ".scorel", "credentials.json")
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	w.Finds("open", "credentials", "fail", "can be read by others (mode 0644)", "chmod 600")
}
