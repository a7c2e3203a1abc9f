package history

// Window says how much fits into a request; all sizes are tokens.
type Window struct {
	Size      int // the context window of the model
	System    int // of the system prompt
	Tools     int // of the tool definitions
	MaxOutput int // the most that one answer may have; 0: unknown
}

// The numbers of compaction and shrinking.
const (
	reserveTokens = 16384 // kept free for the answer, at least
	tailTokens    = 20000 // kept by a compaction, at most
	summaryTokens = 8000  // of a summary, at most
	spareTokens   = 40000 // of the newest tool output that shrinking spares, at most
	resultChars   = 2000  // of a tool result in a summary request and in a harder tail
)

// Threshold is the size of a request, with system prompt and tools, above which
// compaction starts: the window less max(16,384, 20%) but at most half of it.
func (w Window) Threshold() int {
	return w.Size - min(max(reserveTokens, w.Size/5), w.Size/2)
}

// Room is what the threshold leaves for messages; never negative.
func (w Window) Room() int { return max(0, w.Threshold()-w.System-w.Tools) }

// Tail is how much of the newest messages a compaction keeps.
func (w Window) Tail(harder bool) int {
	n := min(tailTokens, w.Room()*2/5)
	if harder {
		n /= 2
	}
	return n
}

// Summary is the most tokens that a summary may have.
func (w Window) Summary() int {
	n := min(summaryTokens, w.Room()/5)
	if w.MaxOutput > 0 {
		n = min(n, w.MaxOutput)
	}
	return n
}

// Spare is how much of the newest tool output shrinking leaves alone.
func (w Window) Spare() int { return min(spareTokens, w.Room()/4) }
