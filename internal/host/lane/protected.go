package lane

import (
	"context"
	"encoding/json"

	"scorel/internal/host/publish"
	"scorel/protocol"
	"scorel/protocol/display"
)

// protectedItem is the item that tells of n; text is what the model reads.
func protectedItem(n protocol.ProtectedNotice, text string) protocol.Item {
	data, err := json.Marshal(n)
	if err != nil {
		panic("lane: " + err.Error()) // strings and numbers only
	}
	return protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Content: text,
		Visibility: protocol.VisibilityDisplay, Data: data}
}

// tellProtected tells people and the model what a command did to protected files: at once
// where no turn runs, else at its next step border, which follows the command's result.
// Where it cannot be stored those who are connected are told, and the diagnostics of the
// session. It may be called until [Lane.Close] returns.
func (l *Lane) tellProtected(n protocol.ProtectedNotice, text string) {
	item := protectedItem(n, text)
	if err := l.enterProtected(item); err != nil {
		l.cfg.Report("record what a command did to protected files: "+err.Error(), nil)
		it := display.Of(protocol.NewEvent(&protocol.HarnessItem{Item: item}))
		l.Notify("", "warning", it.Title+": "+it.Text)
	}
}

func (l *Lane) enterProtected(item protocol.Item) error {
	ctx := context.Background() // ends with the move that is waited for
	for {
		l.mu.Lock()
		if moving := l.moving; moving != nil && l.turn == nil {
			l.mu.Unlock()
			if err := await(ctx, moving); err != nil {
				return err
			}
			continue
		}
		ticket, err := l.putProtected(ctx, &protocol.HarnessItem{Item: item})
		l.mu.Unlock()
		return waitFor(ctx, ticket, err)
	}
}

// putProtected appends the item, or has it wait for the step border; then there is no
// ticket. mu is held.
func (l *Lane) putProtected(ctx context.Context, b *protocol.HarnessItem) (*publish.Ticket, error) {
	if readOnly, why := l.cfg.Log.ReadOnly(); readOnly {
		return nil, protocol.Errorf(protocol.CodeStorageError, "The session is read-only: %s.", why)
	}
	if l.turn == nil {
		return l.addNow(ctx, []protocol.Body{b})
	}
	if len(l.additions.waiting) >= maxAdditions {
		return nil, protocol.Errorf(protocol.CodeRateLimited, "%d events wait to be added to the conversation already.", maxAdditions)
	}
	l.additions.waiting = append(l.additions.waiting, addition{body: b})
	return nil, nil
}

// tellProtected tells the people of the session and of those above it.
func (h *turnHost) tellProtected(n protocol.ProtectedNotice, text string) {
	h.l.tellProtected(n, text)
	for a := h.t.setup.Above; a != nil; a = a.next {
		n.Agent, n.ToolCallID = a.agent.Agent, a.order.CallID
		a.order.Lane.tellProtected(n, text)
	}
}
