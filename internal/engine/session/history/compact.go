package history

import (
	"math"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Cut is a planned compaction: what goes, what stays and what it may cost.
type Cut struct {
	CompactedThrough protocol.EventID // the last event that goes
	TurnMessageID    protocol.EventID // the user message of a turn that is cut, else ""
	TokensBefore     int              // of the whole request
	KeepTokens       int              // of what stays behind the summary
	MaxSummaryTokens int
	Details          *protocol.CompactDetails // nil when no file was touched
	ResultChars      int                      // of a harder one: the length that results of the tail keep
	// Summarise is what the summary is to be made from. The summary of the
	// compaction before is not in it but in PreviousSummary.
	Summarise       []protocol.Message
	PreviousSummary string
	// Reuse: nothing new is summarised; PreviousSummary is the summary to use, and
	// no model is asked.
	Reuse bool

	context Context
	window  Window
	keep    int      // the first element that stays
	from    int      // notes after this place stay
	turn    *Element // of TurnMessageID, as it stands on the path
}

// Plan finds where to cut c: at a step boundary, also inside the current turn, so
// that the longest tail stays that fits [Window.Tail], and always the newest step.
// A harder cut halves the tail and shortens its tool results. It says false where
// there is nothing to cut: the newest step alone, or a window with no room. It
// does not ask whether a compaction is due; see [Progress].
func Plan(c Context, w Window, harder bool) (Cut, bool) {
	if w.Room() == 0 {
		return Cut{}, false
	}
	keep, tokens := chooseTail(&c, w, harder)
	if keep < 0 || !hasNews(c.elems[:keep]) {
		if !harder {
			return Cut{}, false
		}
		return planInPlace(c, w)
	}
	cut := newCut(c, w, keep)
	cut.KeepTokens = tokens
	if harder {
		cut.ResultChars = resultChars
	}
	cut.Summarise, cut.PreviousSummary = summarised(&c, keep)
	return cut, true
}

// newCut makes the cut before element keep.
func newCut(c Context, w Window, keep int) Cut {
	cut := Cut{
		CompactedThrough: c.elems[keep].prev,
		TokensBefore:     c.Tokens,
		MaxSummaryTokens: w.Summary(),
		Details:          touchedFiles(c.elems[:keep]).details(&c.older.files, c.details),
		context:          c, window: w, keep: keep, from: c.elems[keep].pos,
	}
	if c.elems[keep].opensTurn() {
		return cut
	}
	// The turn is the log's, whatever the hooks made of its message.
	for i := len(c.path) - 1; i >= 0; i-- {
		if e := &c.path[i]; e.pos < c.elems[keep].pos && e.opensTurn() {
			cut.turn, cut.TurnMessageID = e, e.Event
			break
		}
	}
	return cut
}

// planInPlace is the harder cut where only one step is left, whose results are
// what is too long: they are shortened, and no summary needs to be made.
func planInPlace(c Context, w Window) (Cut, bool) {
	keep := newestStep(c.elems)
	if keep < 1 {
		return Cut{}, false
	}
	for i := range keep - 1 { // what hooks put there comes again
		if e := &c.elems[i]; e.Event != "" && e.kind != kindSummary && e.kind != kindTurn {
			return Cut{}, false
		}
	}
	e, before := &c.elems[keep], &c.elems[keep-1]
	if e.Event == "" || e.prev == "" || e.Message.Role != protocol.RoleAssistant || !before.opensTurn() && before.kind != kindSummary {
		return Cut{}, false
	}
	saved := 0
	for i := keep; i < len(c.elems); i++ {
		saved += cutSaves(&c.elems[i])
	}
	if saved <= 0 {
		return Cut{}, false
	}
	cut := newCut(c, w, keep)
	if before.kind == kindMessage { // what was attached to it stays
		cut.CompactedThrough, cut.from = before.Event, before.pos
	}
	cut.KeepTokens = c.scale(c.from(keep) - saved)
	cut.ResultChars, cut.Reuse = resultChars, true
	cut.PreviousSummary = "Nothing came before the user's message. Long tool results were cut to fit the context window."
	if c.elems[0].kind == kindSummary {
		cut.PreviousSummary = c.summary
	}
	return cut, true
}

// cutSaves estimates what a harder cut takes from a result.
func cutSaves(e *Element) int {
	if !e.isResult() {
		return 0
	}
	return model.EstimateTokens(*e.Message) - model.EstimateTokens(*cutResult(e.Message, resultChars))
}

// chooseTail returns the first element that stays, -1 for none, and the tokens from
// there on.
func chooseTail(c *Context, w Window, harder bool) (keep, tokens int) {
	fits := boundaries(c.elems)
	newest := newestStep(c.elems)
	budget := w.Tail(harder)
	keep = -1
	saved := 0
	merged, next := 0, len(c.sums) // steers that are in a result before the tail
	for i := len(c.elems) - 1; i > 0; i-- {
		e := &c.elems[i]
		if e.steer() && c.at[i] == next {
			merged += model.EstimateTokens(*e.Message)
		} else {
			merged = 0
		}
		next = c.at[i]
		if harder {
			saved += cutSaves(e)
		}
		if i > newest || !fits(i) {
			continue
		}
		n := c.scale(c.from(i) - saved + merged)
		if keep >= 0 && n > budget {
			break
		}
		keep, tokens = i, n
		if n > budget {
			break
		}
	}
	return keep, tokens
}

// from estimates what the elements from i on give.
func (c *Context) from(i int) int {
	if len(c.sums) == 0 {
		return 0
	}
	total := c.sums[len(c.sums)-1]
	if c.at[i] == 0 {
		return total
	}
	return total - c.sums[c.at[i]-1]
}

// newestStep returns the element at or before which a cut must fall: the last
// answer of the model, or the user message that came after it.
func newestStep(list []Element) int {
	opens := -1 // the oldest turn that begins after the last answer
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Message.Role == protocol.RoleAssistant {
			if opens >= 0 {
				return opens
			}
			return i
		}
		if list[i].opensTurn() {
			opens = i
		}
	}
	return opens
}

// boundaries returns a test for the elements that a tail may begin with. Such an
// element has an event with one before it, begins a step (the words of the user
// stay with the answer to them) and parts the list as it parts the path.
func boundaries(list []Element) func(i int) bool {
	lowest := make([]int, len(list)+1) // of list[i:]
	lowest[len(list)] = math.MaxInt
	for i := len(list) - 1; i >= 0; i-- {
		lowest[i] = lowest[i+1]
		if list[i].Event != "" {
			lowest[i] = min(lowest[i], list[i].pos)
		}
	}
	highest := make([]int, len(list)+1) // of list[:i]
	highest[0] = posFront
	for i := range list {
		highest[i+1] = highest[i]
		if list[i].Event != "" {
			highest[i+1] = max(highest[i], list[i].pos)
		}
	}
	return func(i int) bool {
		e, before := &list[i], &list[i-1]
		switch {
		case e.Event == "" || e.prev == "" || e.pos == posFront || e.isResult():
			return false
		case e.Message.Role == protocol.RoleAssistant && before.Message.Role == protocol.RoleUser:
			return false
		case e.steer() && before.steer():
			return false
		}
		return highest[i] < e.pos && lowest[i] >= e.pos
	}
}

// hasNews reports whether there is more in the list than an earlier compaction left.
func hasNews(list []Element) bool {
	for i := range list {
		if k := list[i].kind; k != kindSummary && k != kindTurn {
			return true
		}
	}
	return false
}

// summarised returns the list up to keep as the summary is made from it: after
// pass 4, with the notes that nothing brings back (files that the user attached,
// notices), without the earlier summary, which is returned by itself.
func summarised(c *Context, keep int) ([]protocol.Message, string) {
	head := c.elems[:keep]
	previous := ""
	if head[0].kind == kindSummary {
		head, previous = head[1:], c.summary
	}
	var notes []note
	for _, n := range c.notes {
		if n.pos < c.elems[keep].pos && !comesBack(n.item.Kind) {
			notes = append(notes, n)
		}
	}
	var p passes
	if c.Partial() {
		p.offset = 1 // something comes before
	}
	p.run(head, notes)
	return p.out, previous
}

// comesBack reports whether the host tells the model again what it no longer finds
// after the newest compact.
func comesBack(kind protocol.ItemKind) bool {
	switch kind {
	case protocol.ItemSkillListing, protocol.ItemSkillDelta, protocol.ItemMemory, protocol.ItemDateChange,
		protocol.ItemToolChange, protocol.ItemToolDiscovery, protocol.ItemInstructions, protocol.ItemServers, protocol.ItemServerPrompts:
		return true
	}
	return false
}

// After estimates the whole request as it will be when the cut is in the log with
// this summary: the same passes over the summary, the turn's message and the tail.
func After(cut Cut, summary string) int {
	c := &cut.context
	list := []Element{{Event: "new", Message: summaryMessage(summary, cut.Details), kind: kindSummary, pos: posFront}}
	if cut.turn != nil {
		turn := *cut.turn
		turn.kind, turn.pos = kindTurn, posFront
		list = append(list, turn)
	}
	list = append(list, c.elems[cut.keep:]...)
	first := len(c.notes)
	for first > 0 && c.notes[first-1].pos > cut.from {
		first--
	}
	p := passes{limits: c.limits, from: math.MaxUint64}
	if cut.ResultChars > 0 {
		p.limits.cut, p.limits.chars = math.MaxInt, cut.ResultChars
	}
	p.run(list, c.notes[first:])
	return c.scale(cut.window.System + cut.window.Tools + p.total())
}

// Event is the body of the compact event for a cut and its summary.
func (cut Cut) Event(summary string, usage *protocol.Usage) *protocol.Compact {
	return &protocol.Compact{
		Summary: summary, CompactedThrough: cut.CompactedThrough, TurnMessageID: cut.TurnMessageID,
		TokensBefore: cut.TokensBefore, TokensAfter: After(cut, summary),
		Usage: usage, Details: cut.Details, ResultChars: cut.ResultChars,
	}
}

// FirstKept is the first event that stays, "" when what stays has none.
func (c *Cut) FirstKept() protocol.EventID {
	for i := c.keep; i < len(c.context.elems); i++ {
		if id := c.context.elems[i].Event; id != "" {
			return id
		}
	}
	return ""
}
