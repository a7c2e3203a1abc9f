package prompt

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Bounds of the instruction files that are told when their folders are touched.
const (
	maxNested       = 100      // files that one conversation is told, until the next compaction
	maxNestedFile   = 16 << 10 // bytes of one
	maxNestedItem   = 32 << 10 // bytes of all that one call brings
	nestedPercent   = 4        // of the window, for all that one call brings
	maxNestedLooked = 2_000    // folders that are looked at in a turn
)

const nestedHead = `Your calls have touched folders with instruction files of their own. They hold for what is in these folders, beside those that you were told of before. ` + projectText

// NestedConfig says where instruction files are looked for.
type NestedConfig struct {
	WorkDir string // where the session works: its folders upwards are in the system prompt
	Root    string // the workspace: absolute, without symlinks
	Home    string
	UID     int
	Window  int // of the model in tokens; 0: 200,000
}

// Nested finds the instruction files of folders that calls touch, for one turn: each is
// looked for once. It is for one goroutine.
type Nested struct {
	cfg    NestedConfig
	above  map[string]bool     // the folders of the system prompt
	looked map[string][]string // the instruction files that count in a folder, the nearest last
	empty  map[string]bool     // files that say nothing, or cannot be read
}

// NewNested makes a finder.
func NewNested(cfg NestedConfig) *Nested {
	return &Nested{cfg: cfg, looked: map[string][]string{}, empty: map[string]bool{}}
}

// nestedTold is the data of an item: the files that the conversation has been told.
type nestedTold struct {
	Files []string `json:"files"`
}

// Item returns what the model must be told of the folders of the files, and of the folder
// where commands run (dir, "" for none), when last is what it was told so before (nil for
// nothing). It is false when there is nothing. A file that is itself one of files is known
// to the model. Sentences are for people: what could not be read.
func (n *Nested) Item(files []string, dir string, last *protocol.Item) (item protocol.Item, sentences []string, ok bool) {
	var told nestedTold
	if last != nil && json.Unmarshal(last.Data, &told) != nil {
		told = nestedTold{} // told once more rather than never
	}
	var fresh []string
	folders := make([]string, 0, len(files)+1)
	for _, f := range files {
		folders = append(folders, filepath.Dir(f))
	}
	if dir != "" {
		folders = append(folders, dir)
	}
	for _, folder := range folders {
		for _, f := range n.find(folder) {
			if !n.empty[f] && !slices.Contains(told.Files, f) && !slices.Contains(fresh, f) && !slices.Contains(files, f) && len(told.Files)+len(fresh) < maxNested {
				fresh = append(fresh, f)
			}
		}
	}
	if len(fresh) == 0 {
		return item, nil, false
	}
	p := part{head: nestedHead}
	room := min(maxNestedItem, n.window()*nestedPercent/100*bytesPerToken)
	b := builder{cfg: Config{Home: n.cfg.Home, UID: n.cfg.UID}}
	for i, f := range fresh {
		text, _ := b.project(workspace.Upward(filepath.Dir(f), n.boundaries()).Tree, f)
		if text == "" {
			n.empty[f] = true
			continue
		}
		told.Files = append(told.Files, f)
		if most := min(maxNestedFile, room/(len(fresh)-i)); len(text) > most {
			text = head(text, most) + fmt.Sprintf("\n[cut here: Read gives the rest of %s]", inline(f))
		}
		room = max(0, room-len(text))
		p.sources = append(p.sources, source{path: f, tag: "project-instructions", content: text})
	}
	for _, notice := range b.notices {
		sentences = append(sentences, notice.Text)
	}
	if len(p.sources) == 0 {
		return item, sentences, false
	}
	data, _ := json.Marshal(told) // strings always can be
	return protocol.Item{Kind: protocol.ItemInstructions, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityHidden,
		Content: p.render(), Data: data}, sentences, true
}

func (n *Nested) boundaries() workspace.Boundaries {
	return workspace.Boundaries{Home: n.cfg.Home, UID: n.cfg.UID}
}

func (n *Nested) window() int {
	if n.cfg.Window <= 0 {
		return 200_000
	}
	return n.cfg.Window
}

// find returns the instruction files that count for a folder and that the system prompt
// does not have, the nearest last.
func (n *Nested) find(folder string) []string {
	if found, ok := n.looked[folder]; ok {
		return found
	}
	if len(n.looked) >= maxNestedLooked {
		return nil
	}
	if n.above == nil {
		n.above = map[string]bool{}
		for _, dir := range workspace.Upward(n.cfg.WorkDir, n.boundaries()).Dirs {
			n.above[dir] = true
		}
	}
	var found []string
	for _, dir := range workspace.Upward(folder, n.boundaries()).Dirs {
		if n.above[dir] || !strings.HasPrefix(dir, strings.TrimSuffix(n.cfg.Root, "/")+"/") {
			continue
		}
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
			if f := filepath.Join(dir, name); exists(f) {
				found = append(found, f)
				break // CLAUDE.md counts only where there is no AGENTS.md
			}
		}
	}
	n.looked[folder] = found
	return found
}
