package extensions

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/engine/hook"
	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/lane"
	"scorel/internal/host/lane/component"
	"scorel/internal/host/registry"
	"scorel/internal/host/settings"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Session is what the host keeps of the extensions of an open session.
type Session struct {
	exts  *Extensions
	root  string // of its project
	lane  *lane.Lane
	set   *extension.Set
	keys  settings.KnownKeys
	seen  seen
	kept  kept
	queue queue

	// mu guards all below. It may be held while the lane is watched and the set is asked
	// what it has, and never while the lane is asked anything: who holds the lane's lock
	// may wait for the publisher's writer.
	mu       sync.Mutex
	turn     turnFacts
	shown    []protocol.UIState // what extensions show, without its lines
	shownAt  time.Time          // where the pace of what they show is
	starting chan struct{}      // closed when the extensions have started; nil while none starts
	unwatch  func()             // ends the watch of the session; nil: nothing was loaded yet
	told     []string           // problems that people have been told of
	looked   bool               // for entries that nobody understands

	resources map[string]resources // that extensions bring along, by the extension's file
}

// turnFacts are what extensions are told of the newest turn.
type turnFacts struct {
	model    *rpc.Model
	modelRef string             // of which model is
	tools    []rpc.Tool         // that its model could be given
	active   []string           // names of tools that extensions have chosen, nil for all
	names    []string           // of tools that it was given
	others   []rpc.NamedCommand // templates and skills
	thinking string
	mode     string
	trusted  bool
	prompt   string // that the session has
	draft    string // that its first turn would have
}

// seen is what is noted on the publisher's writer. Nothing is called with mu held.
type seen struct {
	mu     sync.Mutex
	own    int  // messages that extensions have sent since a person did
	tokens int  // of the active path
	stale  bool // tokens are to be found again
}

// Open makes the extensions of a session that has been opened. Nothing of them is
// looked for yet. Close follows.
func (xs *Extensions) Open(l *lane.Lane) {
	x := &Session{exts: xs, lane: l, seen: seen{stale: true}}
	x.root, _ = workspace.Root(l.Meta().WorkDir, xs.settings.UserHome)
	x.queue.ctx, x.queue.end = context.WithCancel(context.Background())
	id, index := l.ID(), l.Log().Index()
	meta := l.Meta()
	root := x.root
	reason := "startup"
	if index.Leaf() != "" {
		reason = "resume"
	}
	mode := "rpc"
	switch {
	case xs.settings.Serving || xs.settings.Terminal:
		mode = "tui"
	case xs.settings.Unattended:
		mode = "print"
	}
	x.set = extension.New(extension.Config{Host: x, Log: index, Version: xs.settings.Version, Reason: reason,
		Session:  rpc.Session{ID: id, Cwd: meta.WorkDir, ProjectRoot: root, File: filepath.Join(xs.settings.StoreDir, "sessions", string(id)+".jsonl"), Mode: mode},
		Find:     func(ctx context.Context) extension.Found { return xs.Find(ctx, root) },
		Settings: func() func(extension.Extension) json.RawMessage { return xs.settingsIn(root) },
		Cache:    filepath.Join(xs.settings.Dir, "cache", "extensions"), Record: registry.RunDir(xs.settings.StoreDir, id),
		Environ: func() ([]string, error) {
			cfg, err := xs.settings.Load(root)
			if err != nil { // it would not be known which variables hold keys
				return nil, err
			}
			x.keys.Set(xs.settings.KeyValues(cfg))
			return xs.settings.ChildEnviron(cfg), nil
		},
		Spare: xs.takeSpare,
		Ready: x.ready, Model: x.modelNamed, Resources: x.discovered,
		Clean: x.keys.Clean,
		Frame: func(e extension.Extension, f rpc.Frame) {
			l.Components().Draw(e.ID, f.ID, component.Frame{Rev: f.Rev, Width: f.Width, Lines: f.Lines, Cursor: f.Cursor})
		},
		Fault:  func(p *fault.Panic) { x.lane.Panicked(p) },
		Report: func(what string, detail []byte) { xs.log.Report(id, what, detail) }})
	xs.mu.Lock()
	defer xs.mu.Unlock()
	xs.open[id] = x
}

// Of returns the extensions of an open session, nil for another.
func (xs *Extensions) Of(id protocol.SessionID) *Session {
	xs.mu.Lock()
	defer xs.mu.Unlock()
	return xs.open[id]
}

// Close ends the extensions of a session that is being closed.
func (xs *Extensions) Close(id protocol.SessionID) {
	if x := xs.remove(id); x != nil {
		x.close()
	}
}

func (xs *Extensions) remove(id protocol.SessionID) *Session {
	xs.mu.Lock()
	defer xs.mu.Unlock()
	x := xs.open[id]
	delete(xs.open, id)
	return x
}

func (x *Session) close() {
	x.set.Close()
	x.mu.Lock()
	x.queue.end() // nothing is begun any more
	if x.unwatch != nil {
		x.unwatch()
	}
	x.mu.Unlock()
	x.queue.wg.Wait()
}

// watch takes note of what happens in the session. It does not wait.
func (x *Session) watch(e protocol.Event) {
	x.seen.mu.Lock()
	defer x.seen.mu.Unlock()
	_, compact := e.Body.(*protocol.Compact)
	if _, moves := e.Leaf(); moves || compact {
		x.seen.stale = true
	}
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok {
		return
	}
	switch u := b.Message.Usage; {
	case b.Message.IsFailure():
	case b.Message.Role == protocol.RoleAssistant && u != nil:
		x.seen.tokens, x.seen.stale = u.ContextTokens(), false
	case b.Message.Role == protocol.RoleUser && e.ClientID != protocol.HostClient:
		x.seen.own = 0
	}
}

// PutBlob implements [extension.Host].
func (x *Session) PutBlob(ctx context.Context, data []byte) (string, error) {
	sha, _, err := x.exts.blobs.Put(ctx, bytes.NewReader(data))
	return sha, err
}

// HasBlob implements [extension.Host].
func (x *Session) HasBlob(sha string) bool { return protocol.IsPayload(sha) && x.exts.blobs.Has(sha) }

// Subscribers returns the hooks of extensions outside of turns.
func (xs *Extensions) Subscribers(id protocol.SessionID) []hook.Subscriber {
	if x := xs.Of(id); x != nil {
		return x.set.Subscribers()
	}
	return nil
}
