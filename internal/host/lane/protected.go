package lane

import (
	"context"
	"encoding/json"

	"scorel/protocol"
	"scorel/protocol/display"
)

// TellProtected stores what a command did to protected files, and so tells people; it
// returns when that is durable. Where nothing can be stored those who are connected are
// told, and the diagnostics of the session. It may be called until [Lane.Close] returns,
// also while a turn runs.
func (l *Lane) TellProtected(n protocol.ProtectedNotice) {
	data, err := json.Marshal(n)
	if err != nil {
		panic("lane: " + err.Error()) // strings and numbers only
	}
	body := &protocol.Custom{Kind: protocol.ProtectedKind, Data: data}
	ctx := context.Background() // ends with the write
	l.mu.Lock()
	readOnly, _ := l.cfg.Log.ReadOnly()
	if !readOnly {
		_, ticket, err := l.append(ctx, body, byHost())
		l.mu.Unlock()
		if err == nil {
			err = ticket.Wait(ctx)
		}
		if err == nil {
			return
		}
		l.cfg.Report("record what a command did to protected files: "+err.Error(), nil)
	} else {
		l.mu.Unlock()
	}
	it := display.Of(protocol.NewEvent(body))
	l.Notify("", "warning", it.Title+": "+it.Text)
}

// tellProtected tells the people of the session and of those above it.
func (h *turnHost) tellProtected(n protocol.ProtectedNotice) {
	h.l.TellProtected(n)
	for a := h.t.setup.Above; a != nil; a = a.next {
		n.Agent, n.ToolCallID = a.agent.Agent, a.order.CallID
		a.order.Lane.TellProtected(n)
	}
}
