package files

import (
	"maps"
	"slices"
	"sync"

	"scorel/protocol"
)

// Seen remembers what the model has seen of files, by resolved path. It may be
// used by several goroutines at once.
type Seen struct {
	mu    sync.Mutex
	files map[string]*seenFile
}

// seenFile is the newest version seen, and which lines of it.
type seenFile struct {
	state protocol.FileState
	spans [][2]int // first and last line, sorted, apart from each other
}

// NewSeen builds the memory from the details.files of the results on the active
// path, oldest first. Tools add to it what their own results say.
func NewSeen(states []protocol.FileState) *Seen {
	s := &Seen{}
	s.Reset(states)
	return s
}

// Reset forgets everything but states.
func (s *Seen) Reset(states []protocol.FileState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = make(map[string]*seenFile, len(states))
	for _, state := range states {
		s.note(state)
	}
}

// Note adds what a result says. Parts of one version add up; when they are all
// of it, the whole has been seen.
func (s *Seen) Note(state protocol.FileState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(state)
}

// note is Note with mu held.
func (s *Seen) note(state protocol.FileState) {
	f := s.files[state.Path]
	if f == nil || f.state.SHA256 != state.SHA256 {
		f = &seenFile{state: protocol.FileState{Path: state.Path, SHA256: state.SHA256}}
		s.files[state.Path] = f
	}
	if state.From > 0 {
		f.spans = join(append(f.spans, [2]int{state.From, state.To}))
	}
	f.state.Whole = f.state.Whole || state.Whole ||
		len(f.spans) == 1 && f.spans[0][0] == 1 && f.spans[0][1] == state.Of
}

// join sorts spans and makes one of those that touch.
func join(spans [][2]int) [][2]int {
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	joined := spans[:1]
	for _, s := range spans[1:] {
		if last := &joined[len(joined)-1]; s[0] <= last[1]+1 {
			last[1] = max(last[1], s[1])
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// Paths returns the paths of the files, sorted.
func (s *Seen) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.files))
}

// Lookup returns the version that the model saw last, and whether all of it.
func (s *Seen) Lookup(path string) (protocol.FileState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.files[path]
	if !ok {
		return protocol.FileState{}, false
	}
	return f.state, true
}
