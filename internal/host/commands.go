package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"scorel/internal/engine/command"
	"scorel/internal/engine/discovery"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/trust"
	"scorel/internal/host/lane"
	"scorel/internal/platform/workspace"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// Bounds of the shell lines of a template.
const (
	shellTime    = 30              // seconds of one line
	allShellTime = 2 * time.Minute // of all, without the waiting for answers
	maxInPlace   = 200             // characters of a line that stands in its place as it is; a longer output is marked
)

// commandRun is somebody who lists or runs slash commands of a folder, or of a
// session.
type commandRun struct {
	h         *Host
	l         *lane.Lane // nil: nothing can be run
	by        lane.Caller
	dir, root string
	busy      lane.WhenBusy
	options   *protocol.TurnOptions
}

// commandsOf gives who runs commands of a session, or, without one, lists those of a
// folder.
func (h *Host) commandsOf(l *lane.Lane, by lane.Caller, workDir string) (*commandRun, error) {
	if l != nil {
		workDir = l.Meta().WorkDir
	}
	dir, err := h.lookedAt(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	return &commandRun{h: h, l: l, by: by, dir: dir, root: root}, nil
}

// registry gives the commands of all sources.
func (c *commandRun) registry() command.Registry {
	r := command.Registry{builtins{c}, templates{c}, skillCommands{c}}
	if c.l != nil {
		r = append(r, extensionCommands{c, c.h.extensionsOf(c.l.ID())})
	}
	return r
}

func (h *Host) listCommands(ctx context.Context, l *lane.Lane, by lane.Caller, workDir string) (*protocol.CommandList, error) {
	c, err := h.commandsOf(l, by, workDir)
	if err != nil {
		return nil, err
	}
	return c.registry().List(ctx), nil
}

func (h *Host) completeCommand(ctx context.Context, l *lane.Lane, by lane.Caller, r *protocol.CompleteCommand) (*protocol.CompletionList, error) {
	c, err := h.commandsOf(l, by, "")
	if err != nil {
		return nil, err
	}
	return c.registry().Complete(ctx, r.Name, r.Args)
}

func (h *Host) runCommand(ctx context.Context, l *lane.Lane, by lane.Caller, r *protocol.RunCommand) (*protocol.CommandResult, error) {
	c, err := h.commandsOf(l, by, "")
	if err != nil {
		return nil, err
	}
	c.busy, c.options = lane.WhenBusy(r.WhenBusy), r.Options
	return c.registry().Run(ctx, r.Name, r.Args)
}

// send sends the text that a command became.
func (c *commandRun) send(ctx context.Context, text, model, status string) (*protocol.CommandResult, error) {
	m := lane.Message{Content: []protocol.Block{protocol.Text(text)}, Busy: c.busy, Options: c.options}
	if model != "" && (m.Options == nil || m.Options.Model == "") {
		var options protocol.TurnOptions
		if m.Options != nil {
			options = *m.Options
		}
		options.Model = model
		m.Options, m.Busy = &options, lane.BusyReject
	}
	sent, err := c.l.Send(ctx, c.by, m)
	if pe := (*protocol.Error)(nil); model != "" && errors.As(err, &pe) && pe.Code == protocol.CodeRuntimeBusy {
		return nil, protocol.Errorf(protocol.CodeRuntimeBusy, "A turn is running, and this command begins one with the model %s; send it again when the turn has ended.", model)
	}
	if err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Sent: sent, Status: status}, nil
}

// templates are the commands in Markdown files.
type templates struct{ *commandRun }

func (c templates) find(ctx context.Context) ([]command.Template, []string) {
	list, warning := c.h.placesOf("commands", c.dir, c.root, ".claude")
	found, problems := c.h.templates.Find(ctx, list)
	if warning != "" {
		problems = append(problems, warning)
	}
	return found, problems
}

// List implements [command.Source].
func (c templates) List(ctx context.Context) (out []protocol.CommandInfo, problems []string) {
	found, problems := c.find(ctx)
	for _, t := range found {
		info := protocol.CommandInfo{Name: t.Name, Description: t.Description, ArgumentHint: t.ArgumentHint, Source: protocol.CommandTemplate,
			Origin: t.Path, Scope: string(t.Place.Scope), Refused: t.Problem}
		if info.Refused == "" && t.Shell && t.Place.Scope == discovery.Project {
			if _, trusted, err := c.read(t); err != nil || !trusted {
				info.Refused = notTrusted(t)
			}
		}
		out = append(out, info)
	}
	return out, problems
}

func notTrusted(t command.Template) string {
	if t.Trusted() == "" {
		return "It has shell lines, and only commands in the top folder of a project can be trusted; move it there, or to your own commands."
	}
	return "Its shell lines are not trusted as they are now; scorel trust shows them."
}

// read gives the content of a template as it is now, and whether its shell lines may
// run.
func (c templates) read(t command.Template) (data []byte, trusted bool, err error) {
	if name := t.Trusted(); name != "" {
		data, trusted, _, err = c.h.trust.Read(c.root, trust.KindCommand, name, command.MaxFile)
		if err == nil && data == nil {
			err = fmt.Errorf("%s is gone", t.Path)
		}
		return data, trusted, err
	}
	real, err := t.Place.Resolve(filepath.Base(t.Path), c.h.cfg.Dir)
	if err != nil {
		return nil, false, fmt.Errorf("%s %w", t.Path, err)
	}
	content, err := discovery.Read(filepath.Dir(real), filepath.Base(real), command.MaxFile)
	if err != nil {
		return nil, false, fmt.Errorf("%s %w", t.Path, err)
	}
	return content.Data, t.Place.Scope != discovery.Project, nil
}

// Complete implements [command.Source].
func (templates) Complete(context.Context, string, string) ([]protocol.Completion, error) {
	return nil, nil
}

// Run implements [command.Source].
func (c templates) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	found, _ := c.find(ctx)
	for _, t := range found {
		if t.Name == name {
			return c.expand(ctx, t, args)
		}
	}
	return nil, protocol.About("name", "", protocol.CodeInvalidRequest, "The command /%s is gone.", name)
}

func (c templates) expand(ctx context.Context, t command.Template, typed string) (*protocol.CommandResult, error) {
	data, trusted, err := c.read(t)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	body, err := command.ReadBody(data)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s: %s.", t.Path, err)
	}
	if body.Shell() && !trusted {
		return nil, protocol.Errorf(protocol.CodeForbidden, "/%s cannot be run: %s", t.Name, notTrusted(t))
	}
	args, err := command.ParseArgs(typed)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodePayloadTooLarge, "%s.", sentence(err))
	}
	var ran []string
	run, done := c.shell(&ran)
	defer done()
	text, err := body.Expand(ctx, args, run)
	if err != nil {
		var pe *protocol.Error
		if !errors.As(err, &pe) {
			pe = protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
		}
		return nil, c.afterShell(ctx, ran, pe)
	}
	if t.Place.Scope == discovery.Project && text != "" {
		// Who typed it vouches for the wish, not for every word of the project's file.
		text = promptsafe.Text("project-command", fmt.Sprintf(" name=%q path=%q", t.Name, t.Path), text)
	}
	status := ""
	if len(ran) > 0 {
		status = "ran " + strings.Join(ran, ", ")
	}
	sent, err := c.send(ctx, text, t.Model, status)
	if err != nil {
		return nil, c.afterShell(ctx, ran, err)
	}
	return sent, nil // the message names the request
}

// afterShell gives the error of a template; where shell lines of it have run, its
// request has acted.
func (c templates) afterShell(ctx context.Context, ran []string, err error) error {
	if len(ran) == 0 {
		return err
	}
	return &actedError{errors.Join(err, c.acted(ctx, "", err))}
}

// shell gives what runs the shell lines of a template, each as the tool Bash would:
// judged by the rules, in the sandbox, with its bounds. A line that the rules ask for
// is put to the attached people. Done releases what it needed.
func (c templates) shell(ran *[]string) (run command.Run, done func()) {
	var setup *lane.Setup
	var spent time.Duration
	run = func(ctx context.Context, line string) (string, error) {
		if setup == nil {
			var err error
			if setup, err = c.h.setupOf(c.l.Log())(ctx, c.l.Meta(), c.options); err != nil {
				return "", err
			}
		}
		left := allShellTime - spent
		if left <= 0 {
			return "", fmt.Errorf("the shell lines took more than %v together, so %q was not run", allShellTime, line)
		}
		ctx, cancel := context.WithTimeout(ctx, left+setup.AskTimeout+time.Minute)
		defer cancel()
		out, took, err := c.runLine(ctx, setup, line, func() error {
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
	return run, func() {
		if setup != nil {
			setup.Close()
		}
	}
}

// runLine runs one shell line and gives its output. Begins is called before it does
// anything, once it may.
func (c templates) runLine(ctx context.Context, setup *lane.Setup, line string, begins func() error) (string, time.Duration, error) {
	input, err := json.Marshal(map[string]any{"command": line, "timeout_seconds": shellTime})
	if err != nil {
		return "", 0, err
	}
	env := setup.Env
	env.Dir, env.Seen = tool.NewDir(setup.WorkDir), tool.NewSeen(nil)
	call, err := tool.Shell().Prepare(ctx, &env, tool.Call{Input: input})
	if err != nil {
		return "", 0, err
	}
	defer call.Close()
	if err := c.permit(ctx, setup, call.Action(), line); err != nil {
		return "", 0, err
	}
	if err := begins(); err != nil {
		return "", 0, err
	}
	began := c.h.cfg.Now()
	result, err := call.Run(ctx, nil)
	took := c.h.cfg.Now().Sub(began)
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

// permit says why a shell line may not run, if so. Where the rules ask, people do.
func (c templates) permit(ctx context.Context, setup *lane.Setup, a permission.Action, line string) error {
	v, err := c.l.Judge(setup, c.options, a)
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
	yes, ok := c.l.AskApart(ctx, protocol.Dialog{Kind: protocol.DialogConfirm, Source: "a command", Title: "Run this shell line of a command?", Message: line + "\n\n" + v.Reason}, setup.AskTimeout)
	switch {
	case !ok:
		return refused(v.Reason + " Nobody answered; allow it with a permission rule, such as Bash(" + line + ").")
	case string(yes) != "true":
		return refused("A person refused it.")
	}
	return nil
}

// skillCommands are the skills as commands: /name puts what the skill says into the
// conversation.
type skillCommands struct{ *commandRun }

// List implements [command.Source].
func (c skillCommands) List(ctx context.Context) (out []protocol.CommandInfo, problems []string) {
	found := c.h.findSkills(ctx, c.dir, c.root)
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
	set, _ := c.h.skillSet(ctx, c.dir, c.root)
	text, err := set.Text(name, args)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	return c.send(ctx, "Use the skill "+name+".\n\n"+text, "", "")
}

// handleCommands registers the handlers of this file's requests.
func (h *Host) handleCommands(t handlers) {
	inSession(t, func(ctx context.Context, at *target, r *protocol.ListCommands) (protocol.Response, error) {
		if at.lane == nil {
			return h.listCommands(ctx, nil, at.by, r.WorkDir)
		}
		return h.listCommands(ctx, at.lane, at.by, "")
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.CompleteCommand) (protocol.Response, error) {
		return h.completeCommand(ctx, at.lane, at.by, r)
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.RunCommand) (protocol.Response, error) {
		return h.runCommand(ctx, at.lane, at.by, r)
	})
}
