package lane

import (
	"fmt"
	"time"

	"scorel/protocol"
)

// tally is what the diagnostics say of a turn when it has ended: nothing of what was
// said in it. It belongs to the goroutine of the run.
type tally struct {
	began time.Time
	steps int
	usage protocol.Usage
	// unkept: people know that what runs would be lost with a host that is killed.
	unkept bool
}

// note takes in what the run yields, and returns the sentence at its end.
func (t *tally) note(body protocol.Body, now func() time.Time) string {
	if u := protocol.UsageOf(body); u != nil {
		t.usage.Add(*u)
	}
	switch b := body.(type) {
	case *protocol.RuntimeStart:
		t.began = now()
	case *protocol.MessageBody:
		if b.Message.Role == protocol.RoleAssistant && !b.Message.IsFailure() {
			t.steps++
		}
	case *protocol.RuntimeEnd:
		end := fmt.Sprintf("turn ended: %s (%s), %d steps, %d tokens in, %d out, %d ms", b.Reason, b.Terminal, t.steps,
			t.usage.InputTokens+t.usage.CacheReadTokens+t.usage.CacheWriteTokens, t.usage.OutputTokens, now().Sub(t.began).Milliseconds())
		if b.Error != nil {
			end += ", " + string(b.Error.Code)
		}
		return end
	}
	return ""
}
