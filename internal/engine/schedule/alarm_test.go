package schedule_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/schedule"
)

// device is a clock that a test sets, and that counts how often it is read.
type device struct {
	mu     sync.Mutex
	ahead  time.Duration // of the clock of the bubble
	asleep time.Duration
	zone   *time.Location
	reads  int
}

func (d *device) Now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads++
	return time.Now().Add(d.ahead)
}

func (d *device) Slept() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asleep
}

func (d *device) Zone() *time.Location {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.zone
}

// set sets the clock.
func (d *device) set(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ahead += by
}

// sleep lets the device sleep: the wall clock goes on, and timers do not.
func (d *device) sleep(long time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ahead += long
	d.asleep += long
}

func (d *device) readings() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reads
}

// woken is what Wait returned, and when by the clock of the bubble.
type woken struct {
	schedule.Wake
	err error
	at  time.Time
}

// waits runs Wait in a goroutine, which ends with it.
func waits(a *schedule.Alarm, ctx context.Context) <-chan woken {
	done := make(chan woken, 1)
	go func() {
		w, err := a.Wait(ctx)
		done <- woken{w, err, time.Now()}
	}()
	return done
}

func TestAlarmIsDueAtItsInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &device{zone: time.UTC}
		a := schedule.NewAlarm(d)
		at := time.Now().Add(10*time.Minute + 7*time.Second)
		a.Arm(at)
		w, err := a.Wait(t.Context())
		if err != nil || !w.Due || w.Slept != 0 || w.Jumped != 0 || w.Zone || !time.Now().Equal(at) {
			t.Errorf("%+v (%v) at %v, want it due at %v", w, err, time.Now(), at)
		}
		if perMinute := float64(d.readings()) / 10; perMinute > 3 {
			t.Errorf("it read the clock %v times a minute", perMinute)
		}
	})
}

func TestAlarmDoesNothingWhileItIsNotArmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &device{zone: time.UTC}
		a := schedule.NewAlarm(d)
		ctx, cancel := context.WithCancel(t.Context())
		done := waits(a, ctx)
		synctest.Wait()
		before := d.readings()
		d.set(time.Hour)
		time.Sleep(24 * time.Hour)
		if n := d.readings() - before; n != 0 {
			t.Errorf("it read the clock %d times in a day", n)
		}
		cancel()
		if w := <-done; !errors.Is(w.err, context.Canceled) {
			t.Errorf("%+v", w)
		}
	})
}

func TestAlarmWakesAtOnceWhenItIsArmedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := schedule.NewAlarm(&device{zone: time.UTC})
		start := time.Now()
		a.Arm(start.Add(time.Hour))
		done := waits(a, t.Context())
		synctest.Wait()
		a.Arm(start.Add(5 * time.Second))
		if w := <-done; !w.Due || w.at.Sub(start) != 5*time.Second {
			t.Errorf("armed for earlier: %+v after %v", w, w.at.Sub(start))
		}
		done = waits(a, t.Context()) // after it was due it is not armed
		time.Sleep(time.Hour)
		start = time.Now()
		a.Arm(start.Add(-time.Hour))
		if w := <-done; !w.Due || !w.at.Equal(start) || w.Jumped != 0 {
			t.Errorf("armed for what has passed: %+v after %v", w, w.at.Sub(start))
		}
		a.Arm(start.Add(time.Minute))
		done = waits(a, t.Context())
		synctest.Wait()
		a.Disarm()
		time.Sleep(time.Hour)
		select {
		case w := <-done:
			t.Errorf("disarmed: %+v", w)
		default:
		}
		a.Arm(time.Now())
		<-done
	})
}

func TestAlarmSeesAClockThatIsSet(t *testing.T) {
	for name, by := range map[string]time.Duration{"back": -3 * time.Hour, "forward": 40 * time.Minute, "a little forward": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &device{zone: time.UTC}
				a := schedule.NewAlarm(d)
				start := time.Now()
				a.Arm(start.Add(time.Hour))
				done := waits(a, t.Context())
				time.Sleep(time.Minute + time.Second)
				d.set(by)
				w := <-done
				if w.Jumped != by || w.Slept != 0 || w.Due {
					t.Errorf("set by %v it is %+v", by, w)
				}
				if late := w.at.Sub(start) - time.Minute - time.Second; late > schedule.Reread {
					t.Errorf("it was seen %v later", late)
				}
			})
		})
	}
}

func TestAlarmIsDueWhenTheClockIsSetPastItsInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &device{zone: time.UTC}
		a := schedule.NewAlarm(d)
		a.Arm(time.Now().Add(time.Hour))
		done := waits(a, t.Context())
		time.Sleep(time.Second)
		d.set(2 * time.Hour)
		if w := <-done; !w.Due || w.Jumped != 2*time.Hour {
			t.Errorf("%+v", w)
		}
	})
}

func TestAlarmSeesThatTheDeviceSlept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &device{zone: time.UTC}
		a := schedule.NewAlarm(d)
		start := time.Now()
		a.Arm(start.Add(24 * time.Hour))
		done := waits(a, t.Context())
		time.Sleep(time.Second)
		d.sleep(8 * time.Hour)
		w := <-done
		if w.Slept != 8*time.Hour || w.Jumped != 0 || w.Due || w.at.Sub(start) > schedule.Reread {
			t.Errorf("%+v after %v", w, w.at.Sub(start))
		}
		done = waits(a, t.Context())
		time.Sleep(time.Second)
		d.sleep(16 * time.Hour)
		if w := <-done; w.Slept != 16*time.Hour || !w.Due {
			t.Errorf("after the instant: %+v", w)
		}
	})
}

func TestAlarmSeesAnotherTimeZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &device{zone: time.UTC}
		a := schedule.NewAlarm(d)
		start := time.Now()
		a.Arm(start.Add(24 * time.Hour))
		done := waits(a, t.Context())
		time.Sleep(time.Second)
		d.mu.Lock()
		d.zone = time.FixedZone("X", 3600)
		d.mu.Unlock()
		if w := <-done; !w.Zone || w.Due || w.at.Sub(start) > schedule.Reread {
			t.Errorf("%+v after %v", w, w.at.Sub(start))
		}
	})
}

func TestAlarmForgivesAClockThatIsSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &device{zone: time.UTC}
		a := schedule.NewAlarm(d)
		start := time.Now()
		a.Arm(start.Add(25 * time.Second))
		done := waits(a, t.Context())
		time.Sleep(24 * time.Second)
		d.set(-1500 * time.Millisecond) // less than counts as set
		if w := <-done; !w.Due || w.Jumped != 0 || w.at.Sub(start) != 26500*time.Millisecond {
			t.Errorf("%+v after %v", w, w.at.Sub(start))
		}
	})
}

func TestSystemClockIsThatOfTheDevice(t *testing.T) {
	var clock schedule.SystemClock
	if d := time.Since(clock.Now()).Abs(); d > 2*time.Minute {
		t.Errorf("the wall clock differs by %v", d)
	}
	if d := clock.Slept(); d < -time.Second {
		t.Errorf("the device slept %v", d)
	}
	if clock.Zone() == nil || clock.Zone() != schedule.Local() {
		t.Errorf("the zone is %v and then %v", clock.Zone(), schedule.Local())
	}
}
