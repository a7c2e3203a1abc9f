package listener

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"scorel/internal/engine/hook"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/lane/notice"
	"scorel/internal/host/publish"
)

// ShutdownTime is how long a session that is being closed waits for those who are told
// of its end.
const ShutdownTime = 5 * time.Second

// Listeners are those who watch one session.
type Listeners struct {
	watchers
	j       *journal.Journal
	notices *notice.Notices

	start sync.Mutex // held while hooks are asked at the start of the session
	begun bool       // they have been; guarded by start

	mu   sync.Mutex
	cast *hook.Broadcast // nil until somebody watches
	stop func()          // ends the watch for cast
}

// New returns the listeners of a session, of which there are none yet.
func New(j *journal.Journal, notices *notice.Notices) *Listeners {
	return &Listeners{j: j, notices: notices}
}

// Notes keeps what hooks have to tell the model.
type Notes interface{ QueueNotes(notes []hook.Note) }

// Handshake makes a chain of hooks the one that watches the session and, unless it is of a
// sub-agent's turn, asks it when the session starts. It returns when what the hooks have to
// tell the model is in told. The session of a sub-agent is part of the one that it works
// for: it neither starts nor ends for hooks.
func (l *Listeners) Handshake(ctx context.Context, chain *hook.Chain, subagent bool, told Notes) {
	if chain == nil {
		return
	}
	l.watchWith(chain)
	if subagent {
		return
	}
	l.start.Lock() // held while hooks are asked: who comes second waits for what they say
	defer l.start.Unlock()
	if l.begun {
		return
	}
	l.j.Lock()
	start := hook.SessionStart{Reason: "resume"}
	if l.j.Leaf() == "" {
		start.Reason = "startup"
	}
	l.j.Unlock()
	l.EmitEvent("session_start", struct {
		Reason string `json:"reason"`
	}{start.Reason})
	notes, err := chain.SessionStart(ctx, start)
	if err != nil {
		return // asked again at the next turn
	}
	l.begun = true
	told.QueueNotes(notes)
}

// watchWith makes the subscribers of a chain those that watch.
func (l *Listeners) watchWith(chain *hook.Chain) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cast == nil {
		if !chain.Watches() {
			return
		}
		l.cast = hook.NewBroadcast(func(text string) { // from goroutines of the broadcast
			defer l.j.Fuse().Catch()
			l.notices.Notify("", "warning", text)
		})
		l.stop = l.Watch(l.cast.Event)
	}
	l.cast.Watch(chain)
}

// EmitEvent tells those who watch of something that is no event of the log: fields, which
// make an object with at least one member, and the session. It comes in the order of the
// events.
func (l *Listeners) EmitEvent(what string, fields any) { l.EmitEventIf(nil, what, fields) }

// EmitEventIf is EmitEvent, unless what the ticket is of could not be stored.
func (l *Listeners) EmitEventIf(ticket *publish.Ticket, what string, fields any) {
	l.mu.Lock()
	cast := l.cast
	l.mu.Unlock()
	if cast == nil {
		return
	}
	data, err := json.Marshal(fields)
	if err != nil {
		l.j.Report("tell of " + what + ": " + err.Error())
		return
	}
	h := l.happening(what, data)
	l.j.Publisher().After(func() {
		if ticket == nil || ticket.Durable() {
			cast.Happened(h)
		}
	})
}

// happening adds the session to fields of which there is at least one.
func (l *Listeners) happening(what string, fields []byte) hook.Happening {
	about := fmt.Appendf(nil, `{"sessionId":%q,`, l.j.ID())
	return hook.Happening{Type: what, Data: append(about, fields[1:]...)}
}

// NotifyEnd tells those who watch what they have not been told yet and that the session
// ends, and waits for them, for at most [ShutdownTime]. It is called before what they need
// to understand it is taken away. Only the first call counts.
func (l *Listeners) NotifyEnd() {
	l.mu.Lock()
	cast, stop := l.cast, l.stop
	l.cast = nil
	l.mu.Unlock()
	if cast == nil {
		return
	}
	l.start.Lock()
	begun := l.begun
	l.start.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), ShutdownTime)
	defer cancel()
	_ = l.j.Publisher().Flush(ctx) // who watches is told the rest; else nothing leaves any more
	stop()
	if begun {
		cast.Happened(l.happening("session_end", []byte(`{"reason":"quit"}`)))
	}
	cast.Close(ctx)
}
