package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

// check runs the doctor and gives one check.
func (w *world) check(id string) protocol.DoctorCheck {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		rep := call[*protocol.DoctorReport](w.t, w.connect(false), "", &protocol.Doctor{WorkDir: w.project})
		i := slices.IndexFunc(rep.Checks, func(c protocol.DoctorCheck) bool { return c.ID == id })
		if i < 0 {
			w.t.Fatalf("there is no check %s in %+v", id, rep)
		}
		if c := rep.Checks[i]; !strings.Contains(c.Text, "did not end within") || time.Now().After(deadline) {
			return c
		} // else much else runs
	}
}

func (w *world) finds(what, id, state, text, advice string) {
	w.t.Helper()
	c := w.check(id)
	if c.State != state || !strings.Contains(c.Text, text) || !strings.Contains(c.Advice, advice) || (state != "ok") != (c.Advice != "") {
		w.t.Errorf("%s: %+v, want %s with %q and %q", what, c, state, text, advice)
	}
}

func TestDoctorFindsWhatIsWrongWithConfigurationKeysAndModels(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	w.config.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "MOCK_KEY=sk-secret", "ANTHROPIC_API_KEY=sk-other-secret"}
	w.restart()
	config := filepath.Join(w.home, ".scorel", "config.toml")
	w.finds("config", "config", "ok", "keys are set", "")
	w.finds("model", "model", "ok", "mock", "")
	w.finds("keys", "keys", "ok", "usable: anthropic, mock", "")
	if rep := call[*protocol.DoctorReport](t, w.connect(false), "", &protocol.Doctor{}); strings.Contains(strings.ToLower(toText(rep)), "secret") {
		t.Errorf("a key is shown: %+v", rep)
	}
	w.write(config, "[model]\nname = 'openai/gpt-4o'\n")
	w.finds("no key", "model", "fail", "openai/gpt-4o", "Set its key")
	w.write(config, "[model]\nname = 'nothing/at-all'\n")
	w.finds("no such model", "model", "fail", "there is no model nothing/at-all", "scorel models")
	w.write(config, "[model]\nname = 'anthropic/claude-sonnet-4-5'\nfallback = 'nothing/at-all'\n")
	w.finds("no such fallback", "model", "fail", "there is no model nothing/at-all", "scorel models")
	w.write(config, "")
	w.finds("none", "model", "warn", "the demo model answers", "scorel models")
	w.write(config, "[search]\nprovider = 'brave'\n")
	w.finds("a search without a key", "config", "warn", "BRAVE", "WebSearch")
	w.write(config, "x = 1\ny = 2\n")
	w.finds("unknown keys", "config", "fail", "Unsupported config key: x ("+config+":1); Unsupported config key: y", "Correct the file")
	w.finds("without config", "model", "warn", "not known", "Correct config.toml")
	w.finds("without config", "keys", "warn", "not known", "Correct config.toml")
	w.write(config, "")
	w.config.Environ = w.config.Environ[:2]
	w.restart()
	w.finds("no keys", "keys", "warn", "no provider has a key", "ANTHROPIC_API_KEY")
	w.write(filepath.Join(w.home, ".scorel", "rules.json"), "{")
	w.finds("rules", "rules", "fail", "rules.json", "move it away")
}

func toText(rep *protocol.DoctorReport) string {
	var b strings.Builder
	for _, c := range rep.Checks {
		b.WriteString(c.Text + c.Advice + "\n")
	}
	return b.String()
}

func TestDoctorSaysHowTheProjectStands(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	c := w.connect(false)
	w.finds("nothing", "project", "ok", "has nothing that needs trust", "")
	w.file(".scorel/config.toml", "prompt = 'x'\n")
	w.finds("untrusted", "project", "warn", "is not trusted; what could act and does not: .scorel/config.toml", "scorel trust")
	w.trust(c)
	w.finds("trusted", "project", "ok", "is trusted", "")
	w.file(".mcp.json", "{}")
	w.finds("changed", "project", "warn", "what has changed since and does not act: .mcp.json", "scorel trust")
	w.file(".scorel/config.toml", "prompt = \n")
	w.finds("broken", "project", "fail", "not valid TOML", "until the file is right")
	w.file(".scorel/config.toml", "[permissions]\nmode = 'plan'\n")
	w.finds("ignored", "project", "warn", "permissions.mode", "scorel config check")
	if err := os.Truncate(w.file(".mcp.json", ""), 1<<40); err != nil {
		t.Fatal(err)
	}
	w.file(".scorel/config.toml", "")
	w.finds("too large", "project", "warn", "more than 64 MiB", "Remove what is not needed")
	w.write(filepath.Join(w.home, ".scorel", "trust.json"), "{")
	w.finds("damaged list", "project", "fail", "trust.json is damaged", "scorel trust")
}

func TestDoctorChangesNothingAndKnowsTheHost(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	e := w.begin(false)
	e.say("hi")
	before := tree(t, w.home)
	if c := w.check("memory"); c.State != "ok" || !strings.Contains(c.Text, "open sessions: 1") {
		t.Errorf("%+v", c)
	}
	if after := tree(t, w.home); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// tree gives what is below a folder, with when files were written.
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
