package lane

import (
	"context"
	"testing"

	"scorel/internal/engine/hook"
)

// TestAHookThatFailsInASessionThatIsGivenUpEndsNothing: the goroutine that reports it finds the
// session's journal shut, and is unwound to its own root.
func TestAHookThatFailsInASessionThatIsGivenUpEndsNothing(t *testing.T) {
	tr := newTrial(t)
	begun, shut := make(chan struct{}), make(chan struct{})
	tr.open()
	ls := tr.lane.Listeners()
	ls.Handshake(t.Context(), hook.New(nil, hook.Subscriber{Name: "bad", Scope: hook.ScopeUser, Happened: func(context.Context, hook.Happening) {
		close(begun)
		<-shut
		panic("half told")
	}}), true, nil)
	ls.EmitEvent("notification", struct {
		Message string `json:"message"`
	}{"x"})
	<-begun
	tr.lane.Panicked("a fault of another goroutine")
	close(shut)
	ls.NotifyEnd() // waits for who watches
}
