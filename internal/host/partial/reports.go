package partial

import "sync"

// Reports takes what the keepers of one session have to report. Somebody who can tell people
// takes from it why something is not kept: the keepers hold locks, and cannot.
type Reports struct {
	tell func(string) // into the diagnostics

	mu  sync.Mutex
	why string
}

// NewReports returns reports that tell each sentence, too.
func NewReports(tell func(string)) *Reports { return &Reports{tell: tell} }

// say reports what costs nobody anything.
func (r *Reports) say(what string) { r.tell(what) }

// unkept reports that something would be lost with a host that is killed.
func (r *Reports) unkept(what, why string) {
	r.tell(what + ": " + why)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.why = why
}

// Unkept returns why something that runs is not kept, once, and "" when all of it is.
func (r *Reports) Unkept() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := r.why
	r.why = ""
	return why
}
