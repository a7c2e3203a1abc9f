package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ids rewrites the ids of calls to what an API takes. Within one message an id
// maps to one id; across messages no id is given out twice. What an id becomes
// depends only on what came before it.
type ids struct {
	max   int
	given map[string]bool
	open  map[string][]string // ids of the last assistant message, by their old form, unanswered
}

func newIDs(api API) *ids {
	return &ids{max: api.format().idLen, given: map[string]bool{}, open: map[string][]string{}}
}

// close ends the results of a message; later ones have no call.
func (s *ids) close() { clear(s.open) }

func (s *ids) call(old string) string {
	id := s.valid(old)
	for n := 0; s.given[id]; n++ {
		id = s.hashed(old, n+1)
	}
	s.given[id] = true
	s.open[old] = append(s.open[old], id)
	return id
}

func (s *ids) result(old string) (string, bool) {
	list := s.open[old]
	if len(list) == 0 {
		return "", false
	}
	s.open[old] = list[1:]
	return list[0], true
}

func (s *ids) valid(old string) string {
	if old != "" && len(old) <= s.max && strings.IndexFunc(old, badInID) < 0 {
		return old
	}
	return s.hashed(old, 0)
}

// hashed is a readable beginning of old and 12 hex digits of its hash.
func (s *ids) hashed(old string, n int) string {
	sum := sha256.Sum256([]byte(old + strings.Repeat("\x00", n)))
	head := strings.Map(func(r rune) rune {
		if badInID(r) {
			return '_'
		}
		return r
	}, old)
	const digits = 12
	if limit := s.max - digits - 1; len(head) > limit {
		head = head[:limit]
	}
	return head + "_" + hex.EncodeToString(sum[:])[:digits]
}

// toolName returns a name for a call that the API takes, the same if it does.
func toolName(name string, api API) string {
	name = strings.Map(func(r rune) rune {
		if badInID(r) && (api != APIGoogle || r != '.' && r != ':') {
			return '_'
		}
		return r
	}, name)
	switch {
	case name == "":
		return "unknown"
	case api == APIGoogle && (name[0] < 'A' || name[0] == '-'):
		name = "_" + name // the first is a letter or an underscore
	}
	return name[:min(len(name), api.format().nameLen)]
}

func badInID(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
}
