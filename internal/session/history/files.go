package history

import (
	"encoding/json"
	"slices"
	"strings"

	"scorel/protocol"
)

// maxDetailFiles is how many files of each kind a compact event keeps.
const maxDetailFiles = 200

// touchedFiles lists the files that successful Read, Write and Edit calls of the
// list named, newest first, with those of the compaction before behind them. A
// file that was modified is not among the read ones. It is nil without any.
func touchedFiles(list []Element, earlier *protocol.CompactDetails) *protocol.CompactDetails {
	var d protocol.CompactDetails
	seen := map[string]bool{}
	add := func(to *[]string, path string) {
		if path != "" && !seen[path] && len(*to) < maxDetailFiles {
			seen[path] = true
			*to = append(*to, path)
		}
	}
	reads := []string{}
	failed := map[string]bool{}
	for i := len(list) - 1; i >= 0; i-- {
		m := list[i].Message
		if m.Role == protocol.RoleToolResult {
			if m.IsError {
				failed[m.ToolCallID] = true
			} else {
				delete(failed, m.ToolCallID)
			}
			continue
		}
		for j := len(m.Content) - 1; j >= 0; j-- {
			b := &m.Content[j]
			if b.Type != protocol.BlockToolUse || failed[b.ID] {
				continue
			}
			switch b.Name {
			case "Write", "Edit":
				add(&d.ModifiedFiles, pathOf(b.Input))
			case "Read":
				reads = append(reads, pathOf(b.Input))
			}
		}
	}
	if earlier != nil {
		for _, f := range earlier.ModifiedFiles {
			add(&d.ModifiedFiles, f)
		}
		reads = slices.Concat(reads, earlier.ReadFiles)
	}
	for _, f := range reads {
		if !strings.HasPrefix(f, resultPrefix) {
			add(&d.ReadFiles, f)
		}
	}
	if len(d.ReadFiles)+len(d.ModifiedFiles) == 0 {
		return nil
	}
	return &d
}

// pathOf gives the path in the input of a file tool, "" without one.
func pathOf(input json.RawMessage) string {
	var in struct {
		Path     string `json:"path"`
		FilePath string `json:"file_path"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	if in.Path != "" {
		return in.Path
	}
	return in.FilePath
}
