package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/text/cell"
	"scorel/protocol"
	"scorel/protocol/display"
)

// jobUsage is what /job takes.
const jobUsage = "[list [--all]|new TEMPLATE [ARGUMENTS]|reply JOB TEXT|status JOB]"

// jobCommands is the command about jobs.
type jobCommands struct{ *commandRun }

// List implements [command.Source].
func (jobCommands) List(context.Context) ([]protocol.CommandInfo, []string) {
	return []protocol.CommandInfo{{Name: "job", ArgumentHint: jobUsage, Description: "start sessions from templates, and see how far they are",
		Source: protocol.CommandBuiltin, Completes: true}}, nil
}

// Complete implements [command.Source].
func (c jobCommands) Complete(ctx context.Context, _, args string) (out []protocol.Completion, err error) {
	sub, rest, more := strings.Cut(args, " ")
	switch {
	case !more:
		for _, word := range []string{"list", "new", "reply", "status"} {
			if strings.HasPrefix(word, sub) {
				out = append(out, protocol.Completion{Value: word})
			}
		}
	case sub == "new":
		list, err := c.cs.jobs.Templates(ctx, c.dir)
		if err != nil {
			return nil, err
		}
		for _, t := range list.Templates {
			if strings.HasPrefix(t.Name, rest) {
				out = append(out, protocol.Completion{Value: "new " + t.Name, Description: t.Description})
			}
		}
	}
	return out, nil
}

// Run implements [command.Source].
func (c jobCommands) Run(ctx context.Context, _, args string) (*protocol.CommandResult, error) {
	sub, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case sub == "" || sub == "list" && (rest == "" || rest == "--all"):
		return c.list(ctx, rest != "")
	case sub == "new" && rest != "":
		template, arguments, _ := strings.Cut(rest, " ")
		return c.create(ctx, template, strings.TrimSpace(arguments))
	case sub == "reply":
		if name, text := nameAndText(rest); name != "" && text != "" {
			return c.reply(ctx, name, text)
		}
	case sub == "status" && rest != "":
		s, err := c.find(ctx, strings.Trim(rest, `"`))
		if err != nil {
			return nil, err
		}
		return &protocol.CommandResult{Text: strings.Join(display.JobText(s, time.Now()), "\n")}, nil
	}
	return nil, wrong("It is /job %s.", jobUsage)
}

// nameAndText takes what was typed apart: a name, in quotes where it has blanks, and the text
// after it.
func nameAndText(typed string) (name, text string) {
	sep := " "
	if quoted, ok := strings.CutPrefix(typed, `"`); ok {
		typed, sep = quoted, `"`
	}
	name, text, _ = strings.Cut(typed, sep)
	return strings.TrimSpace(name), strings.TrimSpace(text)
}

func (c jobCommands) list(ctx context.Context, all bool) (*protocol.CommandResult, error) {
	templates, err := c.cs.jobs.Templates(ctx, c.dir)
	if err != nil {
		return nil, err
	}
	jobs, err := c.cs.jobs.List(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	table := func(title string, rows [][]string) {
		if len(rows) > 0 {
			lines = append(append(lines, title), cell.Columns(rows)...)
		}
	}
	var rows [][]string
	for i := range templates.Templates {
		rows = append(rows, display.JobTemplateRow(&templates.Templates[i]))
	}
	table("templates:", rows)
	rows = nil
	for i := range jobs {
		if all || display.JobActive(&jobs[i]) {
			rows = append(rows, display.JobRow(&jobs[i], time.Now()))
		}
	}
	table("jobs:", rows)
	lines = append(lines, templates.Problems...)
	status := ""
	switch {
	case len(templates.Templates) == 0 && len(rows) == 0:
		status = "there are no job templates; write one to ~/.scorel/templates/NAME.md"
	case len(rows) == 0 && !all:
		status = "no job works or waits; /job list --all shows those that are done or have failed"
	}
	return &protocol.CommandResult{Status: status, Text: strings.Join(lines, "\n")}, nil
}

// create makes a job in the folder of this session.
func (c jobCommands) create(ctx context.Context, template, arguments string) (*protocol.CommandResult, error) {
	meta := c.l.Meta()
	var made *protocol.SessionSummary
	status, err := c.acting(ctx, func() (string, error) {
		id := protocol.NewSessionID(c.cs.settings.Now(), c.cs.settings.Rand)
		var err error
		made, err = c.cs.jobs.Create(ctx, c.other(), id, &protocol.CreateJob{Template: template, Args: arguments, ProjectID: meta.ProjectID, WorkDir: meta.WorkDir, Options: c.options})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("started %s  %s", id, display.Line(made.Title())), nil
	})
	if err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Status: status, Text: strings.Join(made.Notices, "\n")}, nil
}

// other is who acts in another session than that of the command.
func (c jobCommands) other() lane.Caller {
	return lane.Caller{Client: c.by.Client, Request: c.by.Request, OnceOnly: c.by.OnceOnly}
}

func (c jobCommands) find(ctx context.Context, name string) (*protocol.SessionSummary, error) {
	list, err := c.cs.jobs.List(ctx)
	if err != nil {
		return nil, err
	}
	s, err := display.FindJob(list, name)
	if err != nil {
		return nil, wrong("%s.", failure.Sentence(err))
	}
	return s, nil
}

func (c jobCommands) reply(ctx context.Context, name, text string) (*protocol.CommandResult, error) {
	s, err := c.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if s.SessionID == c.l.ID() {
		return nil, wrong("This session is that job; type the message without /job.")
	}
	status, err := c.acting(ctx, func() (string, error) {
		sent, err := c.cs.jobs.Reply(ctx, c.other(), s.SessionID, text)
		if err != nil {
			return "", err
		}
		return display.Line(s.Title()) + ": " + display.JobReplied(sent), nil
	})
	if err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Status: status}, nil
}
