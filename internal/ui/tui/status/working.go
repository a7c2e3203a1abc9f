package status

import (
	"fmt"
	"strings"
	"time"

	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Spin is how long one picture of the spinner stands.
const Spin = 100 * time.Millisecond

// charsPerToken is what a token of text counts as until the model says how many it were.
const charsPerToken = 4

// Working is the line that says what the running turn does. The zero value shows
// nothing.
type Working struct {
	// CancelKey is the key that cancels the turn, for people.
	CancelKey string
	// Pictures are those of the indicator that an extension sets, each shown for so long; nil
	// shows the usual ones.
	Pictures []string
	Each     time.Duration

	running bool
	turn    protocol.TurnID // that runs
	since   time.Time
	doing   string
	begun   time.Time // of what it does; zero when the time is that of the turn
	until   time.Time // the end of a wait, zero without one
	waits   bool      // for a person
	tokens  int       // of output that were counted
	base    int       // of the session before the turn
	text    int       // bytes of what is coming in
	retry   *protocol.Retry
	retryAt time.Time
	tools   []seen // that run, with the time they were first seen
	other   string // what is done besides turns, such as a compaction
}

// seen is a call that runs.
type seen struct {
	id protocol.EventID
	at time.Time
}

// Observe takes in the state of the session, and when its turn began; zero is now. It is cheap,
// and may be called for every frame.
func (w *Working) Observe(l *protocol.Live, began, now time.Time) {
	if !l.Running {
		if w.running {
			*w = Working{CancelKey: w.CancelKey, Pictures: w.Pictures, Each: w.Each, other: w.other, since: w.since}
		}
		return
	}
	if !w.running || l.TurnID != w.turn {
		w.running, w.turn, w.since, w.base = true, l.TurnID, now, l.Usage.OutputTokens
		if !began.IsZero() && began.Before(now) {
			w.since = began
		}
	}
	w.tokens, w.text = max(0, l.Usage.OutputTokens-w.base), 0
	for i := range l.Messages {
		for k := range l.Messages[i].Blocks {
			w.text += len(l.Messages[i].Blocks[k].Text)
		}
	}
	w.observeTools(l, now)
	w.begun, w.until, w.waits = time.Time{}, time.Time{}, false
	if l.Retry != w.retry {
		w.retry, w.retryAt = l.Retry, now
	}
	switch {
	case len(l.Permissions)+len(l.UI) > 0:
		w.doing, w.waits = "Waiting for you", true
	case l.Retry != nil:
		w.doing = fmt.Sprintf("Trying again (%d of %d)", l.Retry.Attempt, l.Retry.MaxAttempts)
		w.until = w.retryAt.Add(time.Duration(l.Retry.DelayMS) * time.Millisecond)
	case len(w.tools) > 0:
		w.doing, w.begun = "Running "+display.Line(l.Tools[0].ToolName), w.tools[0].at
		if n := len(l.Tools); n > 1 {
			w.doing += fmt.Sprintf(" and %d more", n-1)
		}
	case len(l.Messages) > 0:
		w.doing = writing(l.Messages[len(l.Messages)-1])
	default:
		w.doing = asking(l)
	}
}

// asking says what goes on while nothing comes in: a slash command runs, or the model is asked.
func asking(l *protocol.Live) string {
	if key, ok := strings.CutPrefix(l.Command, protocol.ShortcutPrefix); ok {
		return "Running the shortcut " + display.Line(key)
	}
	if l.Command != "" {
		return "Running /" + display.Line(l.Command)
	}
	return "Asking the model"
}

// observeTools keeps since when each call runs.
func (w *Working) observeTools(l *protocol.Live, now time.Time) {
	same := len(l.Tools) == len(w.tools)
	for i := 0; same && i < len(l.Tools); i++ {
		same = l.Tools[i].EventID == w.tools[i].id
	}
	if same {
		return
	}
	tools := make([]seen, 0, len(l.Tools))
	for i := range l.Tools {
		s := seen{l.Tools[i].EventID, now}
		for _, old := range w.tools {
			if old.id == s.id {
				s = old
			}
		}
		tools = append(tools, s)
	}
	w.tools = tools
}

// writing says what of a message is coming in.
func writing(m protocol.LiveMessage) string {
	if len(m.Blocks) == 0 {
		return "Asking the model"
	}
	switch b := m.Blocks[len(m.Blocks)-1]; b.Type {
	case protocol.BlockThinking:
		return "Thinking"
	case protocol.BlockToolUse:
		if name := display.Line(b.Name); name != "" {
			return "Preparing " + name
		}
	}
	return "Writing"
}

// Other says what is done besides turns, such as "Compacting", from now on; "" when it
// has ended.
func (w *Working) Other(doing string, now time.Time) {
	if doing != "" && w.other == "" && !w.running {
		w.since = now
	}
	w.other = doing
}

// On reports whether there is something to show.
func (w *Working) On() bool { return w.running || w.other != "" }

// Next is how long the line stays as it is, 0 when it does not change by itself.
func (w *Working) Next(th *theme.Theme, now time.Time) time.Duration {
	if !w.On() {
		return 0
	}
	pictures, each := w.pictures(th)
	second := time.Second - now.Sub(w.since)%time.Second
	if th.Plain || len(pictures) < 2 || w.waits {
		return second
	}
	return min(second, each-now.Sub(w.since)%each)
}

// pictures are those of the indicator, each shown for so long.
func (w *Working) pictures(th *theme.Theme) ([]string, time.Duration) {
	if len(w.Pictures) > 0 {
		return w.Pictures, w.Each
	}
	return th.Box.Spinner, Spin
}

// Render draws the line, "" when nothing is done.
func (w *Working) Render(th *theme.Theme, width int, now time.Time) string {
	if !w.On() {
		return ""
	}
	doing := w.doing
	if w.other != "" {
		doing = display.Line(w.other)
	}
	mark := ""
	if pictures, each := w.pictures(th); len(pictures) > 0 {
		mark = pictures[0]
		if !th.Plain && !w.waits {
			mark = pictures[int(now.Sub(w.since)/each)%len(pictures)]
		}
		if mark != "" {
			mark += " "
		}
	}
	style := th.Accent
	if w.waits {
		style = th.Warning
	}
	left := []row.Piece{{Text: mark, Style: style}, {Text: doing, Style: style}}
	if !w.begun.IsZero() && w.other == "" {
		left = append(left, row.Piece{Text: " " + Elapsed(now.Sub(w.begun)), Style: th.Dim})
	}
	if !w.until.IsZero() && w.other == "" {
		// Rounded up: it says 1s until the wait is over.
		left = append(left, row.Piece{Text: " in " + Elapsed(w.until.Sub(now)+time.Second-1), Style: th.Warning})
	}
	facts := " (" + Elapsed(now.Sub(w.since))
	if n := w.tokens + w.text/charsPerToken; n > 0 {
		facts += ", " + Tokens(n) + " tokens"
	}
	facts += ")"
	right := []row.Piece{}
	if w.CancelKey != "" && !w.waits {
		right = append(right, row.Piece{Text: w.CancelKey + " to cancel", Style: th.Dim})
	}
	left = append(left, row.Piece{Text: facts, Style: th.Dim})
	if row.Width(left)+row.Width(right)+1 > width {
		right = nil
	}
	return row.Line(th, width, "", left, right)
}
