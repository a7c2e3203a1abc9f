package display

import (
	"path/filepath"

	"scorel/protocol"
)

// Below returns the folder of the first of sessions that works below dir, relative to dir
// and safe to show, "" when none does. Paths are taken as they are.
func Below(sessions []protocol.SessionSummary, dir string) string {
	for _, s := range sessions {
		if rel, err := filepath.Rel(dir, s.Meta.WorkDir); err == nil && rel != "." && filepath.IsLocal(rel) {
			return Line(rel)
		}
	}
	return ""
}
