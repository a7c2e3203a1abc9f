package line

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"scorel/client"
	"scorel/protocol"
)

// maxJobs bounds the typed lines that wait for those before them.
const maxJobs = 64

// job is a request on its way. It returns what is to be done with its outcome by the
// goroutine of the follower.
type job func(ctx context.Context) func()

// jobs are what was typed and is on its way to the host.
type jobs struct {
	queue       chan job
	running     int      // those that have not ended
	unconfirmed []string // what was typed and has not reached the host, at most maxJobs
	early       []string // lines that were typed before the state was there, at most maxJobs
}

func newJobs() jobs { return jobs{queue: make(chan job, maxJobs)} }

// pending reports whether something is on its way.
func (j *jobs) pending() bool { return j.running > 0 }

// runJobs does jobs in their order until the run ends.
func (v *Session) runJobs() {
	for {
		select {
		case j := <-v.jobs.queue:
			v.finish(j(v.ctx))
		case <-v.ctx.Done():
			return
		}
	}
}

// finish has the outcome of a job handled.
func (v *Session) finish(outcome func()) {
	v.post(func() {
		v.jobs.running--
		outcome()
	})
}

// enqueue has a job done after those before it. It reports false when too many wait.
func (v *Session) enqueue(j job) bool {
	select {
	case v.jobs.queue <- j:
		v.jobs.running++
		return true
	default:
		v.fail(fmt.Errorf("%d lines are queued already; wait until they are sent", maxJobs))
		return false
	}
}

// enqueueText has what was typed sent, and remembers it until that is done.
func (v *Session) enqueueText(text string, j job) {
	if v.enqueue(j) {
		v.jobs.unconfirmed = append(v.jobs.unconfirmed, text)
	}
}

// confirm reports an error of what was typed and puts the text back.
func (v *Session) confirm(err error, text string) {
	v.jobs.unconfirmed = v.jobs.unconfirmed[1:] // they are sent in order
	if err == nil {
		return
	}
	v.fail(err)
	if v.term == nil {
		v.fail(fmt.Errorf("not sent: %s", text))
	} else if len(v.term.edit.line) == 0 {
		v.term.edit.set(text)
	} else {
		v.screen.line(dimStyle, "not sent: "+text)
	}
}

// sendNow sends an answer or a cancel at once: what waits does not hold it up.
func (v *Session) sendNow(req protocol.Request) {
	v.jobs.running++
	id := v.id
	go func() { v.finish(v.answered(id, req)) }() // ends with the request
}

// answered sends an answer or a cancel, and returns what is to be done then.
func (v *Session) answered(id protocol.SessionID, req protocol.Request) func() {
	var err error
	switch r := req.(type) {
	case *protocol.Cancel:
		_, err = client.Call[*protocol.Cancelled](v.ctx, v.cfg.Client, id, r)
	default:
		_, err = client.Call[*protocol.Done](v.ctx, v.cfg.Client, id, r)
	}
	return func() {
		var pe *protocol.Error
		switch {
		case err == nil:
		case errors.As(err, &pe) && pe.Code == protocol.CodeConflict:
			v.notify(strings.TrimSuffix(err.Error(), "."))
		default:
			v.fail(err)
			v.ask.again(req)
			v.ask.sync(&v.live)
		}
	}
}

// request makes a request that is answered with nothing, and tells done then.
func (v *Session) request(done string, req protocol.Request) {
	v.enqueue(func(ctx context.Context) func() {
		_, err := client.Call[*protocol.Done](ctx, v.cfg.Client, v.id, req)
		return func() { v.outcome(err, done) }
	})
}

// outcome reports what came of a request.
func (v *Session) outcome(err error, done string) {
	var pe *protocol.Error
	switch {
	case err == nil:
		if done != "" {
			v.notify(done)
		}
	case errors.As(err, &pe) && pe.Code == protocol.CodeRuntimeBusy:
		v.fail(fmt.Errorf("%s (/cancel)", strings.TrimSuffix(err.Error(), ".")))
	default:
		v.fail(err)
	}
}
