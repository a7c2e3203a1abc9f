package webpush

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"scorel/protocol"
)

// Bounds of sending; see docs/limits.md.
const (
	maxSending    = 8         // requests at once
	maxTries      = 4         // of one push
	maxRetryAfter = time.Hour // that a push service may ask for
	maxAnswer     = 4 << 10   // bytes of an answer, which is not read further
)

// loop sends what is due, until ctx ends.
func (p *Pushes) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-timer.C:
		}
		now := p.cfg.Now()
		orders, again := p.due(now)
		for _, o := range orders {
			p.done.Go(func() { // ends with the request, or with ctx
				defer p.cfg.Guard.Rescue("sending a push")
				p.send(ctx, o)
			})
		}
		timer.Stop()
		if !again.IsZero() {
			timer.Reset(again.Sub(now))
		}
	}
}

// outcome is what became of a push.
type outcome struct {
	state  protocol.PushState
	status int
	again  time.Duration // not 0: it is tried again after that
	none   bool          // nothing was sent
}

// send carries an order out.
func (p *Pushes) send(ctx context.Context, o order) {
	out := outcome{none: true}
	defer func() { p.finish(o, out) }()
	if !p.stillWaits(o.sessions) {
		return
	}
	e, ok, err := p.cfg.Entries.Get(o.sub.ClientID)
	switch {
	case err != nil:
		p.cfg.Log.Note("no push is sent: "+err.Error(), nil)
		out = outcome{again: p.backoff(o.failures)}
		return
	case !ok || e.AddedAt != o.sub.Added:
		p.Forget(o.sub.ClientID)
		return
	case !e.Granted().Allows(protocol.GrantAnswer): // it could not answer
		return
	}
	out = p.post(ctx, o)
	if ctx.Err() != nil {
		out = outcome{none: true}
		return
	}
	if err := p.keep(o.sub, out); err != nil {
		p.cfg.Log.Note("keep what became of a push: "+err.Error(), nil)
	}
}

// stillWaits reports whether one of the sessions waits for a person.
func (p *Pushes) stillWaits(sessions []protocol.SessionID) bool {
	for _, id := range sessions {
		if waits, asking := p.isWaiting(id); !waits {
			continue
		} else if !asking {
			return true
		}
		if st := p.cfg.Sessions.State(id); st != nil && st.Asking {
			return true
		}
	}
	return false
}

func (p *Pushes) isWaiting(id protocol.SessionID) (waits, asking bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waits[id]
	return w != nil && w.waits, w != nil && w.asking
}

// post makes the request.
func (p *Pushes) post(ctx context.Context, o order) outcome {
	failed := outcome{state: protocol.PushUnreachable, again: p.backoff(o.failures)}
	key, err := p.signingKey()
	if err != nil {
		p.cfg.Log.Note("no push is sent: "+err.Error(), nil)
		return failed
	}
	transport, err := p.cfg.Transport()
	if err != nil {
		p.cfg.Log.Note("no push is sent: "+err.Error(), nil)
		return failed
	}
	if err := p.judge(o.sub.Endpoint); err != nil { // the settings may have changed
		p.cfg.Log.Note("a push was not sent: the settings of this host do not name its push service any more", nil)
		return outcome{state: protocol.PushRefused}
	}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Pace.Timeout)
	defer cancel()
	req, err := newPush(key, p.cfg.Rand, o.sub.Endpoint, o.sub.Contact, p.cfg.Now())
	if err != nil {
		return failed
	}
	res, err := transport.RoundTrip(req.WithContext(ctx)) // no http.Client: no cookies, and no redirect is followed
	if err != nil {
		p.cfg.Log.Note("a push was not sent: "+reason(err), nil)
		return failed
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.CopyN(io.Discard, res.Body, maxAnswer) // what it says is of no use
	out := outcome{status: res.StatusCode}
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		return outcome{state: protocol.PushOn}
	case code == http.StatusNotFound || code == http.StatusGone:
		out.state = protocol.PushGone
	case code == http.StatusTooManyRequests || code >= 500:
		out.state, out.again = protocol.PushUnreachable, max(failed.again, retryAfter(res.Header, p.cfg.Now()))
	default: // also a redirect
		out.state = protocol.PushRefused
	}
	p.cfg.Log.Note(fmt.Sprintf("the push service of %s has answered %d", o.sub.ClientID, res.StatusCode), nil)
	return out
}

// backoff returns how long to wait after so many failures before.
func (p *Pushes) backoff(failures int) time.Duration {
	return p.cfg.Pace.Retry << (2 * min(failures, maxTries))
}

// retryAfter returns for how long a push service asks to be left alone, at most an hour.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(text); err == nil {
		return min(max(time.Duration(min(n, int(maxRetryAfter.Seconds())))*time.Second, 0), maxRetryAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// reason says why a request failed, without the address, which errors of the network have.
func reason(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "the push service did not answer in time"
	}
	return "the push service could not be reached"
}

// keep stores and shows what became of a push, where that is new. It is shown, too, where it
// cannot be stored: a host that starts again then finds out anew.
func (p *Pushes) keep(sub subscription, out outcome) error {
	if sub.State == out.state && sub.Status == out.status {
		return nil
	}
	p.changing.Lock()
	defer p.changing.Unlock()
	next := sub
	next.State, next.Status = out.state, out.status
	if out.state == protocol.PushGone {
		next.Endpoint = ""
	}
	err := p.store.change(sub.ClientID, nil, func(old *subscription) *subscription {
		if old == nil || old.Endpoint != sub.Endpoint {
			return old // it was replaced meanwhile
		}
		return &next
	})
	if p.take(sub, next) {
		p.cfg.Watcher.EntriesChanged()
	}
	return err
}

// take puts next in the place of a subscription, and reports whether it was still that one.
func (p *Pushes) take(sub, next subscription) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.targets[sub.ClientID]
	if t == nil || t.Endpoint != sub.Endpoint {
		return false
	}
	t.subscription = next
	return true
}

// finish notes that an order was carried out: one that failed is due again after a while, if
// its sessions wait then.
func (p *Pushes) finish(o order, out outcome) {
	defer p.look()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending--
	t := p.targets[o.sub.ClientID]
	if t == nil {
		return
	}
	t.sending = false
	now := p.cfg.Now()
	switch {
	case out.none:
	case out.again > 0:
		t.next = now.Add(out.again)
		if t.failures++; t.failures >= maxTries {
			t.failures = 0 // what waits now is given up; the next session begins again
			return
		}
		for _, id := range o.sessions {
			delete(t.told, id)
		}
	default:
		t.failures, t.next = 0, now.Add(p.cfg.Pace.Interval)
	}
}
