package commands

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"scorel/internal/engine/model/resolve"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// builtins are the commands of the host: those that mean the same for every client.
// What moves in a conversation or shows something of it (/rewind, /tree, /queue) is
// the client's: it knows what its person sees.
type builtins struct{ *commandRun }

// List implements [command.Source].
func (builtins) List(context.Context) ([]protocol.CommandInfo, []string) {
	c := func(name, hint, description string, completes bool) protocol.CommandInfo {
		return protocol.CommandInfo{Name: name, ArgumentHint: hint, Description: description, Source: protocol.CommandBuiltin, Completes: completes}
	}
	return []protocol.CommandInfo{
		c("compact", "[what matters]", "summarise the older part of the conversation", false),
		c("memory", "[NOTE]", "show the notes that sessions of this project get, or add one", false),
		c("mode", "NAME", "how much is asked for: default, acceptEdits, plan, dontAsk or bypassPermissions", true),
		c("model", "NAME", "another model from the next turn on", true),
		c("name", "TEXT", "name the session", false),
		c("proactive", "[on|off] [TIME] [files]", "have turns begin by themselves, a while after the end of the one before", false),
		c("reload", "", "load extensions again, and look for skills, commands, agents and hooks that have changed", false),
		c("skill-search", "QUERY", "find skills by words", false),
	}, nil
}

// Run implements [command.Source].
func (c builtins) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	args = strings.TrimSpace(args)
	if args == "" && name == "skill-search" {
		return nil, protocol.About("args", "", protocol.CodeInvalidRequest, "Add what to look for: /skill-search QUERY.")
	}
	if args == "" && (name == "mode" || name == "model" || name == "name") {
		return nil, protocol.About("args", "", protocol.CodeInvalidRequest, "Add the name: /%s NAME.", name)
	}
	if args != "" && name == "reload" {
		return nil, protocol.About("args", "", protocol.CodeInvalidRequest, "/reload takes nothing after its name: remove what is there.")
	}
	status := ""
	var err error
	switch name {
	case "compact":
		return c.compact(ctx, args)
	case "memory":
		return c.memory(ctx, args)
	case "mode":
		status, err = "the mode is "+args, c.cs.setMode(ctx, c.l, c.by, args)
	case "model":
		status, err = "the model is "+args+" from the next turn on", c.model(ctx, args)
	case "name":
		status, err = "the session is named", c.cs.editor.UpdateInfo(ctx, c.l, c.by, protocol.MetaChanges{Name: &args})
	case "proactive":
		return c.proactive(ctx, args)
	case "reload":
		return c.reload(ctx)
	case "skill-search":
		return c.skillSearch(ctx, args)
	default:
		err = protocol.About("name", protocol.ReasonCommand, protocol.CodeNotFound, "There is no command /%s.", name)
	}
	if err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Status: status}, nil
}

func (c builtins) reload(ctx context.Context) (*protocol.CommandResult, error) {
	r, err := c.cs.reload(ctx, c.l)
	if err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Status: fmt.Sprintf("extensions loaded: %d; skills: %d, commands: %d, agents: %d, hooks: %d",
		r.Extensions, r.Skills, r.Commands, r.Agents, r.Hooks), Text: strings.Join(r.Problems, "\n")}, nil
}

// searchWait is how long a search for skills waits for servers that may have prompts.
const searchWait = 10 * time.Second

// skillSearch finds skills for a person. It begins the servers of the session, whose prompts are
// skills too.
func (c builtins) skillSearch(ctx context.Context, query string) (*protocol.CommandResult, error) {
	set, _ := c.cs.turns.SkillSet(ctx, c.dir, c.root)
	all := set.All()
	offer, err := c.cs.turns.Servers(ctx, c.l.ID(), c.l.Meta(), c.options)
	if err != nil {
		return nil, err
	}
	late := ""
	if offer != nil {
		limited, cancel := context.WithTimeout(ctx, searchWait)
		if offer.AwaitAllListed(limited) != nil { // what is known by then counts
			late = fmt.Sprintf("; an MCP server has not said within %v what it has", searchWait)
		}
		cancel()
		all = slices.Clone(all)
		for _, p := range offer.Prompts() {
			if !set.Has(p.Name) {
				all = append(all, skill.Skill{Name: p.Name, Label: p.Title, Description: strings.Join(strings.Fields(p.Description), " "), Server: p.Server})
			}
		}
	}
	found := tool.FindSkills(all, query, tool.MaxFoundSkills)
	var text strings.Builder
	for _, s := range found {
		fmt.Fprintf(&text, "/%s  %s\n", s.Name, s.Description)
	}
	return &protocol.CommandResult{Status: fmt.Sprintf("%d of %d skills found%s", len(found), len(all), late), Text: strings.TrimSpace(text.String())}, nil
}

// memory shows the notes, or adds one to those of the project.
func (c builtins) memory(ctx context.Context, note string) (*protocol.CommandResult, error) {
	if note != "" {
		if err := c.cs.notes.AddMemory(ctx, c.by, c.l.ID(), &protocol.AddMemory{Scope: "project", Text: note}); err != nil {
			return nil, err
		}
		return &protocol.CommandResult{Status: "added to this project's notes"}, nil
	}
	v, err := c.cs.notes.GetMemory(ctx, c.l.ID(), &protocol.GetMemory{})
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, f := range v.Files {
		if f.Bytes > 0 {
			fmt.Fprintf(&text, "%s\n%s\n\n", f.Path, strings.TrimRight(f.Text, "\n"))
		}
	}
	text.WriteString(v.Problem)
	return &protocol.CommandResult{Status: fmt.Sprintf("about %d tokens of notes are sent to the model", v.Tokens), Text: strings.TrimSpace(text.String())}, nil
}

func (c builtins) compact(ctx context.Context, instructions string) (*protocol.CommandResult, error) {
	done, err := c.l.Compact(ctx, c.by, instructions, lane.Move{})
	switch {
	case err != nil:
		return nil, err
	case done.EventID == "":
		return &protocol.CommandResult{Status: "there is nothing to compact"}, nil
	}
	return &protocol.CommandResult{Status: fmt.Sprintf("compacted from %d to %d tokens", done.TokensBefore, done.TokensAfter)}, nil
}

// model sets the model of the next turns, if there is one of that name.
func (c builtins) model(ctx context.Context, name string) error {
	cfg, err := c.cs.settings.Load(c.root)
	if err != nil {
		return err
	}
	if _, err := resolve.Resolve(name, c.cs.settings.Resolver(cfg)); err != nil {
		return failure.OfModel(err)
	}
	return c.cs.editor.UpdateInfo(ctx, c.l, c.by, protocol.MetaChanges{Model: &name})
}

// Complete implements [command.Source].
func (c builtins) Complete(_ context.Context, name, args string) (out []protocol.Completion, err error) {
	begins := func(value string) bool { return strings.HasPrefix(strings.ToLower(value), strings.ToLower(args)) }
	switch name {
	case "mode":
		for _, m := range permission.Modes() {
			if begins(string(m)) {
				out = append(out, protocol.Completion{Value: string(m)})
			}
		}
	case "model":
		cfg, err := c.cs.settings.Load(c.root)
		if err != nil {
			return nil, err
		}
		for _, e := range resolve.List("", c.cs.settings.Resolver(cfg)) {
			if begins(e.Ref) || strings.Contains(strings.ToLower(e.Ref), "/"+strings.ToLower(args)) {
				out = append(out, protocol.Completion{Value: e.Ref})
			}
		}
	}
	return out, nil
}

// setMode sets the permission mode of a session.
func (cs *Commands) setMode(ctx context.Context, l *lane.Lane, by lane.Caller, name string) error {
	mode, err := permission.ParseMode(name)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if _, err := permission.Compile(permission.Config{Mode: mode, UID: os.Getuid(), Confined: cs.boxes.Confines(l.Meta())}); err != nil {
		return protocol.Errorf(protocol.CodeForbidden, "%s.", failure.Sentence(err))
	}
	return l.SetMode(ctx, by, mode)
}

// handleMode enters the handlers of this file's requests.
func (cs *Commands) handleMode(t request.Table) {
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.SetMode) (protocol.Response, error) {
		if _, err := permission.ParseMode(r.Mode); err != nil {
			return nil, protocol.About("mode", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
		}
		return &protocol.Done{}, cs.setMode(ctx, at.Lane, at.By, r.Mode)
	})
}
