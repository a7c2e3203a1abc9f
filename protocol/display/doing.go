package display

import (
	"cmp"
	"fmt"
	"time"

	"scorel/protocol"
)

// maxDoing bounds a line of [Doing] and [Asked], in characters.
const maxDoing = 120

// Doing returns in one line what a running turn does now, such as "Bash make test"; "" where
// none runs.
func Doing(l *protocol.Live) string {
	if !l.Running {
		return ""
	}
	if n := len(l.Tools); n > 0 {
		t := l.Tools[n-1]
		line := t.ToolName
		if t.Shell != nil {
			line = "! " + t.Shell.Command
		} else if what := Summary(t.ToolName, t.Args); what != "" {
			line += " " + what
		}
		if n > 1 {
			line += fmt.Sprintf(" (and %d more)", n-1)
		}
		return shorten(Line(line), maxDoing)
	}
	if r := l.Retry; r != nil {
		return shorten(Line(fmt.Sprintf("tries again in %v: %s", (time.Duration(r.DelayMS)*time.Millisecond).Round(time.Second), r.Error)), maxDoing)
	}
	for _, m := range l.Messages {
		for _, b := range m.Blocks {
			if b.Type == protocol.BlockText && len(b.Text) > 0 {
				return "writes an answer"
			}
		}
	}
	if l.Command != "" {
		return shorten(Line("runs /"+l.Command), maxDoing)
	}
	return "thinks"
}

// Asked returns in one line what the oldest open question of a session asks; "" where there is
// none.
func Asked(l *protocol.Live) string {
	line := ""
	switch {
	case len(l.Permissions) > 0:
		p := l.Permissions[0]
		line = "Allow " + p.ToolName + " " + Summary(p.ToolName, p.Args)
	case len(l.UI) > 0:
		d := l.UI[0].Data
		line = cmp.Or(d.Title, d.Message, d.Source)
		switch {
		case len(d.Questions) > 0:
			line = d.Questions[0].Question
		case d.Kind == protocol.DialogPlan:
			line = "Carry out the plan?"
		}
	}
	return shorten(Line(line), maxDoing)
}

// States are what [StateOf] returns, of what needs somebody most first.
func States() []string { return []string{"asks", "works", "queued", "proactive", "failed", "idle"} }

// StateOf returns in a word what goes on in a session. One that is proactive rests, and begins
// a turn by itself.
func StateOf(s *protocol.SessionState) string {
	switch {
	case s.Asking:
		return "asks"
	case s.Running || s.Tasks > 0:
		return "works"
	case s.Queued > 0:
		return "queued"
	case s.Automation != nil:
		return "proactive"
	case s.Failed != "":
		return "failed"
	}
	return "idle"
}

// WhyFailed returns in a line why a turn has not come to its end, "" for one that has.
func WhyFailed(end *protocol.RuntimeEnd) string {
	if end.Error == nil {
		return ""
	}
	return shorten(Line(end.Error.Message), maxDoing)
}
