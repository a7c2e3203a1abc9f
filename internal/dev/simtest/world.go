package simtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/host"
	"scorel/internal/host/serve"
	"scorel/internal/platform/disk/disktest"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// world is a device with a host, and the people who use it.
type world struct {
	seed    uint64
	dir     string // of Scorel, in mem
	project string // a folder of the machine, with notes.txt
	wired   bool   // the host listens, and people come by WebSocket

	mem   *disktest.Mem
	gate  *gate
	model *talker
	net   *network

	randMu sync.Mutex
	source *rand.ChaCha8 // of ids

	mu     sync.Mutex
	host   *host.Host // nil while none runs
	server *serve.Server
	wires  *wires
	proc   *disktest.Process
	r      *rand.Rand
	closed sync.WaitGroup // hosts that were killed and still end
	err    error          // the first fault
	deeds  []*deed
	marks  int
}

// deed is a request that acts, and what its client knows of it.
type deed struct {
	client  protocol.ClientID
	session protocol.SessionID
	request protocol.RequestID // "" when the client library drew it
	name    string
	mark    string // the text that it sent, "" for none
	answer  protocol.Response
	refused *protocol.Error
	lost    bool // an answer to it was; it may have been carried out before it was refused
}

// token lets people in.
const token = "dHJpYWwtdHJpYWwtdHJpYWwtdHJpYWwtdHJpYWwtdHI"

func newWorld(seed uint64, project string) *world {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	w := &world{seed: seed, dir: "/scorel-trial/home/.scorel", project: project, mem: disktest.NewMem(), gate: newGate(),
		net: &network{lines: map[*line]struct{}{}}, source: rand.NewChaCha8(key), r: rand.New(rand.NewPCG(seed, 1))}
	w.model = newTalker(seed, w.gate, w.fault)
	w.mem.Now = time.Now
	w.mem.Put(filepath.Join(filepath.Dir(w.dir), "note"), nil) // the home is there, and stays
	return w
}

// Read draws random bytes for ids.
func (w *world) Read(p []byte) (int, error) {
	w.randMu.Lock()
	defer w.randMu.Unlock()
	return w.source.Read(p)
}

// rand makes a source of decisions of its own for a purpose.
func (w *world) rand(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(w.seed, purpose)) }

// random decides for the world.
func (w *world) random(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.r.IntN(n)
}

// fault keeps the first fault.
func (w *world) fault(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *world) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// start starts a host on what is stored.
func (w *world) start() error {
	r := w.rand(uint64(w.random(1 << 30)))
	var mu sync.Mutex
	proc := &disktest.Process{FS: w.mem, SyncTakes: func(name string) time.Duration {
		if !strings.HasSuffix(name, ".jsonl") {
			return 0 // the lane syncs these under its lock, and a bubble's time stands still while one waits for a mutex
		}
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(r.IntN(3)) * time.Millisecond
	}}
	h, err := host.New(host.Config{Dir: w.dir, UserHome: filepath.Dir(w.dir), Environ: []string{"PATH=/nowhere"}, FS: proc, Serving: true,
		Overrides: host.Overrides{Model: "demo", Preset: "TodoWrite,Read,Write,AskUser"}, Codec: r.IntN(4) == 0, Version: "trial",
		Demo: func() (model.Model, error) { return w.model, nil }, Now: time.Now, Rand: w,
		Confinement: func() sandbox.Status { return sandbox.Status{} }})
	if err != nil {
		return fmt.Errorf("the host does not start: %w", err)
	}
	var server *serve.Server
	var wires *wires
	if w.wired {
		server, wires = serve.New(serve.Config{Host: h, Version: "trial", Token: func() string { return token }, Rand: w}), newWires(w.net)
		w.closed.Go(func() { // ends with the server
			if err := server.Serve(wires, serve.Loopback); err != nil && !errors.Is(err, net.ErrClosed) {
				w.fault(err)
			}
		})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.host, w.proc, w.server, w.wires = h, proc, server, wires
	return nil
}

// device returns the id of the device.
func (w *world) device() protocol.DeviceID {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.host == nil {
		return ""
	}
	id, _ := w.host.Device()
	return id
}

// cutAll cuts every connection.
func (w *world) cutAll() {
	w.net.cutAll()
	w.mu.Lock()
	wires := w.wires
	w.mu.Unlock()
	if wires != nil {
		wires.cutAll()
	}
}

// lay lays a wire to the host that runs.
func (w *world) lay(ctx context.Context, r *rand.Rand) (net.Conn, error) {
	w.mu.Lock()
	wires, runs := w.wires, w.host != nil
	w.mu.Unlock()
	if !runs {
		return nil, errors.New("no host runs")
	}
	return wires.dial(ctx, r)
}

// stop takes the host away: killed, or closed as it should be.
func (w *world) stop(kill bool) error {
	w.mu.Lock()
	h, proc, server, wires := w.host, w.proc, w.server, w.wires
	w.host = nil
	w.mu.Unlock()
	if server == nil {
		server, wires = serve.New(serve.Config{Host: h}), newWires(w.net) // nobody listens
	}
	if !kill {
		err := error(nil)
		if w.random(2) == 0 {
			err = h.Drain(context.Background(), time.Duration(w.random(100))*time.Millisecond, w.random(2) == 0)
		} else {
			err = h.Close()
		}
		if err := server.Shutdown(context.Background()); err != nil {
			return fmt.Errorf("the server does not shut down: %w", err)
		}
		if err != nil && proc.FailedSyncs() == 0 {
			return fmt.Errorf("the host does not close: %w", err)
		}
		w.net.cutAll()
		return nil
	}
	w.net.cutAll() // so that nobody hears what it says from now on
	_ = wires.Close()
	wires.cutAll()
	proc.Kill()
	w.closed.Go(func() { _ = server.Close() })
	w.closed.Go(func() { _ = h.Close() }) // what is left of it changes nothing any more
	return nil
}

// dial connects to the host that runs.
func (w *world) dial(hello protocol.Hello, r *rand.Rand) (*line, error) {
	w.mu.Lock()
	h := w.host
	w.mu.Unlock()
	if h == nil {
		return nil, errors.New("no host runs")
	}
	conn, err := h.Connect(context.Background(), hello, protocol.GrantControl)
	if err != nil {
		return nil, err
	}
	l := w.net.lay(conn, r)
	w.mu.Lock()
	gone := w.host != h
	w.mu.Unlock()
	if gone { // it was taken away in the meantime
		l.abort()
		return nil, errors.New("no host runs")
	}
	return l, nil
}

// logFile is where a session's log stands.
func (w *world) logFile(id protocol.SessionID) string {
	return filepath.Join(w.dir, "sessions", string(id)+".jsonl")
}

// tear lets the log of a session end in the beginning of a line that was told to
// nobody. A log that ends in one already, because nobody has opened it since, stays as it
// is: a host appends nothing after that, and two beginnings in one line are damage that
// may hide a rewind.
func (w *world) tear(id protocol.SessionID) {
	data := w.mem.Bytes(w.logFile(id))
	if !bytes.HasSuffix(data, []byte("\n")) {
		return
	}
	piece := `{"type":"message","id":"evt_00000000000000ab","parentId":null,"seq":` + fmt.Sprint(1_000_000+w.random(1000)) + `,"sessionId":"`
	w.mem.Put(w.logFile(id), append(data, piece[:1+w.random(len(piece)-1)]...))
}

// newMark draws a text that nobody has sent.
func (w *world) newMark() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.marks++
	return fmt.Sprintf("U%05d", w.marks)
}

func (w *world) did(d *deed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deeds = append(w.deeds, d)
}
