package tool

import (
	"context"
	"errors"
	"strings"
	"testing"

	"scorel/internal/engine/skill"
)

// listed are prompts of servers that can only be listed.
type listed []skill.Skill

func (l listed) List() []skill.Skill { return l }
func (listed) Find(context.Context, string, string) (Prompt, error) {
	return Prompt{}, errors.New("not there")
}

func TestAFoundSkillWithoutADescriptionHasNoColon(t *testing.T) {
	call := discoverSkillsCall{discoverSkillsTool{&skill.Set{}, listed{{Name: "mcp__s0__deploy", Server: "s0"}, {Name: "mcp__s0__deployed", Server: "s0", Description: "has\n one"}}}, discoverSkillsInput{Query: "deploy deployed"}}
	r, err := call.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Content[0].Text; !strings.Contains(got, "- mcp__s0__deploy [server s0]\n") || !strings.Contains(got, "- mcp__s0__deployed [server s0]: has one\n") {
		t.Error(got)
	}
}
