package trust

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Kind returns how an item could act.
type Kind string

// The kinds, in the order in which they are listed.
const (
	KindConfig    Kind = "config"    // .scorel/config.toml
	KindSettings  Kind = "settings"  // .claude/settings.json, .claude/settings.local.json with hooks
	KindHook      Kind = "hook"      // a file that a hook command of these names
	KindMCP       Kind = "mcp"       // .scorel/mcp.json, .mcp.json and those of Cursor and VS Code
	KindProgram   Kind = "program"   // a file that the command of a server of these names
	KindAgent     Kind = "agent"     // .scorel/agents/*.md, .claude/agents/*.md
	KindCommand   Kind = "command"   // .scorel/commands/*.md and .claude/commands/*.md with shell lines
	KindSkill     Kind = "skill"     // the folder of a skill with an entry
	KindExtension Kind = "extension" // .scorel/extensions
	KindHeartbeat Kind = "heartbeat" // .scorel/autonomy/HEARTBEAT.md, with the AGENTS.md beside it
	KindTemplate  Kind = "template"  // .scorel/templates/*.md, from which jobs are made
)

func (k Kind) rank() int {
	return slices.Index([]Kind{KindConfig, KindSettings, KindHook, KindMCP, KindProgram, KindAgent, KindCommand, KindSkill, KindExtension, KindHeartbeat, KindTemplate}, k)
}

// Status returns the state of an item.
type Status string

// The states of an item. Only the first lets it act.
const (
	StatusTrusted   Status = "trusted"
	StatusChanged   Status = "changed"   // it was trusted, with other files
	StatusNew       Status = "new"       // the folder is trusted, but not this
	StatusUntrusted Status = "untrusted" // nothing of the folder is trusted
)

// File is a file of an item. Names have slashes and are relative to the project.
type File struct {
	Name   string
	Target string // what Name resolves to, "" when that is Name
	SHA256 string // lower-case hex
	Size   int64  // bytes
	Change string // of a changed item: "changed", "new", or "" when it is as it was

	stat stat
}

// Item is what is trusted, or not, as a whole.
type Item struct {
	Kind   Kind
	Name   string // its file or folder
	Status Status
	// Problem says why it cannot be trusted, as the end of a sentence that begins
	// with Name; "" when it can.
	Problem string
	Does    []string // what it would do, for people, in lines of text from the project: at most 10, of servers and the tasks of heartbeats one or two each
	Files   []File   // sorted by name; empty with a Problem
	Gone    []string // of a changed item: files that were trusted and are not there

	project *project
}

// Report is the state of a project.
type Report struct {
	Root      string
	TrustedAt time.Time // of the folder; zero when nothing of it is trusted
	Items     []Item    // sorted by kind and name
	// Hash names exactly the list of items that can be trusted with all their
	// files, in whatever order the file system has them.
	Hash string
	// Problem is a sentence that says why nothing of the project can be trusted;
	// Items are empty then.
	Problem string
	// Warning is a sentence about trust.json itself, "" when it is well.
	Warning string
}

// Find returns an item, nil when there is none.
func (r *Report) Find(kind Kind, name string) *Item {
	for i := range r.Items {
		if r.Items[i].Kind == kind && r.Items[i].Name == name {
			return &r.Items[i]
		}
	}
	return nil
}

func (r *Report) finish() {
	slices.SortFunc(r.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Kind.rank(), b.Kind.rank()), strings.Compare(a.Name, b.Name))
	})
	h := sha256.New()
	put := func(parts ...string) {
		var n [8]byte
		for _, p := range parts {
			binary.BigEndian.PutUint64(n[:], uint64(len(p)))
			h.Write(n[:])
			h.Write([]byte(p))
		}
	}
	put("scorel-trust-1", r.Root)
	for _, it := range r.Items {
		if it.Problem != "" {
			continue
		}
		put("item", string(it.Kind), it.Name)
		for _, f := range it.Files {
			put("file", f.Name, f.Target, f.SHA256)
		}
	}
	r.Hash = hex.EncodeToString(h.Sum(nil))
}

// judge compares an item with what was trusted of it; had says that the folder
// is trusted at all.
func (it *Item) judge(rec *itemRecord, had bool) {
	switch {
	case !had:
		it.Status = StatusUntrusted
	case rec == nil:
		it.Status = StatusNew
	case it.Problem != "":
		it.Status = StatusChanged
	default:
		it.Status = StatusTrusted
		there := 0
		for i := range it.Files {
			f := &it.Files[i]
			old := rec.file(f.Name)
			switch {
			case old == nil:
				f.Change = "new"
			case old.SHA256 != f.SHA256 || old.Target != f.Target:
				f.Change, there = "changed", there+1
			default:
				there++
			}
			if f.Change != "" {
				it.Status = StatusChanged
			}
		}
		if there < len(rec.Files) {
			it.Status = StatusChanged
			for _, old := range rec.Files {
				if !slices.ContainsFunc(it.Files, func(f File) bool { return f.Name == old.Name }) {
					it.Gone = append(it.Gone, old.Name)
				}
			}
		}
	}
}
