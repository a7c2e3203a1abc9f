package headless

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"scorel/client"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// EndBackground ends the background commands that the run has started and that
// still run, and notes them in its result.
func EndBackground(ctx context.Context, c *client.Client, res *Result) {
	ctx = context.WithoutCancel(ctx) // they end also when the run was given up
	list, err := client.Call[*protocol.TaskList](ctx, c, res.SessionID, &protocol.ListTasks{})
	if err != nil {
		return // the host ends them with the session
	}
	var wg sync.WaitGroup
	for _, t := range list.Tasks {
		if _, ours := res.calls[t.ToolCallID]; !ours || t.State != protocol.TaskRunning {
			continue
		}
		res.BackgroundEnded = append(res.BackgroundEnded, endedTask{TaskID: t.TaskID, Command: t.Command, Agent: t.Agent})
		wg.Go(func() { // ends within the grace that a process group has
			_, _ = client.Call[*protocol.TaskInfo](ctx, c, res.SessionID, &protocol.StopTask{TaskID: t.TaskID})
		})
	}
	wg.Wait()
}

// backgroundLine names what was ended.
func (r *Result) backgroundLine() string {
	names := make([]string, len(r.BackgroundEnded))
	what := "command"
	for i, t := range r.BackgroundEnded {
		names[i] = display.Line(plain.FirstLine(t.Command, 60))
		if t.Agent != "" {
			what = "agent"
		} else if what == "agent" {
			what = "task"
		}
	}
	if len(names) == 1 {
		return "a background " + what + " still ran and was ended: " + names[0]
	}
	return fmt.Sprintf("%d background "+what+"s still ran and were ended: %s", len(names), strings.Join(names, "; "))
}
