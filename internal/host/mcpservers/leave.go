package mcpservers

import (
	"slices"

	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

// untrusted returns what the files of the project at root have, as if they were trusted.
func (s *Servers) untrusted(root string) (list []mcpconfig.Entry, err error) {
	cfg, err := s.cfg.Settings.Load(root)
	if err != nil {
		return nil, err
	}
	set := mcpconfig.Merge(mcpconfig.Sources{Root: root, User: mcpconfig.ReadFile(mcpconfig.UserFile(s.cfg.Settings.Dir)), UserTOML: cfg.MCP.Servers,
		Managed: mcpconfig.ReadFile(mcpconfig.ManagedFile()), Project: mcpconfig.ReadProject(root), Vars: s.vars(root, cfg)})
	for _, e := range set.Entries {
		if e.Scope == mcpconfig.ScopeProject {
			list = append(list, e)
		}
	}
	return list, nil
}

// OfProject returns the names of the servers in the files of the project at root that are not
// switched off, trusted or not.
func (s *Servers) OfProject(root string) (names []string, err error) {
	list, err := s.untrusted(root)
	for _, e := range list {
		if !e.Disabled {
			names = append(names, e.Name)
		}
	}
	return names, err
}

// LeaveOut switches servers of the files of the project at root off for the person.
func (s *Servers) LeaveOut(root string, names []string) error {
	list, err := s.untrusted(root)
	if err != nil {
		return err
	}
	store := mcpconfig.Store{FS: s.cfg.Settings.FS, File: mcpconfig.UserFile(s.cfg.Settings.Dir)}
	for _, name := range names {
		i := slices.IndexFunc(list, func(e mcpconfig.Entry) bool { return e.Name == name })
		if i < 0 {
			return protocol.About("withoutServers", "", protocol.CodeInvalidRequest, "The files of the project have no MCP server %.100q that would count.", name)
		}
		if err := store.Enable(root, list[i], false); err != nil {
			return protocol.Errorf(protocol.CodeStorageError, "%s.", failure.Sentence(err))
		}
	}
	return nil
}
