package disktest

import (
	"sync"

	"scorel/internal/platform/disk"
)

// Gate holds back the syncs of files (not of folders) of FS.
type Gate struct {
	disk.FS

	mu      sync.Mutex
	cond    *sync.Cond
	held    bool
	passes  int
	waiting int
}

// NewGate makes an open gate.
func NewGate(fsys disk.FS) *Gate {
	g := &Gate{FS: fsys}
	g.cond = sync.NewCond(&g.mu)
	return g
}

// HoldSyncs lets every sync from now on wait for a Release.
func (g *Gate) HoldSyncs() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = true
}

// Release lets n syncs pass, waiting ones first; a negative n opens the gate.
func (g *Gate) Release(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n < 0 {
		g.held, g.passes = false, 0
	} else {
		g.passes += n
	}
	g.cond.Broadcast()
}

// AwaitWaiting returns when at least n syncs wait at the gate.
func (g *Gate) AwaitWaiting(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.blocked() < n {
		g.cond.Wait()
	}
}

// blocked is how many syncs wait that were not let pass. mu is held.
func (g *Gate) blocked() int { return max(0, g.waiting-g.passes) }

// Waiting returns how many syncs wait now.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.blocked()
}

// Open opens a file whose Sync waits at the gate.
func (g *Gate) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	file, err := g.FS.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return &gatedFile{file, g}, nil
}

type gatedFile struct {
	disk.File
	g *Gate
}

func (f *gatedFile) Sync() error {
	g := f.g
	g.mu.Lock()
	if g.held {
		g.waiting++
		g.cond.Broadcast()
		for g.held && g.passes == 0 {
			g.cond.Wait()
		}
		if g.held {
			g.passes--
		}
		g.waiting--
	}
	g.mu.Unlock()
	return f.File.Sync()
}
