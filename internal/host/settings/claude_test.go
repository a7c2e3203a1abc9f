package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/config"
	"scorel/internal/engine/trust"
	"scorel/internal/platform/disk"
)

// newSettings makes settings of a home, and returns a project in it.
func newSettings(t *testing.T, files map[string]string) (st *Settings, root string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(base, "project")
	for name, text := range files {
		full := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(base, "home")
	dir := filepath.Join(home, ".scorel")
	return New(Config{Dir: dir, UserHome: home, StoreDir: dir, FS: disk.OS(), Trust: trust.New(trust.Config{Dir: dir})}), root
}

const guard = `{"permissions":{"deny":["Read(./.env)"],"ask":["Bash(git push:*)"],"allow":["Bash"]},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`

func TestSettingsOfClaudeCodeTightenBeforeAndActAfterTrust(t *testing.T) {
	st, root := newSettings(t, map[string]string{"home/.claude/settings.json": guard, "project/.claude/settings.json": guard, "project/.claude/settings.local.json": `{"permissions":{"deny":["WebFetch"]}}`})
	check := func(hooks int) {
		t.Helper()
		cfg, notices, err := st.Read(root)
		if err != nil || len(notices) > 0 {
			t.Fatal(err, notices)
		}
		if len(cfg.Hooks) != hooks || len(cfg.Permissions.Others) != 3 {
			t.Errorf("%d hooks, rules %+v", len(cfg.Hooks), cfg.Permissions.Others)
		}
		for _, o := range cfg.Permissions.Others {
			if len(o.Allow) > 0 {
				t.Errorf("%s allows %q", o.File, o.Allow)
			}
		}
		if cfg.Permissions.Mode != "default" || cfg.Hooks[0].Source.Kind != config.SourceUser {
			t.Errorf("%+v", cfg)
		}
	}
	check(1)
	r, err := st.Trust.Look(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := st.Trust.Trust(t.Context(), root, r.Hash); err != nil {
		t.Fatal(err)
	}
	check(2)
}

func TestAFileOfClaudeCodeThatIsBrokenIsToldAndStopsNothing(t *testing.T) {
	st, root := newSettings(t, map[string]string{"project/.claude/settings.json": `{"permissions":{"deny":["Read(./x)"],}}`, "project/.claude/settings.local.json": `{"permissions":{"deny":["Bash(rm"]}}`})
	cfg, notices, err := st.Read(root)
	if err != nil || len(cfg.Permissions.Others) != 0 || len(notices) != 2 || !strings.Contains(notices[0].Text, "settings.json does not count: it is not valid JSON (line 1)") ||
		!strings.Contains(notices[1].Text, "permissions.deny Bash(rm: Its closing parenthesis is missing.") {
		t.Errorf("%v, %+v, %+v", err, cfg.Permissions.Others, notices)
	}
	if err := os.Remove(filepath.Join(root, ".claude", "settings.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(root, ".claude", "settings.json")); err != nil {
		t.Fatal(err)
	}
	if _, notices, err := st.Read(root); err != nil || !strings.Contains(notices[0].Text, "leads out of the project") {
		t.Errorf("%v, %+v", err, notices)
	}
}

func TestClaudeCodesSettingsCanBeSwitchedOff(t *testing.T) {
	st, root := newSettings(t, map[string]string{"home/.claude/settings.json": guard, "home/.scorel/config.toml": "[claude]\nsettings = false\n"})
	cfg, notices, err := st.Read(root)
	if err != nil || len(notices)+len(cfg.Hooks)+len(cfg.Permissions.Others) > 0 {
		t.Errorf("%v, %+v, %+v", err, notices, cfg)
	}
}

func TestWordsForModelsAreThoseOfTheTableElseTheModelInForce(t *testing.T) {
	st, _ := newSettings(t, map[string]string{"home/.scorel/config.toml": "[tiers]\nopus = \"big\"\n[models.big]\nprovider = \"openai\"\nid = \"gpt-5.4\"\n[models.haiku]\nprovider = \"openai\"\nid = \"gpt-5.4-mini\"\n"})
	user, err := st.User()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		foreign bool
		ref     string
		note    string
	}{
		{"", true, "", ""}, {"inherit", false, "", ""}, {"opus", true, "big", ""}, {"opus", false, "big", ""}, {"sonnet", true, "", "tiers.sonnet names no model"},
		{"sonnet", false, "", "tiers.sonnet names no model"}, {"haiku", true, "haiku", ""}, {"claude-opus-4-1-20250805", true, "", "cannot be used here"}, {"own", false, "own", ""}, {"big", true, "big", ""},
	} {
		ref, note := st.ClaudeModel(user, c.name, c.foreign)
		if ref != c.ref || c.note == "" && note != "" || !strings.Contains(note, c.note) {
			t.Errorf("%s (%v) is %q, %q", c.name, c.foreign, ref, note)
		}
	}
	for _, d := range []agent.Definition{{Model: "sonnet", Scope: agent.Project}, {Model: "nowhere", Scope: agent.Project, Foreign: true}, {Model: "nowhere", Scope: agent.User, Foreign: true}} {
		if ref, err := st.AgentModel(&d); ref != "" || err != nil || st.AgentModelNote(&d) == "" {
			t.Errorf("%+v works with %q, %v, %q", d, ref, err, st.AgentModelNote(&d))
		}
	}
	if _, err := st.AgentModel(&agent.Definition{Name: "x", Model: "nowhere", Scope: agent.Project}); err == nil {
		t.Error("a project's own agent names a model that nobody has")
	}
}
