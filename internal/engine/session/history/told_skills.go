package history

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"scorel/protocol"
)

// deltaData is the data of a delta: the listing that it is about. A delta always says
// all that has changed since that listing, so the newest one says everything.
type deltaData struct {
	Listing string `json:"listing"` // the beginning of the SHA-256 of its content
}

// listingDelta returns what the model has to be told when it has the listing last and
// the skills are those of want; false when it knows. In a listing each line that
// begins with "- " is about one skill, whose name comes first.
func listingDelta(told Told, last, want protocol.Item) (protocol.Item, bool) {
	sum := sha256.Sum256([]byte(last.Content))
	of := hex.EncodeToString(sum[:8])
	known := "" // the delta that counts, as it was told
	if d, ok := told.Get(protocol.ItemSkillDelta); ok {
		var data deltaData
		if json.Unmarshal(d.Data, &data) == nil && data.Listing == of {
			known = d.Content
		}
	}
	text := changedLines(last.Content, want.Content)
	switch {
	case text == "" && known == "":
		return protocol.Item{}, false
	case text == "":
		text = "The skills are again as they were listed."
	case len(text)*4 >= len(want.Content)*3 && want.Content != "":
		return want, true // it says about as much; it replaces the listing, and what was said about that one
	}
	if text == known {
		return protocol.Item{}, false
	}
	data, err := json.Marshal(deltaData{of})
	if err != nil {
		return want, true
	}
	return protocol.Item{Kind: protocol.ItemSkillDelta, Origin: want.Origin, Visibility: want.Visibility, Content: text, Data: data}, true
}

// changedLines says how the skills of one listing differ from those of another, ""
// when they do not.
func changedLines(was, now string) string {
	old := map[string]string{}
	for name, line := range listed(was) {
		old[name] = line
	}
	var b strings.Builder
	for name, line := range listed(now) {
		if old[name] != line {
			b.WriteString("\n" + line)
		}
		delete(old, name)
	}
	text := ""
	if b.Len() > 0 {
		text = "These skills are new or have changed since they were listed:" + b.String()
	}
	var gone []string
	for name := range listed(was) {
		if _, ok := old[name]; ok {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		text = strings.TrimSpace(text + "\nThese skills are no longer there: " + strings.Join(gone, ", ") + ".")
	}
	return text
}

// listed yields the lines about skills of a listing with their names.
func listed(content string) func(yield func(name, line string) bool) {
	return func(yield func(name, line string) bool) {
		for line := range strings.Lines(content) {
			line = strings.TrimSuffix(line, "\n")
			rest, ok := strings.CutPrefix(line, "- ")
			if !ok {
				continue
			}
			name, _, _ := strings.Cut(rest, " ")
			if !yield(strings.TrimSuffix(name, ":"), line) {
				return
			}
		}
	}
}
