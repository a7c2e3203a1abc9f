package registry_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// hanging is a model that answers "run" with a command that waits, "hang 1" with
// nothing, and everything else.
func hanging() []string {
	return []string{hosttest.Wait, `{"if":{"user":"hang [0-9]$"},"again":true,"do":[{"hang":true}]}`, `{"again":true,"do":[{"text":"ok"}]}`}
}

func serving() hosttest.Setting {
	return hosttest.Setting{Serving: true, Overrides: host.Overrides{Allow: []string{"Bash"}}}
}

func TestAServingHostGoesOnWithAQueueAfterOneKillAndNotAfterTwo(t *testing.T) {
	w := hosttest.New(t, serving(), hanging()...)
	e, _ := w.Busy()
	if got := w.Mark(e.ID); got != "" {
		t.Errorf("a mark without a queue: %s", got)
	}
	e.FollowUp("hang 1", "hang 2", "hang 3", "last")
	if got := w.Mark(e.ID); got != `{"uncleanStarts":0,"clean":false,"served":true}` {
		t.Errorf("the mark of a queue: %q", got)
	}

	first := w.Killed()
	a := first.Open(first.Connect(false), e.ID)
	a.UntilUser("hang 1")
	if got := first.Mark(e.ID); got != `{"uncleanStarts":1,"clean":false,"served":true}` {
		t.Errorf("the mark after a kill: %q", got)
	}

	second := first.Killed()
	b := second.Open(second.Connect(false), e.ID)
	for !b.Queue(protocol.QueueFollowUp).Paused {
		b.Next()
	}
	if got := b.Users(); slices.Contains(got, "hang 2") {
		t.Errorf("it went on after two kills: %q", got)
	}
	if !w.Reports.Said("the host was killed 2 times while they waited") {
		t.Errorf("nobody says why the queue is paused: %q", w.Reports.List)
	}

	// What a person lets go on goes on, and over a clean stop by itself.
	hosttest.Call[*protocol.Done](t, b.C, b.ID, &protocol.ResumeQueue{})
	b.UntilUser("hang 2")
	second.Restart()
	c := second.Open(second.Connect(false), e.ID)
	c.UntilUser("hang 3")
	if got := second.Mark(e.ID); got != `{"uncleanStarts":0,"clean":false,"served":true}` {
		t.Errorf("the mark after a clean stop: %q", got)
	}
	second.Restart()
	d := second.Open(second.Connect(false), e.ID)
	d.UntilUser("last")
	for d.S.Live.Running || len(d.S.Live.Queues) > 0 {
		d.Next()
	}
	if got := d.Users(); !slices.Equal(got, []string{"run", "hang 1", "hang 2", "hang 3", "last"}) {
		t.Errorf("messages: %q", got)
	}
	second.Restart() // the mark goes with the turn, or with the session at the latest
	if got := second.Mark(e.ID); got != "" {
		t.Errorf("the mark is left: %s", got)
	}
}

func TestACleanStopIsRecordedBesideTheQueue(t *testing.T) {
	w := hosttest.New(t, serving(), hanging()...)
	e, _ := w.Busy()
	e.FollowUp("follow")
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.Mark(e.ID); got != `{"uncleanStarts":0,"clean":true,"served":true}` {
		t.Errorf("the mark: %q", got)
	}
}

func TestWhatACommandQueuedForItselfWaitsForAPerson(t *testing.T) {
	for _, how := range []string{"killed", "ended"} {
		t.Run(how, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Allowed(), hanging()...)
			e, _ := w.Busy()
			e.FollowUp("follow")
			if got := w.Mark(e.ID); got != `{"uncleanStarts":0,"clean":false,"served":false}` {
				t.Errorf("the mark: %q", got)
			}
			after := w
			w.Config.Serving, w.Config.Unattended = true, false
			if how == "killed" {
				after = w.Killed()
			} else {
				w.Restart()
			}
			a := after.Open(after.Connect(false), e.ID)
			for !a.Queue(protocol.QueueFollowUp).Paused {
				a.Next()
			}
			if !w.Reports.Said("a command with settings of its own") {
				t.Errorf("nobody says why: %q", w.Reports.List)
			}
			if got := a.Users(); len(got) != 1 {
				t.Errorf("messages: %q", got)
			}
		})
	}
}

func TestAMarkThatIsWrongHarmsNothing(t *testing.T) {
	w := hosttest.New(t, serving(), hanging()...)
	e, _ := w.Busy()
	e.FollowUp("follow")
	none := w.Begin(false)
	dir := filepath.Join(w.Home, ".scorel", "pending")
	gone := protocol.SessionID("ses_00000000000000000000000001")
	for name, data := range map[string]string{
		string(e.ID):                  `{"uncleanSta`,
		string(none.ID):               `{"served":true,"clean":true}`,
		string(gone):                  `{"served":true,"clean":true}`,
		"notes.txt":                   "mine",
		"ses_x" + disk.TempMark + "1": "half",
	} {
		w.Write(filepath.Join(dir, name), data)
	}
	after := w.Killed()
	a := after.Open(after.Connect(false), e.ID)
	for !a.Queue(protocol.QueueFollowUp).Paused { // nothing is known of it
		a.Next()
	}
	if err := after.Host.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(after.Home, ".scorel", "pending"))
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"notes.txt", string(e.ID)}; !slices.Equal(left, want) {
		t.Errorf("left: %q, want %q", left, want)
	}
}

func TestAMarkThatSaysNothingIsReportedAndItsQueueWaits(t *testing.T) {
	for _, text := range []string{"", "null\n"} {
		w := hosttest.New(t, serving(), hanging()...)
		e, _ := w.Busy()
		e.FollowUp("follow")
		w.Write(filepath.Join(w.Home, ".scorel", "pending", string(e.ID)), text)
		after := w.Killed()
		a := after.Open(after.Connect(false), e.ID)
		for !a.Queue(protocol.QueueFollowUp).Paused {
			a.Next()
		}
		if !w.Reports.Said("the mark of the queue cannot be read") {
			t.Errorf("%q: nobody says that it is damaged: %q", text, w.Reports.List)
		}
	}
}

func TestAQueueThatCannotGoOnIsPausedAndSaysWhy(t *testing.T) {
	w := hosttest.New(t, serving(), hanging()...)
	e, _ := w.Busy()
	e.FollowUp("follow")
	w.Config.Environ = append(slices.Clone(w.Config.Environ), "MOCK_KEY=")
	w.Write(filepath.Join(w.Home, ".scorel", "config.toml"), "[model]\nname = \"nobody/none\"\n")
	after := w.Killed()
	a := after.Open(after.Connect(false), e.ID)
	for !a.Queue(protocol.QueueFollowUp).Paused {
		a.Next()
	}
	if !w.Reports.Said("nobody/none") {
		t.Errorf("nobody says why: %q", w.Reports.List)
	}
}

func TestOfTenThousandQueuesTheOldestWaitUntilTheyAreOpened(t *testing.T) {
	mem := disktest.NewMem()
	mem.Now = time.Now // as the host, which removes unfinished files that are old
	w := hosttest.New(t, hosttest.Setting{Serving: true, Fs: mem})
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.Home, ".scorel", "pending")
	if err := mem.MkdirAll(dir); err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return filepath.Join(dir, fmt.Sprintf("ses_%026d", i)) }
	for i := range 10_001 { // of sessions that are gone
		mem.Put(name(i), []byte(`{"served":true,"clean":true}`))
	}
	w.Start()
	for !w.Reports.Said("more than 10000 sessions have a queue") || mem.Bytes(name(1)) != nil {
		runtime.Gosched()
	}
	if mem.Bytes(name(0)) == nil {
		t.Error("the mark of the oldest is gone")
	}
}

func TestDeletingASessionRemovesItsMark(t *testing.T) {
	w := hosttest.New(t, serving(), hanging()...)
	e, turn := w.Busy()
	e.FollowUp("follow")
	hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
	e.End()
	id := e.ID
	hosttest.Call[*protocol.Done](t, e.C, id, &protocol.CloseSession{})
	if w.Mark(id) == "" {
		t.Error("a paused queue has no mark")
	}
	hosttest.Call[*protocol.Deleted](t, e.C, id, &protocol.DeleteSession{})
	if got := w.Mark(id); got != "" {
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

// powerCut cuts the power at the n-th change after the creation of the session. It
// reports whether there was one, and whether something waited that was acknowledged.
func powerCut(t *testing.T, n int) (more, waited bool) {
	t.Helper()
	d := &dying{Mem: disktest.NewMem()}
	d.Mem.Now = time.Now // as the host, which removes unfinished files that are old
	released, asked := make(chan struct{}), make(chan struct{}, 64)
	release := sync.OnceFunc(func() { close(released) })
	defer release()
	s := serving()
	s.Fs = d
	s.Request = func([]byte) {
		asked <- struct{}{}
		<-released
	}
	w := hosttest.New(t, s, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	ctx := t.Context()
	for dir := w.Home; dir != "/"; dir = filepath.Dir(dir) { // a home is older than that
		if err := d.Mem.SyncDir(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
	}
	d.mu.Lock()
	d.ops, d.n = 0, n
	d.mu.Unlock()

	acked := map[string]bool{} // true: it must be there once; false: at most once
	send := func(what string, r protocol.Request) (*protocol.Sent, bool) {
		sent, err := client.Call[*protocol.Sent](ctx, e.C, e.ID, r)
		acked[what] = err == nil
		return sent, err == nil
	}
	steps := func() {
		if _, ok := send("run", &protocol.SendMessage{Content: hosttest.Text("run")}); !ok {
			return
		}
		<-asked
		if _, ok := send("steer", &protocol.Steer{Content: hosttest.Text("steer")}); !ok {
			return
		}
		for _, s := range []string{"one", "two"} {
			if _, ok := send(s, &protocol.FollowUp{Content: hosttest.Text(s)}); !ok {
				return
			}
		}
		q := w.Open(w.Connect(false), e.ID).Queue(protocol.QueueFollowUp)
		items := append(slices.Clone(q.Items), protocol.QueueItem{Content: hosttest.Text("three")})
		send("three", &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: items})
	}
	steps()
	release()
	if !d.died() { // the rest of the run
		e.End()
	}
	if !d.died() {
		_ = w.Host.Close() // its changes count too
	}
	more = d.died()
	d.mu.Lock()
	d.dead = true
	d.mu.Unlock()
	_ = w.Host.Close()

	how := []disktest.Crash{disktest.Drop, disktest.Reorder, disktest.Half512}[n%3]
	d.Crash(how, uint64(n))
	w.Config.FS = d.Mem
	pending := filepath.Join(w.Home, ".scorel", "pending", string(e.ID))
	marked := d.Bytes(pending) != nil
	w.Start()
	a := w.Open(w.Connect(false), e.ID)
	for _, q := range a.S.Live.Queues {
		waited = waited || len(q.Items) > 0
		if len(q.Items) > 0 && !marked {
			t.Errorf("change %d (%s): %d items wait without a mark", n, how, len(q.Items))
			return more, waited
		}
	}
	for what, must := range acked {
		if must {
			a.UntilUser(what)
		}
	}
	for _, q := range a.S.Live.Queues { // what was not acknowledged may wait too
		for _, it := range q.Items {
			a.UntilUser(protocol.Message{Content: it.Content}.PlainText())
		}
	}
	for a.S.Live.Running || len(a.S.Live.Queues) > 0 {
		a.Next()
	}
	count := map[string]int{}
	for _, u := range a.Users() {
		count[u]++
	}
	for what := range acked {
		if acked[what] && count[what] != 1 || count[what] > 1 {
			t.Errorf("change %d (%s): %q stands there %d times; acknowledged: %v\n%q", n, how, what, count[what], acked[what], a.Users())
		}
	}
	if err := w.Host.Close(); err != nil {
		t.Error(err)
	}
	if data := d.Bytes(pending); data != nil {
		t.Errorf("change %d (%s): the mark is left: %s", n, how, data)
	}
	return more, waited
}
