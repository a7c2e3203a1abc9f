package host_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// mark gives what the file says that marks a session's queue, "" without one.
func (w *world) mark(id protocol.SessionID) string {
	data, err := os.ReadFile(filepath.Join(w.home, ".scorel", "pending", string(id)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// untilUser takes updates until a user message of that text is stored.
func (e *entry) untilUser(text string) {
	e.w.t.Helper()
	for !slices.Contains(e.users(), text) {
		e.next()
	}
}

func (r *reports) said(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.list, func(s string) bool { return strings.Contains(s, what) })
}

// hanging is a model that answers "run" with a command that waits, "hang 1" with
// nothing, and everything else.
func hanging() []string {
	return []string{wait, `{"if":{"user":"hang [0-9]$"},"again":true,"do":[{"hang":true}]}`, `{"again":true,"do":[{"text":"ok"}]}`}
}

func serving() setting {
	return setting{serving: true, overrides: host.Overrides{Allow: []string{"Bash"}}}
}

func (e *entry) followUp(texts ...string) {
	e.w.t.Helper()
	for _, s := range texts {
		call[*protocol.Sent](e.w.t, e.c, e.id, &protocol.FollowUp{Content: text(s)})
	}
}

func TestAServingHostGoesOnWithAQueueAfterOneKillAndNotAfterTwo(t *testing.T) {
	w := newWorld(t, serving(), hanging()...)
	e, _ := w.busy()
	if got := w.mark(e.id); got != "" {
		t.Errorf("a mark without a queue: %s", got)
	}
	e.followUp("hang 1", "hang 2", "hang 3", "last")
	if got := w.mark(e.id); got != `{"uncleanStarts":0,"clean":false,"served":true}` {
		t.Errorf("the mark of a queue: %q", got)
	}

	first := w.killed()
	a := first.open(first.connect(false), e.id)
	a.untilUser("hang 1")
	if got := first.mark(e.id); got != `{"uncleanStarts":1,"clean":false,"served":true}` {
		t.Errorf("the mark after a kill: %q", got)
	}

	second := first.killed()
	b := second.open(second.connect(false), e.id)
	for !b.queue(protocol.QueueFollowUp).Paused {
		b.next()
	}
	if got := b.users(); slices.Contains(got, "hang 2") {
		t.Errorf("it went on after two kills: %q", got)
	}
	if !w.reports.said("the host was killed 2 times while they waited") {
		t.Errorf("nobody says why the queue is paused: %q", w.reports.list)
	}

	// What a person lets go on goes on, and over a clean stop by itself.
	call[*protocol.Done](t, b.c, b.id, &protocol.ResumeQueue{})
	b.untilUser("hang 2")
	second.restart()
	c := second.open(second.connect(false), e.id)
	c.untilUser("hang 3")
	if got := second.mark(e.id); got != `{"uncleanStarts":0,"clean":false,"served":true}` {
		t.Errorf("the mark after a clean stop: %q", got)
	}
	second.restart()
	d := second.open(second.connect(false), e.id)
	d.untilUser("last")
	for d.s.Live.Running || len(d.s.Live.Queues) > 0 {
		d.next()
	}
	if got := d.users(); !slices.Equal(got, []string{"run", "hang 1", "hang 2", "hang 3", "last"}) {
		t.Errorf("messages: %q", got)
	}
	second.restart() // the mark goes with the turn, or with the session at the latest
	if got := second.mark(e.id); got != "" {
		t.Errorf("the mark is left: %s", got)
	}
}

func TestACleanStopIsRecordedBesideTheQueue(t *testing.T) {
	w := newWorld(t, serving(), hanging()...)
	e, _ := w.busy()
	e.followUp("follow")
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.mark(e.id); got != `{"uncleanStarts":0,"clean":true,"served":true}` {
		t.Errorf("the mark: %q", got)
	}
}

func TestWhatACommandQueuedForItselfWaitsForAPerson(t *testing.T) {
	for _, how := range []string{"killed", "ended"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t, allowed(), hanging()...)
			e, _ := w.busy()
			e.followUp("follow")
			if got := w.mark(e.id); got != `{"uncleanStarts":0,"clean":false,"served":false}` {
				t.Errorf("the mark: %q", got)
			}
			after := w
			w.config.Serving, w.config.Unattended = true, false
			if how == "killed" {
				after = w.killed()
			} else {
				w.restart()
			}
			a := after.open(after.connect(false), e.id)
			for !a.queue(protocol.QueueFollowUp).Paused {
				a.next()
			}
			if !w.reports.said("a command with settings of its own") {
				t.Errorf("nobody says why: %q", w.reports.list)
			}
			if got := a.users(); len(got) != 1 {
				t.Errorf("messages: %q", got)
			}
		})
	}
}

func TestAMarkThatIsWrongHarmsNothing(t *testing.T) {
	w := newWorld(t, serving(), hanging()...)
	e, _ := w.busy()
	e.followUp("follow")
	none := w.begin(false)
	dir := filepath.Join(w.home, ".scorel", "pending")
	gone := protocol.SessionID("ses_00000000000000000000000001")
	for name, data := range map[string]string{
		string(e.id):                  `{"uncleanSta`,
		string(none.id):               `{"served":true,"clean":true}`,
		string(gone):                  `{"served":true,"clean":true}`,
		"notes.txt":                   "mine",
		"ses_x" + disk.TempMark + "1": "half",
	} {
		w.write(filepath.Join(dir, name), data)
	}
	after := w.killed()
	a := after.open(after.connect(false), e.id)
	for !a.queue(protocol.QueueFollowUp).Paused { // nothing is known of it
		a.next()
	}
	if err := after.host.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(after.home, ".scorel", "pending"))
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"notes.txt", string(e.id)}; !slices.Equal(left, want) {
		t.Errorf("left: %q, want %q", left, want)
	}
}

func TestAQueueThatCannotGoOnIsPausedAndSaysWhy(t *testing.T) {
	w := newWorld(t, serving(), hanging()...)
	e, _ := w.busy()
	e.followUp("follow")
	w.config.Environ = append(slices.Clone(w.config.Environ), "MOCK_KEY=")
	w.write(filepath.Join(w.home, ".scorel", "config.toml"), "[model]\nname = \"nobody/none\"\n")
	after := w.killed()
	a := after.open(after.connect(false), e.id)
	for !a.queue(protocol.QueueFollowUp).Paused {
		a.next()
	}
	if !w.reports.said("nobody/none") {
		t.Errorf("nobody says why: %q", w.reports.list)
	}
}

func TestOfTenThousandQueuesTheOldestWaitUntilTheyAreOpened(t *testing.T) {
	mem := disktest.NewMem()
	w := newWorld(t, setting{serving: true, fs: mem})
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.home, ".scorel", "pending")
	if err := mem.MkdirAll(dir); err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return filepath.Join(dir, fmt.Sprintf("ses_%026d", i)) }
	for i := range 10_001 { // of sessions that are gone
		mem.Put(name(i), []byte(`{"served":true,"clean":true}`))
	}
	w.start()
	for !w.reports.said("more than 10000 sessions have a queue") || mem.Bytes(name(1)) != nil {
		runtime.Gosched()
	}
	if mem.Bytes(name(0)) == nil {
		t.Error("the mark of the oldest is gone")
	}
}

func TestDeletingASessionRemovesItsMark(t *testing.T) {
	w := newWorld(t, serving(), hanging()...)
	e, turn := w.busy()
	e.followUp("follow")
	call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn})
	e.end()
	id := e.id
	call[*protocol.Done](t, e.c, id, &protocol.CloseSession{})
	if w.mark(id) == "" {
		t.Error("a paused queue has no mark")
	}
	call[*protocol.Deleted](t, e.c, id, &protocol.DeleteSession{})
	if got := w.mark(id); got != "" {
		t.Errorf("the mark is left: %s", got)
	}
}

// dying is a disk whose machine loses its power at the n-th change: nothing of what
// comes then reaches it.
type dying struct {
	*disktest.Mem
	mu   sync.Mutex
	n    int // 0: never
	ops  int
	dead bool
}

var errPower = errors.New("the power is gone")

func (d *dying) alive(op, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ops++; d.ops == d.n {
		d.dead = true
	}
	if d.dead {
		return &fs.PathError{Op: op, Path: name, Err: errPower}
	}
	return nil
}

func (d *dying) died() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

func (d *dying) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	if flag == disk.Create || flag == disk.Exclusive {
		if err := d.alive("open", name); err != nil {
			return nil, err
		}
	}
	f, err := d.Mem.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return &dyingFile{f, d, name}, nil
}

func (d *dying) Rename(from, to string) error {
	if err := d.alive("rename", to); err != nil {
		return err
	}
	return d.Mem.Rename(from, to)
}

func (d *dying) Remove(name string) error {
	if err := d.alive("remove", name); err != nil {
		return err
	}
	return d.Mem.Remove(name)
}

func (d *dying) MkdirAll(name string) error {
	if err := d.alive("mkdir", name); err != nil {
		return err
	}
	return d.Mem.MkdirAll(name)
}

func (d *dying) SyncDir(name string) error {
	if err := d.alive("syncdir", name); err != nil {
		return err
	}
	return d.Mem.SyncDir(name)
}

type dyingFile struct {
	disk.File
	d    *dying
	name string
}

func (f *dyingFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.d.alive("write", f.name); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *dyingFile) Sync() error {
	if err := f.d.alive("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *dyingFile) Truncate(size int64) error {
	if err := f.d.alive("truncate", f.name); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// TestAnItemIsNeitherDoubledNorLostWhereverThePowerGoes cuts the power at each write,
// sync, rename and removal of a turn with queues, and lets the next host go on.
func TestAnItemIsNeitherDoubledNorLostWhereverThePowerGoes(t *testing.T) {
	waited := 0
	for n := 1; ; n++ {
		more, went := powerCut(t, n)
		if went {
			waited++
		}
		if !more || t.Failed() {
			t.Logf("%d places, in %d of which something waited", n-1, waited)
			break
		}
	}
	if waited < 4 { // 8 to 14, by how the writes fall together
		t.Errorf("in %d places only something waited", waited)
	}
}

// powerCut cuts the power at the n-th change behind the creation of the session. It
// says whether there was one, and whether something waited that was acknowledged.
func powerCut(t *testing.T, n int) (more, waited bool) {
	t.Helper()
	d := &dying{Mem: disktest.NewMem()}
	released, asked := make(chan struct{}), make(chan struct{}, 64)
	release := sync.OnceFunc(func() { close(released) })
	defer release()
	s := serving()
	s.fs = d
	s.request = func([]byte) {
		asked <- struct{}{}
		<-released
	}
	w := newWorld(t, s, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	ctx := t.Context()
	for dir := w.home; dir != "/"; dir = filepath.Dir(dir) { // a home is older than that
		if err := d.Mem.SyncDir(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
	}
	d.mu.Lock()
	d.ops, d.n = 0, n
	d.mu.Unlock()

	acked := map[string]bool{} // true: it must be there once; false: at most once
	send := func(what string, r protocol.Request) (*protocol.Sent, bool) {
		sent, err := client.Call[*protocol.Sent](ctx, e.c, e.id, r)
		acked[what] = err == nil
		return sent, err == nil
	}
	steps := func() {
		if _, ok := send("run", &protocol.SendMessage{Content: text("run")}); !ok {
			return
		}
		<-asked
		if _, ok := send("steer", &protocol.Steer{Content: text("steer")}); !ok {
			return
		}
		for _, s := range []string{"one", "two"} {
			if _, ok := send(s, &protocol.FollowUp{Content: text(s)}); !ok {
				return
			}
		}
		q := w.open(w.connect(false), e.id).queue(protocol.QueueFollowUp)
		items := append(slices.Clone(q.Items), protocol.QueueItem{Content: text("three")})
		send("three", &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: items})
	}
	steps()
	release()
	if !d.died() { // the rest of the run
		e.end()
	}
	if !d.died() {
		_ = w.host.Close() // its changes count too
	}
	more = d.died()
	d.mu.Lock()
	d.dead = true
	d.mu.Unlock()
	_ = w.host.Close()

	how := []disktest.Crash{disktest.Drop, disktest.Reorder, disktest.Half512}[n%3]
	d.Crash(how, uint64(n))
	w.config.FS = d.Mem
	pending := filepath.Join(w.home, ".scorel", "pending", string(e.id))
	marked := d.Bytes(pending) != nil
	w.start()
	a := w.open(w.connect(false), e.id)
	for _, q := range a.s.Live.Queues {
		waited = waited || len(q.Items) > 0
		if len(q.Items) > 0 && !marked {
			t.Errorf("change %d (%s): %d items wait without a mark", n, how, len(q.Items))
			return more, waited
		}
	}
	for what, must := range acked {
		if must {
			a.untilUser(what)
		}
	}
	for _, q := range a.s.Live.Queues { // what was not acknowledged may wait too
		for _, it := range q.Items {
			a.untilUser(protocol.Message{Content: it.Content}.PlainText())
		}
	}
	for a.s.Live.Running || len(a.s.Live.Queues) > 0 {
		a.next()
	}
	count := map[string]int{}
	for _, u := range a.users() {
		count[u]++
	}
	for what := range acked {
		if acked[what] && count[what] != 1 || count[what] > 1 {
			t.Errorf("change %d (%s): %q stands there %d times; acknowledged: %v\n%q", n, how, what, count[what], acked[what], a.users())
		}
	}
	if err := w.host.Close(); err != nil {
		t.Error(err)
	}
	if data := d.Bytes(pending); data != nil {
		t.Errorf("change %d (%s): the mark is left: %s", n, how, data)
	}
	return more, waited
}
