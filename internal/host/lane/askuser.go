package lane

import (
	"context"
	"encoding/json"
	"errors"

	"scorel/protocol"
)

// askUser puts a model's questions to the attached people; it is [tool.People].
func (h *turnHost) askUser(ctx context.Context, callID string, questions []protocol.Question) (protocol.Answers, error) {
	id := protocol.NewUIID(h.l.cfg.Rand)
	a, err := h.l.questions.Ask(ctx, &protocol.UIRequest{UIID: id,
		Data: protocol.Dialog{Kind: protocol.DialogQuestion, ToolCallID: callID, Questions: questions}}, h.t.config.AskTimeout)
	switch {
	case err != nil:
		return nil, err
	case a.Nobody:
		return nil, errors.New("there is nobody to ask here; choose what is most sensible, and say in your answer what you assumed")
	}
	switch a.Decision {
	case protocol.DecisionCancelled:
		return nil, errors.New("the question was withdrawn, because the turn was ended")
	case protocol.DecisionExpired:
		return nil, errors.New("nobody answered in time; choose what is most sensible, and say in your answer what you assumed")
	}
	var answers protocol.Answers
	err = json.Unmarshal(a.Value, &answers) // it has been checked
	return answers, err
}
