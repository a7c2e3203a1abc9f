package crashtest

import (
	"bufio"
	"bytes"
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	_ "scorel/internal/host" // so that a result in go's cache is not one of another binary
	"scorel/protocol"
)

const (
	onceRounds = 3 // of each kind of request
	timeout    = 2 * time.Minute
	// Most requests have acted after the first of these, all after the second.
	soon, late = 5 * time.Millisecond, 60 * time.Millisecond
	others     = 257 // results that a host remembers of a client, and one more
)

// answers is the model: it never ends its answer to "hang", asks for a command when
// it is told to, and else says a word.
const answers = `{"script":1}
{"if":{"user":"hang$"},"again":true,"do":[{"hang":true}]}
{"if":{"user":"ask$"},"again":true,"do":[{"call":"Bash","input":{"command":"echo one"}}]}
{"if":{"kind":"compact"},"again":true,"do":[{"text":"They talked."}]}
{"again":true,"do":[{"text":"ok"}]}
`

// device is a home whose serving host is killed and started again.
type device struct {
	bin, root string
	client    protocol.ClientID
	project   protocol.ProjectID
	*hosted
}

// hosted is a running host.
type hosted struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer
	over   chan struct{} // closed when it has ended

	mu      sync.Mutex
	replies map[protocol.RequestID]chan []byte
	lines   []protocol.Event // that it told
	changed chan struct{}    // closed and replaced with each line
}

func newDevice(t *testing.T, bin string) *device {
	t.Helper()
	s, err := script.Parse(strings.NewReader(answers), "answers")
	if err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(modeltest.Anthropic(modeltest.Config{Script: s, Kind: kindOf}))
	t.Cleanup(model.Close)
	key := make([]byte, 32)
	_, _ = crand.Read(key)
	d := &device{bin: bin, root: t.TempDir(), client: protocol.ClientIDOf(key)}
	config := fmt.Sprintf("[model]\nname = \"mock\"\n[sandbox]\nmode = \"off\"\n[models.mock]\ntype = \"custom\"\napi = \"anthropic-messages\"\nbaseUrl = %q\nid = \"mock\"\n", model.URL)
	for name, text := range map[string]string{"home/.scorel/config.toml": config, "project/notes.txt": "notes\n"} {
		name = filepath.Join(d.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *device) dir() string { return filepath.Join(d.root, "home", ".scorel") }

// start starts the host.
func (d *device) start() error {
	h := &hosted{cmd: exec.Command(d.bin, string(d.client)), over: make(chan struct{}), replies: map[protocol.RequestID]chan []byte{}, changed: make(chan struct{})}
	h.cmd.Env = []string{"HOME=" + filepath.Join(d.root, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + d.root}
	h.cmd.Dir, h.cmd.Stderr = d.root, &h.stderr
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := h.cmd.Start(); err != nil {
		return err
	}
	go h.read(out) // ends with the process
	d.hosted = h
	return nil
}

func (h *hosted) read(out io.Reader) {
	defer close(h.over)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // a line that a kill has cut was told to nobody
		}
		var head struct {
			Type      string             `json:"type"`
			RequestID protocol.RequestID `json:"requestId"`
		}
		if json.Unmarshal(line, &head) != nil {
			continue
		}
		h.mu.Lock()
		if ch := h.replies[head.RequestID]; head.RequestID != "" && ch != nil {
			ch <- line
			delete(h.replies, head.RequestID)
		} else if f, err := protocol.ParseFrame(line); err == nil {
			if e, ok := f.(*protocol.EventsFrame); ok {
				h.lines = append(h.lines, e.Events...)
				close(h.changed)
				h.changed = make(chan struct{})
			}
		}
		h.mu.Unlock()
	}
}

// kill ends the host with SIGKILL.
func (h *hosted) kill() {
	_ = h.cmd.Process.Kill()
	<-h.over
	_ = h.cmd.Wait()
	_ = h.in.Close()
}

// send writes a call; the channel has the line of the reply.
func (h *hosted) send(c protocol.Call) (<-chan []byte, error) {
	line, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	ch := make(chan []byte, 1)
	h.mu.Lock()
	h.replies[c.RequestID] = ch
	h.mu.Unlock()
	_, err = h.in.Write(append(line, '\n'))
	return ch, err
}

// call makes a call and waits for its reply.
func (h *hosted) call(c protocol.Call) (protocol.Reply, error) {
	ch, err := h.send(c)
	if err != nil {
		return protocol.Reply{}, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case line := <-ch:
		return protocol.ParseReply(line, c.Request.Spec().Name)
	case <-h.over:
		return protocol.Reply{}, fmt.Errorf("%s: the host has ended: %s", c.Request.Spec().Name, h.stderr.Bytes())
	case <-timer.C:
		return protocol.Reply{}, fmt.Errorf("%s: no answer in %v", c.Request.Spec().Name, timeout)
	}
}

// await waits until an event fits that the host tells.
func (h *hosted) await(what string, fits func(protocol.Event) bool) (protocol.Event, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for seen := 0; ; {
		h.mu.Lock()
		for ; seen < len(h.lines); seen++ {
			if fits(h.lines[seen]) {
				defer h.mu.Unlock()
				return h.lines[seen], nil
			}
		}
		changed := h.changed
		h.mu.Unlock()
		select {
		case <-changed:
		case <-h.over:
			return protocol.Event{}, fmt.Errorf("wait for %s: the host has ended: %s", what, h.stderr.Bytes())
		case <-timer.C:
			return protocol.Event{}, fmt.Errorf("no %s in %v", what, timeout)
		}
	}
}

func newCall(id protocol.SessionID, r protocol.Request) protocol.Call {
	return protocol.Call{RequestID: protocol.NewRequestID(crand.Reader), SessionID: id, Request: r}
}

// do makes a call that must succeed.
func do[R protocol.Response](h *hosted, id protocol.SessionID, r protocol.Request) (R, error) {
	var none R
	reply, err := h.call(newCall(id, r))
	if err != nil {
		return none, err
	}
	if reply.Err != nil {
		return none, fmt.Errorf("%s: %w", r.Spec().Name, reply.Err)
	}
	data, ok := reply.Data.(R)
	if !ok {
		return none, fmt.Errorf("%s: answered with %T", r.Spec().Name, reply.Data)
	}
	return data, nil
}

func text(s string) []protocol.Block { return []protocol.Block{protocol.Text(s)} }

// create makes a session and opens it.
func (d *device) create() (protocol.SessionID, error) {
	p, err := do[*protocol.Project](d.hosted, "", &protocol.RegisterProject{WorkDir: filepath.Join(d.root, "project")})
	if err != nil {
		return "", err
	}
	d.project = p.ProjectID
	id := protocol.NewSessionID(time.Now(), crand.Reader)
	if _, err := do[*protocol.SessionSummary](d.hosted, id, d.blank()); err != nil {
		return "", err
	}
	_, err = do[*protocol.SessionOpened](d.hosted, id, &protocol.OpenSession{})
	return id, err
}

func (d *device) blank() *protocol.CreateSession {
	return &protocol.CreateSession{ProjectID: d.project, Meta: protocol.Meta{WorkDir: filepath.Join(d.root, "project")}}
}

// say sends a message and waits for the end of its turn.
func (d *device) say(id protocol.SessionID, s string) error {
	sent, err := do[*protocol.Sent](d.hosted, id, &protocol.SendMessage{Content: text(s)})
	if err != nil {
		return err
	}
	_, err = d.await("end of the turn", func(e protocol.Event) bool {
		return e.Type == protocol.TypeRuntimeEnd && e.TurnID == sent.TurnID
	})
	return err
}

// busy begins a turn that does not end, with n messages in its queue.
func (d *device) busy(id protocol.SessionID, n int) (protocol.TurnID, error) {
	sent, err := do[*protocol.Sent](d.hosted, id, &protocol.SendMessage{Content: text("hang")})
	if err != nil {
		return "", err
	}
	for i := range n {
		if _, err := do[*protocol.Sent](d.hosted, id, &protocol.FollowUp{Content: text(fmt.Sprint("queued ", i))}); err != nil {
			return "", err
		}
	}
	return sent.TurnID, nil
}

// payload puts a session's export, and returns its name.
func (d *device) payload(from protocol.SessionID) (string, error) {
	ref, err := do[*protocol.BlobRef](d.hosted, from, &protocol.ExportSession{Format: "jsonl"})
	return ref.SHA256, err
}

// kind is a kind of request that acts.
type kind struct {
	name string
	// make brings a session to where the request makes sense, and makes it.
	make func(d *device, id protocol.SessionID) (protocol.Call, error)
	// again is called before the request is repeated at the next host; nil: nothing.
	again func(d *device, c *protocol.Call, id protocol.SessionID) error
	// unless is a code with which the repeat may fail when the request had not acted.
	unless protocol.Code
	// acted reports whether a request has acted that leaves no event; nil: an event says so.
	acted func(d *device, c protocol.Call) bool
	// check looks at what is left; nil: that one event names the request.
	check func(d *device, c protocol.Call) error
}

func kinds() []kind {
	talked := func(d *device, id protocol.SessionID) (protocol.EventID, error) { // the id of the first message
		for _, s := range []string{"one", "two", "three"} {
			if err := d.say(id, s); err != nil {
				return "", err
			}
		}
		page, err := do[*protocol.Events](d.hosted, id, &protocol.GetPath{})
		if err != nil {
			return "", err
		}
		return page.Events[len(page.Events)-1].ID, nil
	}
	idle := func(r func(first protocol.EventID) protocol.Request) func(d *device, id protocol.SessionID) (protocol.Call, error) {
		return func(d *device, id protocol.SessionID) (protocol.Call, error) {
			first, err := talked(d, id)
			return newCall(id, r(first)), err
		}
	}
	busy := func(n int, r func(turn protocol.TurnID) protocol.Request) func(d *device, id protocol.SessionID) (protocol.Call, error) {
		return func(d *device, id protocol.SessionID) (protocol.Call, error) {
			turn, err := d.busy(id, n)
			return newCall(id, r(turn)), err
		}
	}
	fresh := func() protocol.SessionID { return protocol.NewSessionID(time.Now(), crand.Reader) }
	name := "a name"
	noted := func(d *device, c protocol.Call) int { // how often the note of a request is in the user's notes
		data, _ := os.ReadFile(filepath.Join(d.dir(), "memory", "MEMORY.md"))
		return strings.Count(string(data), "note "+string(c.RequestID))
	}
	return []kind{
		{name: "send_message", make: idle(func(protocol.EventID) protocol.Request { return &protocol.SendMessage{Content: text("the message")} }), check: once("the message")},
		{name: "send_message into a turn", make: busy(1, func(protocol.TurnID) protocol.Request { return &protocol.SendMessage{Content: text("the message")} }), check: once("the message")},
		{name: "steer", make: busy(0, func(turn protocol.TurnID) protocol.Request {
			return &protocol.Steer{TurnID: turn, Content: text("the message")}
		}), unless: protocol.CodeConflict, check: once("the message")},
		{name: "follow_up", make: busy(2, func(protocol.TurnID) protocol.Request { return &protocol.FollowUp{Content: text("the message")} }), check: once("the message")},
		{name: "rewrite_queue", unless: protocol.CodeConflict, make: func(d *device, id protocol.SessionID) (protocol.Call, error) {
			if _, err := d.busy(id, 2); err != nil {
				return protocol.Call{}, err
			}
			e, err := d.await("a queue of two", func(e protocol.Event) bool {
				q, ok := e.Body.(*protocol.QueueUpdate)
				return ok && len(q.Items) == 2
			})
			if err != nil {
				return protocol.Call{}, err
			}
			items := append(e.Body.(*protocol.QueueUpdate).Items[1:], protocol.QueueItem{Content: text("the message")})
			return newCall(id, &protocol.RewriteQueue{Queue: protocol.QueueFollowUp, Replaces: e.ID, Items: items}), nil
		}, check: once("the message")},
		{name: "resume_queue", make: func(d *device, id protocol.SessionID) (protocol.Call, error) {
			turn, err := d.busy(id, 2)
			if err != nil {
				return protocol.Call{}, err
			}
			if _, err := do[*protocol.Cancelled](d.hosted, id, &protocol.Cancel{TurnID: turn}); err != nil {
				return protocol.Call{}, err
			}
			_, err = d.await("a paused queue", func(e protocol.Event) bool {
				q, ok := e.Body.(*protocol.QueueUpdate)
				return ok && q.Paused
			})
			return newCall(id, &protocol.ResumeQueue{}), err
		}},
		{name: "rewind", make: idle(func(first protocol.EventID) protocol.Request { return &protocol.RewindTo{TargetEventID: &first} })},
		{name: "branch", make: idle(func(first protocol.EventID) protocol.Request { return &protocol.BranchTo{LeafEventID: first} })},
		{name: "compact", make: idle(func(protocol.EventID) protocol.Request { return &protocol.CompactSession{} })},
		{name: "update_info", make: idle(func(protocol.EventID) protocol.Request {
			return &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}}
		})},
		{name: "set_label", make: idle(func(first protocol.EventID) protocol.Request {
			return &protocol.SetLabel{TargetEventID: first, Label: &name}
		})},
		{name: "set_mode", make: idle(func(protocol.EventID) protocol.Request { return &protocol.SetMode{Mode: "plan"} })},
		{name: "add_memory", make: func(d *device, id protocol.SessionID) (protocol.Call, error) {
			c := newCall(id, nil)
			c.Request = &protocol.AddMemory{Scope: "user", Text: "note " + string(c.RequestID)}
			return c, nil
		}, acted: func(d *device, c protocol.Call) bool { return noted(d, c) > 0 }, check: func(d *device, c protocol.Call) error {
			if n := noted(d, c); n != 1 {
				return fmt.Errorf("the note stands there %d times", n)
			}
			return nil
		}},
		{name: "answer_permission", unless: protocol.CodeConflict, make: func(d *device, id protocol.SessionID) (protocol.Call, error) {
			if _, err := do[*protocol.Sent](d.hosted, id, &protocol.SendMessage{Content: text("ask")}); err != nil {
				return protocol.Call{}, err
			}
			e, err := d.await("a question", func(e protocol.Event) bool { return e.Type == protocol.TypePermissionRequest })
			if err != nil {
				return protocol.Call{}, err
			}
			return newCall(id, &protocol.AnswerPermission{PermissionID: e.Body.(*protocol.PermissionRequest).PermissionID, Choice: -1}), nil
		}},
		{name: "create_session", make: func(d *device, _ protocol.SessionID) (protocol.Call, error) {
			return newCall(fresh(), d.blank()), nil
		}, check: made},
		{name: "clone_session", make: func(d *device, id protocol.SessionID) (protocol.Call, error) {
			_, err := talked(d, id)
			return newCall(fresh(), &protocol.CloneSession{FromSessionID: id}), err
		}, check: made},
		{name: "import_session", make: func(d *device, id protocol.SessionID) (protocol.Call, error) {
			if _, err := talked(d, id); err != nil {
				return protocol.Call{}, err
			}
			sha, err := d.payload(id)
			return newCall(fresh(), &protocol.ImportSession{Blobs: []string{sha}}), err
		}, again: func(d *device, _ *protocol.Call, id protocol.SessionID) error {
			_, err := d.payload(id) // what a connection may import goes with it
			return err
		}, check: made},
		{name: "delete_session", make: func(d *device, _ protocol.SessionID) (protocol.Call, error) {
			id := fresh()
			_, err := do[*protocol.SessionSummary](d.hosted, id, d.blank())
			return newCall(id, &protocol.DeleteSession{}), err
		}, check: func(d *device, c protocol.Call) error {
			if _, err := os.Stat(d.log(c.SessionID)); err == nil {
				return fmt.Errorf("the session is still there")
			}
			return nil
		}},
	}
}

func (d *device) log(id protocol.SessionID) string {
	return filepath.Join(d.dir(), "sessions", string(id)+".jsonl")
}

// events reads a log, and checks it.
func (d *device) events(id protocol.SessionID) (header protocol.Header, events []protocol.Event, err error) {
	data, err := os.ReadFile(d.log(id))
	if err != nil {
		return header, nil, err
	}
	if _, err := ReadLog(data); err != nil {
		return header, nil, err
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		if i == 0 {
			if header, err = protocol.ParseHeader(line); err != nil {
				return header, nil, err
			}
			continue
		}
		e, err := protocol.ParseEvent(line)
		if err != nil {
			return header, nil, err
		}
		events = append(events, e)
	}
	return header, events, nil
}

// named counts the events that name a request.
func named(events []protocol.Event, c protocol.Call) (n int) {
	for _, e := range events {
		if e.Cause != nil && e.Cause.RequestID == c.RequestID {
			n++
		}
	}
	return n
}

// once reports that a message was taken once, or still waits once.
func once(s string) func(d *device, c protocol.Call) error {
	return func(d *device, c protocol.Call) error {
		_, events, err := d.events(c.SessionID)
		if err != nil {
			return err
		}
		items, sent := map[protocol.ItemID]bool{}, 0
		for _, e := range events {
			if q, ok := e.Body.(*protocol.QueueUpdate); ok {
				for _, it := range q.Items {
					if m := (protocol.Message{Content: it.Content}); m.PlainText() == s {
						items[it.ID] = true
					}
				}
			}
			if m, ok := e.Message(); ok && m.PlainText() == s {
				sent++
			}
		}
		if n := named(events, c); n != 1 || len(items) > 1 || sent > 1 || sent+len(items) == 0 {
			return fmt.Errorf("%d events name the request, the message stands there %d times and in the queue as %d items", n, sent, len(items))
		}
		return nil
	}
}

// made reports that a session is there that the request made.
func made(d *device, c protocol.Call) error {
	header, _, err := d.events(c.SessionID)
	if err == nil && (header.Cause == nil || header.Cause.RequestID != c.RequestID) {
		err = fmt.Errorf("the header names another request: %+v", header.Cause)
	}
	return err
}

func TestARequestWhoseHostIsKilledActsOnceWhenItIsRepeated(t *testing.T) {
	t.Parallel()
	bin, seed := filepath.Join(binaries(t), "hoster"), newSeed(t)
	work := make(chan kind, len(kinds()))
	var mu sync.Mutex
	figures := map[string]string{}
	devices := make([]*device, workers)
	for i := range devices {
		devices[i] = newDevice(t, bin)
	}
	go func() { // ends when all have been taken
		defer close(work)
		for _, k := range kinds() {
			work <- k
		}
	}()
	each(t, func(worker int) error {
		r := random(t, seed, worker)
		for k := range work {
			acted, lost := 0, 0
			for i := range rounds(onceRounds) {
				before, err := killedInRequest(devices[worker], k, time.Duration(r.Int64N(int64([]time.Duration{soon, late}[i%2]))))
				if err != nil {
					return fmt.Errorf("%s: %w", k.name, err)
				}
				if before {
					acted++
				} else {
					lost++
				}
			}
			mu.Lock()
			figures[k.name] = fmt.Sprintf("%d had acted, %d had not", acted, lost)
			mu.Unlock()
		}
		return nil
	})
	for _, k := range kinds() {
		if figures[k.name] == "" {
			t.Errorf("%s was not tried to the end", k.name)
		}
		t.Logf("%s: %s", k.name, figures[k.name])
	}
}

// killedInRequest kills the host some time after it was sent a request, and repeats
// that at the next one. It reports whether the request had acted by then.
func killedInRequest(d *device, k kind, after time.Duration) (before bool, err error) {
	if err := d.start(); err != nil {
		return false, err
	}
	defer func() { d.kill() }()
	id, err := d.create()
	if err != nil {
		return false, err
	}
	c, err := k.make(d, id)
	if err != nil {
		return false, err
	}
	answer, err := d.send(c)
	if err != nil {
		return false, err
	}
	timer := time.NewTimer(after)
	<-timer.C // the moment of the kill is the point
	d.kill()
	_, events, _ := d.events(c.SessionID)
	header, _, herr := d.events(c.SessionID)
	before = named(events, c) > 0 || herr == nil && header.Cause != nil && header.Cause.RequestID == c.RequestID
	if k.name == "delete_session" {
		before = herr != nil
	}
	if k.acted != nil {
		before = k.acted(d, c)
	}
	if len(answer) > 0 && k.name != "answer_permission" && k.name != "compact" && !before {
		return false, fmt.Errorf("it was answered and had not acted: %s", <-answer)
	}
	if err := d.start(); err != nil {
		return false, err
	}
	if k.again != nil {
		if err := k.again(d, &c, id); err != nil {
			return false, err
		}
	}
	c.Repeat = true
	for again := range 2 {
		reply, err := d.call(c)
		if err != nil {
			return false, err
		}
		if reply.Err != nil {
			if before || reply.Err.Code != k.unless || again > 0 && reply.Err.Code != k.unless {
				return false, fmt.Errorf("repeated, when it had acted: %v: %w", before, reply.Err)
			}
			return before, nil
		}
		for range others { // then what it gave is found in the log alone
			if _, err := do[*protocol.Cancelled](d.hosted, id, &protocol.Cancel{TurnID: "trn_0000000000000000"}); err != nil {
				return false, err
			}
		}
	}
	check := k.check
	if check == nil {
		check = func(d *device, c protocol.Call) error {
			_, events, err := d.events(c.SessionID)
			if n := named(events, c); err == nil && n != 1 {
				err = fmt.Errorf("%d events name the request", n)
			}
			return err
		}
	}
	return before, check(d, c)
}

// TestAKilledHostGoesOnWithItsQueueOnce kills a host while messages come and go in a
// queue, and lets the next one go on: each that was acknowledged is there once.
func TestAKilledHostGoesOnWithItsQueueOnce(t *testing.T) {
	t.Parallel()
	bin, seed, want := filepath.Join(binaries(t), "hoster"), newSeed(t), rounds(24)
	devices := make([]*device, workers)
	for i := range devices {
		devices[i] = newDevice(t, bin)
	}
	var done, acked atomic.Int64
	each(t, func(worker int) error {
		r := random(t, seed, worker)
		for done.Load() < int64(want) {
			n, err := killedWithQueue(devices[worker], r)
			if err != nil {
				return err
			}
			done.Add(1)
			acked.Add(int64(n))
		}
		return nil
	})
	t.Logf("%d rounds, %d acknowledged messages", done.Load(), acked.Load())
	if acked.Load() < int64(want) {
		t.Errorf("only %d messages were acknowledged in %d rounds", acked.Load(), done.Load())
	}
}

func killedWithQueue(d *device, r *rand.Rand) (n int, err error) {
	if err := d.start(); err != nil {
		return 0, err
	}
	defer func() { d.kill() }()
	id, err := d.create()
	if err != nil {
		return 0, err
	}
	// The messages are taken as fast as they come, so that marks come and go too.
	var answers []<-chan []byte
	var texts []string
	for i := range 8 {
		s := fmt.Sprint("message ", i)
		ch, err := d.send(newCall(id, &protocol.FollowUp{Content: text(s)}))
		if err != nil {
			return 0, err
		}
		answers, texts = append(answers, ch), append(texts, s)
	}
	come := func() (n int) {
		for _, ch := range answers {
			n += len(ch)
		}
		return n
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for want, end := r.IntN(len(answers)), time.Now().Add(timeout); come() < want && time.Now().Before(end); {
		<-tick.C
	}
	timer := time.NewTimer(time.Duration(r.Int64N(int64(20 * time.Millisecond))))
	<-timer.C // the moment of the kill is the point
	d.kill()
	acked := map[string]bool{}
	for i, ch := range answers {
		if len(ch) > 0 {
			if reply, err := protocol.ParseReply(<-ch, "follow_up"); err == nil && reply.Err == nil {
				acked[texts[i]] = true
			}
		}
	}
	if err := d.start(); err != nil {
		return 0, err
	}
	if _, err := do[*protocol.SessionOpened](d.hosted, id, &protocol.OpenSession{Tail: 100}); err != nil {
		return 0, err
	}
	for s := range acked { // in the path by now, or taken by the host as it goes on
		if _, err := d.await(s+" of a killed host", func(e protocol.Event) bool {
			m, ok := e.Message()
			return ok && m.PlainText() == s
		}); err != nil {
			return 0, err
		}
	}
	_, events, err := d.events(id)
	if err != nil {
		return 0, err
	}
	count := map[string]int{}
	for _, e := range events {
		if m, ok := e.Message(); ok && m.Role == protocol.RoleUser {
			count[m.PlainText()]++
		}
	}
	for s, n := range count {
		if n != 1 {
			return 0, fmt.Errorf("%q stands there %d times", s, n)
		}
	}
	return len(acked), nil
}

// kindOf tells a summariser's request from a step's.
func kindOf(body []byte) model.Kind {
	if bytes.Contains(body, []byte("<conversation>")) || bytes.Contains(body, []byte(`\u003cconversation\u003e`)) {
		return model.KindCompact
	}
	return model.KindStep
}
