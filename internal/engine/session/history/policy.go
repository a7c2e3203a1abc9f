package history

// Decision says what to do before a model call, or after one was refused.
type Decision string

// The decisions.
const (
	Call          Decision = "call"
	Compact       Decision = "compact"
	CompactHarder Decision = "compact_harder"
	GiveUp        Decision = "give_up" // end the turn with prompt_too_long
)

// Progress decides when to compact, so that compaction never runs in circles: one
// that frees less than 10% of the room is followed at once by a harder one, and
// when that frees less than 10% too, none is tried before the next user message.
// The zero value is the state at the beginning of a turn. It does nothing itself:
// the host asks, acts, and reports what came of it.
type Progress struct {
	harder  bool // the last compaction freed too little
	stuck   bool // the harder one did, too
	refused bool // the provider said too long, and the harder one was made for it
}

// UserMessage begins again: a new user message opened a turn.
func (p *Progress) UserMessage() { *p = Progress{} }

// Next says what to do before a call with a request of so many tokens.
func (p *Progress) Next(tokens int, w Window) Decision {
	switch {
	case p.stuck:
		return Call
	case p.harder:
		return CompactHarder
	case tokens > w.Threshold():
		return Compact
	}
	return Call
}

// Stuck reports whether nothing is tried before the next user message, because compacting
// freed too little.
func (p *Progress) Stuck() bool { return p.stuck }

// Compacted reports a compaction: the whole request before and after it. A plan
// that found nothing to cut is reported with two equal numbers.
func (p *Progress) Compacted(d Decision, before, after int, w Window) {
	enough := before > after && (before-after)*10 >= w.Room()
	if d == CompactHarder {
		p.harder, p.stuck = false, !enough
		return
	}
	p.harder = !enough
}

// Accepted reports that the provider took a request.
func (p *Progress) Accepted() { p.refused = false }

// TooLong says what to do when the provider refused a request as too long: the
// harder compaction, once, unless it is known to free nothing.
func (p *Progress) TooLong() Decision {
	if p.stuck || p.refused {
		return GiveUp
	}
	p.refused = true
	return CompactHarder
}

// Reason says, after [GiveUp], why nothing more is tried: one sentence for people.
func (p *Progress) Reason() string {
	if p.stuck {
		return "The conversation does not fit the model's context window, and compacting it freed less than a tenth of the room: what is left is mostly the newest message and step. Send a shorter message, rewind, or choose a model with a larger window."
	}
	return "The provider refused the conversation as too long even after it was compacted. Rewind, or choose a model with a larger window."
}
