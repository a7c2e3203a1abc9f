package tool

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"scorel/internal/engine/permission"
)

// nameFilter returns the test for a glob of Glob and Grep against a path relative
// to the searched folder. A glob without a slash is for names in every folder.
// depth is how deep it can match, 0 for any.
func nameFilter(glob string) (keep func(rel string) bool, depth int, err error) {
	if !doublestar.ValidatePattern(glob) {
		return nil, 0, fmt.Errorf("the glob %q is not valid: check its brackets and braces", glob)
	}
	if permission.Alternatives(glob) > permission.MaxAlternatives {
		return nil, 0, fmt.Errorf("the glob has more than %d alternatives in its braces; search for less at once", permission.MaxAlternatives)
	}
	if !strings.Contains(glob, "/") && glob != "**" {
		return func(rel string) bool { return doublestar.MatchUnvalidated(glob, path.Base(rel)) }, 0, nil
	}
	glob = strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
	if !strings.Contains(glob, "**") && !strings.Contains(glob, "{") {
		depth = strings.Count(glob, "/") + 1
	}
	return func(rel string) bool { return doublestar.MatchUnvalidated(glob, rel) }, depth, nil
}
