package display

import (
	"encoding/json"
	"fmt"
	"strings"

	"scorel/protocol"
)

// TaskEnd says in a few words how a background command ended, or the agent of that
// name; "" for one that runs. exitCode may be nil: it is not known.
func TaskEnd(state protocol.TaskState, agent string, exitCode *int, signal string) string {
	how := ""
	switch {
	case agent != "":
		if state == protocol.TaskExited && exitCode != nil && *exitCode != 0 {
			return "failed"
		}
	case signal != "":
		how = " by " + Line(signal)
	case exitCode != nil:
		how = fmt.Sprintf(" with exit code %d", *exitCode)
	}
	switch state {
	case protocol.TaskRunning, "":
		return ""
	case protocol.TaskStopped:
		return "was stopped" + how
	case protocol.TaskLost:
		return "was lost when the host was killed"
	case protocol.TaskTimedOut:
		return "was ended at its time limit" + how
	}
	return "ended" + how
}

// everyLine is the pattern of a monitor that tells each line.
const everyLine = "."

// taskTitle says in one line what a notice about a background command tells.
func taskTitle(item protocol.Item) (string, bool) {
	if item.Kind != protocol.ItemRuntimeNotice || item.Origin != protocol.OriginTool || len(item.Data) == 0 {
		return "", false
	}
	var n protocol.TaskNotice
	if json.Unmarshal(item.Data, &n) != nil || n.TaskID == "" {
		return "", false
	}
	name, command := Line(n.TaskID), ""
	if n.Command != "" { // last: it is what may be cut off
		command = " (" + shorten(Line(n.Command), 80) + ")"
	}
	switch end := TaskEnd(n.State, n.Agent, n.ExitCode, n.Signal); {
	case end != "":
		return name + " " + end + command, true
	case n.Lines > 0:
		title := "1 new line from " + name
		if n.Lines > 1 {
			title = fmt.Sprintf("%d new lines from %s", n.Lines, name)
		}
		if n.Pattern != everyLine {
			title += " (" + Line(n.Pattern) + ")"
		}
		if n.Command != "" {
			title += ": " + shorten(Line(n.Command), 80)
		}
		return title, true
	}
	return name + command, true
}

// dialog returns how a dialog is shown; of kinds that this version does not know,
// only that there is one.
func dialog(b *protocol.UIRequest) Item {
	item := Item{Kind: Question, ID: Line(b.UIID), ToolCallID: Line(b.Data.ToolCallID), Title: Line(b.Data.Kind)}
	var text []string
	for _, s := range []string{b.Data.Title, b.Data.Message} {
		if s != "" {
			text = append(text, Text(s))
		}
	}
	if b.Data.Kind == protocol.DialogPlan {
		text = append(text, Text(b.Data.Text))
	}
	for _, o := range b.Data.Options {
		text = append(text, "- "+Line(o.Label))
	}
	for _, q := range b.Data.Questions {
		line := Text(q.Question)
		if q.Multiple {
			line += " (several)"
		}
		text = append(text, line)
		for _, o := range q.Options {
			line = "- " + Line(o.Label)
			if o.Description != "" {
				line += ": " + Line(o.Description)
			}
			text = append(text, line)
		}
	}
	item.Text = strings.Join(text, "\n")
	return item
}
