package history

import (
	"context"
	"errors"
	"math"
	"slices"

	"scorel/protocol"
)

// Config is what a builder works with. Hooks may be nil.
type Config struct {
	Log   Log
	Hooks Hooks
	// Window is the model's, in tokens; 0: not known. It bounds how much of a path is
	// kept: see [Context.Partial].
	Window int
	// Imported is the seq up to which events came from a file: their harness items are
	// not told, and their results say nothing of files and folders here. 0: none did.
	Imported protocol.Seq
}

// Builder builds the context of one session. While a turn runs it keeps what it
// read and is told of each appended event ([Builder.Extend]); between turns the
// host drops that. It is used by one goroutine at a time.
type Builder struct {
	log      Log
	hooks    Hooks
	most     int          // bytes of text of a path that are kept, 0: all
	imported protocol.Seq // see [Config]

	path   *path // nil when nothing is kept
	passes passes
	settle mark // passes up to here will not change
	seen   mark // what was taken in at the last build
}

// New makes a builder.
func New(c Config) (*Builder, error) {
	if c.Log == nil {
		return nil, errors.New("history: a builder needs a log")
	}
	b := &Builder{log: c.Log, hooks: c.Hooks, imported: c.Imported}
	if c.Hooks == nil { // hooks are given the whole list
		b.most = min(c.Window, math.MaxInt/maxKept) * maxKept
	}
	return b, nil
}

// Context is what a model is sent at Leaf, and what planning needs to know. It is
// never changed.
type Context struct {
	Leaf     protocol.EventID
	Messages []protocol.Message // ready for a request
	// Tokens is the size of the whole request, with system prompt and tools: what
	// the provider counted last on this path and the estimate of what came later,
	// or the estimate of all where that count is of another list (after a
	// compaction or shrinking) or absent.
	Tokens int
	// Compact is the compaction in effect, "" without one.
	Compact protocol.EventID
	Told    Told
	// Diagnostics are sentences for people about what was odd on the path.
	Diagnostics []string
	// Unread are events of the path that cannot be read, newest first.
	Unread []protocol.EventID

	path    []Element // after pass 1
	elems   []Element // after pass 4
	at      []int     // elems[i] begins at message at[i] (before ConvertToLLM)
	sums    []int     // estimated tokens up to each message
	guess   int       // the estimate of the whole request
	notes   []note
	limits  limits
	summary string
	details *protocol.CompactDetails
	older   older
}

// Partial reports whether the oldest messages of the path were only counted, because
// what comes after them is far more than the window takes. Tokens counts them, and a
// compaction can be planned, but Messages is never sent to a model.
func (c *Context) Partial() bool { return c.older.messages > 0 }

// Older is how many messages Partial is about.
func (c *Context) Older() int { return c.older.messages }

// scale corrects an estimate of a part by what the provider counted of the whole,
// within a factor of four.
func (c *Context) scale(estimate int) int {
	if c.guess <= 0 {
		return estimate
	}
	tokens := min(max(c.Tokens, c.guess/4), c.guess*4)
	return int(int64(estimate) * int64(tokens) / int64(c.guess))
}

// Build returns the context at leaf; an empty leaf is the empty conversation. It
// reads the log unless the path up to leaf is kept. Errors are those of the log
// and of ctx.
func (b *Builder) Build(ctx context.Context, leaf protocol.EventID, w Window) (Context, error) {
	if err := b.load(ctx, leaf); err != nil {
		return Context{}, err
	}
	if b.hooks != nil {
		return b.buildWithHooks(ctx, w)
	}
	b.advance()
	c := b.context(&b.passes, w)
	c.Messages = b.passes.out[:len(b.passes.out):len(b.passes.out)]
	return c, nil
}

// Told returns what the model has been told at leaf. It reads the log as Build does
// but builds nothing, so that the host can append what is missing first.
func (b *Builder) Told(ctx context.Context, leaf protocol.EventID) (Told, error) {
	if err := b.load(ctx, leaf); err != nil {
		return nil, err
	}
	return b.path.told, nil
}

// load walks the path of leaf unless it is kept.
func (b *Builder) load(ctx context.Context, leaf protocol.EventID) error {
	if b.path != nil && b.path.leaf == leaf {
		return nil
	}
	b.Drop()
	p, err := walk(ctx, b.log, leaf, b.most, b.imported)
	if err != nil {
		return err
	}
	b.path = p
	return nil
}

// Extend tells the builder of a published event while a turn runs: a conversation
// event that hangs on the kept leaf, or a control event, of which only those count
// that change what is sent. The next Build gives what a new builder would give.
// An event that does not continue the kept path drops it.
func (b *Builder) Extend(ev protocol.Event) {
	if b.path == nil {
		return
	}
	limits := b.path.limits
	if !b.path.extend(ev) {
		b.Drop()
		return
	}
	switch {
	case ev.Type == protocol.TypeContextCut && b.path.older.messages > 0:
		b.Drop() // what was only counted is smaller now
	case b.path.limits != limits || ev.Type == protocol.TypeContextCut:
		b.resetPasses()
	}
}

// Drop forgets what is kept.
func (b *Builder) Drop() {
	b.path = nil
	b.resetPasses()
}

func (b *Builder) resetPasses() {
	b.passes, b.settle, b.seen = passes{}, mark{}, mark{}
}

// advance runs passes 3 to 7 over what is new. The list falls into two parts: the
// settled one, which no later event can change, and the open end, which begins at
// the last message that notes and results cannot belong to.
func (b *Builder) advance() {
	list, notes := b.path.list, b.path.notes
	if b.seen.list == len(list) && b.seen.notes == len(notes) && b.seen.list+b.seen.notes > 0 {
		return
	}
	b.passes.limits, b.passes.from = b.path.limits, b.path.countedFrom
	boundary := lastBoundary(list)
	first := notesUpTo(notes, list, boundary)
	if boundary == b.seen.list && first == b.seen.notes && boundary > 0 {
		// Nothing was added to the open end of the last build: it has settled.
		b.settle = b.passes.here(boundary, first)
		if b.run(b.settle, len(list), len(notes)) {
			b.rebuild(list, notes)
			return
		}
	} else {
		s, next := b.passes.scratch(b.settle), b.settle
		orphans := false
		if boundary > next.list {
			orphans = s.run(list[next.list:boundary], notes[next.notes:first]) && next.list > 0
			next = s.mark(b.settle, boundary, first)
		}
		if orphans || s.run(list[next.list:], notes[next.notes:]) && next.list > 0 {
			b.rebuild(list, notes)
			return
		}
		b.passes.adopt(b.settle, s)
		b.settle = next
	}
	b.seen = b.passes.here(len(list), len(notes))
}

// rebuild treats the whole list as open, because a result in its end may answer a
// call before it.
func (b *Builder) rebuild(list []Element, notes []note) {
	b.resetPasses()
	b.passes.limits, b.passes.from = b.path.limits, b.path.countedFrom
	b.run(mark{}, len(list), len(notes))
	b.seen = b.passes.here(len(list), len(notes))
}

// run takes in list[from.list:to] with its notes.
func (b *Builder) run(from mark, to, notes int) (orphans bool) {
	return b.passes.run(b.path.list[from.list:to], b.path.notes[from.notes:notes])
}

// lastBoundary returns the index of the last element that begins a piece of its own.
func lastBoundary(list []Element) int {
	for i := len(list) - 1; i > 0; i-- {
		e := &list[i]
		switch e.Message.Role {
		case protocol.RoleUser:
			if !e.steer() {
				return i
			}
		case protocol.RoleAssistant:
			if speaks(e.Message.Content) {
				return i
			}
		}
	}
	return 0
}

// notesUpTo returns how many notes belong before list[boundary].
func notesUpTo(notes []note, list []Element, boundary int) int {
	if boundary == 0 {
		return 0
	}
	n := len(notes)
	for n > 0 && notes[n-1].pos > list[boundary].pos {
		n--
	}
	return n
}

func (b *Builder) buildWithHooks(ctx context.Context, w Window) (Context, error) {
	list, diagnostics, err := runHooks(ctx, b.hooks, b.path.list)
	if err != nil {
		return Context{}, err
	}
	p := &passes{limits: b.path.limits, from: b.path.countedFrom}
	if sameElements(list, b.path.list) { // as without hooks: only what is new is worked on
		b.advance()
		p = &b.passes
	} else {
		p.run(list, b.path.notes)
	}
	c := b.context(p, w)
	c.Messages, err = b.hooks.ConvertToLLM(ctx, slices.Clone(p.out))
	if ctx.Err() != nil {
		return Context{}, ctx.Err()
	}
	if err != nil {
		c.Messages = p.out
		diagnostics = append(diagnostics, "the convertToLlm hooks failed and were skipped: "+err.Error())
	}
	c.Messages = pairMessages(c.Messages)
	c.Diagnostics = append(c.Diagnostics, diagnostics...)
	return c, nil
}

// sameElements reports whether hooks left a list as it was.
func sameElements(list, path []Element) bool {
	return len(list) == len(path) && (len(list) == 0 || &list[0] == &path[0])
}

// context returns all but the messages.
func (b *Builder) context(p *passes, w Window) Context {
	c := Context{Leaf: b.path.leaf, Compact: b.path.compact, Told: b.path.told,
		Diagnostics: slices.Clone(b.path.diagnostics), Unread: b.path.unread,
		path: b.path.list, elems: p.elems, at: p.at, sums: p.sums, notes: b.path.notes, limits: b.path.limits,
		summary: b.path.summary, details: b.path.details, older: b.path.older}
	c.guess = w.System + w.Tools + p.total() + c.older.tokens
	c.Tokens = c.guess
	if p.usage.n > 0 && !c.Partial() {
		c.Tokens = p.usage.tokens + p.total() - p.sums[p.usage.n-1]
	}
	return c
}
