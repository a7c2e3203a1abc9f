package admin_test

import (
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestDoctorNamesFilesOfOtherProgramsThatAreNotRead(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	rows := func() map[string]protocol.DoctorCheck {
		t.Helper()
		found := map[string]protocol.DoctorCheck{}
		for _, c := range hosttest.Call[*protocol.DoctorReport](t, w.Connect(false), "", &protocol.Doctor{WorkDir: w.Project}).Checks {
			if strings.HasPrefix(c.ID, "other-") {
				found[c.ID] = c
			}
		}
		return found
	}
	if got := rows(); len(got) != 0 {
		t.Errorf("without such files: %+v", got)
	}
	for _, name := range []string{".pi/agent/extensions/plan.ts", ".codex/AGENTS.md", ".gemini/GEMINI.md"} {
		w.Write(filepath.Join(w.Home, name), "x")
	}
	for _, name := range []string{".pi/extensions/mine.ts", "GEMINI.md", ".cursorrules", "AGENTS.md"} {
		w.Write(filepath.Join(w.Project, name), "x")
	}
	got := rows()
	for id, wants := range map[string][]string{
		"other-pi":     {filepath.Join(w.Home, ".pi/agent/extensions"), filepath.Join(w.Project, ".pi/extensions"), "~/.scorel/extensions"},
		"other-codex":  {filepath.Join(w.Home, ".codex/AGENTS.md"), "scorel mcp import codex", "AGENTS.md of this project is read"},
		"other-gemini": {filepath.Join(w.Home, ".gemini/GEMINI.md"), filepath.Join(w.Project, "GEMINI.md"), "~/.scorel/AGENTS.md"},
		"other-cursor": {filepath.Join(w.Project, ".cursorrules"), "Copy rules to AGENTS.md"},
	} {
		for _, want := range wants {
			if c := got[id]; !strings.Contains(c.Text+" "+c.Advice, want) || !strings.HasPrefix(c.Text, "not read: ") {
				t.Errorf("%s lacks %s: %+v", id, want, c)
			}
		}
	}
}
