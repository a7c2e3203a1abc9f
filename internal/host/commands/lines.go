package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"scorel/internal/engine/command"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// Bounds of the shell lines of a template.
const (
	shellTime    = 30              // seconds of one line
	allShellTime = 2 * time.Minute // of all, without the waiting for answers
	maxInPlace   = 200             // characters of a line that is in its place as it is; a longer output is marked
)

// afterShell returns the error of a template; where shell lines of it have run, its
// request has acted.
func (c templates) afterShell(ctx context.Context, ran []string, err error) error {
	if len(ran) == 0 {
		return err
	}
	return &failure.Acted{Err: errors.Join(err, c.acted(ctx, "", err))}
}

// turnConfig returns what makes the turn ready that the template begins, once, and what
// releases it.
func (c templates) turnConfig() (config func(context.Context) (*lane.TurnConfig, error), done func()) {
	var made *lane.TurnConfig
	config = func(ctx context.Context) (_ *lane.TurnConfig, err error) {
		if made == nil {
			made, err = c.cs.turns.Of(c.l.Log())(ctx, c.l.Meta(), c.options)
		}
		return made, err
	}
	return config, func() {
		if made != nil {
			made.Close()
		}
	}
}

// shell returns what runs the shell lines of a template, each as the tool Bash would:
// judged by the rules, in the sandbox, with its bounds. A line that the rules ask for
// is put to the attached people.
func (c templates) shell(config func(context.Context) (*lane.TurnConfig, error), ran *[]string) command.Run {
	var spent time.Duration
	return func(ctx context.Context, line string) (string, error) {
		cfg, err := config(ctx)
		if err != nil {
			return "", err
		}
		left := allShellTime - spent
		if left <= 0 {
			return "", fmt.Errorf("the shell lines took more than %v together, so %q was not run", allShellTime, line)
		}
		ctx, cancel := context.WithTimeout(ctx, left+cfg.AskTimeout+time.Minute)
		defer cancel()
		out, took, err := c.runLine(ctx, cfg, line, func() error {
			if len(*ran) == 0 {
				if err := c.l.RecordRequest(ctx, c.by, lane.RequestRun{}); err != nil {
					return err
				}
			}
			*ran = append(*ran, line)
			return nil
		})
		spent += took
		return out, err
	}
}

// runLine runs one shell line and returns its output. Begins is called before it does
// anything, once it may.
func (c templates) runLine(ctx context.Context, cfg *lane.TurnConfig, line string, begins func() error) (string, time.Duration, error) {
	input, err := json.Marshal(map[string]any{"command": line, "timeout_seconds": shellTime})
	if err != nil {
		return "", 0, err
	}
	call, err := shellIn(cfg.Setting, cfg.WorkDir).Prepare(ctx, tool.Call{Input: input})
	if err != nil {
		return "", 0, err
	}
	defer call.Close()
	if err := c.permit(ctx, cfg, call.Action(), line); err != nil {
		return "", 0, err
	}
	if err := begins(); err != nil {
		return "", 0, err
	}
	began := c.cs.settings.Now()
	result, err := call.Run(ctx, nil)
	took := c.cs.settings.Now().Sub(began)
	if result.Full != nil {
		_ = result.Full.Close()
	}
	if err != nil {
		return "", took, err
	}
	text := protocol.Message{Content: result.Content}.PlainText()
	if d, ok := result.Details.(protocol.ToolDetails); ok && d.ExitCode != nil && *d.ExitCode == 0 {
		text = result.TextForPeople()
	}
	out := strings.TrimSpace(promptsafe.Clean(text))
	if !strings.Contains(out, "\n") && len([]rune(out)) <= maxInPlace {
		return promptsafe.Escape(out), took, nil
	}
	return promptsafe.Text("output", fmt.Sprintf(" command=%q", line), out), took, nil
}

// permit returns why a shell line may not run, if so. Where the rules ask, people do.
func (c templates) permit(ctx context.Context, cfg *lane.TurnConfig, a permission.Action, line string) error {
	v, err := c.l.Judge(cfg, c.options, a)
	if err != nil {
		return err
	}
	refused := func(why string) error {
		return protocol.Errorf(protocol.CodeForbidden, "The shell line %q was not run: %s", line, why)
	}
	switch v.Decision {
	case protocol.DecisionAllow:
		return nil
	case protocol.DecisionDeny:
		return refused(v.Reason)
	}
	yes, ok := c.l.Questions().DialogApart(ctx, protocol.Dialog{Kind: protocol.DialogConfirm, Source: "a command", Title: "Run this shell line of a command?", Message: line + "\n\n" + v.Reason}, cfg.AskTimeout)
	switch {
	case !ok:
		return refused(v.Reason + " Nobody answered; allow it with a permission rule, such as Bash(" + line + ").")
	case string(yes) != "true":
		return refused("A person refused it.")
	}
	return nil
}
