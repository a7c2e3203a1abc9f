package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// maxCompletions bounds the completions of an argument, as [protocol.CompletionList].
const maxCompletions = 100

// Command is a slash command of an extension.
type Command struct {
	protocol.CommandInfo
	// Immediate says that it runs beside a turn, and appends nothing.
	Immediate bool
	// Plain is the name that the extension gave it. Name is another one where an extension
	// before it has a command of that name: Plain, a colon and the extension's id.
	Plain string

	m *member
}

// Commands returns the commands of the extensions that are loaded, in load order. Each has a
// name of its own.
func (s *Set) Commands() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := map[string]bool{}
	var out []Command
	for _, m := range s.members {
		if m.State != protocol.ExtensionLoaded {
			continue
		}
		for _, c := range m.registered.Commands {
			name := c.Name
			for taken[name] {
				name += ":" + m.ID
			}
			taken[name] = true
			out = append(out, Command{m: m, Immediate: c.Immediate, Plain: c.Name, CommandInfo: protocol.CommandInfo{Name: name, Description: c.Description, ArgumentHint: c.ArgumentHint,
				Source: protocol.CommandExtension, Origin: m.ID, Scope: string(m.Scope), Completes: c.Completes}})
		}
	}
	return out
}

// Run runs the command and returns what it says. It has no time limit but ctx. Requests of
// the extension while it runs, other than of an immediate one, reach [Host] with the
// values of ctx; what it has sent and appended is done when Run returns. Such commands of one extension run one at a time.
func (c Command) Run(ctx context.Context, args string) (status string, err error) {
	params := rpc.CommandRun{Ext: c.m.ID, Command: c.Plain, Args: Words(args), ArgsRaw: args}
	p, m, err := c.m.reach(ctx)
	if err != nil {
		return "", err
	}
	if c.Immediate {
		m.set.immediate(m, 1)
		defer m.set.immediate(m, -1)
	} else {
		defer m.set.lend(ctx, m)()
	}
	answer, err := p.ask(ctx, rpc.MethodCommand, func() (any, error) { return params, nil })
	// What it sent without waiting is part of it.
	p.peer.settled(ctx, rpc.CallAppend, rpc.CallSendUser, rpc.CallSendMessage, rpc.CallMove, rpc.CallCarry)
	var remote *RemoteError
	switch {
	case errors.Is(err, errGone):
		p.blames(ctx, m)
		return "", fmt.Errorf("the process of the extension %s ended while the command ran; it may have taken effect", m.ID)
	case errors.As(err, &remote):
		return "", fmt.Errorf("/%s failed: %s%s", c.Name, strings.TrimRight(clip(remote.Message, 4<<10), ". \n"), remote.place())
	case err != nil:
		return "", err
	}
	var done rpc.CommandDone
	if len(answer) > 0 && string(answer) != "null" {
		if err := json.Unmarshal(answer, &done); err != nil {
			return "", fmt.Errorf("/%s gave an answer that cannot be read: %w", c.Name, err)
		}
	}
	return clip(m.set.cfg.Clean(done.Status), 4<<10), nil
}

// immediate counts the immediate commands of an extension that run.
func (s *Set) immediate(m *member, n int) {
	s.mu.Lock()
	m.immediate += n
	s.mu.Unlock()
}

// lend has the values of a command's context count for what the extension asks for, until
// back is called.
func (s *Set) lend(ctx context.Context, m *member) (back func()) {
	s.mu.Lock()
	m.command = ctx
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		m.command = nil
		s.mu.Unlock()
	}
}

// Immediate reports whether an extension runs an immediate command, so that it may not
// append now.
func (s *Set) Immediate(id string) bool {
	m := s.find(id)
	if m == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.immediate > 0
}

// Complete returns what may stand where the arguments end.
func (c Command) Complete(ctx context.Context, prefix string) (*protocol.CompletionList, error) {
	out := &protocol.CompletionList{Items: []protocol.Completion{}}
	if !c.Completes {
		return out, nil
	}
	return out, c.m.complete(ctx, rpc.CommandComplete{Ext: c.m.ID, Command: c.Plain, Prefix: prefix}, out)
}

// CompleteInput returns what extensions offer where a message is being typed: that of the first
// one that has something. It starts nothing.
func (s *Set) CompleteInput(ctx context.Context, before string) (*protocol.CompletionList, error) {
	s.mu.Lock()
	var asked []*member
	for _, m := range s.members {
		if m.State == protocol.ExtensionLoaded && m.child != nil && m.begun && m.registered.Completes {
			asked = append(asked, m)
		}
	}
	s.mu.Unlock()
	out := &protocol.CompletionList{Items: []protocol.Completion{}}
	for _, m := range asked {
		if err := m.complete(ctx, rpc.CommandComplete{Ext: m.ID, Prefix: before}, out); err != nil || len(out.Items) > 0 {
			return out, err
		}
	}
	return out, nil
}

// complete asks an extension for completions.
func (m *member) complete(ctx context.Context, p rpc.CommandComplete, out *protocol.CompletionList) error {
	answer, err := m.ask(ctx, rpc.MethodComplete, completeTime, nil, just(p))
	if err != nil || len(answer) == 0 || string(answer) == "null" {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the completions of the extension %s cannot be read: %w", m.ID, err)
	}
	out.Prefix = clip(out.Prefix, 1000)
	out.Items = out.Items[:min(len(out.Items), maxCompletions)]
	for i := range out.Items {
		it := &out.Items[i]
		it.Value, it.Label, it.Description = clip(it.Value, 1000), clip(it.Label, 200), clip(it.Description, 500)
	}
	return nil
}

// Words splits arguments at spaces; quotes keep some together, a backslash takes what
// follows as it is. What is left open ends with the text.
func Words(text string) []string {
	words := []string{}
	var w strings.Builder
	open, quote := false, rune(0)
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			w.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			w.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if open {
				words = append(words, w.String())
				w.Reset()
				open = false
			}
		default:
			w.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, w.String())
	}
	return words
}
