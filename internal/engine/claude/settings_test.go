package claude

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestSettingsSayWhatCountsAndWhatDoesNot(t *testing.T) {
	s, err := Parse([]byte("\xef\xbb\xbf" + `{"$schema":"x","env":{"A":"b"},"apiKeyHelper":"x.sh","spinner":true,
		"permissions":{"allow":["Bash(npm test:*)","Bash(npm*)"],"deny":["Read(./.env)","Bash(git push * -f)",7],"ask":["Bash(git push:*)"],"defaultMode":"acceptEdits","additionalDirectories":["/"]},
		"hooks":{"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"check","timeout":5},{"type":"prompt","prompt":"x"}]}],
			"PostToolUse":[{"hooks":[{"type":"command","command":"fmt"}]}],"TeammateIdle":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.Hooks); got != fmt.Sprint([]Hook{{"PostToolUse", "", "fmt", time.Minute}, {"PreToolUse", "Edit|Write", "check", 5 * time.Second}}) {
		t.Errorf("hooks: %s", got)
	}
	deny, ask := s.Tightening()
	if got := fmt.Sprint(deny, ask); got != "[Read(./.env)] [Bash(git push:*) Bash(git push:*)]" {
		t.Errorf("rules: %s", got)
	}
	if len(s.Allow) != 2 || s.Allow[0].As == nil || s.Allow[1].As != nil {
		t.Errorf("allow: %+v", s.Allow)
	}
	var notes []string
	for _, n := range s.NotTaken {
		notes = append(notes, n.Key)
	}
	if got := strings.Join(notes, "\n"); got != `apiKeyHelper
env
hooks.PreToolUse 2
hooks.TeammateIdle
permissions.additionalDirectories
permissions.allow
permissions.defaultMode
permissions.deny Bash(git push * -f)
permissions.deny[2]
spinner` {
		t.Errorf("not taken:\n%s", got)
	}
	if got := s.Lost(); len(got) != 2 {
		t.Errorf("lost: %v", got)
	}
}

func TestAFileThatIsNoSettingsIsSaidInOneSentence(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"a\": 1,\n}": "it is not valid JSON (line 3): ", "[]": "it is not a JSON object", "\xff": "it is not text in UTF-8",
		strings.Repeat(" ", MaxFile+1): "it is larger than",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"", " \n", "{}", `{"permissions":[],"hooks":3}`, `{"hooks":{"Stop":7},"permissions":{"deny":"x","ask":{}}}`} {
		s, err := Parse([]byte(text))
		if err != nil || len(s.Hooks) > 0 || len(text) > 5 && len(s.NotTaken) == 0 {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}

func TestHooksOfAFileCanBeSwitchedOffInIt(t *testing.T) {
	s, err := Parse([]byte(`{"disableAllHooks":true,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`))
	if err != nil || len(s.Hooks) > 0 || len(s.NotTaken) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestHooksThatScorelDoesNotKnowAreNamed(t *testing.T) {
	for entry, want := range map[string]string{
		`{"type":"http","url":"x"}`:                             "of the type http",
		`{"type":"command","command":" "}`:                      "command is empty",
		`{"type":"command","command":"x","if":"Bash(git:*)"}`:   "a condition",
		`{"type":"command","command":"x","shell":"powershell"}`: "a shell of its own",
		`{"type":"command","command":"x","async":true}`:         "waited for",
		`7`: "cannot be read",
	} {
		s, err := Parse([]byte(`{"hooks":{"Stop":[{"hooks":[` + entry + `]}]}}`))
		if err != nil || len(s.NotTaken) != 1 || !strings.Contains(s.NotTaken[0].Why, want) {
			t.Errorf("%s: %+v, %v", entry, s, err)
		}
	}
	s, _ := Parse([]byte(`{"hooks":{"PreToolUse":[{"matcher":"(?!x)","hooks":[{"type":"command","command":"x"}]}]}}`))
	if len(s.Hooks) > 0 || len(s.NotTaken) != 1 || !strings.Contains(s.NotTaken[0].Why, "matcher") {
		t.Errorf("a matcher with a lookahead: %+v", s)
	}
}

func TestNotesAndHooksAreBounded(t *testing.T) {
	var keys, hooks []string
	for i := range 500 {
		keys = append(keys, fmt.Sprintf(`"k%d":1`, i))
		hooks = append(hooks, `{"type":"command","command":"x"}`)
	}
	s, err := Parse([]byte(`{` + strings.Join(keys, ",") + `,"hooks":{"Stop":[{"hooks":[` + strings.Join(hooks, ",") + `]}]}}`))
	if err != nil || len(s.NotTaken) != maxNotes+1 || len(s.Hooks) != maxHooks {
		t.Errorf("%d notes, %d hooks, %v", len(s.NotTaken), len(s.Hooks), err)
	}
	s, _ = Parse([]byte(`{"permissions":{"deny":[` + strings.TrimSuffix(strings.Repeat(`"Bash(x:*)",`, 1000), ",") + `]}}`))
	if deny, _ := s.Tightening(); len(deny) != MaxRules || len(s.Lost()) != 1 {
		t.Errorf("%d rules, %v", len(deny), s.Lost())
	}
}

func TestMatchersAreNamesOrRegularExpressions(t *testing.T) {
	for _, c := range []struct {
		matcher string
		names   []string
		want    bool
	}{
		{"", []string{"Bash"}, true}, {"*", []string{"Bash"}, true}, {"Bash", []string{"Bash"}, true}, {"Bash", []string{"BashOutput"}, false},
		{"Edit|Write", []string{"Write"}, true}, {"Edit|Write", []string{"Read"}, false}, {"mcp__.*", []string{"mcp__x__y"}, true},
		{"Notebook.*|^Edit$", []string{"Edit"}, true}, {"Agent", []string{"Task", "Agent"}, true}, {"(", []string{"("}, false}, {"bash", []string{"Bash"}, false},
	} {
		if got := Matches(c.matcher, c.names...); got != c.want {
			t.Errorf("%q about %q is %v", c.matcher, c.names, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"permissions":{"deny":["Read(./.env)"]},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`))
	f.Add([]byte(`{"hooks":{"PreToolUse":[{"matcher":"(","hooks":[{}]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		for _, n := range s.NotTaken {
			if strings.ContainsAny(n.String(), "\n\x1b") {
				t.Errorf("the note is %q", n)
			}
		}
	})
}
