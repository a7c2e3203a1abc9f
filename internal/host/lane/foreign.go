package lane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/tool"
	"scorel/internal/host/publish"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// RunTool runs a call that another program makes, as a turn of its own that asks no model
// and nobody else. It returns when it is durable that the call begins, and before it does.
// While another turn runs it fails: calls of several programs do not wait here.
func (l *Lane) RunTool(ctx context.Context, c Caller, name string, input json.RawMessage) (*protocol.ToolStarted, error) {
	if input = bytes.TrimSpace(input); len(input) == 0 {
		input = json.RawMessage("{}")
	} else if input[0] != '{' {
		return nil, protocol.About("input", "", protocol.CodeInvalidRequest, "The field input is not a JSON object.")
	}
	for {
		started, err := l.tryTool(ctx, c, name, input)
		if !errors.Is(err, errAgain) {
			return started, err
		}
	}
}

func (l *Lane) tryTool(ctx context.Context, c Caller, name string, input json.RawMessage) (*protocol.ToolStarted, error) {
	var meta protocol.Meta
	err := l.j.When(ctx, func() (<-chan struct{}, error) {
		if err := l.j.Writable(); err != nil {
			return nil, err
		}
		return l.j.Ending(), nil
	}, func() error {
		if l.course.turn != nil {
			return protocol.Errorf(protocol.CodeRuntimeBusy, "A turn is running in this session; run the tool when it has ended, or in another session.")
		}
		meta = l.j.Meta()
		return l.mayBegin()
	})
	if err != nil {
		return nil, err
	}
	config, err := l.ready(ctx, meta, nil, func(ctx context.Context, meta protocol.Meta, _ *protocol.TurnOptions) (*TurnConfig, error) {
		return l.cfg.Turns.CallConfig(ctx, meta)
	})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(config.Tools, func(t tool.Tool) bool { return t.Spec().Name == name }) {
		config.Close()
		return nil, protocol.About("toolName", "", protocol.CodeInvalidRequest, "There is no tool %.80q that a program can run here: there are %s.", name, strings.Join(tool.Names(config.Tools), ", "))
	}
	started, ticket, t, err := l.startTool(ctx, c, config, runtime.Foreign{
		Block:  protocol.Block{Type: protocol.BlockToolUse, ID: "call_" + string(protocol.NewItemID(l.cfg.Rand))[4:], Name: name, Input: input},
		Result: protocol.NewEventID(l.cfg.Rand)})
	if err != nil {
		config.Close()
		return nil, err
	}
	if err = ticket.Wait(ctx); err == nil {
		t.awaitAnnounced(ctx)
	}
	return started, err
}

// startTool appends who calls the tool, and starts the turn of the call.
func (l *Lane) startTool(ctx context.Context, c Caller, config *TurnConfig, call runtime.Foreign) (*protocol.ToolStarted, *publish.Ticket, *turn, error) {
	l.j.Lock()
	defer l.j.Unlock()
	if err := l.free(); err != nil {
		return nil, nil, nil, err
	}
	t, err := l.newTurn(ctx, config)
	if err != nil {
		return nil, nil, nil, err
	}
	t.foreign = true
	ticket, err := l.openTool(ctx, c, t, call)
	if err != nil {
		t.cancel(err)
		return nil, nil, nil, err
	}
	return &protocol.ToolStarted{EventID: call.Result, TurnID: t.ID}, ticket, t, nil
}

// openTool appends what waits and the message before the call, and starts the turn. The
// journal is locked.
func (l *Lane) openTool(ctx context.Context, c Caller, t *turn, call runtime.Foreign) (ticket *publish.Ticket, err error) {
	data, err := json.Marshal(protocol.ToolCallRun{EventID: call.Result, TurnID: t.ID, ToolName: call.Block.Name})
	if err != nil {
		return nil, err
	}
	if _, err := l.appendWaiting(ctx); err != nil {
		return nil, err
	}
	body := &protocol.CustomMessage{Kind: protocol.ToolCallKind, Data: data, Message: protocol.UserText(fmt.Sprintf(
		"Another program ran the tool %s in this session. You did not call it, and nobody here asked for it; the call and its result follow.", promptsafe.Escape(call.Block.Name)))}
	l.j.Publisher().Together(func() { // whoever sees the message stored sees its turn run
		if _, ticket, err = l.j.Append(ctx, body, c.Author()); err == nil {
			l.start(t, protocol.RuntimeStart{}, runtime.Call(call))
		}
	})
	return ticket, err
}

// unasked is what the caller of a call is told that people would be asked about.
func unasked(v permission.Verdict) string {
	text := "Not run: " + v.Reason + " Nobody is asked about calls of other programs."
	var rules []string
	for _, s := range v.Suggestions {
		if s.Rule != "" && !slices.Contains(rules, s.Rule) {
			rules = append(rules, s.Rule)
		}
	}
	if len(rules) == 0 {
		return text + " No rule can allow it, so a person has to run it."
	}
	return text + " To allow it, add a rule to permissions.allow in ~/.scorel/config.toml, such as " + strings.Join(rules, " or ") + "."
}
