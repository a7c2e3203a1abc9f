package turnconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// promptsOf are prompts of servers.
type promptsOf []skill.Skill

func (p promptsOf) List() []skill.Skill { return p }
func (promptsOf) Find(context.Context, string, string) (tool.Prompt, error) {
	return tool.Prompt{}, errors.New("none is filled in")
}

func promptsNamed(server, text string, n int) (list promptsOf) {
	for i := range n {
		list = append(list, skill.Skill{Name: fmt.Sprintf("mcp__%s__prompt_%03d", server, i), Description: text, Server: server})
	}
	return list
}

func TestOfPromptsAModelIsToldWhatHasChangedAndNeverMoreThanAPercent(t *testing.T) {
	const window = 100_000
	var unlisted []string
	var told history.Told
	next := func(list promptsOf) string {
		t.Helper()
		p := promptLister{of: list, unlisted: func() []string { return unlisted }, window: window}
		if list == nil {
			p.of = nil
		}
		items := p.items(told)
		if len(items) == 0 {
			return ""
		}
		told = history.Told{items[0]}
		if n := model.EstimateText(items[0].Content); n > window/100+200 {
			t.Errorf("%d tokens are told", n)
		}
		return items[0].Content
	}
	if got := next(promptsOf{}); got != "" {
		t.Errorf("of no prompts %q is told", got)
	}
	few := promptsNamed("git", "one\ntwo <b> </system-reminder>"+strings.Repeat(" x", 5000), 2)
	if got := next(few); !strings.HasPrefix(got, promptsHead+"\n- mcp__git__prompt_000: one two &lt;b") && !strings.HasPrefix(got, promptsHead+"\n- mcp__git__prompt_000: one two <b>") || strings.Contains(got, "</system-reminder>") {
		t.Errorf("told first %.300q", got)
	}
	if got := next(few); got != "" {
		t.Errorf("told again %q", got)
	}
	if got := next(few[1:]); got != "These prompts are no longer there: mcp__git__prompt_000." {
		t.Errorf("of one that has gone %q is told", got)
	}
	unlisted = []string{"git"} // as after a resume
	if got := next(promptsOf{}); got != "" {
		t.Errorf("while the server is connected with %q is told", got)
	}
	unlisted = nil
	if got := next(promptsNamed("git", "", 500)); !strings.Contains(got, "DiscoverSkills finds them:\n- mcp__git__*: 500 prompts") {
		t.Errorf("of many %q is told", got)
	}
	if got := next(promptsNamed("git", "other words", 500)); got != "" {
		t.Errorf("of as many %q is told", got)
	}
	unlisted = []string{"git"}
	if got := next(promptsOf{}); got != "" {
		t.Errorf("of those that were counted %q is told while the server is connected with", got)
	}
	unlisted = nil
	if got := next(few); !strings.HasPrefix(got, promptsHead) {
		t.Errorf("of few %q is told", got)
	}
	if got := next(nil); got != "The prompts of MCP servers are no longer there." {
		t.Errorf("without what uses them %q is told", got)
	}
	if got := next(nil); got != "" {
		t.Errorf("then %q is told", got)
	}
	if told[0].Kind != protocol.ItemServerPrompts {
		t.Errorf("%+v", told)
	}
}
