package question

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"scorel/protocol"
)

// editDiff returns what a call would change as hunks of a unified diff; "" when the call
// edits nothing that way. Every line of the call is in it. Numbers says that those of
// its lines are those of the file, which an edit does not know.
func editDiff(tool string, args json.RawMessage) (text, path string, numbers bool) {
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
		return "", "", false
	}
	path = in.Path + in.FilePath
	changes := protocol.ViewOf(tool) == protocol.ViewChange
	var b strings.Builder
	switch {
	case path == "":
	case changes && in.Content != "":
		hunk(&b, "", in.Content)
		return b.String(), path, true
	case changes && in.OldString != in.NewString:
		hunk(&b, in.OldString, in.NewString)
	case len(in.Edits) > 0:
		for _, e := range in.Edits {
			hunk(&b, e.OldString, e.NewString)
		}
	}
	return b.String(), path, false
}

// hunk writes what is other in a text. The lines that are the same at its beginning and
// end stand around that.
func hunk(b *strings.Builder, from, to string) {
	was, is := split(from), split(to)
	n, end := 0, 0
	for n < min(len(was), len(is)) && was[n] == is[n] {
		n++
	}
	for end < min(len(was), len(is))-n && was[len(was)-1-end] == is[len(is)-1-end] {
		end++
	}
	// Without the right counts a line such as "-- x" would be read as the head of a file.
	fmt.Fprintf(b, "@@ -1,%d +1,%d @@\n", len(was), len(is))
	for _, part := range []struct {
		mark  string
		lines []string
	}{{" ", was[:n]}, {"-", was[n : len(was)-end]}, {"+", is[n : len(is)-end]}, {" ", was[len(was)-end:]}} {
		for _, l := range part.lines {
			b.WriteString(part.mark + strings.TrimSuffix(l, "\n") + "\n")
		}
	}
}

// split returns the lines of a text, each with its end.
func split(text string) []string { return slices.Collect(strings.Lines(text)) }
