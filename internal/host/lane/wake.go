package lane

import (
	"context"
	"fmt"
	"reflect"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// Wake says what begins a turn in an idle session by itself.
type Wake string

// What may begin one; "" is [WakeOff].
const (
	WakeOff    Wake = "off"
	WakeAgents Wake = "agents" // the end of a sub-agent in the background
	WakeAll    Wake = "all"    // also that of a command, and lines that a monitor found
)

// maxWakes is how many turns in a row begin by themselves before somebody says something.
const maxWakes = 10

// enoughWakes is what people are told then.
var enoughWakes = fmt.Sprintf("Background work has begun %d turns in a row; what it has to tell now waits for your next message.", maxWakes)

// Holds returns sentences about why background work begins no turn though it has something to
// tell.
func (l *Lane) Holds() []string {
	l.j.Lock()
	defer l.j.Unlock()
	if l.course.waking.told {
		return []string{enoughWakes}
	}
	return nil
}

// waking is what counts when background work wakes the session. The journal's lock guards it.
type waking struct {
	on      Wake                  // as of the newest turn
	options *protocol.TurnOptions // of the newest message of somebody; nil without
	day     *runtime.Budget       // above that of its turn, nil for none
	bypass  bool                  // the configuration has a mode that asks nobody
	inARow  int                   // turns that began by themselves since
	told    bool                  // people know that no further one does
}

// said notes that somebody has said something, with options that may be nil.
func (w *waking) said(options *protocol.TurnOptions) {
	*w = waking{on: w.on, options: options}
}

// due reports whether the session is to be woken now. The journal is locked.
func (l *Lane) due() bool {
	w := &l.course.waking
	if w.on == "" || w.on == WakeOff || l.course.turn != nil || !l.tasks.Set().Waits(w.on == WakeAll) {
		return false
	}
	if w.inARow < maxWakes {
		return true
	}
	if !w.told {
		w.told = true
		l.notices.Put("", "warning", enoughWakes)
	}
	return false
}

// wake begins a turn with what background work has to tell, if it is to. It waits for nobody.
func (l *Lane) wake() {
	l.j.Lock()
	defer l.j.Unlock()
	l.stir()
	if l.course.stopping || l.j.Closed() || !l.due() {
		return
	}
	l.course.after.Add(1)
	go func() { // ends when the turn runs, or with the lane
		defer l.course.after.Done()
		defer func() {
			if r := recover(); r != nil {
				l.Panicked(r)
			}
		}()
		ctx, cancel := l.life.bounded(context.Background())
		defer cancel()
		if err := l.resume(ctx, nil); err != nil && ctx.Err() == nil {
			l.notAwake(err)
		}
	}()
}

// notAwake tells people why background work has begun no turn.
func (l *Lane) notAwake(why error) {
	l.j.Report("begin a turn for background work: " + why.Error())
	l.j.Lock()
	defer l.j.Unlock()
	if !l.course.stopping && !l.j.Closed() {
		l.course.waking.on = WakeOff // until the next turn
		l.notices.Put("", "error", "What background work has to tell waits for your next message: "+why.Error())
	}
}

// wakeOptions are those of a turn that begins by itself: what the newest message asked for,
// without a mode that asks nobody. The journal is locked.
func (l *Lane) wakeOptions() *protocol.TurnOptions {
	var o protocol.TurnOptions
	if l.course.waking.options != nil {
		o = *l.course.waking.options
	}
	if l.awakeMode(&o) == permission.Bypass {
		o.Mode = string(permission.Default)
	}
	return &o
}

// awakeMode returns the mode that a turn with such options would have, as far as it is known
// without a configuration; "" where that decides. The journal is locked.
func (l *Lane) awakeMode(o *protocol.TurnOptions) permission.Mode {
	switch {
	case o.Mode != "":
		return permission.Mode(o.Mode)
	case l.rights.mode == "" && l.course.waking.bypass:
		return permission.Bypass
	}
	return l.rights.mode
}

// stillAwake reports whether a turn that background work begins may run with a config that was
// made with options: nobody has said anything else in the meantime, and the configuration has
// no mode that asks nobody. The journal is locked.
func (l *Lane) stillAwake(options *protocol.TurnOptions, config *TurnConfig) bool {
	if l.awakeMode(options) == "" && config.Policy.Mode() == permission.Bypass {
		l.course.waking.bypass = true
	}
	return reflect.DeepEqual(options, l.wakeOptions())
}

// openAwake begins the turn t with what background work has told; at least one event of that
// has been appended. The journal is locked.
func (l *Lane) openAwake(t *turn, options *protocol.TurnOptions) (*publish.Ticket, error) {
	t.outside, t.options = true, options
	l.course.waking.inARow++
	return l.j.Publisher().FlushTicket()
}
