package background

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/progress"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Bounds of one session.
const (
	maxRunning    = 16
	maxRemembered = 64 // running and ended ones

	changedEvery = time.Second // between two times that people are told what a command prints
)

// Config is what a [Set] needs.
type Config struct {
	Now  func() time.Time
	Rand io.Reader // for ids
	// Ended is told that a command has ended, when nothing of it runs any more; it
	// may be nil. It may close the set.
	Ended func()
	// Processes follows the commands, and Tell is told what people are to see of
	// that: how each began and ended. Without Processes nobody is told.
	Processes *progress.Recorder
	Tell      func(protocol.ToolProcess)
	// Keep keeps what a command prints for who comes after a kill of the program; it may
	// be nil, and give nil.
	Keep func(id, call, command string, started time.Time) Keeper
	// Changed is told the state of a command when it begins and has ended, and within a
	// second of what it prints; of one command at a time, and nothing older after what
	// is newer. No lock is held; it may be nil.
	Changed func(protocol.TaskInfo)
	// Life ends what runs, without anybody being told of it: the session is given up.
	// nil never ends.
	Life context.Context
	// Panicked is told what a panic of a goroutine of the set was, which has ended that;
	// nil lets it end the program.
	Panicked func(recovered any)
}

// rescue is deferred at the root of a goroutine.
func (c *Config) rescue() {
	if c.Panicked == nil {
		return
	}
	if r := recover(); r != nil {
		c.Panicked(r)
	}
}

// Keeper keeps what one command prints. Writing never fails and never waits.
type Keeper interface {
	io.Writer
	// Finish is told how the command has ended, before anybody else is, and returns when that
	// is durable.
	Finish(End)
	End()   // the end of the command is stored elsewhere
	Leave() // it is not
}

// Kept is the keeper of a command, and the call that started that.
type Kept struct {
	Keeper Keeper
	Call   string
}

// Kept returns the keepers of the commands, by their ids.
func (s *Set) Kept() map[string]Kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := map[string]Kept{}
	for _, t := range s.tasks {
		t.mu.Lock()
		if t.keeper != nil {
			kept[t.id] = Kept{t.keeper, t.call}
		}
		t.mu.Unlock()
	}
	return kept
}

// Set is the background commands of one session.
type Set struct {
	cfg Config
	wg  sync.WaitGroup // the goroutines of the tasks

	mu     sync.Mutex
	tasks  []*task // oldest first
	budget budget
	closed bool
}

// New makes a set without commands.
func New(cfg Config) *Set {
	if cfg.Life == nil {
		cfg.Life = context.Background()
	}
	return &Set{cfg: cfg}
}

// Spec is a command to start.
type Spec struct {
	Command string // as people and models see it
	CallID  string // the call that starts it
	Tool    string // the tool of that call
	// Limit is how long it may run; 0: until somebody ends it.
	Limit time.Duration
	// Cmd is what is started; the set gives it its output.
	Cmd sandbox.Cmd
	// Run is what runs instead of Cmd: a sub-agent, of the session and the name that
	// follow. It writes its answer to out, tells people through tell how it goes on,
	// returns soon when ctx ends, and gives 0 as the code of success. Usage gives what
	// it used, when it has ended, and Tokens how many its models have answered so far; that
	// one is called under a lock of the set, and calls nothing of it.
	Run     func(ctx context.Context, out io.Writer, tell func(protocol.ProcessUpdate)) sandbox.Exit
	Session protocol.SessionID
	Agent   string
	Usage   func() *protocol.Usage
	Tokens  func() int
	// Watch is the pattern of a monitor that is set before the command begins, so that it
	// sees the first line too; nil: none. Description is what its lines mean.
	Watch       *regexp.Regexp
	Description string
	// After is asked once when nothing of the command runs any more; what it says
	// is told with the end. It may be nil.
	After func() string
}

// Start starts a command and returns its id. It runs until it ends by itself, is
// stopped, reaches its limit, or the set is closed. At 16 running commands no
// further one is started; of 64 remembered ones the oldest that has ended goes,
// once a model has been told of its end.
func (s *Set) Start(spawn sandbox.Spawner, spec Spec) (id string, err error) {
	ctx, cancel := context.WithCancelCause(s.cfg.Life)
	stop := func() { cancel(nil) }
	if spec.Limit > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, spec.Limit)
		stop = func() { end(); cancel(nil) }
	}
	t := &task{origin: origin{command: spec.Command, call: spec.CallID, tool: spec.Tool, session: spec.Session, agent: spec.Agent, usage: spec.Usage, tokens: spec.Tokens, limit: spec.Limit},
		cancel: cancel, done: make(chan struct{}), order: make(chan struct{}, 1), outcome: outcome{state: protocol.TaskRunning}}
	if spec.Watch != nil {
		t.monitors = []*monitor{{pattern: spec.Watch, description: spec.Description}}
	}
	if err := s.enter(t); err != nil {
		stop()
		return "", err
	}
	wait := func() sandbox.Exit {
		return spec.Run(ctx, t, func(u protocol.ProcessUpdate) {
			t.process.Update(u)
			s.tell(t)
			t.mu.Lock()
			t.tellSoon()
			t.mu.Unlock()
		})
	}
	if spec.Run == nil {
		spec.Cmd.Stdout, spec.Cmd.Stderr = t, t
		t.keep(s.cfg.Keep)
		child, err := spawn.Start(ctx, spec.Cmd)
		if err != nil {
			stop()
			if t.keeper != nil {
				t.keeper.End()
			}
			s.forget(t)
			return "", err
		}
		wait = child.Wait
	}
	t.begin(s.cfg.Processes, s.cfg.rescue)
	s.tell(t)
	s.changed(t)
	t.process.Detach()
	go func() { // ends with the child, at the latest by Close
		defer s.cfg.rescue()
		over, done := sync.OnceFunc(s.wg.Done), sync.OnceFunc(func() { close(t.done) })
		defer over() // also when it panics: nobody is to wait for it
		defer done()
		defer t.unfollow()
		exit := wait()
		after := ""
		if spec.After != nil {
			after = spec.After()
		}
		t.finish(exit, context.Cause(ctx), s.cfg.Now(), after)
		t.keepEnd()
		s.tell(t)
		if t.unwatch() {
			s.wg.Done()
		}
		s.changed(t)
		done()
		stop()
		over()
		if s.cfg.Ended != nil {
			s.cfg.Ended()
		}
	}()
	return t.id, nil
}

// enter makes room for a task and gives it its id.
func (s *Set) enter(t *task) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the session is being closed, so nothing is started")
	}
	if n := s.running(); n >= maxRunning {
		return fmt.Errorf("%d background commands run already, and a session can have no more; stop one with TaskStop", n)
	}
	if len(s.tasks) >= maxRemembered {
		i := slices.IndexFunc(s.tasks, func(t *task) bool {
			t.mu.Lock()
			defer t.mu.Unlock()
			return t.state != protocol.TaskRunning && t.told
		})
		if i < 0 {
			return fmt.Errorf("%d background commands are remembered whose ends have not been told; start this one in the next step", len(s.tasks))
		}
		if old := s.tasks[i]; old.keeper != nil { // its end is long stored
			old.keeper.End()
		}
		s.tasks = slices.Delete(s.tasks, i, i+1)
	}
	for t.id == "" || s.named(t.id) != nil {
		t.id = newID(s.cfg.Rand)
	}
	t.started, t.follow.tell = s.cfg.Now(), s.cfg.Tell
	if s.cfg.Changed != nil {
		t.printed = func() *time.Timer {
			s.wg.Add(1) // that of the task itself is held until it has ended
			return time.AfterFunc(changedEvery, func() {
				defer s.cfg.rescue()
				defer s.wg.Done()
				t.mu.Lock()
				t.telling = nil
				t.mu.Unlock()
				s.changed(t)
			})
		}
	}
	s.tasks = append(s.tasks, t)
	s.wg.Add(1)
	return nil
}

// changed tells the state of a command.
func (s *Set) changed(t *task) {
	if s.cfg.Changed == nil {
		return
	}
	t.order <- struct{}{}
	defer func() { <-t.order }()
	t.mu.Lock()
	info := t.info()
	t.mu.Unlock()
	s.cfg.Changed(info)
}

// forget takes back a task that was not started.
func (s *Set) forget(t *task) {
	s.mu.Lock()
	s.tasks = slices.DeleteFunc(s.tasks, func(other *task) bool { return other == t })
	s.mu.Unlock()
	close(t.done)
	s.wg.Done()
}

// newID draws "task_" and 8 characters, 40 random bits: unique in a session for
// as long as it is remembered, and short enough to be repeated by a model.
func newID(rand io.Reader) string {
	raw := make([]byte, 5)
	if _, err := io.ReadFull(rand, raw); err != nil {
		panic("task: the random source failed: " + err.Error()) // crypto/rand never does
	}
	return "task_" + strings.ToLower(base32.HexEncoding.EncodeToString(raw))
}

// running counts the commands that run. mu is held.
func (s *Set) running() int {
	n := 0
	for _, t := range s.tasks {
		t.mu.Lock()
		if t.state == protocol.TaskRunning {
			n++
		}
		t.mu.Unlock()
	}
	return n
}

// Running counts the commands that run.
func (s *Set) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running()
}

// named returns the task of an id, nil without one. mu is held.
func (s *Set) named(id string) *task {
	for _, t := range s.tasks {
		if t.id == id {
			return t
		}
	}
	return nil
}

// ErrUnknown reports that there is no such command.
var ErrUnknown = errors.New("no such background command")

// find returns the task of an id, or an error for the model that wraps
// [ErrUnknown].
func (s *Set) find(id string) (*task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.named(id); t != nil {
		return t, nil
	}
	known := "none is known now"
	if len(s.tasks) > 0 {
		var ids []string
		for _, t := range s.tasks[max(0, len(s.tasks)-maxRunning):] {
			ids = append(ids, t.id)
		}
		known = "known are " + strings.Join(ids, ", ")
	}
	return nil, fmt.Errorf("%w %q: a command of an earlier run of Scorel ended with the host, and only the newest %d are remembered; %s",
		ErrUnknown, shorten(id, 40), maxRemembered, known)
}

// List describes the commands that are remembered, oldest first.
func (s *Set) List() []protocol.TaskInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]protocol.TaskInfo, len(s.tasks))
	for i, t := range s.tasks {
		t.mu.Lock()
		list[i] = t.info()
		t.mu.Unlock()
	}
	return list
}

// Stop ends a command: TERM to its group, KILL after 5 s. It returns when the
// command has ended, or with the error of ctx. A command that had ended before is
// left as it is, and already says so. Teller says who reads the answer: when it
// is the model, no notice follows.
func (s *Set) Stop(ctx context.Context, id string, teller Teller) (Stopped, error) {
	t, err := s.find(id)
	if err != nil {
		return Stopped{}, err
	}
	t.mu.Lock()
	already := t.state != protocol.TaskRunning
	t.mu.Unlock()
	if !already {
		t.cancel(errStopped)
	}
	select {
	case <-t.done:
	case <-ctx.Done():
		return Stopped{}, ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if teller == ToModel {
		t.told = true
	}
	return Stopped{Info: t.info(), How: t.how(), Already: already, Process: t.summary}, nil
}

// Stopped is a command that has ended. How is its end in words; Already says that it
// had ended before.
type Stopped struct {
	Info    protocol.TaskInfo
	How     string
	Already bool
	Process *protocol.ProcessSummary // for people
}

// Teller returns who is told what a call gives.
type Teller bool

// Who may be told.
const (
	ToPerson Teller = false
	ToModel  Teller = true
)

// Take returns what a model is to be told and has not been: lines that monitors
// found, and each end once. What is taken counts as told; [Set.GiveBack] takes
// that back.
func (s *Set) Take() []Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Notice
	now := s.cfg.Now()
	for _, t := range s.tasks {
		t.mu.Lock()
		for _, m := range slices.Clone(t.monitors) {
			if n, ok := t.matched(m, &s.budget, now); ok {
				out = append(out, n)
			}
		}
		if t.state != protocol.TaskRunning && !t.told {
			t.told = true
			out = append(out, t.endNotice())
		}
		t.mu.Unlock()
	}
	return out
}

// Waits reports whether something waits for [Set.Take] that somebody may want to be told of
// at once: the end of a sub-agent, and with all also that of a command and lines that monitors
// found. Ends that somebody has asked for are none of it.
func (s *Set) Waits(all bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tasks {
		t.mu.Lock()
		ended := t.state != protocol.TaskRunning && t.state != protocol.TaskStopped && !t.told && (all || t.session != "")
		found := all && slices.ContainsFunc(t.monitors, func(m *monitor) bool { return m.found() > 0 })
		t.mu.Unlock()
		if ended || found {
			return true
		}
	}
	return false
}

// GiveBack takes notices back that were not told after all: they come with the next
// Take.
func (s *Set) GiveBack(notices []Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range notices {
		if n.undo != nil {
			n.task.mu.Lock()
			n.undo()
			n.task.mu.Unlock()
		}
	}
}

// Told returns the commands whose ends were told, by their ids, with the calls that
// started them; it is the caller's.
func (s *Set) Told() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := map[string]string{}
	for _, t := range s.tasks {
		t.mu.Lock()
		if t.told {
			calls[t.id] = t.call
		}
		t.mu.Unlock()
	}
	return calls
}

// Untell has the end of a command told once more.
func (s *Set) Untell(id string) {
	if t, err := s.find(id); err == nil {
		t.mu.Lock()
		t.told = false
		t.mu.Unlock()
	}
}

// Close ends every command with its process group, waits for that, and lets no
// further one start. The ends can still be taken. It may be called more than
// once.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	for _, t := range s.tasks {
		t.cancel(ErrClosed)
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// Wait waits for what runs. Nothing must begin any more.
func (s *Set) Wait() { s.wg.Wait() }
