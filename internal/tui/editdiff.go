package tui

import (
	"encoding/json"
	"strings"
)

// editDiff gives what a call would change, as a unified diff without line numbers of the
// file, which the call does not know; "" when the call edits nothing that way.
func editDiff(tool string, args json.RawMessage) (text, path string) {
	var in struct {
		Path      string `json:"path"`
		FilePath  string `json:"file_path"`
		Content   string `json:"content"`
		OldString string `json:"old_string"`
		NewString string `json:"new_string"`
		Edits     []struct {
			OldString string `json:"old_string"`
			NewString string `json:"new_string"`
		} `json:"edits"`
	}
	if json.Unmarshal(args, &in) != nil {
		return "", ""
	}
	path = in.Path + in.FilePath
	var b strings.Builder
	hunk := func(from, to string) {
		b.WriteString("@@ -1,1 +1,1 @@\n")
		lines(&b, "-", from)
		lines(&b, "+", to)
	}
	switch {
	case path == "":
	case tool == "Write" && in.Content != "":
		lines(&b, "+", in.Content)
		return "--- /dev/null\n+++ " + path + "\n@@ -0,0 +1 @@\n" + b.String(), path
	case tool == "Edit" && in.OldString != in.NewString:
		hunk(in.OldString, in.NewString)
	case len(in.Edits) > 0:
		for _, e := range in.Edits {
			hunk(e.OldString, e.NewString)
		}
	}
	return b.String(), path
}

func lines(b *strings.Builder, mark, text string) {
	for l := range strings.Lines(text) {
		b.WriteString(mark + strings.TrimSuffix(l, "\n") + "\n")
	}
}
