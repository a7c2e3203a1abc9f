package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol/display"
)

// Bounds of notices that go away: how many are kept (the oldest of the least level goes
// first), how many are kept for [Toasts.Past], how many lines they take, and how long they are shown. An error that goes on
// being wrong is shown where it belongs; these are for what has happened.
const (
	maxToasts     = 20
	maxPast       = 100
	maxToastLines = 4
	maxToastText  = 2_000 // bytes
	infoFor       = 5 * time.Second
	warningFor    = 10 * time.Second
	errorFor      = 20 * time.Second
)

// Level says how much a notice matters.
type Level int

// The levels.
const (
	Info Level = iota
	Warning
	Error
)

// LevelOf returns the level of a notice of the host.
func LevelOf(level string) Level {
	switch level {
	case "warning":
		return Warning
	case "error":
		return Error
	}
	return Info
}

// Toasts are notices that are shown for a while. The zero value has none.
type Toasts struct {
	all  []toast
	past []toast // the newest ones of all, the newest last
}

type toast struct {
	level  Level
	source string
	text   string
	times  int
	until  time.Time
	at     time.Time // it was added, the last time
}

// Add shows a notice. One that is shown already is counted, and stays longer.
func (t *Toasts) Add(level Level, source, text string, now time.Time) {
	if len(text) > maxToastText {
		text = strings.ToValidUTF8(text[:maxToastText], "")
	}
	text, source = display.Line(text), display.Line(source)
	if text == "" {
		return
	}
	t.drop(now)
	until := now.Add([]time.Duration{infoFor, warningFor, errorFor}[level])
	t.keep(toast{level, source, text, 1, until, now})
	for i := range t.all {
		if o := &t.all[i]; o.level == level && o.source == source && o.text == text {
			o.times++
			o.until = until
			return
		}
	}
	if len(t.all) == maxToasts {
		least := 0
		for i := range t.all {
			if t.all[i].level < t.all[least].level {
				least = i
			}
		}
		t.all = append(t.all[:least], t.all[least+1:]...)
	}
	t.all = append(t.all, toast{level, source, text, 1, until, now})
}

// keep keeps a notice for Past. One that repeats the last is counted.
func (t *Toasts) keep(o toast) {
	if n := len(t.past); n > 0 {
		if last := &t.past[n-1]; last.level == o.level && last.source == o.source && last.text == o.text {
			last.times++
			last.at = o.at
			return
		}
	}
	t.past = append(t.past[max(0, len(t.past)-maxPast+1):], o)
}

// Past draws the newest notices, also those that are shown no longer, whole and each with its
// time: the newest first.
func (t *Toasts) Past(th *theme.Theme) []string {
	var lines []string
	for _, o := range slices.Backward(t.past) {
		style, mark := o.looks(th)
		lines = append(lines, th.Dim.On(o.at.Format("15:04:05"))+" "+style.On(mark+" "+o.whole()))
	}
	return lines
}

// Info shows something that a person may want to know.
func (t *Toasts) Info(text string) { t.Add(Info, "", text, time.Now()) }

// Warn shows something that a person should know.
func (t *Toasts) Warn(text string) { t.Add(Warning, "", text, time.Now()) }

// Error shows something that has failed.
func (t *Toasts) Error(text string) { t.Add(Error, "", text, time.Now()) }

// Fail shows an error.
func (t *Toasts) Fail(err error) { t.Error(strings.TrimSuffix(err.Error(), ".")) }

// DismissProblems takes warnings and errors away: another session is shown. Past has them.
func (t *Toasts) DismissProblems() {
	t.all = slices.DeleteFunc(t.all, func(o toast) bool { return o.level != Info })
}

// drop forgets those whose time is over.
func (t *Toasts) drop(now time.Time) {
	keep := t.all[:0]
	for _, o := range t.all {
		if o.until.After(now) {
			keep = append(keep, o)
		}
	}
	t.all = keep
}

// Next is how long the notices stay as they are, 0 when there are none.
func (t *Toasts) Next(now time.Time) time.Duration {
	t.drop(now)
	var next time.Duration
	for _, o := range t.all {
		if d := o.until.Sub(now); next == 0 || d < next {
			next = d
		}
	}
	return next
}

// Render draws the notices, the newest last: at most 4 lines. An error takes as many as
// it needs; what is not seen is counted.
func (t *Toasts) Render(th *theme.Theme, width int, now time.Time) []string {
	t.drop(now)
	if width < 1 {
		return nil
	}
	lines, left := t.newest(th, width, maxToastLines)
	if left > 0 {
		lines, left = t.newest(th, width, maxToastLines-1)
		count := row.Line(th, width, "", []row.Piece{{Text: plural(left, "earlier notice", "earlier notices") + ": /notices", Style: th.Dim}}, nil)
		lines = append([]string{count}, lines...)
	}
	return lines
}

// newest draws the newest notices that fit, at least the beginning and the last line of the
// last one; left is how
// many others there are.
func (t *Toasts) newest(th *theme.Theme, width, room int) (lines []string, left int) {
	for i := len(t.all) - 1; i >= 0; i-- {
		own := t.all[i].lines(th, width)
		if len(lines)+len(own) > room {
			if len(lines) > 0 {
				return lines, i + 1
			}
			// Its end often has the place, such as a file and a line.
			last := own[len(own)-1]
			own = append(own[:room-2:room-2], cell.Cut(own[room-2], width-1, "")+"…", last)
		}
		lines = append(own, lines...)
	}
	return lines, 0
}

func (o toast) lines(th *theme.Theme, width int) []string {
	style, mark := o.looks(th)
	text := o.whole()
	indent := cell.Width(mark) + 1
	var lines []string
	wrapped := cell.Wrap(text, max(1, width-indent))
	if o.level == Info && len(wrapped) > 2 {
		wrapped = append(wrapped[:1:1], cell.Cut(wrapped[1], max(0, width-indent-1), "")+"…")
	}
	for i, l := range wrapped {
		head := cell.Pad("", indent)
		if i == 0 {
			head = mark + " "
		}
		lines = append(lines, cell.Cut(style.On(head+l), width, ""))
	}
	return lines
}

// looks returns the style of a notice, and the mark in front of it.
func (o toast) looks(th *theme.Theme) (style theme.Style, mark string) {
	switch o.level {
	case Warning:
		return th.Warning, "!"
	case Error:
		return th.Error, th.Box.Cross
	}
	return th.Info, th.Box.Dot
}

// whole is the text of a notice, with its source and how often it came.
func (o toast) whole() string {
	text := o.text
	if o.source != "" {
		text = o.source + ": " + text
	}
	if o.times > 1 {
		text += fmt.Sprintf(" (%d times)", o.times)
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
