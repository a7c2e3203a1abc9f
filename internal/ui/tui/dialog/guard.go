package dialog

import "time"

// When a dialog takes keys.
const (
	// Settle is how long a dialog is on the screen before it takes a key: as long as
	// nobody answers who has seen it.
	Settle = 250 * time.Millisecond
	// Pause is how long nothing was typed before it takes a key: who types goes on
	// typing into the draft.
	Pause = 500 * time.Millisecond
)

// Guard reports whether a key is for the dialog or for the draft. The zero value guards
// nothing yet. Times must not go back.
type Guard struct {
	id    string
	drawn time.Time // when the frame with the dialog was written
	typed time.Time // when the last key came
}

// Drawn tells that a frame with the dialog in front was written to the terminal; ""
// that one without any was. Only the first frame of a dialog counts.
func (g *Guard) Drawn(id string, now time.Time) {
	if id != g.id {
		g.id, g.drawn = id, now
	}
}

// Key tells of a key, and reports whether it is for the dialog of that ID.
func (g *Guard) Key(id string, now time.Time) bool {
	armed := g.Armed(id, now)
	g.typed = now
	if armed {
		// Keys of an answer do not disarm it, such as those of a reason that is typed.
		g.typed = time.Time{}
	}
	return armed
}

// Drafting tells of a key that was no answer: those that follow it go to the draft too,
// until nothing was typed for a while.
func (g *Guard) Drafting(now time.Time) { g.typed = now }

// Answered tells that the dialog in front was answered here: the next one waits for the
// pause, so that a key that is pressed twice does not answer two.
func (g *Guard) Answered(now time.Time) { g.id, g.typed = "", now }

// Armed reports whether the dialog takes keys.
func (g *Guard) Armed(id string, now time.Time) bool {
	return id != "" && id == g.id && g.Wait(now) <= 0
}

// Wait is how long it takes until the dialog in front takes keys, if nothing is typed;
// it is to be drawn again then.
func (g *Guard) Wait(now time.Time) time.Duration {
	if g.id == "" {
		return 0
	}
	at := g.drawn.Add(Settle)
	if t := g.typed.Add(Pause); !g.typed.IsZero() && t.After(at) {
		at = t
	}
	return max(0, at.Sub(now))
}
