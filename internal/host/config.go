package host

import (
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
	cfg, notices, err := h.readConfig(root)
	if err != nil {
		return nil, err
	}
	rep := &protocol.ConfigReport{Entries: []protocol.ConfigEntry{}}
	for _, s := range cfg.Settings(nil) {
		rep.Entries = append(rep.Entries, protocol.ConfigEntry{Key: s.Key, Value: s.Value, Source: s.Source.String()})
	}
	rep.Notices = notices
	return rep, nil
}
