package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/client"
	"scorel/internal/ui/follow"
)

func TestAScriptDoesNotWaitForEverForAHostThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		ctx, giveUp := context.WithCancelCause(t.Context())
		state := (&app{stderr: &out}).notifyOutages(giveUp)
		gone := client.Change{State: client.StateReconnecting, Err: follow.ErrNoHost}
		state(client.Change{State: client.StateReconnecting, Err: client.ErrClosed})
		state(gone)
		time.Sleep(maxHostless - time.Second)
		state(gone)
		state(client.Change{State: client.StateConnected}) // it was started again
		state(client.Change{State: client.StateReconnecting, Err: client.ErrClosed})
		state(gone)
		time.Sleep(maxHostless - time.Second)
		if state(gone); ctx.Err() != nil {
			t.Fatalf("gave up too early: %v", context.Cause(ctx))
		}
		time.Sleep(time.Second)
		if state(gone); !errors.Is(context.Cause(ctx), errHostGone) {
			t.Errorf("did not give up: %v", context.Cause(ctx))
		}
		if n := strings.Count(out.String(), "no host runs here"); n != 2 {
			t.Errorf("told %d times: %s", n, out.String())
		}
	})
}
