package commands

import (
	"context"
	"strconv"
	"strings"

	"scorel/internal/engine/skill"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

// skillCommands are the skills as commands: /name puts what the skill says into the
// conversation.
type skillCommands struct{ *commandRun }

// List implements [command.Source].
func (c skillCommands) List(ctx context.Context) (out []protocol.CommandInfo, problems []string) {
	found := c.cs.turns.FindSkills(ctx, c.dir, c.root)
	counts := map[string]bool{}
	for _, s := range found.Counting() {
		counts[s.Name] = true
	}
	for _, s := range found.Skills {
		info := protocol.CommandInfo{Name: s.Name, Description: s.Description, Source: protocol.CommandSkill, Origin: s.Path, Scope: string(s.Place.Scope)}
		switch {
		case s.State == skill.Broken && !counts[s.Name]:
			counts[s.Name] = true
			info.Refused = strings.Join(s.Problems, " ")
		case s.State != skill.OK && s.State != skill.Untrusted:
			continue
		}
		out = append(out, info)
	}
	return out, nil // scorel skills list tells of the problems
}

// Complete implements [command.Source].
func (skillCommands) Complete(context.Context, string, string) ([]protocol.Completion, error) {
	return nil, nil
}

// Run implements [command.Source].
func (c skillCommands) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	set, _ := c.cs.turns.SkillSet(ctx, c.dir, c.root)
	text, err := set.Text(name, args)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if _, forks := set.Fork(name); forks { // the model starts its agent
		text = "Call the tool Skill with the name " + strconv.Quote(name)
		if args = strings.TrimSpace(args); args != "" {
			text += " and these args: " + args
		}
		return c.send(ctx, text+"\n\nThen tell me its result.", "")
	}
	return c.send(ctx, "Use the skill "+name+".\n\n"+text, "")
}
