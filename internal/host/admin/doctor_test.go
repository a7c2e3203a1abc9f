package admin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestDoctorFindsWhatIsWrongWithConfigurationKeysAndModels(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	w.Config.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.Home, "MOCK_KEY=sk-secret", "ANTHROPIC_API_KEY=sk-other-secret"}
	w.Restart()
	config := filepath.Join(w.Home, ".scorel", "config.toml")
	w.Finds("config", "config", "ok", "keys are set", "")
	w.Finds("model", "model", "ok", "mock", "")
	w.Finds("keys", "keys", "ok", "usable: anthropic, mock", "")
	if rep := hosttest.Call[*protocol.DoctorReport](t, w.Connect(false), "", &protocol.Doctor{}); strings.Contains(strings.ToLower(toText(rep)), "secret") {
		t.Errorf("a key is shown: %+v", rep)
	} else if i := slices.IndexFunc(rep.Checks, func(c protocol.DoctorCheck) bool { return c.ID == "mcp" }); i < 0 || rep.Checks[i].State != "ok" {
		t.Errorf("without a project the servers are not looked at: %+v", rep)
	}
	w.Write(config, "[model]\nname = 'openai/gpt-4o'\n")
	w.Finds("no key", "model", "fail", "openai/gpt-4o", "Set its key")
	w.Write(config, "[model]\nname = 'nothing/at-all'\n")
	w.Finds("no such model", "model", "fail", "there is no model nothing/at-all", "scorel models")
	w.Write(config, "[model]\nname = 'anthropic/claude-sonnet-4-5'\nfallback = 'nothing/at-all'\n")
	w.Finds("no such fallback", "model", "fail", "there is no model nothing/at-all", "scorel models")
	w.Write(config, "")
	w.Finds("none", "model", "warn", "the demo model answers", "scorel models")
	w.Write(config, "[search]\nprovider = 'brave'\n")
	w.Finds("a search without a key", "config", "warn", "BRAVE", "WebSearch")
	w.Write(config, "x = 1\ny = 2\n")
	w.Finds("unknown keys", "config", "fail", "Unsupported config key: x ("+config+":1); Unsupported config key: y", "Correct the file")
	w.Finds("without config", "model", "warn", "not known", "Correct config.toml")
	w.Finds("without config", "keys", "warn", "not known", "Correct config.toml")
	w.Write(config, "")
	w.Config.Environ = w.Config.Environ[:2]
	w.Restart()
	w.Finds("no keys", "keys", "warn", "no provider has a key", "ANTHROPIC_API_KEY")
	w.Finds("no pushes", "pushes", "ok", "closed: 0", "")
	w.Write(filepath.Join(w.Home, ".scorel", "push.json"), "{")
	w.Finds("pushes", "pushes", "fail", "push.json is damaged", "no notifications of sessions")
	w.Write(filepath.Join(w.Home, ".scorel", "rules.json"), "{")
	w.Finds("rules", "rules", "fail", "rules.json", "move it away")
}

func toText(rep *protocol.DoctorReport) string {
	var b strings.Builder
	for _, c := range rep.Checks {
		b.WriteString(c.Text + c.Advice + "\n")
	}
	return b.String()
}

func TestDoctorSaysHowTheProjectStands(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	c := w.Connect(false)
	w.Finds("nothing", "project", "ok", "has nothing that needs trust", "")
	w.File(".scorel/config.toml", "prompt = 'x'\n")
	w.Finds("untrusted", "project", "warn", "is not trusted; these files are ignored: .scorel/config.toml", "scorel trust")
	w.Trust(c)
	w.Finds("trusted", "project", "ok", "is trusted", "")
	w.File(".mcp.json", "{}")
	w.Finds("changed", "project", "warn", "these files have changed since and are ignored: .mcp.json", "scorel trust")
	w.File(".scorel/config.toml", "prompt = \n")
	w.Finds("broken", "project", "fail", "not valid TOML", "until the file is right")
	w.File(".scorel/config.toml", "[permissions]\nmode = 'plan'\n")
	w.Finds("ignored", "project", "warn", "permissions.mode", "scorel config check")
	if err := os.Truncate(w.File(".mcp.json", ""), 1<<40); err != nil {
		t.Fatal(err)
	}
	w.File(".scorel/config.toml", "")
	w.Finds("too large", "project", "warn", "more than 64 MiB", "Remove what is not needed")
	w.Write(filepath.Join(w.Home, ".scorel", "trust.json"), "{")
	w.Finds("damaged list", "project", "fail", "trust.json is damaged", "scorel trust")
}

func TestDoctorChangesNothingAndKnowsTheHost(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	e := w.Begin(false)
	e.Say("hi")
	before := tree(t, w.Home)
	if c := w.Check("memory"); c.State != "ok" || !strings.Contains(c.Text, "open sessions: 1") {
		t.Errorf("%+v", c)
	}
	if after := tree(t, w.Home); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// tree returns what is below a folder, with when files were written.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil && !strings.HasSuffix(name, ".lock") {
			when := info.ModTime().String()
			if info.IsDir() {
				when = "" // the probe file came and went
			}
			b.WriteString(name + " " + info.Mode().String() + " " + when + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
