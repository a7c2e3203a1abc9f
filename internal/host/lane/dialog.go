package lane

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"scorel/protocol"
)

// askUser puts a model's questions to the attached people; it is [tool.Env.Ask].
func (h *turnHost) askUser(ctx context.Context, callID string, questions []protocol.Question) (protocol.Answers, error) {
	id := protocol.NewUIID(h.l.cfg.Rand)
	w := &question{id: id, ask: &protocol.UIRequest{UIID: id,
		Data: protocol.Dialog{Kind: protocol.DialogQuestion, ToolCallID: callID, Questions: questions}}}
	nobody, err := h.l.put(w)
	switch {
	case err != nil:
		return nil, err
	case nobody:
		return nil, errors.New("there is nobody to ask here; choose what is most sensible, and say in your answer what you assumed")
	}
	a := h.l.await(ctx, w, h.t.setup.AskTimeout)
	switch a.decision {
	case protocol.DecisionCancelled:
		return nil, errors.New("the question was withdrawn, because the turn was ended")
	case protocol.DecisionExpired:
		return nil, errors.New("nobody answered in time; choose what is most sensible, and say in your answer what you assumed")
	}
	var answers protocol.Answers
	err = json.Unmarshal(a.value, &answers) // it has been checked
	return answers, err
}

// AnswerUI answers a dialog. Only the first answer counts; a later one fails with
// conflict. An answer that does not fit the dialog leaves it open.
func (l *Lane) AnswerUI(c Caller, id string, value json.RawMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.questions[id]
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
	if c.OnceOnly && dialog.Data.Approves(value) {
		return protocol.Errorf(protocol.CodeForbidden, "This entry may say what to change in a plan; to approve it ends plan mode, which the owner of the device can do.")
	}
	if !l.settle(w, answer{decision: protocol.DecisionAllow, client: c.Client, cause: c.author().cause, value: value}) {
		return errNotOpen()
	}
	return nil
}

// maxDialogs bounds the questions of a session that are open at once; further dialogs
// of extensions get no answer.
const maxDialogs = 64

// Ask puts a dialog of an extension ([protocol.Dialog.CheckAsked]) to the attached people
// and gives the first answer ([protocol.Dialog] says which form it has). It is false
// when nobody is attached who could answer, when timeout is over (0: there is none),
// when somebody closes the dialog, when ctx ends, and at the end of a run. A dialog
// that cannot be shown is reported.
func (l *Lane) Ask(ctx context.Context, dialog protocol.Dialog, timeout time.Duration) (json.RawMessage, bool) {
	return l.askDialog(ctx, &question{}, dialog, timeout)
}

// AskApart is Ask for what belongs to no run: the dialog stays open at the end of one.
func (l *Lane) AskApart(ctx context.Context, dialog protocol.Dialog, timeout time.Duration) (json.RawMessage, bool) {
	return l.askDialog(ctx, &question{apart: true}, dialog, timeout)
}

func (l *Lane) askDialog(ctx context.Context, w *question, dialog protocol.Dialog, timeout time.Duration) (json.RawMessage, bool) {
	if err := dialog.CheckAsked(); err != nil {
		l.cfg.Report(dialog.Source+": "+err.Error(), nil)
		return nil, false
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	id := protocol.NewUIID(l.cfg.Rand)
	w.id, w.ask = id, &protocol.UIRequest{UIID: id, Data: dialog}
	l.mu.Lock()
	nobody := l.attended == 0 && !l.above().attended() || len(l.questions) >= maxDialogs || l.stopping || l.closed
	l.mu.Unlock()
	if nobody {
		return nil, false
	}
	if nobody, err := l.put(w); err != nil || nobody {
		return nil, false
	}
	about := struct {
		ID   string `json:"id"`
		Kind string `json:"kind"`
	}{id, dialog.Kind}
	l.happened("ui_prompt_start", about)
	defer l.happened("ui_prompt_end", about)
	a := l.await(ctx, w, timeout)
	if a.decision != protocol.DecisionAllow || string(a.value) == "null" {
		return nil, false
	}
	return a.value, true
}
