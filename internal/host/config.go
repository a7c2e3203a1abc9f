package host

import (
	"path/filepath"

	"scorel/internal/config"
	"scorel/internal/workspace"
	"scorel/protocol"
)

// checkConfig gives every key with its value in force and where it came from.
func (h *Host) checkConfig(workDir string) (*protocol.ConfigReport, error) {
	dir, err := canonicalDir(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir)
	cfg, notices, err := config.Load(filepath.Join(h.cfg.Dir, "config.toml"), filepath.Join(root, ".scorel", "config.toml"))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	rep := &protocol.ConfigReport{Entries: []protocol.ConfigEntry{}}
	for _, s := range cfg.Settings(nil) {
		rep.Entries = append(rep.Entries, protocol.ConfigEntry{Key: s.Key, Value: s.Value, Source: s.Source.String()})
	}
	for _, n := range notices {
		rep.Notices = append(rep.Notices, n.Text)
	}
	return rep, nil
}
