package turnconfig

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"scorel/internal/engine/model/catalog"
	"scorel/internal/extension"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// MayBeProvided reports whether the model of a session that is not open may be one that an
// extension registers when the session starts: it is named provider/id, Scorel does not know
// the provider, and the user has an extension.
func (tc *Maker) MayBeProvided(ctx context.Context, id protocol.SessionID, meta protocol.Meta) bool {
	if tc.extensions.Of(id) != nil { // its extensions have been started, and have none of this name
		return false
	}
	root, _ := workspace.Root(meta.WorkDir, tc.settings.UserHome)
	cfg, err := tc.settings.Load(root)
	if err != nil {
		return false
	}
	provider, _, named := strings.Cut(cmp.Or(tc.settings.Overrides.Model, meta.Model, cfg.Model.Name), "/")
	if _, known := catalog.FindProvider(provider); known || !named || strings.Contains(provider, ":") {
		return false
	}
	return slices.ContainsFunc(tc.extensions.Find(ctx, root).Extensions, func(e extension.Extension) bool {
		return e.Scope == extension.User && e.State == protocol.ExtensionFound
	})
}
