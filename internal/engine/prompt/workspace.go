package prompt

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const (
	maxNames   = 100    // names of the workspace that are shown
	maxEntries = 20_000 // entries of it that are read
)

// workspace lists the names at the top of the workspace. Names alone are the
// project's text too, so they are cleaned.
func (b *builder) workspace() part {
	p := part{name: "workspace", priority: priorityWorkspace}
	f, err := os.Open(b.cfg.Root)
	if err != nil {
		b.note("The workspace %s is not listed: %s.", b.cfg.Root, reason(err))
		return p
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxEntries) // an error ends the list, which is only a hint
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var names []string
	more := 0
	for _, e := range entries {
		name := e.Name()
		if name == ".git" {
			continue
		}
		if len(names) == maxNames {
			more++
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		names = append(names, inline(name))
	}
	if len(names) == 0 {
		p.text = "# Workspace\nThe workspace is empty."
	} else {
		p.text = "# Workspace\nAt the top, when the session began:\n<workspace-files>\n" + strings.Join(names, "\n") + "\n</workspace-files>"
		if more > 0 {
			p.text += fmt.Sprintf("\nand %d more", more)
		}
	}
	p.sources = []source{{path: b.cfg.Root, scope: "project", content: p.text}}
	return p
}
