package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// maxUpdate bounds the output of a running call that waits to be yielded, in
// bytes; what is older is dropped from the live view (the result has it).
const maxUpdate = 64 << 10

// feed carries the live output of the calls of a group to the goroutine of the
// run, which alone may yield.
type feed struct {
	mu      sync.Mutex
	pending map[*job]*strings.Builder
	order   []*job
	wake    chan struct{} // capacity 1
}

func (f *feed) add(j *job, output string) {
	if len(output) > maxUpdate {
		output = strings.ToValidUTF8(output[len(output)-maxUpdate:], "")
	}
	f.mu.Lock()
	b := f.pending[j]
	if b == nil {
		b = &strings.Builder{}
		f.pending[j] = b
		f.order = append(f.order, j)
	}
	if b.Len()+len(output) > maxUpdate {
		b.Reset()
	}
	b.WriteString(output)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feed) take(j *job) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.pending[j]
	if b == nil {
		return ""
	}
	delete(f.pending, j)
	for i, o := range f.order {
		if o == j {
			f.order = append(f.order[:i], f.order[i+1:]...)
			break
		}
	}
	return b.String()
}

func (f *feed) next() *job {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.order) == 0 {
		return nil
	}
	return f.order[0]
}

// runGroup runs the prepared calls of a group side by side and records each
// result as soon as it and all before it are complete. The goroutines it starts
// have ended when it returns.
func (l *loop) runGroup(ctx context.Context, group []*job) {
	live := &feed{pending: map[*job]*strings.Builder{}, wake: l.wake}
	ended := make(chan *job, len(group))
	slots := make(chan struct{}, maxParallel)
	var wg sync.WaitGroup
	started := map[*job]time.Time{}
	running := 0
	for _, j := range group {
		if j.done {
			continue
		}
		start := &protocol.ToolExecutionStart{EventID: j.result, ParentID: j.parent, ToolCallID: j.block.ID,
			ToolName: j.name(), Args: j.input}
		if p, ok := j.prepared.(tool.Colored); ok {
			start.AgentColor = p.Color()
		}
		l.emit(start)
		started[j] = l.Now()
		running++
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if r := recover(); r != nil { // the run's own goroutine goes on with it
					j.fault = fmt.Sprintf("%v\n%s", r, debug.Stack())
					ended <- j
				}
			}()
			slots <- struct{}{}
			m := l.run(ctx, j, live)
			<-slots
			j.message = m
			ended <- j
		}()
	}
	next := 0
	flush := func() {
		for next < len(group) && group[next].done {
			l.emitAs(group[next].result, &protocol.MessageBody{Message: group[next].message})
			next++
		}
	}
	flush()
	for running > 0 {
		select {
		case <-live.wake:
			for j := live.next(); j != nil; j = live.next() {
				l.emit(&protocol.ToolExecutionUpdate{EventID: j.result, ToolCallID: j.block.ID, Partial: live.take(j)})
			}
			for _, j := range group {
				l.tellProcess(j)
			}
		case j := <-ended:
			running--
			if j.fault != nil {
				panic(j.fault)
			}
			if rest := live.take(j); rest != "" {
				l.emit(&protocol.ToolExecutionUpdate{EventID: j.result, ToolCallID: j.block.ID, Partial: rest})
			}
			l.tellProcess(j)
			j.done = true
			if u := j.message.Usage; u != nil { // of a sub-agent, which has spent it already
				l.turnUsage.Add(*u)
			}
			l.emit(&protocol.ToolExecutionEnd{EventID: j.result, ToolCallID: j.block.ID, ToolName: j.name(),
				DurationMS: l.Now().Sub(started[j]).Milliseconds(), IsError: j.message.IsError})
			flush()
		}
	}
	wg.Wait()
	closeAll(group)
}

// run runs one call and returns its result.
func (l *loop) run(ctx context.Context, j *job, live *feed) protocol.Message {
	if ctx.Err() != nil {
		return ended(context.Cause(ctx)).of(j.block)
	}
	runCtx := ctx
	if j.spec.Finishes {
		runCtx = context.WithoutCancel(ctx)
	}
	started := l.Now()
	res, err := l.safeRun(runCtx, j, func(output string) { live.add(j, output) })
	if err != nil {
		if runCtx.Err() == nil || !errors.Is(err, context.Canceled) { // else it is said below
			res.Content = append(res.Content, protocol.Text(err.Error()))
		}
		res.IsError = true
	}
	if ctx.Err() != nil && !j.spec.Finishes {
		res.Content = append(res.Content, protocol.Text(brokenOff(context.Cause(ctx))))
		res.IsError = true
		if d, ok := res.Details.(protocol.ToolDetails); (ok || res.Details == nil) && !errors.Is(context.Cause(ctx), ErrHostStops) {
			d.Outcome = protocol.OutcomeCancelled
			res.Details = d
		}
	}
	l.timed(j, &res, started)
	j.ends = res.Ends && !res.IsError
	process := l.endProcess(ctx, j, &res)
	m := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: j.block.ID, ToolName: j.block.Name,
		Content: res.Content, IsError: res.IsError, Usage: res.Usage}
	l.keepFull(&res, &m)
	if res.Details != nil {
		if m.Details, err = json.Marshal(res.Details); err != nil {
			l.Report("details of "+j.name()+": "+err.Error(), nil)
		}
	}
	if l.Hooks != nil && ctx.Err() == nil {
		changed, err := l.Hooks.AfterTool(ctx, tool.Call{ID: j.block.ID, Input: j.input}, j.spec, m)
		if err == nil {
			changed.Role, changed.ToolCallID, changed.ToolName, changed.Usage = m.Role, m.ToolCallID, m.ToolName, m.Usage
			m = changed
		}
	}
	m.Process = process
	l.fitResult(&m)
	return m
}

// minWait is the shortest wait before a call, or while it ran, for which its result says how
// long it ran.
const minWait = time.Second

// timed notes for how long a call ran that did not begin with its message, or for which
// people were waited for.
func (l *loop) timed(j *job, res *tool.Result, started time.Time) {
	waited := l.Host.Waited(j.block.ID)
	if d, ok := res.Details.(protocol.ToolDetails); (ok || res.Details == nil) && started.Sub(j.began)+waited >= minWait {
		d.DurationMS = max(1, (l.Now().Sub(started) - waited).Milliseconds())
		res.Details = d
	}
}

// keepFull stores uncut output in a blob, also when the run is cancelled.
func (l *loop) keepFull(res *tool.Result, m *protocol.Message) {
	if res.Full == nil {
		return
	}
	defer res.Full.Close()
	sha, err := l.Blobs.PutBlob(context.Background(), res.Full)
	if err != nil {
		m.Content = append(m.Content, protocol.Text("The whole output could not be kept: "+err.Error()))
		return
	}
	if d, ok := res.Details.(protocol.ToolDetails); ok {
		d.FullBlob = sha
		res.Details = d
	}
}

func (l *loop) safeRun(ctx context.Context, j *job, update func(string)) (res tool.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			l.Report(fmt.Sprintf("tool %s panicked: %v", j.name(), r), debug.Stack())
			res, err = tool.Result{}, fmt.Errorf("the tool %s failed inside; this is a fault of Scorel, not of the input", j.name())
		}
	}()
	return j.prepared.Run(ctx, update)
}
