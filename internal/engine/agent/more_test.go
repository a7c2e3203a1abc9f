package agent

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAFileMaySayColorEffortBackgroundSkillsAndWhatIsSaidFirst(t *testing.T) {
	d, err := Parse("a.md", []byte("---\ndescription: x\ncolor: purple\neffort: high\nbackground: true\nskills: tidy, release-notes\ninitialPrompt: |\n  First read\n  AGENTS.md.\n---\ndo"), Project, false)
	if err != nil {
		t.Fatal(err)
	}
	if d.Color != "purple" || d.Effort != "high" || !d.Background || !slices.Equal(d.Skills, []string{"tidy", "release-notes"}) || d.Initial != "First read\nAGENTS.md." {
		t.Errorf("%+v", d.Extra)
	}
}

func TestAUsersAgentMayHaveHooks(t *testing.T) {
	parse := func(hooks string, foreign bool) (*Definition, error) {
		return Parse("a.md", []byte("---\ndescription: x\nhooks:\n"+hooks+"---\ndo"), User, foreign)
	}
	d, err := parse("  - {event: PreToolUse, matcher: Bash, command: ./check.sh, timeoutMs: 500}\n  - event: SubagentStop\n    command: echo done\n", false)
	if err != nil || len(d.Hooks) != 2 {
		t.Fatalf("%+v (%v)", d, err)
	}
	if h := d.Hooks[0]; h.Event != "PreToolUse" || h.Matcher != "Bash" || h.Command != "./check.sh" || h.Timeout != 500*time.Millisecond || !h.Blocks || h.Source.File != "a.md" {
		t.Errorf("%+v", h)
	}
	if h := d.Hooks[1]; h.Number != 2 || h.Blocks {
		t.Errorf("%+v", h)
	}
	for hooks, want := range map[string]string{
		"  PreToolUse: [{command: x}]\n":                                       "a.md:3: hooks must be a list",
		"  - {event: PreToolUse}\n":                                            "a.md:3: the hook lacks command (a.md:3)",
		"  - {event: SessionStart, command: x}\n":                              "a.md:3: a hook of an agent cannot be one of SessionStart; use PreToolUse",
		"  - {event: PreToolUse, command: x, colour: red}\n":                   "a.md:3: Unsupported config key: hooks.colour",
		"  - {event: PreToolUse, command: x, timeoutMs: 1.5}\n":                "a.md:3: the config key hooks.timeoutMs must be an integer",
		"  - {event: SubagentStop, command: x, matcher: Bash}\n":               "a.md:3: the config key hooks.matcher must be left out",
		strings.Repeat("  - {event: PreToolUse, command: x}\n", 101):           "a.md:3: there are 101 hooks; at most 100 are possible",
		"  - {event: PreToolUse, command: x, onFailure: {a: b}, matcher: x}\n": "a.md:3: the config key hooks.onFailure must be block",
	} {
		if _, err := parse(hooks, false); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", hooks, err, want)
		}
	}
	if d, err := parse("  PreToolUse: [{hooks: [{type: command, command: x}]}]\n", true); err != nil || !strings.Contains(d.Note, "hooks has no effect") || d.Hooks != nil {
		t.Errorf("of another program: %+v (%v)", d, err)
	}
}

func TestServersOfAgents(t *testing.T) {
	for fields, want := range map[string]string{
		"mcpServers: [db, wiki]": "db wiki", "mcpServers: db": "db",
		"mcpServers: [db, {own: {command: x}}]": "db own; own", "mcpServers: {own: {url: 'https://x.example'}}": "own; own",
		"requiredMcpServers: ['db*']":         "needs db*",
		"mcpServers: [a__b]":                  "error a__b",
		"mcpServers: [{own: {type: pigeon}}]": "error pigeon",
		"mcpServers: [3]":                     "error neither",
		"requiredMcpServers: ['[']":           "error no pattern",
	} {
		got := ""
		d, err := Parse("a.md", []byte("---\ndescription: d\n"+fields+"\n---\nx"), User, false)
		switch {
		case err != nil:
			got = "error " + err.Error()
		default:
			if got = strings.Join(d.Servers.Named, " "); d.Servers.Own != "" {
				got += "; own"
			}
			if len(d.Servers.Required) > 0 {
				got = "needs " + strings.Join(d.Servers.Required, " ")
			}
		}
		if rest, ok := strings.CutPrefix(want, "error "); ok != (err != nil) || ok && !strings.Contains(got, rest) || !ok && got != want {
			t.Errorf("%s: %q, want %q", fields, got, want)
		}
	}
	if _, err := Parse("a.md", []byte("---\ndescription: d\nmcpServers: [{own: {command: x}}]\n---\nx"), Project, false); err == nil || !strings.Contains(err.Error(), "can only name servers") {
		t.Errorf("of a project: %v", err)
	}
	if d, err := Parse("a.md", []byte("---\ndescription: d\nmcpServers: [{own: {command: x}}, db]\n---\nx"), Project, true); err != nil || d.Servers.Own != "" || !strings.Contains(d.Note, "mcpServers has no effect") {
		t.Errorf("of a project, written for another program: %+v, %v", d, err)
	}
}
