package trust

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSettingsOfClaudeCodeNeedTrustWhenTheyHaveHooks(t *testing.T) {
	const hooks = `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/check.sh; tools/other.sh"}]}]}}`
	w := newWorld(t, map[string]string{
		".claude/settings.json":              hooks,
		".claude/settings.local.json":        `{"permissions":{"deny":["Read(./.env)"]}}`,
		".claude/hooks/check.sh":             "exit 0",
		"tools/other.sh":                     "exit 0",
		".scorel/config.toml":                "[[hooks]]\nevent='Stop'\ncommand='sh tools/other.sh'\n",
		".claude/commands/git/commit.md":     "!git status\ncommit",
		".claude/commands/git/plain.md":      "text",
		".claude/commands/a/b/c/deep.md":     "!date",
		".claude/commands/a/b/c/d/deeper.md": "!date",
	})
	w.link("/etc", ".claude/commands/etc")
	r := w.look()
	same(t, "items", states(r),
		"config .scorel/config.toml untrusted",
		"settings .claude/settings.json untrusted",
		"hook .claude/hooks/check.sh untrusted",
		"hook tools/other.sh untrusted",
		"command .claude/commands/a/b/c/deep.md untrusted",
		"command .claude/commands/git/commit.md untrusted")
	if does := r.Find(KindSettings, ".claude/settings.json").Does; len(does) != 1 || !strings.Contains(does[0], "a hook runs") {
		t.Errorf("it does %q", does)
	}
	if n := len(r.Find(KindHook, "tools/other.sh").Does); n != 2 {
		t.Errorf("a file of two hooks does %d things", n)
	}
	w.trust()
	data, trusted, _, err := w.s.Read(w.root, KindSettings, ".claude/settings.json", 1<<20)
	if err != nil || !trusted || string(data) != hooks {
		t.Errorf("%v, %v", trusted, err)
	}
	w.write(".claude/hooks/check.sh", "exit 1")
	if name, err := w.s.ChangedHook(w.root, `"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh`); err != nil || name != ".claude/hooks/check.sh" {
		t.Errorf("changed: %q, %v", name, err)
	}
}

func TestTheUsersOwnFolderOfClaudeCodeIsNoProjects(t *testing.T) {
	w := newWorld(t, nil)
	w.root = filepath.Dir(w.dir)
	w.write(".claude/settings.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`)
	w.write(".claude/agents/a.md", "x")
	w.write(".claude/commands/c/d.md", "!date")
	same(t, "items", states(w.look()))
	if data, trusted, _, err := w.s.Read(w.root, KindSettings, ".claude/settings.json", 100); data != nil || trusted || err != nil {
		t.Errorf("%s, %v, %v", data, trusted, err)
	}
}
