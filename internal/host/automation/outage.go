package automation

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"scorel/protocol"
)

// maxOutages bounds the outages that are remembered until schedules are looked at again; at the
// bound the newest takes the place of the one before.
const maxOutages = 16

// outages knows why the loop could make no runs, so that what it leaves out later has the true
// reason. It may be used concurrently.
type outages struct {
	mu       sync.Mutex // guards what follows; nothing is called with it held
	good     time.Time  // when all schedules were last looked at
	list     []outage   // since then, the oldest first
	unstored string     // why the last change was not stored, "" when it was
}

// outage is why there were no runs after an instant.
type outage struct {
	after time.Time
	why   string
}

// begin notes that a host begins to look at schedules.
func (o *outages) begin(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.good = now
}

// bad notes that a look could make no runs, and reports whether why is another reason than that
// of the look before.
func (o *outages) bad(now time.Time, why string) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch n := len(o.list); {
	case n > 0 && o.list[n-1].why == why:
		return false
	case n == 0:
		o.list = append(o.list, outage{o.good, why})
	case n == maxOutages:
		o.list[n-1].why = why
	default:
		o.list = append(o.list, outage{now, why})
	}
	return true
}

// end notes that all schedules were looked at. What could not be stored goes on.
func (o *outages) end(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unstored == "" {
		o.good, o.list = now, nil
	}
}

// at returns why there was no run at an instant.
func (o *outages) at(t time.Time) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	why := missed
	for _, each := range o.list {
		if t.After(each.after) {
			why = each.why
		}
	}
	return why
}

// notStored returns why the last change could not be stored, "" when it was.
func (o *outages) notStored() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unstored
}

// stored notes whether a change was stored, and reports whether that is news.
func (o *outages) stored(cause string) (news bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	news = o.unstored != cause
	o.unstored = cause
	return news
}

// noteStored notes what became of a change of the file, and tells people once per cause.
func (a *Automation) noteStored(err error) {
	if refused := new(protocol.Error); errors.As(err, &refused) && refused.Code != protocol.CodePayloadTooLarge {
		return // the file was not to be written
	}
	cause := ""
	if err != nil {
		cause = err.Error()
		if e := new(fs.PathError); errors.As(err, &e) { // of a file with a random name
			cause = fmt.Sprintf("%s: %v", a.file, e.Err)
		}
		a.outages.bad(a.cfg.Clock.Now(), "runs could not be stored: "+cause)
	}
	switch news := a.outages.stored(cause); {
	case news && err != nil:
		a.say("schedules and their runs cannot be stored, so no run begins: " + cause)
		a.poke() // the loop tries again
	case news:
		a.say("schedules and their runs can be stored again")
	}
}

// tryToStore finds out whether changes can be stored again, when they could not, and returns
// when it is to be called again.
func (a *Automation) tryToStore(now time.Time) time.Time {
	if a.outages.notStored() == "" {
		return time.Time{}
	}
	if now.Before(a.storeNext) && a.storeNext.Sub(now) <= tryAgain {
		return a.storeNext
	}
	err := a.store.Try()
	if a.noteStored(err); err == nil {
		a.cfg.Announcer.Broadcast(&protocol.AutomationChanged{})
		return time.Time{}
	}
	a.storeNext = now.Add(tryAgain)
	return a.storeNext
}

// say tells people who look after the host.
func (a *Automation) say(text string) {
	if a.cfg.Say != nil {
		a.cfg.Say(text)
	}
}
