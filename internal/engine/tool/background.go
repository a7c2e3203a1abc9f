package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"scorel/internal/engine/background"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

const (
	beginTime  = time.Second // for the first output of a background command
	beginChars = 4000        // of it
)

// errNoTasks says that background commands do not exist here.
var errNoTasks = errors.New("there are no background commands here; run the command without run_in_background")

// start starts the command in the background and returns how it begins. A call
// that is cancelled while it looks at that ends the command.
func (c *bashCall) start(ctx context.Context) (Result, error) {
	tasks := c.tool.tasks
	if tasks == nil {
		return Result{}, errNoTasks
	}
	guard := newGuard(c.tool.files, c.tool.protected, c.id)
	after := func() string { return guard.end().untold() }
	id, err := tasks.Start(c.tool.spawn, background.Spec{Command: c.command, CallID: c.id, Tool: bashInfo.Name, Limit: c.timeout, After: after, Cmd: sandbox.Cmd{
		Path: "bash", Args: []string{"--noprofile", "--norc", "-c", c.command}, Dir: c.dir, Env: c.environ()}})
	if err != nil {
		guard.end()
		return Result{}, c.notStarted(ctx, err)
	}
	begun, err := tasks.Begin(ctx, id, beginTime, beginChars)
	if err != nil {
		stopped, serr := tasks.Stop(context.WithoutCancel(ctx), id, background.ToModel)
		if serr != nil {
			return Result{}, serr
		}
		r := textResult(fmt.Sprintf("The command had begun as %s and %s.", id, stopped.How))
		r.IsError, r.Details, r.Process = true, protocol.ToolDetails{TaskID: id, ExitCode: stopped.Info.ExitCode, Cancelled: true}, stopped.Process
		return r, nil
	}
	notes := []string{"runs in the background as " + id}
	switch {
	case begun.How != "":
		notes = []string{id + " " + begun.How}
	case begun.Cut:
		notes = append(notes, "TaskOutput gives what it has printed since")
	}
	if c.gone != "" {
		notes = append(notes, fmt.Sprintf("the working directory %s is gone; this runs in %s", c.gone, c.tool.files.Root()))
	}
	return taskResult(begun, "no output yet", notes), nil
}

// everyLine is the pattern of a monitor of all lines that are not empty.
var everyLine = regexp.MustCompile(".")

// Watched returns a call of [Shell] that starts its command in the background, in tasks,
// with a monitor of every line. It does not wait for output. After is called when nothing
// of the command runs any more, or has started.
func Watched(call Prepared, tasks *background.Set, after func()) (Prepared, error) {
	c, ok := call.(*bashCall)
	if !ok {
		return nil, errors.New("only commands of the shell can be watched")
	}
	return watchedCall{c, tasks, after}, nil
}

type watchedCall struct {
	*bashCall
	tasks *background.Set
	after func()
}

// Run implements [Prepared].
func (c watchedCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	guard := newGuard(c.tool.files, c.tool.protected, c.id)
	after := func() string {
		defer c.after()
		return guard.end().untold()
	}
	id, err := c.tasks.Start(c.tool.spawn, background.Spec{Command: c.command, Tool: bashInfo.Name, After: after, Watch: everyLine, Description: "a monitor that the user started",
		Cmd: sandbox.Cmd{Path: "bash", Args: []string{"--noprofile", "--norc", "-c", c.command}, Dir: c.dir, Env: c.environ()}})
	if err != nil {
		guard.end()
		c.after()
		return Result{}, c.notStarted(ctx, err)
	}
	r := textResult("[runs in the background as " + id + "; the model is told of each line that it prints, and /tasks shows it]")
	r.Details = protocol.ToolDetails{TaskID: id}
	return r, nil
}

// taskResult returns output with notes after it; none is what says that there is
// no output. A command that failed by itself is an error.
func taskResult(r background.Reading, none string, notes []string) Result {
	text := r.Text
	if text == "" {
		notes = append([]string{none}, notes...)
	} else if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	res := textResult(text + "[" + strings.Join(notes, "; ") + "]")
	res.Details, res.Process = protocol.ToolDetails{TaskID: r.Info.TaskID, ExitCode: r.Info.ExitCode}, r.Process
	res.IsError = r.Info.State == protocol.TaskExited && r.Info.ExitCode != nil && *r.Info.ExitCode != 0
	return res
}

// standing says the state of a command: how it ended, or for how long it has run.
func standing(r background.Reading, now time.Time) string {
	if r.Info.State != protocol.TaskRunning {
		return r.Info.TaskID + " " + r.How
	}
	return fmt.Sprintf("%s has been running for %s", r.Info.TaskID, now.Sub(time.UnixMilli(r.Info.StartedAt)).Round(time.Second))
}
