package background

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"scorel/protocol"
)

const (
	maxText = 30_000                 // characters of output that a model is given at once
	settle  = 200 * time.Millisecond // for what comes right after the first new output
)

// MaxNewest is how many bytes of the newest output people are shown.
const MaxNewest = 64 << 10

// Query returns what to read of a command's output.
type Query struct {
	// Wait is how long to wait for new output or the end; 0 does not wait.
	Wait time.Duration
	// Offset is the byte to read from; nil is where the last reading ended.
	// Reading from an offset does not move that place.
	Offset *int64
	// Filter keeps the lines that match; with Wait, others are not waited for.
	Filter *regexp.Regexp
}

// Reading is what was read.
type Reading struct {
	Info protocol.TaskInfo
	How  string // the end in words, "" while it runs
	Text string // at most about 30,000 characters
	// Next is the byte after Text.
	Next int64
	// Cut says that there is more after Next: of a page that Offset asked for, or
	// of what a command began with.
	Cut bool
	// Matching and Other count the lines that Filter kept and did not.
	Matching, Other int
	// Woken says why the waiting ended, "" when nothing was waited for.
	Woken Waking
	// Process is how the command went, for people; nil while it runs.
	Process *protocol.ProcessSummary
}

// Waking returns why waiting for a command ended.
type Waking string

// Why it may end.
const (
	WokenByOutput Waking = "new output came"
	WokenByEnd    Waking = "the command ended"
	WokenByTime   Waking = "the time is over"
	WokenByCancel Waking = "the wait was cancelled"
)

// Read returns output of a command. When the command has ended and what is given
// says so, its end counts as told.
func (s *Set) Read(ctx context.Context, id string, q Query) (Reading, error) {
	t, err := s.find(id)
	if err != nil {
		return Reading{}, err
	}
	woken := t.await(ctx, q)
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.Offset != nil && *q.Offset > t.out.size {
		return Reading{}, fmt.Errorf("%s has printed %d bytes so far, so there is nothing at byte %d", t.id, t.out.size, *q.Offset)
	}
	r := t.read(q)
	r.Woken = woken
	return r, nil
}

// Newest returns the newest output of a command, at most [MaxNewest] bytes, for people: it
// moves no place of reading, and no end counts as told. Omitted is how many bytes were
// printed before it.
func (s *Set) Newest(id string) (info protocol.TaskInfo, text string, omitted int64, err error) {
	t, err := s.find(id)
	if err != nil {
		return protocol.TaskInfo{}, "", 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	raw, omitted := t.out.newest(MaxNewest)
	return t.info(), clean(raw), omitted, nil
}

// Begin returns what a command that was just started prints within the given time,
// at most most characters, and returns at once when it ends.
func (s *Set) Begin(ctx context.Context, id string, wait time.Duration, most int) (Reading, error) {
	t, err := s.find(id)
	if err != nil {
		return Reading{}, err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	case <-ctx.Done():
		return Reading{}, ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != protocol.TaskRunning {
		return t.read(Query{}), nil
	}
	text := t.out.read(0, min(t.out.whole(false), headBytes)).first
	keep := bytesOf(text, most)
	t.cursor = int64(keep)
	return Reading{Info: t.info(), Text: Fold(clean(text[:keep])), Next: t.cursor, Cut: t.cursor < t.out.whole(false)}, nil
}

// read returns what a query asks for, as of now. mu is held.
func (t *task) read(q Query) Reading {
	running := t.state == protocol.TaskRunning
	r := Reading{Info: t.info(), Next: t.out.size}
	if running {
		r.Next = t.out.whole(q.Filter != nil)
	} else {
		r.How, r.Process = t.how(), t.summary
		t.told = true
	}
	from := t.cursor
	if q.Offset != nil {
		from = *q.Offset
	} else {
		r.Next = max(r.Next, t.cursor)
		t.cursor = r.Next
	}
	p := t.out.read(from, r.Next)
	if q.Filter != nil {
		p, r.Matching, r.Other = p.grep(q.Filter)
	} else if q.Offset != nil {
		return t.page(r, p)
	}
	r.Text = p.text(maxText)
	return r
}

// page returns the first of a range, and where to go on.
func (t *task) page(r Reading, p part) Reading {
	text, lost := p.first, ""
	at := p.from + int64(len(p.first))
	if len(text) == 0 && p.lost > 0 {
		lost = fmt.Sprintf("[... %d bytes are not kept ...]\n", p.lost)
		text, at = p.second, at+p.lost+int64(len(p.second))
	}
	keep := bytesOf(text, maxText)
	r.Text = lost + Fold(clean(text[:keep]))
	at -= int64(len(text) - keep)
	r.Cut, r.Next = at < r.Next, at
	return r
}

// await waits for what a query asks for.
func (t *task) await(ctx context.Context, q Query) Waking {
	t.mu.Lock()
	from := t.cursor
	if q.Offset != nil {
		from = *q.Offset
	}
	ended := t.state != protocol.TaskRunning
	there := t.fresh(&from, q.Filter)
	t.mu.Unlock()
	if q.Wait <= 0 || ended || there {
		return ""
	}
	timer := time.NewTimer(q.Wait)
	defer timer.Stop()
	for {
		t.mu.Lock()
		there = t.fresh(&from, q.Filter)
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		if there {
			return t.gather(ctx)
		}
		select {
		case <-changed:
		case <-t.done:
			return WokenByEnd
		case <-timer.C:
			return WokenByTime
		case <-ctx.Done():
			return WokenByCancel
		}
	}
}

// gather waits a moment for what comes after new output.
func (t *task) gather(ctx context.Context) Waking {
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case <-t.done:
		return WokenByEnd
	case <-ctx.Done():
		return WokenByCancel
	case <-timer.C:
		return WokenByOutput
	}
}

// fresh reports whether there is something after from that a query waits for; from
// moves after what need not be looked at again. mu is held.
func (t *task) fresh(from *int64, filter *regexp.Regexp) bool {
	end := t.out.whole(filter != nil)
	if end <= *from {
		return false
	}
	if filter == nil {
		return true
	}
	_, yes, _ := t.out.read(*from, end).grep(filter)
	*from = end
	return yes > 0
}

// Watch sets a monitor: each line that matches from now on becomes part of a
// notice. It says how many lines of what is kept match already, and returns the
// newest of them. A monitor with the same pattern is replaced.
func (s *Set) Watch(id string, pattern *regexp.Regexp, description string) (already int, newest string, err error) {
	t, err := s.find(id)
	if err != nil {
		return 0, "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != protocol.TaskRunning {
		t.told = true
		return 0, "", fmt.Errorf("%s %s, so there is nothing to watch; TaskOutput reads what it printed", t.id, t.how())
	}
	for _, m := range t.monitors {
		if m.pattern.String() == pattern.String() {
			t.drop(m)
			break
		}
	}
	if len(t.monitors) >= maxMonitors {
		return 0, "", fmt.Errorf("%s has %d monitors, and can have no more; end one with stop", t.id, len(t.monitors))
	}
	p := t.out.read(0, t.out.size)
	kept, already, _ := p.grep(pattern)
	if already > 0 {
		lines := strings.Split(strings.TrimRight(clean(append(kept.first, kept.second...)), "\r\n"), "\n")
		newest = shorten(oneLine(lines[len(lines)-1]), lineChars)
	}
	t.monitors = append(t.monitors, &monitor{pattern: pattern, description: description})
	return already, newest, nil
}

// ErrNoMonitor reports that no monitor fits.
var ErrNoMonitor = errors.New("no monitor")

// Unwatch ends the monitor of a pattern, or all of a command with an empty one,
// and says how many; lines that were found and not told go with it. It fails with
// [ErrNoMonitor] when there is none.
func (s *Set) Unwatch(id, pattern string) (int, error) {
	t, err := s.find(id)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, m := range append([]*monitor(nil), t.monitors...) {
		if pattern == "" || m.pattern.String() == pattern {
			t.drop(m)
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("%s has %w with that pattern", t.id, ErrNoMonitor)
	}
	return n, nil
}
