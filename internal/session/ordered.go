package session

import "context"

// ordered runs jobs side by side, at most width at a time, and hands their
// results to each in the order in which next gave the jobs. It starts a job only
// when next allows: next returns nil when there are no more, and may wait for
// nothing. each returning false ends it. All goroutines have ended when ordered
// returns; jobs should look at their context.
func ordered[T any](ctx context.Context, width int, next func() func(context.Context) T, each func(T) bool) {
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
	var flying []chan T
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
			c := make(chan T, 1)
			flying = append(flying, c)
			go func() { c <- job(ctx) }() // ends with the job; awaited above
		}
		if len(flying) == 0 {
			return
		}
		result := <-flying[0]
		flying = flying[1:]
		if !each(result) {
			return
		}
	}
}
