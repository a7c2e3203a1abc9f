package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"scorel/internal/engine/progress"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// callSet is the calls of one assistant message.
type callSet struct {
	message protocol.EventID
	blocks  []protocol.Block
	invalid map[string]string // call id → why it cannot run
	result  protocol.EventID  // of its only call, of a [Foreign] one; "": each result draws its own
}

// job is one call on its way.
type job struct {
	fault    any // a panic beside its tool, with its stack
	block    protocol.Block
	result   protocol.EventID // the id of its result to come
	parent   protocol.EventID
	asked    protocol.EventID // the message with the call
	resolved bool             // tool, input and unknown are known
	tool     tool.Tool        // that runs; of a call of a [tool.Redirecting] the one that it is for
	indirect bool             // it is not the tool that the block names
	unknown  string           // why there is no tool
	spec     tool.Spec        // of tool
	input    json.RawMessage  // what runs: hooks may have changed it
	prepared tool.Prepared
	process  *progress.Call // what the call reports; nil: nobody follows
	began    time.Time      // when the calls of its message did
	done     bool
	ends     bool             // its result ends the turn
	message  protocol.Message // the result, when done
}

// maxTaughtSchema is how long the schema is that a model is shown with an input that does
// not fit it, in bytes.
const maxTaughtSchema = 8 << 10

const cancelledText = "Cancelled by user"

// timeText is the same of a call during which the time of its turn ended.
const timeText = "Ended, because the time limit of this run is reached"

// refusal is what the result of a call says that does not run, and why.
type refusal struct {
	text string
	why  protocol.ToolOutcome
}

func (r refusal) of(b protocol.Block) protocol.Message {
	return protocol.ToolRefused(b.ID, b.Name, r.text, r.why)
}

// notRun refuses calls with a reason of the program.
func notRun(text string) refusal { return refusal{"Not run: " + text, protocol.OutcomeNotRun} }

// ended refuses calls because the run was ended before them.
func ended(cause error) refusal {
	if errors.Is(cause, ErrHostStops) {
		return refusal{protocol.CallNotBegun, protocol.OutcomeNotRun}
	}
	if end, ok := timeOf(cause); ok {
		return refusedFor(end)
	}
	return refusal{cancelledText, protocol.OutcomeCancelled}
}

// brokenOff is what the result of a call ends with that was ended while it ran.
func brokenOff(cause error) string {
	if errors.Is(cause, ErrHostStops) {
		return protocol.CallLost
	}
	if _, ok := timeOf(cause); ok {
		return timeText
	}
	return cancelledText
}

// runCalls runs the calls of a message: read-only ones that stand together side
// by side, the others alone, results in call order. It returns the calls with their
// results, and an error when the run was cancelled or storage failed; every call has its
// result then too.
func (l *loop) runCalls(ctx context.Context, set callSet) ([]*job, error) {
	jobs := l.jobs(set)
	began := l.Now()
	for i := 0; i < len(jobs); {
		if ctx.Err() != nil {
			l.refuse(jobs[i:], ended(context.Cause(ctx)))
			return jobs, ctx.Err()
		}
		if i > 0 {
			if end, over := l.reached(); over { // the turn ends before its next step
				l.refuse(jobs[i:], refusedFor(end))
				return jobs, nil
			}
		}
		n := l.groupSize(ctx, jobs[i:], set.invalid)
		group := jobs[i : i+n]
		for k, j := range group {
			j.began = began
			if err := l.prepare(ctx, j, set.invalid); err != nil {
				why := ended(context.Cause(ctx))
				if ctx.Err() == nil {
					why = notRun("the turn ended, because something could not be stored.")
				}
				closeAll(group)
				l.refuse(group[:k], why)
				l.refuse(jobs[i+k:], why)
				return jobs, err
			}
		}
		l.runGroup(ctx, group)
		i += n
	}
	return jobs, ctx.Err()
}

// allEnd reports whether every call of a message has a result that ends the turn.
func allEnd(jobs []*job) bool {
	return len(jobs) > 0 && !slices.ContainsFunc(jobs, func(j *job) bool { return !j.ends })
}

// refuseCalls gives every call of a message the same error result.
func (l *loop) refuseCalls(set callSet, why refusal) { l.refuse(l.jobs(set), why) }

// refuse records the results of calls that do not run any more; why is that of
// those which have none yet.
func (l *loop) refuse(jobs []*job, why refusal) {
	for _, j := range jobs {
		if !j.done {
			j.message, j.done = why.of(j.block), true
		}
		l.emitAs(j.result, &protocol.MessageBody{Message: j.message})
	}
}

func closeAll(group []*job) {
	for _, j := range group {
		if j.prepared != nil {
			j.prepared.Close()
			j.prepared = nil
		}
		j.process.End(progress.Ending{Status: protocol.ProcessCancelled})
	}
}

func (l *loop) jobs(set callSet) []*job {
	parent := set.message
	jobs := make([]*job, len(set.blocks))
	for i, b := range set.blocks {
		jobs[i] = &job{block: b, result: set.result, parent: parent, asked: set.message}
		if set.result == "" {
			jobs[i].result = protocol.NewEventID(l.Rand)
		}
		parent = jobs[i].result
	}
	return jobs
}

func (l *loop) groupSize(ctx context.Context, jobs []*job, invalid map[string]string) int {
	n := 0
	for n < len(jobs) {
		l.resolve(ctx, jobs[n], invalid)
		if jobs[n].tool == nil || !jobs[n].spec.Parallel {
			break
		}
		n++
	}
	return max(n, 1)
}

// resolve finds the tool of a call, and its input. Who comes later sees the tool that a
// call is for, and never the one that it was redirected from: only the block, which goes to
// the model, keeps that one's name.
func (l *loop) resolve(ctx context.Context, j *job, invalid map[string]string) {
	if j.resolved {
		return
	}
	j.resolved, j.input = true, j.block.Input
	j.tool = l.tool(j.block.Name)
	if j.tool == nil { // a model may call by its name what it was only told of
		for _, t := range l.Tools {
			if r, ok := t.(tool.Redirecting); ok && j.tool == nil {
				j.tool, j.indirect = r.Behind(j.block.Name), true
			}
		}
	}
	if j.tool == nil {
		j.unknown = fmt.Sprintf("There is no tool named %q. The tools are: %s.", j.block.Name, l.toolNames())
		return
	}
	if r, ok := j.tool.(tool.Redirecting); ok && invalid[j.block.ID] == "" {
		if err := l.validate(j.tool.Spec(), j.input); err != nil {
			j.unknown = fmt.Sprintf("The input does not fit the schema of %s: %v", j.block.Name, err)
		} else if j.tool, j.input, err = l.target(ctx, r, j.input); err != nil {
			j.unknown = err.Error()
		}
		j.indirect = true
	}
	if j.unknown != "" {
		j.tool = nil
		return
	}
	j.spec = j.tool.Spec()
}

// target asks a tool what its call is for.
func (l *loop) target(ctx context.Context, r tool.Redirecting, input json.RawMessage) (t tool.Tool, params json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			l.Report(fmt.Sprintf("finding a tool panicked: %v", p), debug.Stack())
			t, err = nil, errors.New("the tool could not be found; this is a fault of Scorel, not of the input")
		}
	}()
	return r.Target(ctx, input)
}

// name is the tool that a call is for, for people.
func (j *job) name() string {
	if j.spec.Name != "" {
		return j.spec.Name
	}
	return j.block.Name
}

func (l *loop) tool(name string) tool.Tool {
	for _, t := range l.Tools {
		if t.Spec().Name == name {
			return t
		}
	}
	return nil
}

// prepare takes a call to the point where it may run: parse, schema, hooks,
// schema again, permission on exactly the bytes that will run, snapshots. A call
// that may not run gets its result here. An error ends the run.
func (l *loop) prepare(ctx context.Context, j *job, invalid map[string]string) error {
	fail := func(format string, args ...any) error {
		j.message, j.done = protocol.ToolError(j.block.ID, j.block.Name, fmt.Sprintf(format, args...)), true
		return nil
	}
	refuse := func(text string) error {
		j.message, j.done = refusal{text, protocol.OutcomeNotRun}.of(j.block), true
		return nil
	}
	l.resolve(ctx, j, invalid)
	t := j.tool
	if t == nil {
		return fail("%s", j.unknown)
	}
	if why, ok := invalid[j.block.ID]; ok {
		return fail("%s", why)
	}
	call := tool.Call{ID: j.block.ID, Input: j.input}
	if err := l.validateFor(j, call.Input); err != nil {
		why := fmt.Sprintf("The input does not fit the schema of %s: %s", j.spec.Name, ends(err.Error(), maxMisfit))
		if j.indirect && len(j.spec.Schema) <= maxTaughtSchema { // the model may never have seen it
			why += "\nIts schema is: " + string(j.spec.Schema)
		}
		return fail("%s", why)
	}
	var verdict HookVerdict
	if l.Hooks != nil {
		before, err := l.Hooks.BeforeTool(ctx, call, j.spec)
		verdict = before.Verdict
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return refuse(fmt.Sprintf("A hook failed, so this call was not run: %v", err))
		case before.Blocked != "":
			return refuse(before.Blocked)
		case before.Result != nil:
			j.message, j.done = *before.Result, true
			j.message.Role, j.message.ToolCallID, j.message.ToolName = protocol.RoleToolResult, j.block.ID, j.block.Name
			l.fitResult(&j.message)
			return nil
		case before.Input != nil:
			call.Input = before.Input
			if err := l.validateFor(j, call.Input); err != nil {
				return fail("A hook changed the input so that it does not fit the schema of %s: %s", j.spec.Name, ends(err.Error(), maxMisfit))
			}
		}
	}
	l.follow(j, &call)
	prepared, err := l.safePrepare(ctx, t, call)
	if err != nil {
		return fail("%s", ends(err.Error(), maxUnprepared))
	}
	j.prepared, j.input = prepared, call.Input
	if p, ok := prepared.(tool.Labelled); ok {
		j.process.Name(p.Label())
	}
	question := Question{CallID: call.ID, Tool: j.spec, Input: call.Input, Action: prepared.Action(), Hook: verdict}
	if p, ok := prepared.(tool.Cautious); ok {
		question.Caution = p.Caution()
	}
	if p, ok := prepared.(tool.Previewer); ok {
		question.Preview = p.Preview
	}
	permit, err := l.Host.Permit(ctx, question)
	if err != nil {
		return err
	}
	if !permit.Allowed {
		prepared.Close()
		j.prepared = nil
		if err := refuse(permit.Reason); err != nil || permit.Denied == nil {
			return err
		}
		d := j.message.ToolDetails()
		d.Denied = permit.Denied
		j.message.Details, err = json.Marshal(d)
		return err
	}
	if p, ok := prepared.(tool.GitRuled); ok && permit.Git {
		p.AllowedByGitRule()
	}
	if err := l.snapshot(ctx, j); err != nil {
		return err
	}
	return ctx.Err()
}

// snapshot keeps the files that the call will write: blob first, then the event,
// then the effect.
func (l *loop) snapshot(ctx context.Context, j *job) error {
	snaps, err := j.prepared.Snapshots(ctx)
	if err != nil {
		j.message, j.done = refusal{fmt.Sprintf("The file could not be kept for undo, so this call was not run: %v", err), protocol.OutcomeNotRun}.of(j.block), true
		j.prepared.Close()
		j.prepared = nil
		return nil
	}
	for _, s := range snaps {
		body := &protocol.FileSnapshot{ToolCallID: j.block.ID, Path: s.Path, Existed: s.Existed, Restorable: s.Restorable, Mode: s.Mode}
		if s.Existed && s.Restorable {
			if body.Blob, err = l.Blobs.PutBlob(ctx, bytes.NewReader(s.Content)); err != nil {
				return err
			}
		}
		l.emit(body)
	}
	return nil
}

func (l *loop) safePrepare(ctx context.Context, t tool.Tool, call tool.Call) (p tool.Prepared, err error) {
	defer func() {
		if r := recover(); r != nil {
			l.Report(fmt.Sprintf("tool %s panicked: %v", t.Spec().Name, r), debug.Stack())
			p, err = nil, fmt.Errorf("the tool %s failed inside; this is a fault of Scorel, not of the input", t.Spec().Name)
		}
	}()
	return t.Prepare(ctx, call)
}

func (l *loop) toolNames() string {
	names := make([]string, len(l.Tools))
	for i, t := range l.Tools {
		names[i] = t.Spec().Name
	}
	return strings.Join(names, ", ")
}

// validateFor checks an input of a call.
func (l *loop) validateFor(j *job, input json.RawMessage) error {
	if c, ok := j.tool.(tool.Checked); ok {
		return c.Check(input)
	}
	if j.indirect { // what is not sent to the model may change while the run goes on
		delete(l.schemas, j.spec.Name)
	}
	return l.validate(j.spec, input)
}

// validate checks an input against the schema of a tool.
func (l *loop) validate(spec tool.Spec, input json.RawMessage) error {
	resolved := l.schemas[spec.Name]
	if resolved == nil {
		var schema jsonschema.Schema
		if err := json.Unmarshal(spec.Schema, &schema); err != nil {
			return fmt.Errorf("the schema is broken: %w", err)
		}
		var err error
		if resolved, err = schema.Resolve(nil); err != nil {
			return fmt.Errorf("the schema is broken: %w", err)
		}
		l.schemas[spec.Name] = resolved
	}
	var value map[string]any
	if err := json.Unmarshal(input, &value); err != nil || value == nil {
		return errors.New("it must be a JSON object")
	}
	return resolved.Validate(value)
}

const (
	// maxMisfit is how much of why an input does not fit a schema a model is told, in bytes:
	// the sentence has the value, which the model has written.
	maxMisfit = 1000
	// maxUnprepared is how much it is told of why a call cannot be prepared, in bytes.
	maxUnprepared = 16 << 10
)

// ends cuts a long text in its middle to about n bytes.
func ends(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := s[:n/2], s[len(s)-n/2:]
	return strings.ToValidUTF8(fmt.Sprintf("%s… (%d bytes left out) …%s", head, len(s)-n/2*2, tail), "")
}

func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
