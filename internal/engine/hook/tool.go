package hook

import (
	"context"
	"encoding/json"
	"fmt"
)

// ToolAnswer is what all subscribers together say before a call. From names who
// decided.
type ToolAnswer struct {
	Verdict Verdict // Allow only of somebody whose allow counts
	Reason  string
	From    string
	Input   json.RawMessage // nil: as it was
	Result  *ToolResult
	Notes   []Note
}

// BeforeTool asks before a call. Each subscriber sees the input that those before it
// left. The first that denies, or answers finally, ends the chain; who fails denies,
// unless it is to fail open. An ask beats an allow, and an allow of a subscriber whose
// input another has changed since is none. The error is that of ctx.
func (c *Chain) BeforeTool(ctx context.Context, call ToolCall) (ToolAnswer, error) {
	var a ToolAnswer
	err := c.each(ctx, "beforeToolCall", func(s *Subscriber) bool { return s.BeforeTool != nil }, func(s *Subscriber) (bool, error) {
		var d ToolDecision
		err := safely(func() (err error) {
			d, err = s.BeforeTool(ctx, call)
			return err
		})
		if err == nil {
			err = d.check()
		}
		switch {
		case err != nil && s.FailOpen:
			return true, err
		case err != nil:
			if ctx.Err() == nil {
				a.Verdict, a.From = Deny, s.Name
				a.Reason = fmt.Sprintf("%s failed, so this call was not run: %s", s.Name, sentence(err))
				what := s.called("beforeToolCall")
				c.tell(s, what, fmt.Sprintf("%s failed at %s, so the call of %s was not run: %s", s.Name, what, call.Name, forPeople(err)))
			}
			return false, nil
		}
		if d.Context != "" {
			a.Notes = append(a.Notes, Note{s.Name, d.Context})
		}
		if d.Verdict == Deny {
			a.Verdict, a.From, a.Reason = Deny, s.Name, d.Reason
			if a.Reason == "" {
				a.Reason = fmt.Sprintf("%s blocked this call.", s.Name)
			}
			return false, nil
		}
		if d.Result != nil {
			a.Result, a.From = d.Result, s.Name
			return false, nil
		}
		if d.Input != nil {
			a.Input, call.Input = d.Input, d.Input
			if a.Verdict == Allow {
				a.Verdict, a.From, a.Reason = Continue, "", ""
			}
		}
		switch {
		case d.Verdict == Ask && a.Verdict != Ask, d.Verdict == Allow && a.Verdict == Continue && s.Scope.decides():
			a.Verdict, a.From, a.Reason = d.Verdict, s.Name, d.Reason
		}
		return true, nil
	})
	return a, err
}

// check returns why a decision cannot be carried out.
func (d *ToolDecision) check() error {
	switch d.Verdict {
	case Continue, Allow, Ask, Deny:
	default:
		return fmt.Errorf("its decision is %.40q; it can be allow, ask or deny", string(d.Verdict))
	}
	if d.Input == nil {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(d.Input, &object); err != nil || object == nil {
		return fmt.Errorf("the input that it gave is not a JSON object")
	}
	return nil
}

// AfterTool asks with a result; each subscriber sees what those before it left. The
// error is that of ctx.
func (c *Chain) AfterTool(ctx context.Context, call ToolCall, result ToolResult) (ToolResult, []Note, error) {
	var notes []Note
	err := c.each(ctx, "afterToolCall", func(s *Subscriber) bool { return s.AfterTool != nil }, func(s *Subscriber) (bool, error) {
		p, err := s.AfterTool(ctx, call, result)
		if err != nil {
			return true, err
		}
		if p.Details != nil && !json.Valid(p.Details) {
			return true, fmt.Errorf("the details that it gave are not JSON")
		}
		if p.Content != nil {
			result.Content = p.Content
		}
		if p.Details != nil {
			result.Details = p.Details
		}
		if p.IsError != nil {
			result.IsError = *p.IsError
		}
		if p.Context != "" {
			notes = append(notes, Note{s.Name, p.Context})
		}
		return true, nil
	})
	return result, notes, err
}
