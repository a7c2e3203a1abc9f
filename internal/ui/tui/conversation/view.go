package conversation

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/platform/lru"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/status"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// Config is what a view needs.
type Config struct {
	Link       *link.Link
	Toasts     *status.Toasts
	Transcript *transcript.Transcript // it follows the session
	Remote     bool                   // the clock of the host is that of another machine
}

// View is the open session, or none yet.
type View struct {
	link       *link.Link
	toasts     *status.Toasts
	remote     bool
	transcript *transcript.Transcript // of what is shown

	shown
	under *under                                       // what that is shown over; nil mostly
	looks *lru.Cache[protocol.SessionID, protocol.Seq] // how far sessions were seen that were left
}

// Bounds of what is remembered of sessions that were left.
const (
	maxLooks  = 64
	keepLooks = 48
)

// shown is what is known of a session.
type shown struct {
	opened     link.Opened
	projection *client.Projection
	path       path
	turn       turn
	figures    Figures
	looked     protocol.Seq // the newest event that was shown before the connection was made
	whole      bool         // the state is the host's, and not what events tell before it has come
}

// under is a session that another one is shown over. Only its display is paused.
type under struct {
	shown
	transcript *transcript.Transcript
}

// turn is what is known here of the turns of the session.
type turn struct {
	cancelling protocol.TurnID  // the one that is being cancelled
	over       protocol.EventID // of a command of a person that has ended, though its result waits for the turn's next step
	ended      protocol.TurnID  // the one whose end was shown last
	began      time.Time        // the one that runs
}

// Figures are what the status line shows of the session.
type Figures struct {
	ContextTokens int                // of the path
	Newest        *status.InputUsage // of the newest answer, nil without any
	Answered      string             // the model that answered last
	Clients       int                // that are attached

	stale bool // ContextTokens is to be counted again
}

// New returns a view of no session.
func New(cfg Config) *View {
	return &View{link: cfg.Link, remote: cfg.Remote, toasts: cfg.Toasts, transcript: cfg.Transcript, shown: shown{projection: client.NewProjection()}, looks: lru.New[protocol.SessionID, protocol.Seq](maxLooks, keepLooks)}
}

// ID is that of the session, "" while none is open.
func (v *View) ID() protocol.SessionID { return v.opened.ID }

// Live is the state of the session; it is not to be changed.
func (v *View) Live() *protocol.Live { return v.projection.Live() }

// Path are the newest events of the active path, oldest first; it is not to be changed.
func (v *View) Path() []protocol.Event { return v.projection.Path() }

// Figures are what the status line shows of the session.
func (v *View) Figures() Figures { return v.figures }

// Answered is the model that has answered last, "" while none has.
func (v *View) Answered() string { return v.figures.Answered }

// Began is when the turn that runs has begun, by the clock of this machine; zero while none was
// seen.
func (v *View) Began() time.Time { return v.turn.began }

// begins notes that a turn runs that has begun at a time of the host, in milliseconds. Fresh says
// that its beginning was not seen here: the time of a host elsewhere is no better than that.
func (v *View) begins(at int64, fresh bool, now time.Time) {
	v.turn.began = now
	if began := time.UnixMilli(at); at > 0 && (fresh || !v.remote) && began.Before(now) {
		v.turn.began = began
	}
}

// CreatedAt is when the session was made, in milliseconds; 0 where that is not known.
func (v *View) CreatedAt() int64 { return v.opened.Opened.Summary.CreatedAt }

// Open shows another session from here on; one without an ID is not made yet.
func (v *View) Open(o link.Opened) {
	v.under = nil
	v.begin(o)
}

func (v *View) begin(o link.Opened) {
	if seq := v.Live().PersistentLastSeq; seq > 0 {
		v.looks.Put(v.ID(), seq)
	}
	v.shown = shown{opened: o, projection: client.NewProjection()}
	v.transcript.Reset()
	v.Attach(o.Opened.Summary.State)
}

// OpenOver shows a session over the open one, or in the place of one that is shown so.
func (v *View) OpenOver(o link.Opened) {
	if v.under == nil {
		v.under = &under{v.shown, v.transcript.Another()}
		v.transcript.Swap(v.under.transcript)
	}
	v.begin(o)
}

// Return shows the session below again, as it is now and where it was left.
func (v *View) Return() {
	if v.under != nil {
		v.swap()
		v.under = nil
		v.transcript.Redraw()
	}
}

// swap exchanges what is shown for what is below it.
func (v *View) swap() {
	v.shown, v.under.shown = v.under.shown, v.shown
	v.transcript.Swap(v.under.transcript)
}

// Over reports whether the session is shown over another one.
func (v *View) Over() bool { return v.under != nil }

// MainID is that of the session below the one that is shown, or of the only one.
func (v *View) MainID() protocol.SessionID {
	if v.under != nil {
		return v.under.opened.ID
	}
	return v.ID()
}

// Completes reports whether an extension offers something for what is typed.
func (v *View) Completes() bool {
	return slices.ContainsFunc(v.Live().UIStates, func(s protocol.UIState) bool {
		return s.Place == protocol.PlaceCompletions && len(s.Lines) > 0
	})
}

// Main is the state of the session that [View.MainID] names; it is not to be changed.
func (v *View) Main() *protocol.Live {
	if v.under != nil {
		return v.under.projection.Live()
	}
	return v.Live()
}

// in runs f with the session of a generation as the one that is shown. It reports false where
// that is neither shown nor below what is.
func (v *View) in(gen int, f func()) bool {
	switch {
	case gen == v.opened.Gen:
		f()
	case v.under != nil && gen == v.under.opened.Gen:
		v.swap()
		defer v.swap()
		f()
	default:
		return false
	}
	return true
}

// inGen is in for what returns a command.
func (v *View) inGen(gen int, f func() tea.Cmd) (cmd tea.Cmd) {
	v.in(gen, func() { cmd = f() })
	return cmd
}

// Attach takes how many clients are attached to the session.
func (v *View) Attach(s *protocol.SessionState) {
	v.figures.Clients = 1
	if s != nil {
		v.figures.Clients = s.Clients
	}
}

// MayCancel reports whether a turn runs that is not being cancelled yet: the next one of a
// queue begins as one is.
func (v *View) MayCancel() bool { return v.Live().Running && v.turn.cancelling != v.Live().TurnID }

// Cancel ends the running turn. It waits for no other request.
func (v *View) Cancel() tea.Cmd {
	turn := v.Live().TurnID
	if turn == "" {
		return nil
	}
	v.turn.cancelling = turn
	return link.Ask(v.link, v.ID(), &protocol.Cancel{TurnID: turn}, func(_ *protocol.Cancelled, err error) tea.Cmd {
		if err != nil {
			v.toasts.Fail(err)
			if v.turn.cancelling == turn { // it can be tried again
				v.turn.cancelling = ""
			}
		}
		return nil
	})
}

// Shell returns the command of a person that runs, the newest one, as far as is known; "" without
// any.
func (v *View) Shell() protocol.EventID {
	for _, t := range slices.Backward(v.Live().Tools) {
		if t.Shell != nil && t.EventID != v.turn.over {
			return t.EventID
		}
	}
	return ""
}

// StopShell ends a command of a person.
func (v *View) StopShell(id protocol.EventID) tea.Cmd {
	return link.Ask(v.link, v.ID(), &protocol.StopShell{EventID: id}, func(r *protocol.Cancelled, err error) tea.Cmd {
		switch {
		case err != nil:
			v.toasts.Fail(err)
		case !r.Cancelled:
			v.turn.over = id
			if v.MayCancel() {
				v.toasts.Info("the command has ended, and is shown after this step of the turn; press the key again to cancel the turn")
			}
		}
		return nil
	})
}
