package follow

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

func TestASignalEndsARunThatHasNotBegunAndIsLeftToOneThatHas(t *testing.T) {
	seen := make(chan os.Signal, 1)
	signal.Notify(seen, syscall.SIGTERM)
	defer signal.Stop(seen)
	interrupt := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-seen
	}
	early, _, stop := Starting(context.Background())
	interrupt()
	select {
	case <-early.Done():
	case <-time.After(time.Minute):
		t.Error("the signal did not end what had not begun")
	}
	stop()
	ctx, begun, stop := Starting(context.Background())
	defer stop()
	begun()
	interrupt()
	interrupt() // the first one is handled, or nearly so
	if ctx.Err() != nil {
		t.Error("the signal ended what had begun")
	}
}
