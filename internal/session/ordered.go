package session

import "context"

// ordered runs jobs side by side, at most width at a time, and hands their
// results to each in the order in which next gave the jobs. It starts a job only
// when next allows: next returns nil when there are no more, and may wait for
// nothing. each returning false ends it. All goroutines have ended when ordered
// returns; jobs should look at their context.
func ordered[T any](ctx context.Context, width int, next func() func(context.Context) T, each func(T) bool) {
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
			job := next()
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
