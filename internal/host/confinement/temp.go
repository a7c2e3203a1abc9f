package confinement

import (
	"context"
	"sync"

	"scorel/internal/host/diagnostics"
	"scorel/internal/host/guard"
	"scorel/internal/host/registry"
	"scorel/internal/host/settings"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Boxes confines the commands of sessions.
type Boxes struct {
	settings *settings.Settings
	log      *diagnostics.Log

	making sync.Mutex // held while a folder for temporary files is made; mu may be taken with it held

	mu    fault.Shared                         // guards all below; no I/O under it
	temps map[protocol.SessionID]*sandbox.Temp // of open sessions that ran a command
	told  map[protocol.SessionID]bool          // open sessions whose diagnostics name what is not confined
}

// New makes the boxes of a host.
func New(s *settings.Settings, log *diagnostics.Log, g *guard.Guard) *Boxes {
	bs := &Boxes{settings: s, log: log, temps: map[protocol.SessionID]*sandbox.Temp{}, told: map[protocol.SessionID]bool{}}
	g.Watch(&bs.mu)
	return bs
}

// Spawner returns what starts the commands of a session in a box.
func (bs *Boxes) Spawner(id protocol.SessionID, b Box) sandbox.Spawner { return confiner{bs, id, b} }

// confiner starts the commands of a session in its box.
type confiner struct {
	bs  *Boxes
	id  protocol.SessionID
	box Box
}

// Start implements [sandbox.Spawner]. The folder for temporary files is made with
// the first command: most turns run none, and a session may never be opened.
func (c confiner) Start(ctx context.Context, cmd sandbox.Cmd) (sandbox.Child, error) {
	config := sandbox.Config{RunDir: registry.RunDir(c.bs.settings.StoreDir, c.id)}
	if c.box.Profile != nil {
		p := *c.box.Profile
		var err error
		if p.TempDir, err = c.bs.temp(c.id); err != nil {
			return nil, err
		}
		config.Profile = &p
	}
	return sandbox.New(config).Start(ctx, cmd)
}

// temp returns the private folder for temporary files of an open session, which is
// there until the session is closed. Calls that run side by side share it.
func (bs *Boxes) temp(id protocol.SessionID) (string, error) {
	bs.making.Lock()
	defer bs.making.Unlock()
	if t := bs.find(id); t != nil {
		return t.Dir, nil
	}
	base, _ := bs.settings.LookupEnv("TMPDIR")
	t, err := sandbox.NewTemp(sandbox.TempBase(base, bs.settings.OwnFolders()), string(id))
	if err != nil {
		return "", err
	}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	bs.temps[id] = t
	return t.Dir, nil
}

func (bs *Boxes) find(id protocol.SessionID) *sandbox.Temp {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	return bs.temps[id]
}

// Close ends what is kept of a session, which has been closed.
func (bs *Boxes) Close(id protocol.SessionID) {
	t := bs.forget(id)
	if t == nil {
		return
	}
	if err := t.Close(); err != nil {
		bs.log.Report(id, "remove temporary files: "+err.Error(), nil)
	}
}

func (bs *Boxes) forget(id protocol.SessionID) *sandbox.Temp {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	t := bs.temps[id]
	delete(bs.temps, id)
	delete(bs.told, id)
	return t
}

// noteUnconfined notes in the diagnostics of a session, once while it is open,
// what the sandbox does not hold.
func (bs *Boxes) noteUnconfined(id protocol.SessionID, missing string) {
	if bs.firstTime(id) {
		bs.log.Report(id, "sandbox: "+missing, nil)
	}
}

func (bs *Boxes) firstTime(id protocol.SessionID) bool {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	told := bs.told[id]
	bs.told[id] = true
	return !told
}
