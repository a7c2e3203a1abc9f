package conversation

import (
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/status"
	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/fold"
)

// Arrival is what updates have changed beside the view itself.
type Arrival struct {
	Events    []protocol.Event // that came
	TurnEnded bool
	Fresh     bool // the subscription was begun again
	Facts     bool // something that the status line is made of
	Gone      bool // nothing more comes of it: it cannot be followed any longer
	// Cmd is to be run.
	Cmd tea.Cmd
}

// batch is what updates bring that is shown when all of them are applied.
type batch struct {
	Arrival
	moves []protocol.Event // that lead the path elsewhere
	ends  []protocol.LiveEnd
	state []protocol.Event // of extensions
}

// Arrive takes what came of the session, and of the one below it, which shown has no part of.
func (v *View) Arrive(updates []link.Update) (shown, below Arrival) {
	if v.under != nil && slices.ContainsFunc(updates, func(u link.Update) bool { return u.Gen == v.under.opened.Gen }) {
		v.in(v.under.opened.Gen, func() { below = v.arrive(updates) })
	}
	return v.arrive(updates), below
}

// arrive takes what of the updates is of the session that is shown.
func (v *View) arrive(updates []link.Update) Arrival {
	var b batch
	for i := range updates {
		if u := &updates[i]; u.Gen == v.opened.Gen {
			v.apply(u, &b)
		}
	}
	b.Facts = v.count() || b.Facts
	v.sync()
	for _, e := range b.state {
		v.transcript.Beside(e)
	}
	for _, end := range b.ends { // below what the turn has said
		if end.TurnID != v.turn.ended {
			v.turn.ended = end.TurnID
			v.noteEnd(&end.RuntimeEnd)
		}
	}
	if n := len(b.moves); n > 0 && b.moves[n-1].ID == v.Live().PersistentLastID { // a line says that the path leads elsewhere
		v.transcript.Append(b.moves[n-1])
	}
	b.Cmd = v.fill()
	return b.Arrival
}

// apply takes an update.
func (v *View) apply(u *link.Update, b *batch) {
	if u.Err != nil {
		b.Gone = true
		if !errors.Is(u.Err, client.ErrClosed) {
			v.toasts.Fail(u.Err) // nothing more comes of the session
		}
		return
	}
	before, turn := v.Live().Running, v.Live().TurnID
	for _, e := range u.Events {
		b.Facts = v.event(e) || b.Facts
		if end, ok := e.Body.(*protocol.RuntimeEnd); ok {
			b.ends = append(b.ends, protocol.LiveEnd{TurnID: e.TurnID, RuntimeEnd: *end})
		}
		if _, is := e.Leaf(); is {
			b.moves = append(b.moves, e)
		} else if e.Control && (display.InConversation(e.Body) || display.WithCall(e.Body)) { // of no path, but seen
			v.transcript.Append(e)
		} else if _, ok := e.Body.(*protocol.Custom); ok {
			b.state = append(b.state, e)
		}
	}
	if end := u.Live.Ended; u.Fresh && end != nil && (before || end.Error != nil) {
		b.ends = append(b.ends, *end) // it came while nobody reported it
	}
	v.whole = u.Fresh || v.whole && u.Resync == ""
	if u.Resync != "" {
		if v.looked = v.projection.Live().PersistentLastSeq; v.looked == 0 {
			v.looked, _ = v.looks.Get(v.ID())
		}
	}
	b.Events, b.Fresh = append(b.Events, u.Events...), b.Fresh || u.Fresh
	v.projection.Apply(u.Update, &u.Live)
	if l := v.Live(); l.Running && (!before || l.TurnID != turn) {
		v.begins(l.RunningSince, u.Fresh, time.Now())
	}
	if u.Fresh && v.opened.Over == 0 {
		v.tellAway(v.looked)
	}
	v.figures.stale = v.figures.stale || u.Fresh
	if before && !v.Live().Running {
		b.TurnEnded = true
		v.turn.cancelling = ""
	}
}

// tellAway tells what ran by itself since the session was looked at last, up to an event, or
// since somebody said something.
func (v *View) tellAway(looked protocol.Seq) {
	if text := fold.AwayOf(v.projection.Path(), looked).Text(); text != "" {
		v.toasts.Info(text)
	}
}

// count counts the tokens of the path again where they may be others, and reports whether
// it did.
func (v *View) count() bool {
	if !v.figures.stale {
		return false
	}
	v.figures.stale = false
	v.figures.ContextTokens = protocol.ContextTokens(func(yield func(protocol.Event) bool) {
		for _, e := range slices.Backward(v.projection.Path()) {
			if !yield(e) {
				return
			}
		}
	})
	return true
}

// noteEnd says in the transcript why a turn has not come to its end, where no message of
// it does.
func (v *View) noteEnd(end *protocol.RuntimeEnd) {
	if end.Reason == protocol.EndCompleted {
		return
	}
	if path := v.projection.Path(); len(path) > 0 {
		b, ok := path[len(path)-1].Body.(*protocol.MessageBody)
		if ok && b.Message.Role == protocol.RoleAssistant && b.Message.StopReason != protocol.StopToolUse &&
			(end.Error == nil || b.Message.ErrorMessage == end.Error.Message) {
			return // it says so itself
		}
	}
	switch {
	case end.Reason == protocol.EndCancelled:
		v.transcript.Note("warning", "Cancelled.")
	case end.Error != nil:
		v.transcript.Note("error", display.Text(end.Error.Message))
	default:
		v.transcript.Note("warning", "The turn ended: "+display.Ended(end.Terminal)+".")
	}
}

// event takes what of an event is not the transcript's, and reports whether the status
// line is another by it.
func (v *View) event(e protocol.Event) (facts bool) {
	if _, facts = e.Leaf(); facts {
		v.figures.stale = true
	}
	switch b := e.Body.(type) {
	case *protocol.SessionInfo:
		return true
	case *protocol.Compact:
		v.figures.stale = true
		return true
	case *protocol.TaskUpdate:
		if end := display.TaskEnd(b.Task.State, b.Task.Agent, b.Task.ExitCode, b.Task.Signal); end != "" {
			v.toasts.Info(display.Line(b.Task.Command) + " " + end)
		}
	case *protocol.Notice:
		v.toasts.Add(status.LevelOf(b.Level), b.Source, b.Text, time.Now())
	case *protocol.MessageBody:
		if b.Message.Role != protocol.RoleAssistant || b.Message.IsFailure() {
			break
		}
		v.figures.Answered = b.Message.Model
		if u := b.Message.Usage; u != nil {
			v.figures.stale = true
			v.figures.Newest = &status.InputUsage{Input: u.InputTokens, Output: u.OutputTokens, CacheCreation: u.CacheWriteTokens, CacheRead: u.CacheReadTokens}
		}
		return true
	}
	return facts
}
