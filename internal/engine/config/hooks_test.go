package config

import (
	"strings"
	"testing"
	"time"
)

func TestAHookThatIsWrittenWronglyIsNamedWithItsLine(t *testing.T) {
	for _, c := range []struct{ name, toml, want string }{
		{"no such event", "event = \"PreTool\"\ncommand = \"x\"", "the config key hooks.event must be PreToolUse, PostToolUse, UserPromptSubmit, SessionStart, SessionEnd, Stop, SubagentStop, PreCompact or Notification (/u/c.toml:6)"},
		{"no event", "command = \"x\"", "the hook lacks event (/u/c.toml:5)"},
		{"no command", "event = \"Stop\"", "the hook lacks command (/u/c.toml:5)"},
		{"an empty command", "event = \"Stop\"\ncommand = \" \"", "the config key hooks.command must be a shell command of at most 32768 bytes (/u/c.toml:7)"},
		{"an unknown key", "event = \"Stop\"\ncommand = \"x\"\ntimeout = 3", "Unsupported config key: hooks.timeout (/u/c.toml:8)"},
		{"a matcher without a tool", "event = \"Stop\"\ncommand = \"x\"\nmatcher = \"Bash\"", "the config key hooks.matcher must be left out: only PreToolUse and PostToolUse are about a tool (/u/c.toml:8)"},
		{"a broken matcher", "event = \"PreToolUse\"\nmatcher = \"[a\"\ncommand = \"x\"", "the config key hooks.matcher must be the name of a tool, names with | between them, or a pattern with * (/u/c.toml:7)"},
		{"a regular expression", "event = \"PreToolUse\"\nmatcher = \"mcp__.*\"\ncommand = \"x\"", "the config key hooks.matcher must be the name of a tool, names with | between them, or a pattern with * (/u/c.toml:7)"},
		{"a name with a blank", "event = \"PreToolUse\"\nmatcher = \"Write, Edit\"\ncommand = \"x\"", "the config key hooks.matcher must be the name of a tool, names with | between them, or a pattern with * (/u/c.toml:7)"},
		{"too long a time", "event = \"Stop\"\ncommand = \"x\"\ntimeoutMs = 600001", "the config key hooks.timeoutMs must be an integer from 1 to 600000 (/u/c.toml:8)"},
		{"another failure", "event = \"Stop\"\ncommand = \"x\"\nonFailure = \"deny\"", "the config key hooks.onFailure must be block, continue or allow (/u/c.toml:8)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "[[hooks]]\nevent = \"Stop\"\ncommand = \"fine\"\n\n[[hooks]]\n" + c.toml + "\n"
			_, _, err := Parse(File{Name: "/u/c.toml", Data: []byte(text)}, File{}, nil)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestHooksOfATrustedProjectStandBesideTheUsers(t *testing.T) {
	user := File{Name: "/u/c.toml", Data: []byte("[[hooks]]\nevent = \"Stop\"\ncommand = \"mine\"\n")}
	project := File{Name: "/p/c.toml", Data: []byte("\n[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"theirs\"\n"), Trusted: true}
	c, notices, err := Parse(user, project, nil)
	if err != nil || len(notices) != 0 {
		t.Fatal(err, notices)
	}
	if len(c.Hooks) != 2 || c.Hooks[0].Command != "mine" || c.Hooks[0].Blocks || c.Hooks[1].Command != "theirs" || !c.Hooks[1].Blocks ||
		c.Hooks[1].Source != (Source{Kind: SourceProject, File: "/p/c.toml", Line: 2}) || c.Hooks[1].Timeout != time.Minute {
		t.Errorf("hooks: %+v", c.Hooks)
	}
	var shown []string
	for _, s := range c.Settings(nil) {
		if s.Key == "hooks" {
			shown = append(shown, s.Value+" "+s.Source.String())
		}
	}
	if got := strings.Join(shown, "\n"); got != "{ command = \"mine\", event = \"Stop\" } /u/c.toml:1\n{ command = \"theirs\", event = \"PreToolUse\" } /p/c.toml:2" {
		t.Errorf("settings:\n%s", got)
	}

	project.Trusted = false
	c, notices, err = Parse(user, project, nil)
	if err != nil || len(c.Hooks) != 1 || len(notices) != 1 || !notices[0].Untrusted {
		t.Errorf("untrusted: %+v %+v %v", c.Hooks, notices, err)
	}
}

func TestAMatcherIsANameNamesOrAPattern(t *testing.T) {
	for _, c := range []struct {
		matcher, tool string
		want          bool
	}{{"", "Bash", true}, {"*", "Bash", true}, {"Bash", "Bash", true}, {"Bash", "BashX", false}, {"bash", "Bash", true}, {"Write | edit", "Edit", true},
		{"Write|Edit", "Edit", true}, {"Write|Edit", "Read", false}, {"mcp__*", "mcp__git__push", true}, {"mcp__*", "Bash", false}} {
		if got := (Hook{Matcher: c.matcher}).Matches(c.tool); got != c.want {
			t.Errorf("%q matches %q: %v", c.matcher, c.tool, got)
		}
	}
}
