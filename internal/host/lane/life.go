package lane

import (
	"context"

	"scorel/internal/platform/fault"
)

// life is how long a lane and what runs in it may go on.
type life struct {
	fuse   *fault.Fuse     // blows with the first panic in a goroutine of the session
	open   context.Context // ends when the lane closes
	end    context.CancelFunc
	whole  context.Context // ends when the lane is given up, and after its end
	giveUp context.CancelFunc
}

func newLife(broke func(*fault.Panic)) *life {
	f := &life{fuse: fault.NewFuse(broke)}
	f.open, f.end = context.WithCancel(context.Background())
	f.whole, f.giveUp = context.WithCancel(context.Background())
	return f
}

// bounded returns a context that ends with the lane too.
func (f *life) bounded(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(f.open, cancel)
	return ctx, func() { stop(); cancel() }
}
