package hook

import (
	"context"
	"fmt"
)

// UserCommand is a command that a person runs in the project.
type UserCommand struct {
	Command   string
	Dir       string // in which it begins
	InContext bool   // the model is told of it
}

// UserCommandDecision is what a hook says of it. Deny keeps it from running, with Reason
// for the person. Result answers it in its place.
type UserCommandDecision struct {
	Deny   bool
	Reason string
	Result *UserCommandResult
}

// UserCommandResult is what is shown as the output of a command that did not run itself.
type UserCommandResult struct {
	Output    string
	ExitCode  *int
	Cancelled bool
}

// UserCommandAnswer is what all subscribers together say of it. From names who decided.
type UserCommandAnswer struct {
	UserCommandDecision
	From string
}

// AsksUserCommands reports whether a subscriber is asked of commands of people.
func (c *Chain) AsksUserCommands() bool {
	if c == nil {
		return false
	}
	for i := range c.subscribers {
		if c.subscribers[i].UserCommand != nil {
			return true
		}
	}
	return false
}

// UserCommand asks before a command of a person runs. The first that refuses or answers it
// ends the chain; who fails refuses it. The error is that of ctx.
func (c *Chain) UserCommand(ctx context.Context, command UserCommand) (UserCommandAnswer, error) {
	var a UserCommandAnswer
	err := c.each(ctx, "userCommand", func(s *Subscriber) bool { return s.UserCommand != nil }, func(s *Subscriber) (bool, error) {
		var d UserCommandDecision
		err := safely(func() (err error) {
			d, err = s.UserCommand(ctx, command)
			return err
		})
		switch {
		case err != nil:
			a.From, a.Deny, a.Reason = s.Name, true, "it failed: "+sentence(err)
			return false, nil
		case d.Deny || d.Result != nil:
			a.UserCommandDecision, a.From = d, s.Name
			if d.Deny && d.Reason == "" {
				a.Reason = "it gives no reason"
			}
			return false, nil
		}
		return true, nil
	})
	return a, err
}

// Refusal says that a command was not run, for people and for the model.
func (a UserCommandAnswer) Refusal() error { return fmt.Errorf("%s refused it: %s", a.From, a.Reason) }
