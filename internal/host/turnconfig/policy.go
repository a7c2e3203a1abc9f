package turnconfig

import (
	"cmp"
	"os"

	"scorel/internal/engine/config"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/permission/rules"
	"scorel/internal/host/confinement"
	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// policy compiles mode and rules: the configuration's, those answered "always"
// for the project, and the caller's. resolve follows links; readable are the folders
// of skills.
func (tc *Maker) policy(cfg config.Config, over settings.Overrides, root string, box confinement.Box, resolve func(string) permission.Path, readable []string) (*permission.Policy, error) {
	mode, err := permission.ParseMode(cmp.Or(over.Mode, cfg.Permissions.Mode))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	name := tc.settings.RulesFile()
	always, err := rules.Load(name, tc.settings.ReadRules)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	user, project := cfg.Permissions.User, cfg.Permissions.Project
	layers := []permission.Layer{
		{Name: user.File, Scope: permission.ScopeUser, Allow: user.Allow, Ask: user.Ask, Deny: user.Deny},
		{Name: project.File, Scope: permission.ScopeProject, Ask: project.Ask, Deny: project.Deny},
		always.Layer(name, root),
		{Name: "the command line", Scope: permission.ScopeUser, Allow: over.Allow, Deny: over.Deny},
	}
	for _, o := range cfg.Permissions.Others {
		layers = append(layers, permission.Layer{Name: o.File, Scope: permission.ScopeProject, Ask: o.Ask, Deny: o.Deny})
	}
	p, err := permission.Compile(permission.Config{Mode: mode, Layers: layers, Home: settings.Canonical(tc.settings.UserHome), Root: root, Resolve: resolve, Readable: readable, UID: os.Getuid(),
		Confined: box.Profile != nil, Unconfined: box.Missing})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return p, nil
}
