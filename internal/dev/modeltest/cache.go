package modeltest

import (
	"crypto/sha256"

	"scorel/protocol"
)

// promptCache plays the vendors' prompt cache: what a mark closed in one request
// is read by the next that begins with the same blocks and has a mark at most
// lookback blocks after.
type promptCache struct {
	known map[[32]byte]int // prefix to its tokens
	order [][32]byte       // oldest first
}

const (
	lookback   = 20    // blocks, Anthropic's
	maxEntries = 4_096 // the oldest goes first
)

// usage counts the input of a request: 4 bytes are a token.
func (s *Server) usage(in incoming) protocol.Usage {
	var state [32]byte
	prefixes := make([][32]byte, len(in.blocks))
	tokens := make([]int, len(in.blocks))
	total := 0
	for i, b := range in.blocks {
		state = sha256.Sum256(append(state[:], b...))
		total += (len(b) + 3) / 4
		prefixes[i], tokens[i] = state, total
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	read, written := 0, 0
	for _, m := range in.marks {
		for i := m; i >= 0 && i > m-lookback; i-- {
			if _, ok := s.cache.known[prefixes[i]]; ok {
				read = max(read, tokens[i])
				break
			}
		}
		written = max(written, tokens[m])
	}
	for _, m := range in.marks {
		s.cache.add(prefixes[m], tokens[m])
	}
	written = max(0, written-read)
	return protocol.Usage{InputTokens: total - read - written, CacheReadTokens: read, CacheWriteTokens: written}
}

func (c *promptCache) add(prefix [32]byte, tokens int) {
	if _, ok := c.known[prefix]; ok {
		return
	}
	if len(c.order) == maxEntries {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
	c.known[prefix] = tokens
	c.order = append(c.order, prefix)
}
