package settings

import (
	"path/filepath"

	"scorel/internal/engine/config"
	"scorel/internal/engine/memory"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/workspace"
)

// Notes returns the notes of the project of a folder, nil where they are switched off.
func (st *Settings) Notes(cfg config.Config, dir string) *memory.Store {
	if !cfg.Memory.Enabled {
		return nil
	}
	root, common := workspace.Root(dir, st.UserHome)
	return memory.New(memory.Config{FS: st.FS, Dir: filepath.Join(st.Dir, "memory"), Key: memory.Key(root, common), Resolve: disk.Personal, Now: st.Now})
}
