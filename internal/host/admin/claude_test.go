package admin_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestImportRulesStoresOnlyRulesOfTheSettings(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	w.File(".claude/settings.json", `{"permissions":{"allow":["Bash(make:*)","Bash(x*)","Read(//usr/share/**)"]}}`)
	c := w.Connect(false)
	found := hosttest.Call[*protocol.ForeignRules](t, c, "", &protocol.ListForeignRules{WorkDir: w.Project})
	if len(found.Rules) != 3 || found.Rules[0].As[0] != "Bash(make:*)" || found.Rules[1].As != nil || found.Rules[1].Problem == "" || found.Rules[0].Have {
		t.Errorf("found %+v", found)
	}
	rules := filepath.Join(w.Home, ".scorel", "rules.json")
	for _, list := range [][]string{{"Bash(rm:*)"}, {"Bash(make:*)", "Bash"}, {"Bash(x*)"}} {
		_, err := client.Call[*protocol.RulesImported](t.Context(), c, "", &protocol.ImportRules{WorkDir: w.Project, Rules: list})
		var pe *protocol.Error
		if !errors.As(err, &pe) || pe.Code != protocol.CodeConflict {
			t.Errorf("%q: %v", list, err)
		}
		if _, err := os.Stat(rules); err == nil {
			t.Errorf("%q: something is stored", list)
		}
	}
	want := []string{"Bash(make:*)", "Read(/usr/share/**)"}
	if r := hosttest.Call[*protocol.RulesImported](t, c, "", &protocol.ImportRules{WorkDir: w.Project, Rules: want}); r.Added != 2 {
		t.Errorf("added %d", r.Added)
	}
	if l := hosttest.Call[*protocol.RuleList](t, c, "", &protocol.ListRules{}); len(l.Projects) != 1 || !slices.Equal(l.Projects[0].Allow, want) || filepath.Base(l.File) != "rules.json" {
		t.Errorf("the rules are %+v", l)
	}
	if r := hosttest.Call[*protocol.RulesImported](t, c, "", &protocol.ImportRules{WorkDir: w.Project, Rules: want}); r.Added != 0 {
		t.Errorf("added %d again", r.Added)
	}
	data, err := os.ReadFile(rules)
	if err != nil || !strings.Contains(string(data), w.Project) || !strings.Contains(string(data), "Bash(make:*)") {
		t.Errorf("stored %s, %v", data, err)
	}
	found = hosttest.Call[*protocol.ForeignRules](t, c, "", &protocol.ListForeignRules{WorkDir: w.Project})
	if !found.Rules[0].Have || found.Rules[1].Have || !found.Rules[2].Have {
		t.Errorf("found after the import %+v", found)
	}
}

func TestHooksOfTheUsersClaudeCodeDecideAndThoseOfAProjectDoNot(t *testing.T) {
	const allows = `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'"}]}]}}`
	for name, settings := range map[string]string{"of the user": "../.claude/settings.json", "of the project": ".claude/settings.json"} {
		t.Run(name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{}, `{"if":{"user":"go"},"do":[{"call":"Bash","id":"c1","input":{"command":"touch ran"}}]}`, `{"again":true,"do":[{"text":"well"}]}`)
			if name == "of the user" {
				w.Write(filepath.Join(w.Home, ".claude", "settings.json"), allows)
			} else {
				w.File(settings, allows)
			}
			c := w.Connect(false)
			if name == "of the project" {
				w.Trust(c)
			}
			hooks := hosttest.Call[*protocol.HookList](t, c, "", &protocol.ListHooks{WorkDir: w.Project})
			if len(hooks.Hooks) != 1 || hooks.Hooks[0].State != "ok" || hooks.Hooks[0].Scope != strings.TrimPrefix(name, "of the ") {
				t.Errorf("hooks %+v", hooks)
			}
			e := w.Begin(false)
			e.Say("go")
			_, err := os.Stat(filepath.Join(w.Project, "ran"))
			if (err == nil) != (name == "of the user") {
				t.Errorf("it ran: %v", err == nil)
			}
		})
	}
}
