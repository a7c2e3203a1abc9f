package channels

import "time"

const (
	// maxEvents is how many events of a channel count in a minute; further ones are left out.
	maxEvents = 60
	paceTime  = time.Minute
)

// pace counts the events of a channel. It belongs to who guards it.
type pace struct {
	began time.Time // of the minute
	taken int       // in it
	last  time.Time // when one was left out
	lost  int       // since people were told how many
	told  bool      // people know that some are
}

// take reports whether an event counts.
func (p *pace) take(now time.Time) bool {
	if now.Sub(p.began) >= paceTime {
		p.began, p.taken = now, 0
	}
	if p.taken < maxEvents {
		p.taken++
		return true
	}
	p.lose(now)
	return false
}

// lose counts an event that is left out.
func (p *pace) lose(now time.Time) {
	p.lost++
	p.last = now
}

// tell reports whether people are to be told now that events are left out: once in a flood.
func (p *pace) tell() bool {
	if p.lost == 0 || p.told {
		return false
	}
	p.told = true
	return true
}

// left returns how long a flood may still go on before it is over, 0 without one.
func (p *pace) left(now time.Time) time.Duration {
	if p.lost == 0 {
		return 0
	}
	return max(p.last.Add(paceTime).Sub(now), 1)
}

// over returns how many events were left out in a flood that has ended, 0 for none.
func (p *pace) over(now time.Time) (lost int) {
	if p.lost == 0 || now.Sub(p.last) < paceTime {
		return 0
	}
	lost, p.lost, p.told = p.lost, 0, false
	return lost
}
