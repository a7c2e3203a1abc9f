package extension

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/extension/rpc"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Bounds of what a process writes to stderr.
const (
	maxErrLine = 8 << 10
	maxErrs    = 1 << 20 // bytes of it in the diagnostics
)

// child is a process that runs extensions: the one with JavaScript, which may hold
// several, or a program.
type child struct {
	set     *Set
	kind    Kind
	proc    *sandbox.HelperProcess
	peer    *peer
	page    *rpc.Page // nil for a program
	entries bool      // it wants the conversation
	ended   chan struct{}

	// send is held while something is sent that must follow what the process was told
	// of the conversation.
	send   sync.Mutex
	mirror mirror
	state  []byte

	// Guarded by Set.mu.
	slots   []*member // by the order in which they were loaded
	loading *member
	ready   bool // it has said hello: what ends it before is an error of its start
	ending  bool
	killed  string  // why we killed it
	guilty  *member // who was to blame for its end, nil when that is not known
	said    string  // the last line that it wrote to stderr, quoted
}

// ensure gives the process in which an extension is loaded, and starts and loads what
// that needs. starting is held.
func (s *Set) ensure(ctx context.Context, m *member) (*child, error) {
	for {
		s.mu.Lock()
		c, state, why, apart := m.child, m.State, m.Problem, m.apart || m.Kind == Process
		closed, shared := s.closed, s.shared
		s.mu.Unlock()
		switch {
		case closed:
			return nil, errors.New("the session is being closed")
		case state != protocol.ExtensionFound && state != protocol.ExtensionLoaded:
			return nil, fmt.Errorf("the extension %s does not run: %s", m.ID, why)
		case c != nil:
			return c, nil
		case apart:
			c, err := s.start(ctx, m.Kind, m)
			if err != nil {
				s.fail(m, sentence(err))
				return nil, err
			}
			if err := s.load(ctx, c, m); err != nil {
				return nil, err
			}
			continue
		case shared != nil: // another one was loaded before
			if err := s.load(ctx, shared, m); err != nil {
				return nil, err
			}
			continue
		}
		c, err := s.start(ctx, JavaScript, nil)
		if err != nil {
			s.fail(m, sentence(err))
			return nil, err
		}
		for _, other := range s.all() { // who was in the last one is back in this one
			s.mu.Lock()
			its := other.Kind == JavaScript && !other.apart && other.child == nil && (other == m || other.again) &&
				(other.State == protocol.ExtensionFound || other.State == protocol.ExtensionLoaded)
			s.mu.Unlock()
			if !its {
				continue
			}
			if err := s.load(ctx, c, other); err != nil && other == m {
				return nil, err
			}
		}
	}
}

func sentence(err error) string {
	text := strings.TrimRight(clip(err.Error(), 2000), ". \n")
	var remote *RemoteError
	if errors.As(err, &remote) {
		text += remote.place()
	}
	return text + "."
}

// start starts a process and says hello. of is the one extension that it is for; nil
// for the child that JavaScript extensions share.
func (s *Set) start(ctx context.Context, kind Kind, of *member) (*child, error) {
	c := &child{set: s, kind: kind, ended: make(chan struct{}), mirror: mirror{log: s.cfg.Log}}
	environ, err := s.cfg.Environ()
	if err != nil {
		return nil, err
	}
	proc, err := s.process(c, of, environ)
	if err != nil {
		return nil, err
	}
	c.proc = proc
	name, who := "extensions", "the process of the extensions"
	if of != nil {
		name, who = "extension "+of.ID, "the extension "+of.ID
	}
	report := func(what string, detail []byte) {
		s.cfg.Report(name+": "+what, []byte(s.cfg.Clean(string(detail))))
	}
	c.peer = newPeer(&peer{serve: c.serve, note: c.note, report: report, broken: func(error) { proc.Kill() }, fault: s.cfg.Fault, clean: s.cfg.Clean})
	s.mu.Lock()
	s.children = append(s.children, c)
	if of == nil {
		s.shared = c
	} else {
		c.loading = of
	}
	s.mu.Unlock()
	c.peer.start(proc.Stdin, proc.Stdout)
	stderr := make(chan struct{})
	s.wg.Go(func() { defer close(stderr); c.peer.careful(func() { c.diagnose(report) }) }) // ends with stderr
	gone, watched := make(chan struct{}), make(chan struct{})
	s.wg.Go(func() { defer close(watched); c.peer.careful(func() { c.watch(gone) }) }) // ends with the process
	s.spawn(func() {                                                                   // ends with the process and what it has asked for
		_ = proc.Wait()
		c.peer.wait()
		<-stderr
		_, _ = proc.Stdout.Close(), proc.Stderr.Close() // they are only read
		close(gone)
		<-watched                // it reads the page, which settle unmaps
		c.peer.careful(c.settle) // what is served may wait for this
		c.peer.waitServed()
	})
	ctx, cancel := context.WithTimeout(s.outlive(ctx), loadTime)
	defer cancel()
	defer s.await("The session waits for "+who+", which has been started and does not answer yet.", kind)()
	answer, err := c.peer.call(ctx, rpc.MethodInitialize, rpc.Initialize{Protocol: rpc.Version, Version: s.cfg.Version, Session: s.cfg.Session, State: s.cfg.Host.State(), Builtins: builtinTools()})
	var hello rpc.Initialized
	if err == nil {
		err = json.Unmarshal(answer, &hello)
	}
	if err == nil && hello.Protocol != rpc.Version {
		err = fmt.Errorf("it speaks version %d of the protocol, and this is version %d", hello.Protocol, rpc.Version)
	}
	if err != nil {
		c.kill("it does not answer initialize")
		<-c.ended
		return nil, c.unanswered(err)
	}
	s.mu.Lock()
	c.ready = true
	s.mu.Unlock()
	c.entries = s.cfg.Log != nil && (kind == JavaScript || hello.Entries)
	return c, nil
}

// process returns a process for the child c: that of the extension of, when it is a program,
// or one for JavaScript, which may have been started before anybody needed it.
func (s *Set) process(c *child, of *member, environ []string) (proc *sandbox.HelperProcess, err error) {
	h := sandbox.Helper{Dir: s.cfg.Session.Cwd, Env: environ, Record: s.cfg.Record}
	if c.kind == Process {
		if err := of.check(); err != nil {
			return nil, err
		}
		h.Path, h.Args, h.Dir = of.Argv[0], of.Argv[1:], of.Dir
		if strings.ContainsRune(h.Path, '/') && !filepath.IsAbs(h.Path) {
			h.Path = filepath.Join(of.Dir, h.Path)
		}
		return sandbox.StartHelper(context.Background(), h) // it outlives the request that needed it first
	}
	if of == nil && s.cfg.Spare != nil {
		if proc, c.page = s.cfg.Spare().take(h); proc != nil {
			return proc, nil
		}
	}
	h.Args, h.AddressSpace = s.cfg.child, s.cfg.bounds.address
	proc, c.page, err = startJavaScript(h)
	return proc, err
}

// unanswered says why a process that has ended did not answer initialize.
func (c *child) unanswered(err error) error {
	exit := c.proc.Exit()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("it has not answered initialize within %v", loadTime)
	case errors.Is(err, errNoMessage):
		err = c.peer.reason()
	case errors.Is(err, errGone) && exit.Signal == "":
		err = fmt.Errorf("its process ended with status %d before it answered initialize", exit.Code)
	default:
		err = fmt.Errorf("it does not answer initialize as it should: %w", err)
	}
	c.set.mu.Lock()
	said := c.said
	c.set.mu.Unlock()
	if said != "" {
		err = fmt.Errorf("%w; the last that it wrote to stderr is %s", err, said)
	}
	return err
}

// await tells people whom the session waits for, when it takes long; what it gives ends
// that.
func (s *Set) await(text string, kind Kind) (done func()) {
	after := noticeAfter
	if kind == JavaScript {
		after = bundleNotice
	}
	over := make(chan struct{})
	s.spawn(func() { // ends with done
		t := time.NewTimer(after)
		defer t.Stop()
		select {
		case <-over:
		case <-t.C:
			s.cfg.Host.Notify("warning", text)
		}
	})
	return func() { close(over) }
}

// outlive returns a context with the values of ctx that ends with the set: what one request
// has had started is there for the others too.
func (s *Set) outlive(ctx context.Context) context.Context { return withValues{s.life, ctx} }

// withValues is a context that has the values of another one too.
type withValues struct {
	context.Context
	values context.Context
}

// Value implements [context.Context].
func (w withValues) Value(key any) any {
	if v := w.Context.Value(key); v != nil {
		return v
	}
	return w.values.Value(key)
}

// check makes sure that the files of a project's program are those that were trusted.
func (m *member) check() error {
	if m.Files == nil {
		return nil
	}
	root, err := os.OpenRoot(m.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := filepath.Rel(m.Root, m.Dir)
	if err != nil {
		return err
	}
	for name, sum := range m.Files {
		if !within(filepath.ToSlash(dir), name) {
			continue
		}
		if got, err := hashFile(root, name); err != nil || got != sum {
			return fmt.Errorf("%s is not the file that was trusted; look at it with scorel trust", filepath.Join(m.Root, name))
		}
	}
	return nil
}

// ask sends a call after what the process must know of the conversation, and waits.
// params is called while nothing else is sent.
func (c *child) ask(ctx context.Context, method string, params func() (any, error)) (json.RawMessage, error) {
	a, err := c.begin(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return a.wait(ctx)
}

// begin is ask for a caller that waits later.
func (c *child) begin(ctx context.Context, method string, params func() (any, error)) (*asked, error) {
	c.send.Lock()
	defer c.send.Unlock()
	news, err := c.news(ctx)
	if err != nil && method != rpc.MethodUnload { // it is to end also where its log cannot be read
		return nil, err
	}
	p, err := params()
	if err != nil {
		c.forget(news)
		return nil, err
	}
	a, err := c.peer.ask(ctx, method, p, news...)
	if err != nil {
		c.forget(news)
	}
	return a, err
}

// tell sends an event after what the process must know of the conversation. It waits
// for room; what streams is left out where there is none.
func (c *child) tell(ctx context.Context, note rpc.EventNote, streams bool) error {
	line, err := notification(rpc.NoteEvent, note)
	if err != nil {
		return err
	}
	c.send.Lock()
	defer c.send.Unlock()
	if streams && c.peer.drops(line) {
		return nil
	}
	if streams && c.upToDate() {
		return c.peer.put(ctx, line)
	}
	news, err := c.news(ctx)
	if err != nil {
		return err
	}
	if err := c.peer.put(ctx, append(news, line)...); err != nil {
		c.forget(news)
		return err
	}
	return nil
}

// news returns the notifications that bring what the process knows up to now. send is
// held.
func (c *child) news(ctx context.Context) (lines [][]byte, err error) {
	if c.entries {
		entries, changed, err := c.mirror.sync(ctx)
		if err != nil {
			return nil, err
		}
		if changed {
			line, err := notification(rpc.NoteEntries, entries)
			if err != nil {
				c.mirror.reset()
				return nil, fmt.Errorf("the conversation is too long for extensions: %w", err)
			}
			lines = append(lines, line)
		}
	}
	state, err := json.Marshal(c.set.cfg.Host.State())
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(state, c.state) {
		line, err := notification(rpc.NoteState, json.RawMessage(state))
		if err != nil {
			return nil, err
		}
		c.state = state
		lines = append(lines, line)
	}
	return lines, nil
}

// upToDate reports whether the process knows the whole conversation. send is held.
func (c *child) upToDate() bool { return !c.entries || c.mirror.whole() }

// forget notes that the process was not told the news. send is held.
func (c *child) forget(news [][]byte) {
	if len(news) > 0 {
		c.mirror.reset()
		c.state = nil
	}
}

// diagnose puts what the process writes to stderr into the diagnostics.
func (c *child) diagnose(report func(string, []byte)) {
	r := bufio.NewReaderSize(c.proc.Stderr, maxErrLine)
	kept := 0
	for {
		line, err := r.ReadSlice('\n')
		if n := len(bytes.TrimSpace(line)); n > 0 && kept < maxErrs {
			c.set.mu.Lock()
			c.said = fmt.Sprintf("%.300q", c.set.cfg.Clean(string(bytes.TrimSpace(line))))
			c.set.mu.Unlock()
			if kept += n; kept < maxErrs {
				report("stderr", bytes.Clone(bytes.TrimRight(line, "\r\n")))
			} else {
				report("it writes more to stderr than is kept", nil)
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			_, _ = io.Copy(io.Discard, c.proc.Stderr)
			return
		}
	}
}

// watch kills a process that is stuck or too large, until it is gone.
func (c *child) watch(gone <-chan struct{}) {
	t := time.NewTicker(c.set.cfg.bounds.watch)
	defer t.Stop()
	for {
		select {
		case <-gone:
			return
		case <-t.C:
		}
		for _, i := range c.page.Running() {
			if c.page.Since(i) >= c.set.cfg.bounds.busy {
				c.kill(fmt.Sprintf("it ran for %v without a pause", c.set.cfg.bounds.busy))
			}
		}
		if c.proc.Memory() > c.set.cfg.bounds.memory {
			c.kill(fmt.Sprintf("it used more than %d MiB of memory", c.set.cfg.bounds.memory>>20))
		}
	}
}

// kill kills the process; why is told to people.
func (c *child) kill(why string) {
	c.set.mu.Lock()
	if c.killed == "" {
		c.killed = why
	}
	c.set.mu.Unlock()
	c.proc.Kill()
}

// shutdown ends the process in good order, within unloadTime and a second.
func (c *child) shutdown(ctx context.Context, reason string) {
	s := c.set
	s.mu.Lock()
	c.ending = true
	slots := slices.Clone(c.slots)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unloadTime)
	defer cancel()
	var wg fault.Group
	for _, m := range slots {
		s.mu.Lock()
		loaded, told := m.child == c, m.wants("session_end") && m.registered.API == "scorel"
		s.mu.Unlock()
		if !loaded {
			continue
		}
		if told {
			data, _ := json.Marshal(map[string]string{"type": "session_end", "sessionId": string(s.cfg.Session.ID), "reason": reason})
			_ = c.tell(ctx, rpc.EventNote{Ext: m.ID, Type: "session_end", Event: data}, false) // else it ends without
		}
		wg.Go(func() { // ends with the answer, or ctx
			unload := func() (any, error) { return rpc.Unload{Ext: m.ID, Reason: reason}, nil }
			if _, err := c.ask(ctx, rpc.MethodUnload, unload); err != nil {
				s.cfg.Report("extension "+m.ID+" does not end well: "+err.Error(), nil)
			}
		})
	}
	wg.Wait()
	_, _ = c.peer.call(ctx, rpc.MethodShutdown, struct{}{})
	c.peer.close(errors.New("it was ended"))
	select {
	case <-c.ended:
	case <-time.After(time.Second):
	}
	c.proc.Kill()
	<-c.ended
}

// settle draws the consequences of the end of a process: who was to blame is kept apart
// from now on, and after maxKills left out; the others are loaded again when they are
// needed.
func (c *child) settle() {
	s := c.set
	s.mu.Lock()
	s.children = slices.DeleteFunc(s.children, func(o *child) bool { return o == c })
	if s.shared == c {
		s.shared = nil
	}
	for _, m := range c.slots {
		if m.child == c {
			m.child = nil
		}
	}
	var notices []string
	if c.ready && !c.ending && !s.closed {
		why := c.killed
		switch exit := c.proc.Exit(); {
		case why != "":
		case c.page.Reason() == rpc.PageMemory:
			why = "it used too much memory"
		case exit.Signal != "":
			why = "its process was ended by " + exit.Signal
		default:
			why = fmt.Sprintf("its process ended with status %d", exit.Code)
			if c.kind == Process && c.said != "" {
				why += ", and the last that it wrote to stderr is " + c.said
			}
		}
		notices = s.blame(c, why)
	}
	s.mu.Unlock()
	c.page.Close()
	for _, n := range notices {
		s.cfg.Host.Notify("error", n)
	}
	close(c.ended)
}

// culprits returns the extensions whose interpreters ran when a process ended, or that
// were being loaded; else the one that was alone in it. mu is held.
func (c *child) culprits() []*member {
	var out []*member
	for _, i := range c.page.Running() {
		if i < len(c.slots) {
			out = append(out, c.slots[i])
		}
	}
	if c.loading != nil && slices.Contains(out, c.loading) { // those after it run no code of their own yet
		out = slices.DeleteFunc(out, func(m *member) bool { return m.loading && m != c.loading })
	}
	switch {
	case len(out) > 0:
	case c.loading != nil:
		out = append(out, c.loading)
	case len(c.slots) == 1:
		out = append(out, c.slots[0])
	}
	return out
}

// blame counts against the one who ended a process, and keeps apart who may have. mu
// is held.
func (s *Set) blame(c *child, why string) (notices []string) {
	who := c.culprits()
	if len(who) != 1 {
		if len(who) == 0 {
			who = c.slots
		}
		var ids []string
		for _, m := range who {
			m.apart = true
			ids = append(ids, m.ID)
		}
		return []string{fmt.Sprintf("The process of the extensions %s has ended: %s. Each is started again in a process of its own.", strings.Join(ids, ", "), why)}
	}
	m := who[0]
	c.guilty = m
	m.kills++
	m.apart, m.again = true, true
	text := fmt.Sprintf("The extension %s was ended: %s.", m.ID, why)
	if m.kills < maxKills {
		return []string{text + " It is started again when it is needed."}
	}
	m.State = protocol.ExtensionStopped
	m.Problem = fmt.Sprintf("It was ended %d times, at last because %s. It is off until /reload.", m.kills, why)
	return []string{text + fmt.Sprintf(" That was the time number %d: it is off for this session, until /reload.", m.kills)}
}

// blames waits until the consequences of the end of a process are drawn, and says
// whether the extension was to blame for it; when ctx ends first, it counts as such.
func (c *child) blames(ctx context.Context, m *member) bool {
	select {
	case <-c.ended:
	case <-ctx.Done():
		return true
	}
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	return c.guilty == m
}
