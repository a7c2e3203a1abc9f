package schedule

import (
	"context"
	"sync"
	"time"
)

// How an [Alarm] reads the clock.
const (
	// Reread is how often an armed alarm reads the wall clock, which may be set at any
	// time: a timer follows the monotonic clock.
	Reread = 30 * time.Second
	// leastWait keeps an alarm from spinning before a clock that is slowed down.
	leastWait = time.Millisecond
	// leastJump is by how much a clock must differ to count as set, and leastSleep how
	// long a device must have slept: two clocks cannot be read at once.
	leastJump  = 2 * time.Second
	leastSleep = time.Second
)

// Clock is the clock of a device. It may be used by several goroutines at once.
type Clock interface {
	// Now returns the wall clock.
	Now() time.Time
	// Slept returns how long the device has slept since it was started, 0 where that is
	// not known.
	Slept() time.Duration
	// Zone returns the device's time zone, the same pointer until it changes.
	Zone() *time.Location
}

// SystemClock is the clock of this device.
type SystemClock struct{}

// Now implements [Clock].
func (SystemClock) Now() time.Time { return time.Now().Round(0) } // without the monotonic clock

// Slept implements [Clock].
func (SystemClock) Slept() time.Duration { return slept() }

// Zone implements [Clock].
func (SystemClock) Zone() *time.Location { return Local() }

// Wake is why [Alarm.Wait] returned; at least one of its reasons is there.
type Wake struct {
	// Now is the wall clock.
	Now time.Time
	// Due reports that the instant has come. The alarm is not armed any more.
	Due bool
	// Slept is how long the device slept, 0 when it did not.
	Slept time.Duration
	// Jumped is by how much the wall clock was set, without the time of a sleep; it is
	// negative when it was set back, 0 when it was not set.
	Jumped time.Duration
	// Zone reports that the device's time zone is another one.
	Zone bool
}

// Alarm waits for an instant of the wall clock. While it is armed it reads the clock at
// least every [Reread], and twice a minute when the instant is far away; while it is not, it
// does nothing at all. Arm and Disarm may be called by any goroutine at any time, Wait by
// one. Arm replaces the instant of any other caller: whoever computes one arms it before
// others compute theirs, under one lock.
type Alarm struct {
	clock   Clock
	changed chan struct{} // has one when at was set and Wait has not seen it

	mu sync.Mutex
	at time.Time // zero when not armed

	last reading // of Wait alone
}

// reading is what the clocks showed at once.
type reading struct {
	wall  time.Time
	timer time.Time // with the monotonic clock
	slept time.Duration
	zone  *time.Location
}

// NewAlarm returns an alarm that is not armed.
func NewAlarm(clock Clock) *Alarm {
	return &Alarm{clock: clock, changed: make(chan struct{}, 1)}
}

// Arm sets the instant to wait for, instead of any before. A Wait that goes on sees it at
// once; one that has passed is due at once. The zero instant is Disarm.
func (a *Alarm) Arm(at time.Time) {
	a.mu.Lock()
	a.at = at.Round(0)
	a.mu.Unlock()
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// Disarm waits for nothing any more.
func (a *Alarm) Disarm() { a.Arm(time.Time{}) }

// Wait waits until the armed instant comes, or until the device has slept, its clock was set
// or its time zone changed while the alarm was armed: then what is due has to be looked at
// again. The error is that of the context.
func (a *Alarm) Wait(ctx context.Context) (Wake, error) {
	if a.last.zone == nil {
		a.last = a.read()
	}
	for {
		if err := ctx.Err(); err != nil {
			return Wake{}, err
		}
		a.mu.Lock()
		at := a.at
		a.mu.Unlock()
		if at.IsZero() {
			select {
			case <-ctx.Done():
			case <-a.changed:
				a.last = a.read() // jumps while nothing was armed do not matter
			}
			continue
		}
		if wake, ok := a.look(at); ok {
			return wake, nil
		}
		timer := time.NewTimer(max(leastWait, min(Reread, at.Sub(a.last.wall))))
		select {
		case <-ctx.Done():
		case <-a.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// read reads the clocks.
func (a *Alarm) read() reading {
	return reading{wall: a.clock.Now().Round(0), timer: time.Now(), slept: a.clock.Slept(), zone: a.clock.Zone()}
}

// look reads the clocks and compares with the reading before; it reports whether Wait has
// a reason to return. An instant that has come is disarmed, unless it was armed again.
func (a *Alarm) look(at time.Time) (Wake, bool) {
	before, now := a.last, a.read()
	a.last = now
	wake := Wake{Now: now.wall, Zone: now.zone != before.zone, Due: !now.wall.Before(at)}
	if d := now.slept - before.slept; d >= leastSleep {
		wake.Slept = d
	}
	jumped := now.wall.Sub(before.wall) - now.timer.Sub(before.timer) - wake.Slept
	if jumped >= leastJump || jumped <= -leastJump {
		wake.Jumped = jumped
	}
	if wake.Due {
		a.mu.Lock()
		if a.at.Equal(at) {
			a.at = time.Time{}
		}
		a.mu.Unlock()
	}
	return wake, wake.Due || wake.Slept != 0 || wake.Jumped != 0 || wake.Zone
}
