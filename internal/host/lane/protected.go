package lane

import (
	"context"
	"encoding/json"

	"scorel/internal/host/lane/addition"
	"scorel/internal/host/lane/journal"
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

// notifyProtected tells people and the model what a command did to protected files: at once
// where no turn runs, else at its next step boundary, which follows the command's result.
// Where it cannot be stored those who are connected are told, and the diagnostics of the
// session. It may be called until [Lane.Close] returns.
func (l *Lane) notifyProtected(n protocol.ProtectedNotice, text string) {
	item := protectedItem(n, text)
	if err := l.enterProtected(&protocol.HarnessItem{Item: item}); err != nil {
		l.j.Report("record what a command did to protected files: " + err.Error())
		it := display.Of(protocol.NewEvent(&protocol.HarnessItem{Item: item}))
		l.notices.Notify("", "warning", it.Title+": "+it.Text)
	}
}

// enterProtected appends the item, or has it wait for the step boundary.
func (l *Lane) enterProtected(b *protocol.HarnessItem) error {
	ctx := context.Background() // ends with the move that is waited for
	var ticket *publish.Ticket
	err := l.j.Enter(ctx, func() (err error) {
		if err := l.j.ReadOnly(); err != nil {
			return err
		}
		if l.course.turn != nil && l.additions.Waiting() >= addition.MaxWaiting {
			return protocol.Errorf(protocol.CodeRateLimited, "%d events wait to be added to the conversation already.", addition.MaxWaiting)
		}
		ticket, err = l.additions.Enter(ctx, b)
		return err
	})
	return journal.WaitFor(ctx, ticket, err)
}

// notifyProtected tells the people of the session and of those above it.
func (h *turnHost) notifyProtected(n protocol.ProtectedNotice, text string) {
	h.l.notifyProtected(n, text)
	for a := h.t.config.Above; a != nil; a = a.next {
		n.Agent, n.ToolCallID = a.agent.Agent, a.order.CallID
		a.order.Lane.notifyProtected(n, text)
	}
}
