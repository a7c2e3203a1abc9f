package progress

import (
	"time"

	"scorel/protocol"
)

// What clients are sent of an operation.
const (
	// gather is how long an event waits for another of the same stage and message,
	// which then takes its place.
	gather = 400 * time.Millisecond
	// maxPerSecond bounds the events sent of one operation in any second; ends and
	// errors, which go at once, have as many of their own.
	maxPerSecond = 10
)

// operation is what is known of one operation of a call. Call.mu guards it.
type operation struct {
	id   string
	log  *log
	seq  int64
	last protocol.ProcessEvent // the newest, sent or not

	// waiting is the event that is to be sent next, when waits; repeats counts those
	// of its stage and message that it stands for, omitted those that were never sent.
	waiting  protocol.ProcessEvent
	waits    bool
	repeats  int64
	omitted  int64
	since    time.Time   // when the first of waiting came
	timer    *time.Timer // sends it; nil until it is needed. Call.End stops it
	ordinary rate
	urgent   rate
}

// rate lets maxPerSecond events pass in any second.
type rate struct {
	at   [maxPerSecond]time.Time // of the newest, as a ring
	next int
}

// wait returns how long it takes until one more may pass; 0: at once.
func (r *rate) wait(now time.Time) time.Duration {
	oldest := r.at[r.next]
	if oldest.IsZero() {
		return 0
	}
	return max(0, time.Second-now.Sub(oldest))
}

// pass counts one.
func (r *rate) pass(now time.Time) {
	r.at[r.next] = now
	r.next = (r.next + 1) % maxPerSecond
}

// goesAtOnce reports whether an event does not wait for others like it.
func goesAtOnce(e *protocol.ProcessEvent) bool {
	return e.Status.Terminal() || e.Level == protocol.ProcessError
}

// put takes an event in: what waits before it goes first, or is counted when it may not
// go yet. send sends what waits and reports whether there was room for it.
func (o *operation) put(e protocol.ProcessEvent, now time.Time, send func(*operation) bool) {
	urgent := goesAtOnce(&e)
	if o.waits && !urgent && !goesAtOnce(&o.waiting) && o.waiting.Stage == e.Stage && o.waiting.Message == e.Message {
		o.waiting = e
		o.repeats++
		return
	}
	if o.waits && (o.ordinary.wait(now) > 0 || !send(o)) {
		o.omitted += o.repeats
	} else if o.waits {
		o.ordinary.pass(now)
		o.omitted = 0
	}
	o.waiting, o.waits, o.repeats, o.since = e, true, 1, now
	if urgent && o.urgent.wait(now) == 0 && send(o) {
		o.urgent.pass(now)
		o.waits, o.omitted = false, 0
	}
}

// due sends what waits, if it has waited long enough.
func (o *operation) due(now time.Time, send func(*operation) bool) {
	if o.waits && o.delay(now) == 0 && send(o) {
		o.ordinary.pass(now)
		o.waits, o.omitted = false, 0
	}
}

// delay returns how long what waits has to wait still.
func (o *operation) delay(now time.Time) time.Duration {
	d := o.ordinary.wait(now)
	if !goesAtOnce(&o.waiting) {
		d = max(d, gather-now.Sub(o.since))
	}
	return max(0, d)
}

// counted is what waits, with what it stands for.
func (o *operation) counted() protocol.ProcessEvent {
	e := o.waiting
	if o.repeats > 1 {
		e.Payload = with(e.Payload, "repeatCount", o.repeats)
	}
	if o.omitted > 0 {
		e.Payload = with(e.Payload, "omittedCount", o.omitted)
	}
	return e
}
