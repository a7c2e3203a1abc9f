// Package ordered runs jobs side by side and hands over their results in the order of the
// jobs, with a panic of a job where its result would be.
package ordered

import (
	"context"

	"scorel/internal/platform/fault"
)

// done is what a job gave, or the panic that ended it.
type done[T any] struct {
	result T
	panic  *fault.Panic
}

// Run runs jobs side by side, at most width at a time, and hands their
// results to each in the order in which next gave the jobs. It starts a job only
// when next allows: next returns nil when there are no more, and may wait for
// nothing. each returning false ends it. All goroutines have ended when Run
// returns; jobs should look at their context. A job that panics makes Run panic in its
// turn.
func Run[T any](ctx context.Context, width int, next func() func(context.Context) T, each func(T) bool) {
	first, second := next(), (func(context.Context) T)(nil)
	if first != nil {
		second = next()
	}
	if second == nil {
		if first != nil {
			each(first(ctx)) // a single job needs no goroutine
		}
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var flying []chan done[T]
	defer func() {
		cancel()
		for _, c := range flying {
			<-c
		}
	}()
	more := true
	for {
		for more && len(flying) < width {
			var job func(context.Context) T
			switch {
			case first != nil:
				job, first = first, nil
			case second != nil:
				job, second = second, nil
			default:
				job = next()
			}
			if job == nil {
				more = false
				break
			}
			c := make(chan done[T], 1)
			flying = append(flying, c)
			go func() { // ends with the job; awaited above
				var d done[T]
				defer func() {
					if r := recover(); r != nil {
						d.panic = fault.Caught(r)
					}
					c <- d
				}()
				d.result = job(ctx)
			}()
		}
		if len(flying) == 0 {
			return
		}
		d := <-flying[0]
		flying = flying[1:]
		if d.panic != nil {
			panic(d.panic)
		}
		if !each(d.result) {
			return
		}
	}
}
