package mcpservers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
)

// runPrefix begins the names of the folders in which hosts record the process groups of
// servers. They belong to no session, because sessions share connections: each host has one
// of its own, and holds the lock beside it while it lives.
const runPrefix = "mcp-"

const lockSuffix = ".lock"

// recorded returns the folder in which the process groups of servers are recorded. The
// first call makes it, and ends what hosts that died have left running.
func (s *Servers) recorded() (string, error) {
	s.recordOnce.Do(func() {
		s.reapAbandoned(context.Background())
		s.record, s.recordLock, s.recordErr = newRunDir(s.cfg.Settings.FS, s.runDirs())
	})
	if s.recordErr != nil {
		return "", fmt.Errorf("its process cannot be recorded: %w", s.recordErr)
	}
	return s.record, nil
}

// runDirs is where the folders are.
func (s *Servers) runDirs() string { return filepath.Join(s.cfg.Settings.StoreDir, "run") }

func newRunDir(fsys disk.FS, parent string) (string, disk.Unlocker, error) {
	if err := fsys.MkdirAll(parent); err != nil {
		return "", nil, err
	}
	for {
		dir := filepath.Join(parent, runPrefix+disk.RandomName())
		lock, err := fsys.Lock(dir+lockSuffix, []byte("servers"))
		var held *disk.LockedError
		if errors.As(err, &held) { // somebody who ends what is left looks at it
			continue
		}
		if err != nil {
			return "", nil, err
		}
		if _, err := fsys.Stat(dir + lockSuffix); err != nil { // and has removed it meanwhile
			_ = lock.Unlock() // it guards nothing
			continue
		}
		return dir, lock, nil
	}
}

// ReapAbandoned ends the processes of servers that hosts which died have left running.
// problems are one sentence each.
func (s *Servers) ReapAbandoned(ctx context.Context) (problems []string) {
	return s.reapAbandoned(ctx)
}

func (s *Servers) reapAbandoned(ctx context.Context) (problems []string) {
	fsys := s.cfg.Settings.FS
	entries, err := fsys.ReadDir(s.runDirs())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was left
	}
	if err != nil {
		return []string{fmt.Sprintf("which MCP servers earlier hosts left running is not known: %v", err)}
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), lockSuffix)
		if !ok || !strings.HasPrefix(name, runPrefix) || ctx.Err() != nil {
			continue
		}
		dir := filepath.Join(s.runDirs(), name)
		lock, err := fsys.Lock(dir+lockSuffix, []byte("reap"))
		var held *disk.LockedError
		switch {
		case errors.As(err, &held): // its host lives
			continue
		case err == nil:
			_, err = sandbox.Reap(dir)
			removeRunDir(fsys, dir, lock)
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("what MCP servers of an earlier host left running: %v", err))
		}
	}
	return problems
}

// removeRunDir removes a folder without records, and gives its lock back. What cannot be
// removed is looked at again by the next host.
func removeRunDir(fsys disk.FS, dir string, lock disk.Unlocker) {
	if err := os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
		_ = fsys.Remove(dir + lockSuffix) // with the lock held: see newRunDir
	}
	_ = lock.Unlock() // the process may end now
}
