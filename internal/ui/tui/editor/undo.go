package editor

// Bounds of what can be undone; the oldest goes.
const (
	maxSteps     = 1000
	maxUndoBytes = 8 << 20
	maxGroup     = 1 << 10 // bytes of what is undone at once as typed
)

// kind says what changes are undone together: those of one kind, side by side.
type kind int

const (
	kindOther kind = iota
	kindType
	kindBack
	kindForward
)

// step is a change: old was replaced by new.
type step struct {
	at       int
	old, new string
	before   int // where the cursor was
	kind     kind
}

func (s step) bytes() int { return len(s.old) + len(s.new) }

// undo is what can be undone and done again.
type undo struct {
	done, undone []step
	bytes        int
}

// seal ends the group of changes that are undone together.
func (u *undo) seal() {
	if n := len(u.done); n > 0 {
		u.done[n-1].kind = kindOther
	}
}

func (u *undo) note(s step) {
	for _, gone := range u.undone {
		u.bytes -= gone.bytes()
	}
	u.undone = nil
	u.bytes += s.bytes()
	if n := len(u.done); n > 0 && u.done[n-1].join(s) {
		return
	}
	u.done = append(u.done, s)
	for len(u.done) > 1 && (len(u.done) > maxSteps || u.bytes > maxUndoBytes) {
		u.bytes -= u.done[0].bytes()
		u.done = u.done[1:]
	}
}

// join takes s into a step, when it goes on with it: up to the beginning of the next
// word.
func (t *step) join(s step) bool {
	if t.kind != s.kind || t.bytes()+s.bytes() > maxGroup {
		return false
	}
	switch s.kind {
	case kindType:
		if s.at != t.at+len(t.new) || wordBegins(t.new, s.new) {
			return false
		}
		t.new += s.new
	case kindBack:
		if s.at+len(s.old) != t.at {
			return false
		}
		t.at, t.old = s.at, s.old+t.old
	case kindForward:
		if s.at != t.at {
			return false
		}
		t.old += s.old
	default:
		return false
	}
	return true
}

// wordBegins says that a word begins between two pieces of text.
func wordBegins(a, b string) bool {
	return (a[len(a)-1] == ' ' || a[len(a)-1] == '\n') && b[0] != ' ' && b[0] != '\n'
}

func (u *undo) each(f func(raw string)) {
	for _, list := range [...][]step{u.done, u.undone} {
		for _, s := range list {
			f(s.old)
			f(s.new)
		}
	}
}

func (e *Editor) stepBack() bool {
	n := len(e.undo.done)
	if n == 0 {
		return false
	}
	s := e.undo.done[n-1]
	e.undo.done = e.undo.done[:n-1]
	e.undo.undone = append(e.undo.undone, s)
	e.change(s.at, s.at+len(s.new), s.old)
	e.size += e.sizeOf(s.old) - e.sizeOf(s.new)
	e.pos = e.snap(s.before)
	e.undo.seal()
	return true
}

func (e *Editor) stepOn() bool {
	n := len(e.undo.undone)
	if n == 0 {
		return false
	}
	s := e.undo.undone[n-1]
	s.kind = kindOther
	e.undo.undone = e.undo.undone[:n-1]
	e.undo.done = append(e.undo.done, s)
	e.change(s.at, s.at+len(s.old), s.new)
	e.size += e.sizeOf(s.new) - e.sizeOf(s.old)
	return true
}
