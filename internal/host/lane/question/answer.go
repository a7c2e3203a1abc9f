package question

import (
	"context"
	"encoding/json"
	"errors"

	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// errNotOpen answers who comes too late.
func errNotOpen() error {
	return protocol.Errorf(protocol.CodeConflict, "The question is no longer open; it was answered elsewhere or the turn has ended.")
}

// AnswerPermission answers a question: choice is the index of a suggestion, -1
// denies. Only the first answer counts; a later one fails with conflict. It returns when
// the answer is durable.
func (q *Questions) AnswerPermission(ctx context.Context, c journal.Caller, id protocol.PermissionID, choice int, reason string) error {
	w, err := q.answerPermission(c, id, choice, reason)
	if err != nil {
		return err
	}
	select {
	case err = <-w.stored:
	case <-ctx.Done():
		return ctx.Err()
	}
	if errors.Is(err, context.Canceled) {
		return errNotOpen() // the turn was ended at the same moment
	}
	return err
}

func (q *Questions) answerPermission(c journal.Caller, id protocol.PermissionID, choice int, reason string) (*question, error) {
	q.j.Lock()
	defer q.j.Unlock()
	w := q.asked[string(id)]
	if w == nil {
		return nil, errNotOpen()
	}
	request, ok := w.ask.(*protocol.PermissionRequest)
	if !ok {
		return nil, protocol.About("permissionId", "", protocol.CodeInvalidRequest, "%s is a dialog; answer it with answer_ui.", id)
	}
	a := Answer{Decision: protocol.DecisionDeny, Client: c.Client, Cause: c.Author().Cause, Reason: reason}
	if choice >= len(request.Suggestions) || choice < -1 {
		return nil, protocol.About("choice", "", protocol.CodeInvalidRequest, "There is no choice %d; the question offers %d.", choice, len(request.Suggestions))
	}
	if choice >= 0 && c.OnceOnly && request.Suggestions[choice].Scope != "once" {
		return nil, protocol.Errorf(protocol.CodeForbidden, "This entry may allow a call once or refuse it; the owner of the device can allow more.")
	}
	if choice >= 0 {
		a.Decision, a.Suggestion = protocol.DecisionAllow, request.Suggestions[choice]
	}
	if !q.settle(w, a) {
		return nil, errNotOpen()
	}
	return w, nil
}

// AnswerUI answers a dialog. Only the first answer counts; a later one fails with
// conflict. An answer that does not fit the dialog leaves it open.
func (q *Questions) AnswerUI(c journal.Caller, id string, value json.RawMessage) error {
	q.j.Lock()
	defer q.j.Unlock()
	w := q.asked[id]
	if w == nil {
		return errNotOpen()
	}
	dialog, ok := w.ask.(*protocol.UIRequest)
	if !ok {
		return protocol.About("uiId", "", protocol.CodeInvalidRequest, "%s asks for a permission; answer it with answer_permission.", id)
	}
	if err := dialog.Data.Check(value); err != nil {
		return err
	}
	if c.OnceOnly && dialog.Data.NeedsControl(value) {
		if dialog.Data.Kind == protocol.DialogPlan {
			return protocol.Errorf(protocol.CodeForbidden, "This entry may say what to change in a plan; to approve it ends plan mode, which the owner of the device can do.")
		}
		return protocol.Errorf(protocol.CodeForbidden, "This entry may say no; to agree has the host work by itself from then on, which the owner of the device can allow.")
	}
	if !q.settle(w, Answer{Decision: protocol.DecisionAllow, Client: c.Client, Cause: c.Author().Cause, Value: value}) {
		return errNotOpen()
	}
	return nil
}
