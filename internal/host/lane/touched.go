package lane

// Touched is what the calls in a context have had to do with.
type Touched struct {
	Files []string // that were read or written, absolute
	Dir   string   // where commands run, "" before the first
}

// touched returns what the calls have had to do with that the model still finds in its
// context.
func (h *turnHost) touched() Touched {
	work := h.t.view.work
	if work == nil {
		return Touched{}
	}
	t := Touched{Dir: work.Dir}
	for _, f := range work.Files {
		t.Files = append(t.Files, f.Path)
	}
	return t
}
