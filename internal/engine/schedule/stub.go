package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"scorel/protocol"
)

type Clock interface{ Now() time.Time }
type sys struct{}

func (sys) Now() time.Time { return time.Now() }
func SystemClock() Clock    { return sys{} }

type Alarm struct{ c chan struct{} }

func NewAlarm(Clock) *Alarm { return &Alarm{make(chan struct{}, 1)} }
func (a *Alarm) Poke() {
	select {
	case a.c <- struct{}{}:
	default:
	}
}
func (a *Alarm) Wait(ctx context.Context, until time.Time) error {
	var c <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		c = t.C
	}
	select {
	case <-a.c:
	case <-c:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
func Local() *time.Location { return time.Local }

func Parse(text, zone string, now time.Time, local *time.Location) (w protocol.When, err error) {
	var d time.Duration
	var kind string
	if _, err := fmt.Sscan(text, &kind); err != nil {
		return w, err
	}
	if len(text) <= len(kind) {
		return w, errors.New("bad")
	}
	d, err = time.ParseDuration(text[len(kind)+1:])
	if kind == "every" {
		w.EverySeconds = int(d.Seconds())
	} else {
		w.At = now.Add(d).UnixMilli()
	}
	return w, err
}
func Describe(w protocol.When, l *time.Location) string {
	if w.EverySeconds > 0 {
		return "every " + (time.Duration(w.EverySeconds) * time.Second).String()
	}
	return "once at " + time.UnixMilli(w.At).In(l).Format("2006-01-02 15:04")
}

type Quiet struct{}

func ParseQuiet(string) (Quiet, error)                                     { return Quiet{}, nil }
func (Quiet) Until(now time.Time, l *time.Location) (until time.Time, q bool) { return }
