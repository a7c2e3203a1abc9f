package script

import "time"

// Pace says when the next piece of an answer is due. It keeps to a plan, so that timers
// which are late do not make the whole later.
type Pace struct {
	Every time.Duration // from piece to piece
	due   time.Time     // of the last piece; zero before the first
}

// maxBehind is how far behind the plan pieces are sent faster; what is more is left behind.
const maxBehind = 100 * time.Millisecond

// Next returns how long to wait before the next piece; 0 when it is late.
func (p *Pace) Next(now time.Time) time.Duration {
	if p.due.IsZero() || now.Sub(p.due) > maxBehind {
		p.due = now
	}
	p.due = p.due.Add(p.Every)
	return max(0, p.due.Sub(now))
}

// Restart lets the plan begin anew, after a wait of its own.
func (p *Pace) Restart() { p.due = time.Time{} }
