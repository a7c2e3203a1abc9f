package crashtest

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host/daemon"
	"scorel/protocol"
)

const (
	servingRounds = 20 // kills
	killsPerHome  = 5  // then what is left is judged, and a new home made
	settleTime    = 3 * time.Minute
)

// chatter is what the model says while its host is killed: short answers that take
// their time, some after a tool.
const chatter = `{"script":1,"chunk":6,"delayMs":2}
{"again":true,"if":{"result":"."},"do":[{"text":"There is a note, and it says what notes say."}]}
{"again":true,"if":{"user":"look"},"do":[{"text":"I look. "},{"call":"Read","input":{"path":"notes.txt"}}]}
{"again":true,"do":[{"thinking":"Hm."},{"text":"An answer in a few words that takes its time to come."}]}
`

// served is a home with a serving host of the real binary, which is killed and
// started again, and clients that stay.
type served struct {
	bin, root string
	session   protocol.SessionID

	mu     sync.Mutex
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

func newServed(t *testing.T, bin string) *served {
	t.Helper()
	dir, err := os.MkdirTemp("", "scorel-serving-") // short: it is in the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &served{bin: bin, root: dir}
	for name, text := range map[string]string{
		"home/.scorel/config.toml": "[sandbox]\nmode = \"off\"\n",
		"project/notes.txt":        "a line of notes\n",
		"chatter.jsonl":            chatter,
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *served) dir() string { return filepath.Join(s.root, "home", ".scorel") }

// start starts a host; it takes clients when ready gives no error.
func (s *served) start() error {
	cmd := exec.Command(s.bin, "host", "serve")
	cmd.Dir = s.root
	cmd.Env = []string{"HOME=" + filepath.Join(s.root, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + s.root}
	s.stderr.Reset()
	cmd.Stderr = &s.stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd = cmd
	return nil
}

// awaitReady returns when the host takes clients, or ctx has ended.
func (s *served) awaitReady(ctx context.Context) {
	s.mu.Lock()
	pid := s.cmd.Process.Pid
	s.mu.Unlock()
	for ctx.Err() == nil {
		if info, live, err := daemon.Find(s.dir()); err == nil && live && info.Ready() && info.PID == pid {
			return
		}
		pause(ctx, 2*time.Millisecond)
	}
}

// kill ends the host wherever it is.
func (s *served) kill() error {
	s.mu.Lock()
	cmd := s.cmd
	s.cmd = nil
	s.mu.Unlock()
	if cmd == nil {
		return nil
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != -1 {
		return fmt.Errorf("the host ended by itself: %s", tail(&s.stderr))
	}
	return nil
}

// dial connects to the host that runs now.
func (s *served) dial(key []byte, name string) func(context.Context) (client.Transport, protocol.Connected, error) {
	return func(ctx context.Context) (client.Transport, protocol.Connected, error) {
		raw, err := os.ReadFile(daemon.Header(s.dir()))
		if err != nil {
			return nil, protocol.Connected{}, err
		}
		_, token, _ := strings.Cut(strings.TrimSpace(string(raw)), "Bearer ")
		info, live, err := daemon.Find(s.dir())
		if err != nil || !live || !info.Ready() {
			return nil, protocol.Connected{}, fmt.Errorf("no host runs (%w)", err)
		}
		ws := &client.WebSocket{URL: "unix:" + info.Socket, Token: token, ClientID: protocol.ClientIDOf(key), ClientName: name, Interactive: true}
		return ws.Dial(ctx)
	}
}

// talker is a client that says things and remembers what became of them.
type talker struct {
	c    *client.Client
	s    *served
	name string
	r    *rand.Rand

	mu    sync.Mutex
	told  bytes.Buffer // the persistent events of all times, as they came
	live  protocol.Live
	sent  []string // texts that were acknowledged
	maybe []string // texts of which nobody knows
	moved int
}

func (s *served) newTalker(name string, r *rand.Rand) *talker {
	key := make([]byte, 32)
	_, _ = crand.Read(key)
	return &talker{c: client.Connect(client.Config{Dial: s.dial(key, name)}), s: s, name: name, r: r}
}

// follow reads the session until ctx ends.
func (k *talker) follow(ctx context.Context) error {
	session, err := k.c.Open(ctx, k.s.session, 0)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	for {
		u, err := session.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s hears no more: %w", k.name, err)
		}
		k.mu.Lock()
		if u.Resync == protocol.FullReload && k.told.Len() > 0 {
			err = fmt.Errorf("%s was told to begin anew, though nothing of its session was lost", k.name)
		}
		for _, e := range u.Events {
			if e.ID != "" {
				k.told.Write(append(bytes.Clone(e.Raw()), '\n'))
			}
		}
		k.live = session.Live.Clone()
		k.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// talk says things until ctx ends.
func (k *talker) talk(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		k.mu.Lock()
		turn, leaf, queues := k.live.TurnID, k.live.LeafID, k.live.Queues
		k.mu.Unlock()
		text := fmt.Sprintf("%s says %d", k.name, n)
		if k.r.IntN(3) == 0 {
			text += ": look"
		}
		content := []protocol.Block{protocol.Text(text)}
		var err error
		switch k.r.IntN(8) {
		case 0:
			_, err = client.Call[*protocol.Moved](ctx, k.c, k.s.session, &protocol.RewindTo{ExpectedLeafID: &leaf, CancelFirst: turn})
			if err == nil {
				k.moved++
			}
			text = ""
		case 1:
			for _, q := range queues {
				items := append([]protocol.QueueItem(nil), q.Items...)
				k.r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
				_, err = client.Call[*protocol.Sent](ctx, k.c, k.s.session, &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: items})
			}
			text = ""
		case 2:
			_, err = client.Call[*protocol.Sent](ctx, k.c, k.s.session, &protocol.Steer{TurnID: turn, Content: content})
		case 3, 4:
			_, err = client.Call[*protocol.Sent](ctx, k.c, k.s.session, &protocol.FollowUp{Content: content})
		default:
			_, err = client.Call[*protocol.Sent](ctx, k.c, k.s.session, &protocol.SendMessage{Content: content})
		}
		var refused *protocol.Error
		switch {
		case text == "" || errors.As(err, &refused) && refused.Code != protocol.CodeInternalError:
		case err == nil:
			k.sent = append(k.sent, text)
		default:
			k.maybe = append(k.maybe, text)
		}
		if refused != nil && refused.Code == protocol.CodeRateLimited { // the queue is full
			_, _ = client.Call[*protocol.Done](ctx, k.c, k.s.session, &protocol.ResumeQueue{})
		}
		pause(ctx, time.Duration(k.r.IntN(15))*time.Millisecond)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// begin makes the session.
func (s *served) begin(ctx context.Context, c *client.Client) error {
	dir := filepath.Join(s.root, "project")
	p, err := client.Call[*protocol.Project](ctx, c, "", &protocol.RegisterProject{WorkDir: dir})
	if err != nil {
		return err
	}
	s.session = protocol.NewSessionID(time.Now(), crand.Reader)
	_, err = client.Call[*protocol.SessionSummary](ctx, c, s.session, &protocol.CreateSession{ProjectID: p.ProjectID,
		Meta: protocol.Meta{WorkDir: dir, Model: "script:" + filepath.Join(s.root, "chatter.jsonl")}})
	return err
}

// settle lets what waits go on, until nothing runs and nothing waits.
func (k *talker) settle(ctx context.Context) error {
	for ctx.Err() == nil {
		k.mu.Lock()
		live := k.live.Clone()
		k.mu.Unlock()
		if !live.Running && len(live.Queues) == 0 {
			status, err := client.Call[*protocol.Status](ctx, k.c, "", &protocol.GetStatus{})
			if err != nil {
				return err
			}
			busy := false
			for _, st := range status.Sessions {
				busy = busy || st.Running || st.Queued > 0
			}
			if !busy {
				return nil
			}
		}
		if !live.Running {
			if _, err := client.Call[*protocol.Done](ctx, k.c, k.s.session, &protocol.ResumeQueue{}); err != nil {
				return err
			}
		}
		pause(ctx, 10*time.Millisecond)
	}
	return fmt.Errorf("%s waits in vain for the queue to become empty", k.name)
}

// judge compares what two clients heard and said with the log.
func (s *served) judge(talkers []*talker) (told, said int, err error) {
	file := filepath.Join(s.dir(), "sessions", string(s.session)+".jsonl")
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, err
	}
	log, err := ReadLog(data)
	if err != nil {
		return 0, 0, err
	}
	times := map[string]int{}
	for i, line := range bytes.Split(bytes.TrimSuffix(log.Whole, []byte("\n")), []byte("\n")) {
		if i == 0 {
			continue
		}
		e, err := protocol.ParseEvent(line)
		if err != nil {
			return 0, 0, err
		}
		if m, ok := e.Message(); ok && m.Role == protocol.RoleUser {
			times[m.PlainText()]++
		}
	}
	for _, k := range talkers {
		n, err := log.Holds(k.told.Bytes())
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", k.name, err)
		}
		told += n
		for _, text := range k.sent {
			said++
			if times[text] != 1 {
				return 0, 0, fmt.Errorf("%q was acknowledged and stands in the log %d times", text, times[text])
			}
		}
		for _, text := range k.maybe {
			if times[text] > 1 {
				return 0, 0, fmt.Errorf("%q stands in the log %d times", text, times[text])
			}
		}
	}
	for text, n := range times {
		if n > 1 {
			return 0, 0, fmt.Errorf("%q stands in the log %d times", text, n)
		}
	}
	return told, said, nil
}

// round kills a host of a new home a few times, while two clients talk.
func (s *served) round(ctx context.Context, r *rand.Rand) (told, said, moved int, err error) {
	if err := s.start(); err != nil {
		return 0, 0, 0, err
	}
	defer func() {
		if kerr := s.kill(); err == nil {
			err = kerr
		}
	}()
	var talkers []*talker
	for _, name := range []string{"Ada", "Eve"} {
		k := s.newTalker(name, rand.New(rand.NewPCG(r.Uint64(), 1)))
		defer func() { _ = k.c.Close() }()
		talkers = append(talkers, k)
	}
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := s.begin(ctx, talkers[0].c); err != nil {
		return 0, 0, 0, fmt.Errorf("%w; the host says: %s", err, tail(&s.stderr))
	}
	listening, deaf := context.WithCancel(ctx)
	talking, silent := context.WithCancel(ctx)
	errs := make(chan error, 2*len(talkers))
	for _, k := range talkers {
		go func() { errs <- k.follow(listening) }() // ends with listening
		go func() { errs <- k.talk(talking) }()     // ends with talking
	}
	for range killsPerHome {
		if r.IntN(6) > 0 { // one of six is killed while it starts
			s.awaitReady(ctx)
		}
		pause(ctx, time.Duration(r.IntN(400))*time.Millisecond)
		if err = s.kill(); err != nil {
			break
		}
		if err = s.start(); err != nil {
			break
		}
	}
	// A call that is on its way is not given up: its answer is waited for.
	silent()
	failed := []error{err}
	for range talkers {
		failed = append(failed, <-errs)
	}
	if errors.Join(failed...) == nil {
		failed = append(failed, talkers[0].settle(ctx))
	}
	deaf()
	for range talkers {
		failed = append(failed, <-errs)
	}
	if err := errors.Join(failed...); err != nil {
		return 0, 0, 0, err
	}
	for _, k := range talkers {
		moved += k.moved
	}
	told, said, err = s.judge(talkers)
	return told, said, moved, err
}

func TestKillOfAServingHostLosesNothingAndRepeatsActOnce(t *testing.T) {
	t.Parallel()
	bin, seed, want := filepath.Join(binaries(t), "scorel"), newSeed(t), rounds(servingRounds)
	var kills, told, said, moved atomic.Int64
	little := func() bool { return told.Load() < int64(want) || said.Load() < int64(want) || moved.Load() == 0 }
	each(t, func(worker int) error {
		r := random(t, seed, worker)
		for { // on a loaded machine the clients come to less between two kills
			if n := kills.Add(killsPerHome); n > int64(want) && !little() || n > int64(4*want) {
				return nil
			}
			s := newServed(t, bin)
			a, b, c, err := s.round(t.Context(), r)
			if err != nil {
				return fmt.Errorf("%s: %w", s.root, err)
			}
			told.Add(int64(a))
			said.Add(int64(b))
			moved.Add(int64(c))
		}
	})
	t.Logf("at least %d kills of a serving host; clients were told %d events, %d of their messages were acknowledged, %d rewinds", want, told.Load(), said.Load(), moved.Load())
	if little() {
		t.Error("the clients did too little")
	}
}
