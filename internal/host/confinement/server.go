package confinement

import (
	"cmp"
	"errors"

	"scorel/internal/engine/config"
	"scorel/internal/host/settings"
	"scorel/internal/platform/sandbox"
)

// ForServer returns what confines an MCP server that runs in the sandbox: as commands are,
// also where these are not, because such a server is somebody else's program. An error says
// in a sentence without a subject that nothing can confine it here.
func ForServer(st *settings.Settings, cfg config.Config, over settings.Overrides, root string) (*sandbox.Profile, error) {
	mode, err := sandbox.ParseMode(cmp.Or(over.Sandbox, cfg.Sandbox.Mode))
	if err != nil {
		return nil, err
	}
	if mode == sandbox.Off {
		mode = sandbox.WorkspaceWrite
	}
	if s := st.Confinement(); s.Level == sandbox.Unconfined {
		return nil, errors.New("it runs in the sandbox only, and there is none: " + s.Missing + " See scorel doctor")
	}
	p := &sandbox.Profile{Mode: mode, Network: cfg.Sandbox.Network && !over.NoNetwork, Home: st.UserHome, Closed: st.OwnFolders(), Environ: st.Environ, Roots: st.Writable(cfg, over, root)}
	if dir, err := sandbox.CacheDir(st.UserHome, root); err == nil {
		p.CacheDir = dir // else the caches are in the temporary folder
	}
	return p, nil
}
