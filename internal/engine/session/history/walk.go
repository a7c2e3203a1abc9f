package history

import (
	"context"
	"fmt"
	"slices"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// path is what the first pass found, root to leaf, and what later events added.
// list and notes are only appended to.
type path struct {
	leaf    protocol.EventID
	leafPos int
	list    []Element
	notes   []note
	told    Told

	compact protocol.EventID         // the newest compact, "" without one
	summary string                   // of the newest compact, as it stands in the log
	details *protocol.CompactDetails // of the newest compact
	limits  limits
	fold    fold // of what the walk read
	// countedFrom: what a provider counted before this seq does not describe the
	// list, because a compact or a context_cut came later.
	countedFrom protocol.Seq
	diagnostics []string
	unread      []protocol.EventID
	older       older
}

// maxKept is how many bytes of text of a path are kept for each token of the window,
// newest first: far more than a model can be sent, also where a token has many letters.
const maxKept = 32

// older is what is known of the messages of a path that are not kept.
type older struct {
	messages int
	tokens   int // estimated, as they would be sent
	files    touched
}

// add takes in the message before those it has seen.
func (o *older) add(m *protocol.Message, omitted bool) {
	o.messages++
	o.files.older(m)
	if omitted && m.Role == protocol.RoleToolResult {
		m = omitResult(m)
	}
	o.tokens += model.EstimateTokens(*m)
}

// limits say which results are not sent whole (pass 4).
type limits struct {
	shrunk bool
	omit   int // when shrunk, results at or before are sent without their bodies
	cut    int // results before are cut to chars characters
	chars  int // 0: none
}

// walker collects newest first.
type walker struct {
	path
	most      int                       // bytes of text that are kept, 0: all
	kept      int                       // bytes so far
	full      bool                      // nothing more is kept
	omitted   bool                      // by a context cut: results from here on are sent without their bodies
	named     map[protocol.EventID]bool // by context cuts
	pending   int                       // the element whose predecessor comes next, -1 for none
	body      *protocol.Compact
	event     protocol.Event // of body
	tail      int            // len(list) at the compact event
	tailN     int            // len(notes) there
	olderHere older          // there
	found     bool           // compactedThrough was met
	turn      protocol.EventID
	turnMsg   *Element
	harm      harm
}

// walk is pass 1. It keeps at most so many bytes of text, 0: all, and no harness items of
// events up to imported.
func walk(ctx context.Context, log Log, leaf protocol.EventID, most int, imported protocol.Seq) (*path, error) {
	w := walker{path: path{leaf: leaf, fold: fold{imported: imported}}, pending: -1, most: most}
	cuts, err := w.cuts(ctx, log)
	if err != nil {
		return nil, err
	}
	pos := 0
	for ev, err := range log.Back(ctx, leaf) {
		if err != nil {
			return nil, fmt.Errorf("read the path of %s: %w", leaf, err)
		}
		if !w.step(ev, pos) {
			w.fold.rest = ev.ID
			break
		}
		w.fold.older(ev)
		pos--
	}
	if pos < 0 && !w.found && w.harm.parent != "" {
		w.missing(pos) // the first event names one before it
	}
	p := w.finish()
	p.setBoundary(cuts)
	return p, nil
}

// cuts reads the cuts of shrinking that belong to the path.
func (w *walker) cuts(ctx context.Context, log Log) ([]protocol.ContextCut, error) {
	if w.leaf == "" {
		return nil, nil
	}
	var cuts []protocol.ContextCut
	for ev, err := range log.Controls(ctx, w.leaf, protocol.TypeContextCut) {
		if err != nil {
			return nil, fmt.Errorf("read the context cuts of %s: %w", w.leaf, err)
		}
		if cut, ok := ev.Body.(*protocol.ContextCut); ok && w.seeCut(cut, ev.Seq) {
			cuts = append(cuts, *cut)
		}
	}
	w.named = named(cuts)
	return cuts, nil
}

func named(cuts []protocol.ContextCut) map[protocol.EventID]bool {
	if len(cuts) == 0 {
		return nil
	}
	ids := make(map[protocol.EventID]bool, len(cuts))
	for _, c := range cuts {
		ids[c.ThroughEventID] = true
	}
	return ids
}

// step takes the next older event and reports whether to go on.
func (w *walker) step(ev protocol.Event, pos int) bool {
	if w.pending >= 0 {
		w.list[w.pending].prev = ev.ID
		w.pending = -1
	}
	if w.body != nil && !w.found && ev.ID == w.body.CompactedThrough {
		w.found = true
	}
	if w.found {
		return w.seekTurn(ev)
	}
	if w.body != nil && ev.ID == w.turn {
		w.turn = "" // the cut left the turn's message in the tail
	}
	w.inspect(ev, pos)
	var a answer
	switch handlerOf(ev.Type)(ev, &a) {
	case include:
		if b, ok := ev.Body.(*protocol.CustomMessage); ok && ev.Seq <= w.fold.imported {
			if a.message = seen(b); a.message == nil {
				break
			}
		}
		w.add(ev, &a, pos)
	case mergePrev:
		if a.item == nil {
			w.add(ev, &a, pos)
			break
		}
		if ev.Seq <= w.fold.imported {
			break
		}
		if w.full {
			w.older.tokens += model.EstimateText(reminder(a.item.Content))
		} else {
			w.notes = append(w.notes, note{pos, *a.item})
			w.kept += len(a.item.Content)
		}
		if w.body == nil {
			w.told.addOlder(*a.item)
		}
	case barrier:
		w.barrier(ev, a.compact, pos)
	}
	return true
}

func (w *walker) add(ev protocol.Event, a *answer, pos int) {
	w.omitted = w.omitted || w.named[ev.ID]
	if w.full {
		w.older.add(a.message, w.omitted)
		return
	}
	w.kept += size(a.message)
	// What is kept begins with no result, whose call would be missing.
	w.full = w.most > 0 && w.kept > w.most && a.message.Role != protocol.RoleToolResult
	w.pending = len(w.list)
	if ev.Sum() == protocol.SumWrong {
		a.message = unsigned(a.message)
	}
	e := Element{Event: ev.ID, Message: a.message, kind: a.kind, pos: pos, seq: ev.Seq}
	if a.message.Role == protocol.RoleAssistant && calls(a.message) {
		e.harmed, w.harm.lost = w.harm.lost, false
	}
	if len(w.list) == cap(w.list) { // twice as many: append takes a quarter more of what is long
		w.list = slices.Grow(w.list, 64+len(w.list))
	}
	w.list = append(w.list, e)
}

// calls reports whether a message has a call.
func calls(m *protocol.Message) bool {
	for i := range m.Content {
		if m.Content[i].Type == protocol.BlockToolUse {
			return true
		}
	}
	return false
}

// size is how many bytes of text a message has.
func size(m *protocol.Message) int {
	n := 0
	for i := range m.Content {
		b := &m.Content[i]
		n += len(b.Text) + len(b.Thinking) + len(b.Input)
	}
	return n
}

// barrier meets a compact. The newest wins; an older one in its tail is already
// part of its summary and only keeps its limit on results.
func (w *walker) barrier(ev protocol.Event, c *protocol.Compact, pos int) {
	if c.ResultChars > 0 && w.limits.chars == 0 {
		w.limits.cut, w.limits.chars = pos, c.ResultChars
	}
	if w.body != nil {
		return
	}
	w.body, w.event, w.turn = c, ev, c.TurnMessageID
	w.tail, w.tailN, w.olderHere = len(w.list), len(w.notes), w.older
	w.compact, w.summary, w.details = ev.ID, c.Summary, c.Details
	w.countedFrom = max(w.countedFrom, ev.Seq)
}

// seekTurn looks after the cut for the user message of the turn that was cut.
func (w *walker) seekTurn(ev protocol.Event) bool {
	if w.turn == "" {
		return false
	}
	if ev.ID != w.turn {
		return true
	}
	var a answer
	if handlerOf(ev.Type)(ev, &a) == include && a.message.Role == protocol.RoleUser {
		w.turnMsg = &Element{Event: ev.ID, Message: a.message, kind: kindTurn, pos: posFront, seq: ev.Seq}
	}
	return false
}

func (w *walker) finish() *path {
	if w.body != nil {
		if !w.found {
			w.diagnostics = append(w.diagnostics, fmt.Sprintf(
				"compact %s names %s, which is not on its path: the summary stands alone", w.event.ID, w.body.CompactedThrough))
			w.list, w.notes, w.older = w.list[:w.tail], w.notes[:w.tailN], w.olderHere
		} else if w.turn != "" && w.turnMsg == nil {
			w.diagnostics = append(w.diagnostics, fmt.Sprintf(
				"compact %s names the turn message %s, which is not a user message on its path", w.event.ID, w.turn))
		}
		if w.turnMsg != nil {
			w.list = append(w.list, *w.turnMsg)
		}
		w.list = append(w.list, Element{Event: w.event.ID, Message: summaryMessage(w.body.Summary, w.details),
			kind: kindSummary, pos: posFront, seq: w.event.Seq})
	}
	slices.Reverse(w.list)
	slices.Reverse(w.notes)
	w.told.sort()
	return &w.path
}

// seeCut takes note of a context_cut and reports whether it is one of shrinking.
func (p *path) seeCut(cut *protocol.ContextCut, seq protocol.Seq) bool {
	if cut.Kind != "shrink" {
		return false
	}
	p.countedFrom = max(p.countedFrom, seq)
	return true
}

// setBoundary puts the boundary of shrinking at the newest event that a cut names.
func (p *path) setBoundary(cuts []protocol.ContextCut) {
	if len(cuts) == 0 {
		return
	}
	ids := named(cuts)
	for i := len(p.list) - 1; i >= 0; i-- {
		if e := &p.list[i]; ids[e.Event] && e.pos != posFront {
			if !p.limits.shrunk || e.pos > p.limits.omit {
				p.limits.shrunk, p.limits.omit = true, e.pos
			}
			return
		}
	}
}

// extend appends the next event of the path. It says false where only a new walk
// gives the list.
func (p *path) extend(ev protocol.Event) bool {
	if ev.Control {
		cut, ok := ev.Body.(*protocol.ContextCut)
		if !ok {
			return true
		}
		if ev.ParentID != p.leaf {
			return false
		}
		if p.seeCut(cut, ev.Seq) {
			p.setBoundary([]protocol.ContextCut{*cut})
		}
		return true
	}
	if ev.ParentID != p.leaf {
		return false
	}
	p.leafPos++
	var a answer
	switch act := handlerOf(ev.Type)(ev, &a); {
	case act == barrier:
		return false
	case act == mergePrev && a.item != nil:
		p.notes = append(p.notes, note{p.leafPos, *a.item})
		p.told = p.told.with(*a.item)
	case act == include || act == mergePrev:
		p.list = append(p.list, Element{Event: ev.ID, Message: a.message, kind: a.kind,
			pos: p.leafPos, seq: ev.Seq, prev: p.leaf})
	}
	p.fold.newer(ev)
	p.leaf = ev.ID
	return true
}
