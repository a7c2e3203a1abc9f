package tool

import (
	"encoding/json"
	"fmt"

	"scorel/protocol"
)

// decode reads a call's input. The caller has checked it against the schema, so
// this fails only for what a schema cannot say.
func decode[T any](call Call) (T, error) {
	var in T
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return in, fmt.Errorf("the input is not valid: %w", err)
	}
	return in, nil
}

func textResult(text string) Result { return Result{Content: []protocol.Block{protocol.Text(text)}} }

// shownResult makes a result of a text with head before and tail after it that are for the
// model alone.
func shownResult(d protocol.ToolDetails, head, text, tail string) Result {
	r := textResult(head + text + tail)
	d.Shown = &protocol.ShownText{Head: len(head), Tail: len(tail), Whole: len(head) + len(text) + len(tail)}
	r.Details = d
	return r
}
