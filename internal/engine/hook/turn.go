package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/protocol"
)

// PromptAnswer is what all subscribers together say of a message. From names who
// refused or handled it.
type PromptAnswer struct {
	Denied  bool
	Reason  string
	Handled bool
	From    string
	Content []protocol.Block // what is stored
	Notes   []Note
}

// SessionStart asks at the start of a session. The error is that of ctx.
func (c *Chain) SessionStart(ctx context.Context, start SessionStart) (notes []Note, err error) {
	err = c.each(ctx, "sessionStart", func(s *Subscriber) bool { return s.SessionStart != nil }, func(s *Subscriber) (bool, error) {
		text, err := s.SessionStart(ctx, start)
		if text != "" && err == nil {
			notes = append(notes, Note{s.Name, text})
		}
		return true, err
	})
	return notes, err
}

// Prompt asks with a message; each subscriber sees the content that those before it
// left. The first that refuses or handles it ends the chain. The error is that of ctx.
func (c *Chain) Prompt(ctx context.Context, p Prompt) (PromptAnswer, error) {
	var a PromptAnswer
	err := c.each(ctx, "prompt", func(s *Subscriber) bool { return s.Prompt != nil }, func(s *Subscriber) (bool, error) {
		d, err := s.Prompt(ctx, p)
		if err != nil {
			return true, err
		}
		if d.Context != "" {
			a.Notes = append(a.Notes, Note{s.Name, d.Context})
		}
		switch {
		case d.Verdict == Deny:
			a.Denied, a.From, a.Reason = true, s.Name, d.Reason
			return false, nil
		case d.Handled:
			a.Handled, a.From = true, s.Name
			return false, nil
		}
		if len(d.Content) > 0 {
			p.Content = d.Content
		}
		return true, nil
	})
	a.Content = p.Content
	return a, err
}

// AgentAnswer is what all subscribers together add to a turn. SystemFrom names who
// gave another system prompt last.
type AgentAnswer struct {
	Messages   []protocol.CustomMessage
	System     string
	SystemFrom string
	Notes      []Note
}

// BeforeAgent asks when a turn begins; each subscriber sees the system prompt that
// those before it left. The error is that of ctx.
func (c *Chain) BeforeAgent(ctx context.Context, p Prompt, system string) (AgentAnswer, error) {
	a := AgentAnswer{System: system}
	err := c.each(ctx, "beforeAgent", func(s *Subscriber) bool { return s.BeforeAgent != nil }, func(s *Subscriber) (bool, error) {
		d, err := s.BeforeAgent(ctx, p, a.System)
		if err != nil {
			return true, err
		}
		if d.Message != nil {
			a.Messages = append(a.Messages, *d.Message)
		}
		if d.System != nil && *d.System != a.System {
			a.System, a.SystemFrom = *d.System, s.Name
		}
		if d.Context != "" {
			a.Notes = append(a.Notes, Note{s.Name, d.Context})
		}
		return true, nil
	})
	return a, err
}

// Stop asks when a turn would end; a text says what the model is to go on with. The
// error is that of ctx.
func (c *Chain) Stop(ctx context.Context, stop Stop) (string, error) {
	var texts []string
	err := c.each(ctx, "stop", func(s *Subscriber) bool { return s.Stop != nil }, func(s *Subscriber) (bool, error) {
		text, err := s.Stop(ctx, stop)
		if text != "" && err == nil {
			texts = append(texts, text)
		}
		return true, err
	})
	return strings.Join(texts, "\n\n"), err
}

// CompactAnswer is what all subscribers together say of a compaction.
type CompactAnswer struct {
	Cancelled    bool
	Reason       string
	From         string
	Summary      string
	Instructions string
}

// BeforeCompact asks before a compaction. The first that cancels it or gives its
// summary ends the chain. The error is that of ctx.
func (c *Chain) BeforeCompact(ctx context.Context, compaction Compaction) (CompactAnswer, error) {
	a := CompactAnswer{Instructions: compaction.Instructions}
	err := c.each(ctx, "beforeCompact", func(s *Subscriber) bool { return s.BeforeCompact != nil }, func(s *Subscriber) (bool, error) {
		compaction.Instructions = a.Instructions
		d, err := s.BeforeCompact(ctx, compaction)
		if err != nil {
			return true, err
		}
		if d.Instructions != nil {
			a.Instructions = *d.Instructions
		}
		switch {
		case d.Cancel:
			a.Cancelled, a.From, a.Reason = true, s.Name, d.Reason
			return false, nil
		case d.Summary != "":
			a.Summary, a.From = d.Summary, s.Name
			return false, nil
		}
		return true, nil
	})
	return a, err
}

// MoveAnswer is what all subscribers together say of a move.
type MoveAnswer struct {
	Cancelled bool
	Reason    string
	From      string
	Label     string
}

// BeforeMove asks before a rewind or a change of branch. The first that refuses it
// ends the chain; of several labels the last counts. The error is that of ctx.
func (c *Chain) BeforeMove(ctx context.Context, m Move) (MoveAnswer, error) {
	var a MoveAnswer
	err := c.each(ctx, "beforeMove", func(s *Subscriber) bool { return s.BeforeMove != nil }, func(s *Subscriber) (bool, error) {
		d, err := s.BeforeMove(ctx, m)
		if err != nil {
			return true, err
		}
		if d.Cancel {
			a.Cancelled, a.From, a.Reason = true, s.Name, d.Reason
			return false, nil
		}
		if d.Label != "" {
			a.Label = d.Label
		}
		return true, nil
	})
	return a, err
}

// BeforeRequest asks with the payload of a request to a provider and returns the one
// to send; by names who replaced it. The error is that of ctx.
func (c *Chain) BeforeRequest(ctx context.Context, payload json.RawMessage) (_ json.RawMessage, by []string, err error) {
	err = c.each(ctx, "beforeRequest", func(s *Subscriber) bool { return s.BeforeRequest != nil }, func(s *Subscriber) (bool, error) {
		got, err := s.BeforeRequest(ctx, payload)
		if err != nil || got == nil {
			return true, err
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(got, &object); err != nil || object == nil {
			return true, fmt.Errorf("the payload that it gave is not a JSON object")
		}
		payload, by = got, append(by, s.Name)
		return true, nil
	})
	return payload, by, err
}

// AfterResponse tells what a provider answered.
func (c *Chain) AfterResponse(ctx context.Context, status int, headers map[string]string) {
	_ = c.each(ctx, "afterResponse", func(s *Subscriber) bool { return s.AfterResponse != nil }, func(s *Subscriber) (bool, error) {
		s.AfterResponse(ctx, status, headers)
		return true, nil
	})
}
