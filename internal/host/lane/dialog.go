package lane

import (
	"context"
	"encoding/json"
	"errors"

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
	a := h.await(ctx, w)
	switch a.decision {
	case protocol.DecisionCancelled:
		return nil, errors.New("the question was withdrawn, because the turn was ended")
	case protocol.DecisionExpired:
		return nil, errors.New("nobody answered in time; choose what is most sensible, and say in your answer what you assumed")
	}
	return a.value, nil
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
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s asks for a permission; answer it with answer_permission.", id)
	}
	var answers protocol.Answers
	if json.Unmarshal(value, &answers) != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "The value of the answer is a list with an entry for each question: a label, words, or a list of them; or null.")
	}
	if err := answers.Check(dialog.Data.Questions); err != nil {
		return err
	}
	if !l.settle(w, answer{decision: protocol.DecisionAllow, client: c.Client, value: answers}) {
		return errNotOpen()
	}
	return nil
}
