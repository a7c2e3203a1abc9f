package cli

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/ui/tui/tuitest"
)

// newcomer runs the terminal UI as somebody who has never run it.
func newcomer(t *testing.T, width, height int, config string, args ...string) (*tuitest.UI, *tuitest.Harness) {
	t.Helper()
	h := tuitest.New(t, tuitest.Program{Path: find(t)})
	h.Width, h.Height = width, height
	if config != "" {
		h.WriteUser("config.toml", config)
	}
	return h.Start(args...), h
}

// offered is on the screen while a newcomer is asked how to begin.
const offered = "How would you like to start?"

func TestANewcomerComesIntoTheDemoWithTwoKeys(t *testing.T) {
	m, h := newcomer(t, 60, 15, "")
	m.WaitFor(offered)
	m.Keys("Up", "Enter")
	m.WaitFor("A check of this project fails.")
	if _, err := os.Stat(filepath.Join(h.Project, "scorel-demo", "test.sh")); err != nil {
		t.Error(err)
	}
	m.Keys("Enter")
	m.WaitFor("Run this command?", "Allow once")
}

func TestWhatANewcomerTypesOrPastesIsNotLostToTheFirstPicker(t *testing.T) {
	t.Run("typed", func(t *testing.T) {
		m, _ := newcomer(t, 100, 30, "")
		m.WaitFor(offered)
		m.Type("fix the build")
		m.Wait("the text in the editor", func(s string) bool { return strings.Contains(s, "❯ fix the build") && !strings.Contains(s, offered) })
	})
	t.Run("pasted", func(t *testing.T) {
		m, _ := newcomer(t, 100, 30, "")
		m.WaitFor(offered)
		m.Paste("why does make fail?\nsay")
		m.Wait("the text in the editor", func(s string) bool {
			return strings.Contains(s, "why does make fail?") && strings.Contains(s, "  say") && !strings.Contains(s, offered)
		})
	})
}

func TestAWrongKeyIsAskedForAgainAndARightOneLeadsToTheModel(t *testing.T) {
	const wrong, right = "wrong-key-31415", "right-key-27182"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+right {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"ok"}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"))
	}))
	defer server.Close()
	m, h := newcomer(t, 80, 24, "[models.mine]\ntype = \"custom\"\napi = \"openai-completions\"\nbaseUrl = \""+server.URL+"/v1\"\nid = \"m\"\n")
	m.WaitFor("Type /model to choose one")
	m.Type("/login mine")
	m.Keys("Enter")
	m.WaitFor("mine API key")
	m.Type(wrong)
	m.WaitFor(strings.Repeat("*", len(wrong)))
	m.Keys("Enter")
	m.WaitFor("That key was discarded")
	m.Type(right)
	m.Keys("Enter")
	m.WaitFor("Models", "❯ mine")
	m.Keys("Enter")
	m.WaitFor("mine is the model of new sessions")
	m.Keys("C-d")
	m.WaitEnd()
	if strings.Contains(m.All(), wrong) || strings.Contains(m.All(), right) {
		t.Error("a key is on the screen")
	}
	err := filepath.WalkDir(h.Home, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the host, which still runs, has removed or renamed it
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if strings.Contains(string(data), wrong) || strings.Contains(string(data), right) && d.Name() != "credentials.json" {
			t.Errorf("a key is in %s", name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestATerminalThatCannotMoveItsCursorIsSentToLines(t *testing.T) {
	m := tuitest.NewTmux(t, tuitest.Options{Width: 160, Env: []string{"HOME=" + t.TempDir()}}, "/bin/sh", "-c", "TERM=dumb "+find(t)+"; echo exit code $?; read -r end")
	m.WaitFor("cannot move its cursor (TERM=dumb); use scorel attach", "exit code 2")
}

func TestBrokenFilesOfTheUserAreToldWithTheirLineAndTheUIRuns(t *testing.T) {
	m, h := newcomer(t, 100, 30, "[models.mine]\ntype = \"custom\"\napi = \"openai-completions\"\nbaseUrl = \"http://127.0.0.1:1/v1\"\nid = \"m\"\n", "--resume")
	m.WaitFor("Sessions")
	m.Keys("Escape")
	m.WaitFor("ask something")
	m.Keys("C-d")
	m.WaitEnd()
	for name, text := range map[string]string{
		"tui.toml":         "theme = \"mine\"\nvim = \"perhaps\"\n",
		"keys.toml":        "\"editor.sing\" = \"x\"\n",
		"themes/mine.toml": "base = \"dark\"\n[styles]\naccent = { fg = \"chartreuse-ish\" }\n",
	} {
		h.WriteUser(name, text)
	}
	h.Width = 140
	again := h.Start()
	again.WaitFor("3 mistakes (1 in tui.toml, 1 in keys.toml, 1 in the theme); /doctor shows all.", "tui.toml:2")
	again.Type("still typing")
	again.WaitFor("still typing")
	again.Keys("C-u")
	again.Type("/doctor")
	again.Keys("Enter")
	again.WaitFor("tui.toml:2", "ui-keys: there is no action \"editor.sing\"", "ui-theme: ")
}

// find returns the program.
func find(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("scorel")
	if err != nil {
		t.Fatal(err)
	}
	return program
}
