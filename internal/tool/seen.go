package tool

import "sync"

// Seen remembers what the model has seen of files, by resolved path. It may be
// used by several goroutines at once.
type Seen struct {
	mu    sync.Mutex
	files map[string]FileState
}

// NewSeen builds the memory from the details.files of the results on the active
// path, oldest first. Tools add to it what their own results say.
func NewSeen(states []FileState) *Seen {
	s := &Seen{files: make(map[string]FileState, len(states))}
	for _, state := range states {
		s.Note(state)
	}
	return s
}

// Note adds what a result says. To see a part of a version that is known as a
// whole takes nothing away.
func (s *Seen) Note(state FileState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.files[state.Path]; ok && old.SHA256 == state.SHA256 {
		state.Whole = state.Whole || old.Whole
	}
	s.files[state.Path] = state
}

// Lookup gives the version that the model saw last.
func (s *Seen) Lookup(path string) (FileState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok := s.files[path]
	return state, ok
}
