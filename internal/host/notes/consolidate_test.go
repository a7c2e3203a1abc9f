package notes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// resting runs a test in a bubble with a serving host, an auxiliary model that answers
// with a summary from a script, and daily notes of three days of a project.
func resting(t *testing.T, tables string, test func(w *hosttest.World, c *hosttest.Wire, id protocol.SessionID, project string)) {
	outside := hosttest.New(t, hosttest.Setting{})
	script := filepath.Join(outside.Home, "summary.jsonl")
	outside.Write(script, `{"script":1}
{"again":true,"if":{"user":"sqlite is too slow"},"do":[{"text":"- files, because sqlite is too slow"}]}
`)
	name := filepath.Join(outside.Home, ".scorel", "config.toml")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	outside.Write(name, string(data)+strings.ReplaceAll(tables, "SCRIPT", "script:"+script))
	synctest.Test(t, func(t *testing.T) {
		w := *outside
		w.T, w.Config.Serving = t, true
		h, err := host.New(w.Config)
		if err != nil {
			t.Fatal(err)
		}
		w.Host = h
		c := w.Plug("c", false, protocol.GrantControl)
		id := c.NewSession()
		c.Do(id, &protocol.AddMemory{Scope: "project", Text: "by hand"})
		view := c.Do(id, &protocol.GetMemory{}).(*protocol.MemoryView)
		project := filepath.Dir(view.Files[1].Path)
		today := time.Now()
		for days, text := range map[int]string{2: "- chose sqlite\n", 1: "- sqlite is too slow\n", 0: "- today\n"} {
			w.Write(filepath.Join(project, "daily", today.AddDate(0, 0, -days).Format(time.DateOnly)+".md"), text)
		}
		test(&w, c, id, project)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

const consolidates = "[auxiliary]\nmodel = \"SCRIPT\"\n[memory]\nconsolidate = true\n"

func TestDailyNotesAreSummarisedWhenNobodyWorksInTheProject(t *testing.T) {
	resting(t, consolidates, func(w *hosttest.World, c *hosttest.Wire, id protocol.SessionID, project string) {
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if n := len(c.Daily(id)); n != 3 {
			t.Fatalf("%d days before the session was idle for long", n)
		}
		other := c.NewSession() // somebody works in the project
		c.Open(other, nil, 0)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(c.Daily(other)); n != 3 || strings.Contains(w.Diagnostics(id), "consolidated") {
			t.Fatalf("%d days, while somebody works there", n)
		}
		c.Do(other, &protocol.CloseSession{})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		text, err := os.ReadFile(filepath.Join(project, "MEMORY.md"))
		if err != nil || !strings.HasPrefix(string(text), "- by hand\n") || !strings.Contains(string(text), "- files, because sqlite is too slow\n") {
			t.Errorf("%s %v", text, err)
		}
		if n := len(c.Daily(other)); n != 1 {
			t.Errorf("%d days are left", n)
		}
		if said := w.Diagnostics(other); !strings.Contains(said, "the notes of 2 days were consolidated") || !strings.Contains(said, "beside the conversation: ") {
			t.Errorf("the diagnostics: %s", said)
		}
	})
}

func TestDailyNotesAreLeftAloneUnlessTheUserWantsThem(t *testing.T) {
	for name, tables := range map[string]string{
		"not wanted":         "[auxiliary]\nmodel = \"SCRIPT\"\n",
		"no auxiliary model": "[memory]\nconsolidate = true\n",
		"notes switched off": "[auxiliary]\nmodel = \"SCRIPT\"\n[memory]\nconsolidate = true\n",
	} {
		resting(t, tables, func(w *hosttest.World, c *hosttest.Wire, id protocol.SessionID, project string) {
			if name == "notes switched off" {
				file := filepath.Join(w.Home, ".scorel", "config.toml")
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				w.Write(file, strings.ReplaceAll(string(data), "consolidate = true", "consolidate = true\nenabled = false"))
			}
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			days, err := filepath.Glob(filepath.Join(project, "daily", "*.md"))
			if err != nil || len(days) != 3 {
				t.Errorf("%s: %v %v", name, days, err)
			}
			if w.Server.Count() != 0 || strings.Contains(w.Diagnostics(id), "beside the conversation") {
				t.Errorf("%s: a model was asked", name)
			}
		})
	}
}
