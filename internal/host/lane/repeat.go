package lane

import (
	"context"
	"encoding/json"
	"fmt"

	"scorel/internal/engine/runtime"
	"scorel/protocol"
)

// The answers to the question whether a model that repeats itself goes on.
const (
	repeatGoOn = "Go on"
	repeatStop = "Stop"
)

// Repeats puts the question to the attached people, as those of tools.
func (h *turnHost) Repeats(ctx context.Context, what runtime.Repetition) (asked, resume bool, err error) {
	id := protocol.NewUIID(h.l.cfg.Rand)
	a, err := h.l.questions.Ask(ctx, &protocol.UIRequest{UIID: id, Data: protocol.Dialog{Kind: protocol.DialogSelect,
		Title: fmt.Sprintf("The model has made %s. Should it continue?", what),
		Options: []protocol.Option{
			{Label: repeatStop, Description: "end the turn; your next message can say what to do differently"},
			{Label: repeatGoOn, Description: fmt.Sprintf("you are asked again after %d more", what.Times)},
		}}}, h.t.config.AskTimeout)
	if err != nil || a.Nobody {
		return false, false, err
	}
	switch a.Decision {
	case protocol.DecisionCancelled:
		return false, false, ctx.Err()
	case protocol.DecisionExpired:
		return false, false, nil
	}
	var label string
	if json.Unmarshal(a.Value, &label) != nil { // null: it was closed
		label = ""
	}
	return true, label == repeatGoOn, nil
}
