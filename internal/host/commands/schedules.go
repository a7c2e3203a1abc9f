package commands

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"scorel/internal/engine/command"
	"scorel/internal/engine/schedule/order"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/text/cell"
	"scorel/protocol"
	"scorel/protocol/display"
)

// loopEvery is how often /loop sends when nothing is said.
const loopEvery = "10m"

// scheduleCommands are the commands about schedules and their runs.
type scheduleCommands struct{ *commandRun }

// List implements [command.Source].
func (scheduleCommands) List(context.Context) ([]protocol.CommandInfo, []string) {
	c := func(name, hint, description string) protocol.CommandInfo {
		return protocol.CommandInfo{Name: name, ArgumentHint: hint, Description: description, Source: protocol.CommandBuiltin}
	}
	return []protocol.CommandInfo{
		c("autonomy", "[status|runs [N]|run cancel RUN]", "what the host does by itself, and its limits"),
		c("cron", "[create NAME --cron EXPRESSION --prompt TEXT|list|delete NAME]", "the same as /schedule"),
		c("loop", "[5m] PROMPT", "send a prompt now and then, every "+loopEvery+" unless you say another time"),
		c("schedule", "[add WHEN PROMPT|list|show|pause|resume|delete|run NAME]", "send a prompt at certain times"),
		c("triggers", "[create NAME --cron EXPRESSION --prompt TEXT|list|delete NAME]", "the same as /schedule"),
	}, nil
}

// Complete implements [command.Source].
func (scheduleCommands) Complete(context.Context, string, string) ([]protocol.Completion, error) {
	return nil, nil
}

// Run implements [command.Source].
func (c scheduleCommands) Run(ctx context.Context, name, args string) (*protocol.CommandResult, error) {
	switch name {
	case "loop":
		return c.loop(ctx, args)
	case "autonomy":
		return c.autonomy(command.Words(args))
	}
	words := command.Words(args)
	if len(words) == 0 {
		words = []string{"list"}
	}
	switch sub := words[0]; sub {
	case "add", "create":
		return c.add(ctx, words[1:])
	case "list", "show", "pause", "resume", "delete", "run":
		return c.of(ctx, sub, strings.Join(words[1:], " "))
	default:
		return nil, wrong("There is no /%s %.40s; it can be add, list, show, pause, resume, delete or run.", name, sub)
	}
}

// wrong is an error about what somebody typed after a command.
func wrong(format string, args ...any) error {
	return protocol.About("args", "", protocol.CodeInvalidRequest, format, args...)
}

// add makes a schedule of this session, or for sessions of its own.
func (c scheduleCommands) add(ctx context.Context, words []string) (*protocol.CommandResult, error) {
	var o order.Order
	f := pflag.NewFlagSet("schedule", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.SetInterspersed(true)
	o.Register(f)
	if err := f.Parse(words); err != nil {
		return nil, wrong("%s; it is /schedule add %s.", failure.Sentence(err), order.Usage)
	}
	r, err := o.Request(f.Args())
	if err != nil {
		return nil, wrong("%s.", failure.Sentence(err))
	}
	s, err := c.cs.automation.Create(ctx, c.by, protocol.SchedulePerson, c.l.ID(), r)
	if err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Status: "added: " + s.Words + next(s)}, nil
}

// next says when a schedule is due.
func next(s *protocol.Schedule) string {
	if s.NextAt == 0 {
		return ""
	}
	return ", next " + display.Instant(s.NextAt, time.Now())
}

// loop makes a schedule of this session and its first run.
func (c scheduleCommands) loop(ctx context.Context, args string) (*protocol.CommandResult, error) {
	r, err := order.LoopSchedule(args, loopEvery)
	if err != nil {
		return nil, wrong("%s.", failure.Sentence(err))
	}
	s, err := c.cs.automation.Create(ctx, c.by, protocol.SchedulePerson, c.l.ID(), r)
	if err != nil {
		return nil, err
	}
	if _, err := c.cs.automation.RunNow(ctx, lane.Caller{Client: c.by.Client, Request: c.by.Request}, s.ScheduleID); err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Status: "it is sent now and " + s.Words + "; /schedule delete " + short(string(s.ScheduleID)) + " ends it"}, nil
}

// short is the part of an id that is enough to name it.
func short(id string) string {
	_, rest, _ := strings.Cut(id, "_")
	return rest[:min(len(rest), 8)]
}

// of shows or changes schedules.
func (c scheduleCommands) of(ctx context.Context, sub, word string) (*protocol.CommandResult, error) {
	list, err := c.cs.automation.List("")
	if err != nil {
		return nil, err
	}
	if sub == "list" {
		return c.list(list)
	}
	s, err := order.Find(list, word)
	if err != nil {
		return nil, wrong("%s.", failure.Sentence(err))
	}
	a, did := c.cs.automation, ""
	switch sub {
	case "show":
		d, err := a.Get(s.ScheduleID)
		if err != nil {
			return nil, err
		}
		lines := display.ScheduleText(d, time.Now())
		if len(d.Runs) > 0 {
			lines = append(append(lines, "runs:"), runRows(d.Runs)...)
		}
		return &protocol.CommandResult{Text: strings.Join(lines, "\n")}, nil
	case "pause":
		_, err = a.Set(ctx, s.ScheduleID, true)
		did = "paused"
	case "resume":
		_, err = a.Set(ctx, s.ScheduleID, false)
		did = "armed"
	case "delete":
		err, did = a.Delete(s.ScheduleID, false), "deleted"
	case "run":
		_, err = a.RunNow(ctx, c.by, s.ScheduleID)
		did = "a run of it begins"
	}
	if err != nil {
		return nil, err
	}
	return &protocol.CommandResult{Status: display.ScheduleName(s) + ": " + did}, nil
}

// list shows schedules, those of this session first.
func (c scheduleCommands) list(list []protocol.Schedule) (*protocol.CommandResult, error) {
	st, err := c.cs.automation.Status()
	if err != nil {
		return nil, err
	}
	notices := st.Notices
	if st.Problem != "" {
		notices = append([]string{st.Problem}, notices...)
	}
	if len(list) == 0 {
		return &protocol.CommandResult{Status: "there are no schedules; /schedule add every 1h PROMPT makes one", Text: strings.Join(notices, "\n")}, nil
	}
	var rows [][]string
	for i := range list {
		rows = append(rows, display.ScheduleRow(&list[i], time.Now()))
	}
	lines := cell.Columns(rows)
	if len(notices) > 0 {
		lines = append(append(notices, ""), lines...)
	}
	return &protocol.CommandResult{Text: strings.Join(lines, "\n")}, nil
}

// runRows are runs, a line each.
func runRows(runs []protocol.ScheduleRun) []string {
	var rows [][]string
	for i := range runs {
		rows = append(rows, display.RunRow(&runs[i], time.Now()))
	}
	return cell.Columns(rows)
}

// autonomy shows what the host does by itself, or ends a run.
func (c scheduleCommands) autonomy(words []string) (*protocol.CommandResult, error) {
	a := c.cs.automation
	switch {
	case len(words) == 0, len(words) == 1 && words[0] == "status":
		st, err := a.Status()
		if err != nil {
			return nil, err
		}
		return &protocol.CommandResult{Text: strings.Join(display.AutomationText(st, time.Now()), "\n")}, nil
	case words[0] == "runs" && len(words) <= 2:
		limit := 20
		if len(words) == 2 {
			n, err := strconv.Atoi(words[1])
			if err != nil || n < 1 || n > protocol.MaxListedRuns {
				return nil, wrong("%.20q is not a number of runs; it can be 1 to %d.", words[1], protocol.MaxListedRuns)
			}
			limit = n
		}
		list, err := a.Runs(&protocol.ListRuns{Limit: limit})
		switch {
		case err != nil:
			return nil, err
		case len(list.Runs) == 0:
			return &protocol.CommandResult{Status: "there are no runs yet"}, nil
		}
		return &protocol.CommandResult{Text: strings.Join(runRows(list.Runs), "\n")}, nil
	case len(words) == 3 && words[0] == "run" && words[1] == "cancel":
		list, err := a.Runs(&protocol.ListRuns{Limit: protocol.MaxListedRuns})
		if err != nil {
			return nil, err
		}
		r, err := order.FindRun(list.Runs, words[2])
		if err != nil {
			return nil, wrong("%s.", failure.Sentence(err))
		}
		if _, err := a.Cancel(r.RunID, false); err != nil {
			return nil, err
		}
		return &protocol.CommandResult{Status: "the run is cancelled"}, nil
	}
	return nil, wrong("It is /autonomy, /autonomy runs [N], or /autonomy run cancel RUN.")
}
