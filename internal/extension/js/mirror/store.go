package mirror

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// MaxEntries bounds the entries of a conversation.
const MaxEntries = 1_000_000

// Store is the conversation as the host sends it.
type Store struct {
	mu  sync.Mutex
	now *Snapshot
}

// Snapshot is the conversation at one time. It does not change.
type Snapshot struct {
	entries []*entry
}

// Len is how many entries there are.
func (s *Snapshot) Len() int { return len(s.entries) }

// entry is one raw entry; what is read of it stands after once.
type entry struct {
	raw  json.RawMessage
	once sync.Once
	env  envelope
	bad  bool
}

type envelope struct {
	Type      string          `json:"type"`
	Timestamp int64           `json:"timestamp"`
	Message   json.RawMessage `json:"message"`
	Custom    bool            `json:"custom"`
	Data      json.RawMessage `json:"data"`
}

func (e *entry) read() *envelope {
	e.once.Do(func() { e.bad = json.Unmarshal(e.raw, &e.env) != nil })
	return &e.env
}

// hasMessage reports whether the entry holds a message, from its first bytes where these
// tell.
func (e *entry) hasMessage() bool {
	if bytes.HasPrefix(e.raw, []byte(`{"type":"message",`)) {
		return true
	}
	return len(e.read().Message) > 0
}

// NewStore returns an empty one.
func NewStore() *Store { return &Store{now: &Snapshot{}} }

// Now returns the newest snapshot.
func (s *Store) Now() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Apply keeps the first entries and appends others.
func (s *Store) Apply(keep int, add []json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if keep < 0 || keep > len(s.now.entries) {
		return fmt.Errorf("%d entries are to stay, and there are %d", keep, len(s.now.entries))
	}
	if keep+len(add) > MaxEntries {
		return errors.New("the conversation has more than 1,000,000 entries")
	}
	entries := s.now.entries[:keep:keep] // what others hold of the array stays theirs
	for _, raw := range add {
		entries = append(entries, &entry{raw: raw})
	}
	s.now = &Snapshot{entries: entries}
	return nil
}
