package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"scorel/protocol"
)

// Bounds of what the registry gives.
const (
	maxCommands    = 3000 // commands; further ones are left out
	maxCompletions = 100
)

// Source has the commands of one kind. Its names are plain, as they would be typed.
type Source interface {
	// List returns what there is. Problems are sentences for people.
	List(ctx context.Context) (commands []protocol.CommandInfo, problems []string)
	// Run runs one of them; args is the text after its name as it was typed.
	Run(ctx context.Context, name, args string) (*protocol.CommandResult, error)
	// Complete returns what may stand where args ends. Commands for which nothing is
	// known give nothing.
	Complete(ctx context.Context, name, args string) ([]protocol.Completion, error)
}

// Registry is the commands of several sources.
type Registry []Source

// entry is a command with what runs it.
type entry struct {
	info  protocol.CommandInfo // with the name that is shown
	plain string               // the name that its source knows
	of    Source
}

// entries returns all commands, sorted by the names that are shown. A name that is
// taken twice is shown as name:source, but for that of a built-in command, which
// nothing takes away; a further one of the same source has a number after it. One that is
// bundled is left out where another has its name: it is in the last source.
func (r Registry) entries(ctx context.Context) (list []entry, problems []string) {
	count, builtin := map[string]int{}, map[string]bool{}
	for _, s := range r {
		commands, bad := s.List(ctx)
		problems = append(problems, bad...)
		for _, c := range commands {
			if c.Scope == Bundled && count[c.Name] > 0 {
				continue // what somebody has written counts
			}
			if len(list) >= maxCommands {
				problems = append(problems, fmt.Sprintf("There are more than %d commands; the others are left out.", maxCommands))
				break
			}
			list = append(list, entry{c, c.Name, s})
			count[c.Name]++
			builtin[c.Name] = builtin[c.Name] || c.Source == protocol.CommandBuiltin
		}
	}
	shown := map[string]int{}
	for i := range list {
		c := &list[i].info
		if count[c.Name] > 1 && c.Source != protocol.CommandBuiltin {
			c.Name += ":" + string(c.Source)
		}
		if shown[c.Name]++; shown[c.Name] > 1 {
			c.Name += fmt.Sprintf(":%d", shown[c.Name])
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.info.Name, b.info.Name) })
	return list, problems
}

// List returns all commands, sorted by name, and what is wrong with some.
func (r Registry) List(ctx context.Context) *protocol.CommandList {
	list, problems := r.entries(ctx)
	out := &protocol.CommandList{Commands: make([]protocol.CommandInfo, len(list)), Problems: problems}
	for i, e := range list {
		out.Commands[i] = e.info
	}
	return out
}

// find returns the command that somebody typed: by the name that is shown, or by
// name:source, source:name or name:extension's id also where the name alone would do.
func (r Registry) find(ctx context.Context, name string) (entry, error) {
	list, _ := r.entries(ctx)
	var same []string
	for _, e := range list {
		if e.info.Name == name {
			return e, nil
		}
		if e.plain == name {
			same = append(same, "/"+e.info.Name)
		}
	}
	for _, e := range list {
		s := string(e.info.Source)
		if name == e.plain+":"+s || name == s+":"+e.plain || e.info.Source == protocol.CommandExtension && name == e.plain+":"+e.info.Origin {
			return e, nil
		}
	}
	if len(same) > 0 {
		return entry{}, protocol.Errorf(protocol.CodeInvalidRequest, "There are several commands /%s; say which: %s.", name, strings.Join(same, ", "))
	}
	return entry{}, protocol.About("name", protocol.ReasonCommand, protocol.CodeNotFound, "There is no command /%.100s; /help lists them.", clip(name, 100))
}

// Run runs a command.
func (r Registry) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	if len(args) > MaxArgs {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "The arguments have %d bytes, at most %d are taken; put what is long into a file and name it.", len(args), MaxArgs)
	}
	e, err := r.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if e.info.Refused != "" {
		return nil, protocol.Errorf(protocol.CodeForbidden, "/%s cannot be run: %s", e.info.Name, e.info.Refused)
	}
	return e.of.Run(ctx, e.plain, args)
}

// Complete returns at most 100 completions of a command's arguments.
func (r Registry) Complete(ctx context.Context, name, args string) (*protocol.CompletionList, error) {
	if len(args) > MaxArgs {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "The arguments have %d bytes, at most %d are taken.", len(args), MaxArgs)
	}
	e, err := r.find(ctx, name)
	if err != nil {
		return nil, err
	}
	items, err := e.of.Complete(ctx, e.plain, args)
	if err != nil {
		return nil, err
	}
	return &protocol.CompletionList{Items: append([]protocol.Completion{}, items[:min(len(items), maxCompletions)]...)}, nil
}
