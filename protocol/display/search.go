package display

import (
	"fmt"
	"strings"

	"scorel/protocol"
)

// maxUnsearched is how many sessions a sentence of [Unsearched] names.
const maxUnsearched = 3

// Unsearched says, a sentence each, what a search could not look into.
func Unsearched(r *protocol.SearchResult) (texts []string) {
	for _, of := range []struct {
		ids  []protocol.SessionID
		what string
	}{
		{r.Unreadable, "could not be searched, because they cannot be read"},
		{r.Damaged, "have damaged lines, which could not be searched"},
	} {
		if len(of.ids) == 0 {
			continue
		}
		var names []string
		for _, id := range of.ids[:min(len(of.ids), maxUnsearched)] {
			names = append(names, Line(string(id)))
		}
		if len(of.ids) > maxUnsearched {
			names = append(names, "…")
		}
		texts = append(texts, fmt.Sprintf("Sessions that %s: %d (%s). scorel sessions verify SESSION shows why.", of.what, len(of.ids), strings.Join(names, ", ")))
	}
	return texts
}
