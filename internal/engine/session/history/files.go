package history

import (
	"encoding/json"
	"slices"
	"strings"

	"scorel/protocol"
)

// maxDetailFiles is how many files of each kind a compact event keeps.
const maxDetailFiles = 200

// touched collects the files that successful calls of file tools named. It is
// given messages newest first; the zero value is empty. It keeps a bounded number of
// them, the newest.
type touched struct {
	modified, read []string
	seen           map[string]bool // those that are in modified or read
	failed         map[string]bool // calls whose result is an error
}

// maxReadFiles is how many files that were read are kept until it is known which of
// them were modified too, and so are not listed as read.
const maxReadFiles = 2 * maxDetailFiles

// older takes in the message before those it has seen.
func (t *touched) older(m *protocol.Message) {
	if m.Role == protocol.RoleToolResult {
		if !m.IsError {
			delete(t.failed, m.ToolCallID)
			return
		}
		if t.failed == nil {
			t.failed = map[string]bool{}
		}
		t.failed[strings.Clone(m.ToolCallID)] = true
		return
	}
	for i := len(m.Content) - 1; i >= 0; i-- {
		b := &m.Content[i]
		if b.Type != protocol.BlockToolUse {
			continue
		}
		failed := t.failed[b.ID]
		delete(t.failed, b.ID) // the call that it answers
		if failed {
			continue
		}
		switch info := protocol.FindTool(b.Name); {
		case info.Tells != protocol.TellsFiles:
		case info.Kind == protocol.ToolWrites:
			t.add("modified ", &t.modified, maxDetailFiles, pathOf(b.Input))
		default:
			t.add("read ", &t.read, maxReadFiles, pathOf(b.Input))
		}
	}
}

func (t *touched) add(kind string, to *[]string, most int, path string) {
	if path == "" || len(*to) >= most || t.seen[kind+path] {
		return
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[kind+path] = true
	*to = append(*to, path)
}

// details lists the files, newest first, with those of older collections and of the
// compaction before after them. A file that was modified is not among the read ones. It
// is nil without any.
func (t *touched) details(older *touched, earlier *protocol.CompactDetails) *protocol.CompactDetails {
	var d protocol.CompactDetails
	seen := map[string]bool{}
	add := func(to *[]string, path string) {
		if path != "" && !seen[path] && len(*to) < maxDetailFiles {
			seen[path] = true
			*to = append(*to, path)
		}
	}
	modified, read := slices.Concat(t.modified, older.modified), slices.Concat(t.read, older.read)
	if earlier != nil {
		modified, read = append(modified, earlier.ModifiedFiles...), append(read, earlier.ReadFiles...)
	}
	for _, f := range modified {
		add(&d.ModifiedFiles, f)
	}
	for _, f := range read {
		if !strings.HasPrefix(f, resultPrefix) {
			add(&d.ReadFiles, f)
		}
	}
	if len(d.ReadFiles)+len(d.ModifiedFiles) == 0 {
		return nil
	}
	return &d
}

// touchedFiles collects those of a list.
func touchedFiles(list []Element) *touched {
	t := &touched{}
	for i := len(list) - 1; i >= 0; i-- {
		t.older(list[i].Message)
	}
	return t
}

// pathOf returns the path in the input of a file tool, "" without one.
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
