package rendering

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/lru"
	"scorel/internal/text/sgr"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// Bounds of what extensions draw in a conversation.
const (
	maxAsked  = 16              // entries that are asked for at once
	askedTime = 2 * time.Second // how long finished lines wait for one
	maxDrawn  = 512             // entries of which the lines are kept
	keepDrawn = 384
	maxNone   = 256 // names of tools and messages that nobody draws, in one turn
)

// Session is the one that is open.
type Session interface {
	ID() protocol.SessionID
	Live() *protocol.Live
}

// Loader asks for what extensions draw. It belongs to the goroutine of the UI.
type Loader struct {
	ctx        context.Context
	link       *link.Link
	send       func(tea.Msg)
	session    Session
	transcript *transcript.Transcript

	turn  protocol.TurnID // the one that none is of
	none  map[string]bool // what nobody draws, by name: extensions are loaded when a turn begins
	drawn *lru.Cache[transcript.Entry, transcript.Drawn]
	asked map[transcript.Entry]*time.Timer
	areas map[string]*area // headers and footers, by extension and place
}

// New returns a loader, whose requests end with ctx. Follow is called before the first one.
func New(ctx context.Context, l *link.Link, send func(tea.Msg)) *Loader {
	return &Loader{ctx: ctx, link: l, send: send, none: map[string]bool{},
		drawn: lru.New[transcript.Entry, transcript.Drawn](maxDrawn, keepDrawn), asked: map[transcript.Entry]*time.Timer{}, areas: map[string]*area{}}
}

// Follow sets the transcript that the entries are of, and its session.
func (x *Loader) Follow(t *transcript.Transcript, s Session) { x.transcript, x.session = t, s }

// Drawn implements [transcript.Drawer].
func (x *Loader) Drawn(e transcript.Entry) transcript.Drawn {
	if turn := x.session.Live().TurnID; turn != x.turn {
		x.turn = turn
		clear(x.none)
	}
	if x.none[e.Name] {
		return transcript.Drawn{}
	}
	if d, ok := x.drawn.Get(e); ok {
		return d
	}
	if x.asked[e] == nil {
		if len(x.asked) >= maxAsked {
			return transcript.Drawn{}
		}
		x.ask(e)
	}
	return transcript.Drawn{Coming: true}
}

// ask asks the host for an entry, beside the UI.
func (x *Loader) ask(e transcript.Entry) {
	session, send := x.session.ID(), x.send
	x.asked[e] = time.AfterFunc(askedTime, func() {
		send(loop.Then(func() tea.Cmd { x.come(session, e, nil, true); return nil }))
	})
	request := link.Ask(x.link, session, &protocol.RenderEntry{EventID: e.Event, ToolCallID: e.Call, ResultID: e.Result, Width: e.Width, Expanded: e.Expanded},
		func(r *protocol.RenderedEntry, err error) tea.Cmd {
			x.come(session, e, r, err != nil)
			return nil
		})
	go func() { // ends with the answer, or the program
		defer loop.Rescue(send)
		if msg := request(); msg != nil && x.ctx.Err() == nil {
			send(msg)
		}
	}()
}

// come takes what came of an entry, which is late for the scrollback when nothing waits for it.
func (x *Loader) come(session protocol.SessionID, e transcript.Entry, r *protocol.RenderedEntry, failed bool) {
	if session != x.session.ID() {
		return
	}
	if t := x.asked[e]; t != nil {
		t.Stop()
		delete(x.asked, e)
	} else if failed {
		return // it was late already
	}
	var d transcript.Drawn
	switch {
	case failed:
	case r.Source == "":
		if len(x.none) >= maxNone {
			clear(x.none)
		}
		x.none[e.Name] = true
	default:
		d.Call, d.Body = linesOf(r.Call), linesOf(r.Body)
	}
	if failed || r.Source != "" {
		x.drawn.Put(e, d)
	}
	x.transcript.EntryDrawn(e)
}

// linesOf returns lines that are fit for the terminal, nil for what is not drawn.
func linesOf(l *protocol.DrawnLines) []string {
	if l == nil {
		return nil
	}
	lines := make([]string, 0, min(len(l.Lines), protocol.MaxFrameLines))
	for _, text := range l.Lines[:cap(lines)] {
		lines = append(lines, sgr.Line(text))
	}
	return lines
}

// Forget drops everything, for another session.
func (x *Loader) Forget() {
	for _, t := range x.asked {
		t.Stop()
	}
	clear(x.asked)
	clear(x.none)
	clear(x.areas)
	x.drawn = lru.New[transcript.Entry, transcript.Drawn](maxDrawn, keepDrawn)
}
