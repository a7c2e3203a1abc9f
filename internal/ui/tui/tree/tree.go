package tree

import (
	"strings"
	"time"

	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
)

// Filter says what is shown.
type Filter int

// The filters, in the order in which they follow each other.
const (
	Default  Filter = iota // all that people navigate by
	NoTools                // without calls and results
	UserOnly               // what the person said
	Labelled               // what has a name
	All                    // every event of the conversation
	filters
)

// String names the filter.
func (f Filter) String() string {
	switch f {
	case NoTools:
		return "no tools"
	case UserOnly:
		return "your messages"
	case Labelled:
		return "named"
	case All:
		return "everything"
	}
	return "messages"
}

// Config is how a tree begins.
type Config struct {
	Now      func() time.Time // for times; nil is time.Now
	Location *time.Location   // of times; nil is the local one
	Keys     *keymap.Map      // for the hints of the last line; nil: there are none
	// Summaries says that a branch that is left can be summarised.
	Summaries bool
}

// Tree is the navigator.
type Tree struct {
	cfg Config
	known

	filter Filter
	times  bool
	search field.Field
	folds  map[int32]bool // heads of branches that were folded or unfolded by hand
	on     int32          // the node that is on, -1 for none
	moved  bool           // somebody has moved; until then the leaf is on

	layout
	stale bool // the layout is not that of what is above

	first int // the first row that is seen
	seen  int // how many are seen

	asking
}

// known is what is known of the log.
type known struct {
	nodes   []node
	index   map[protocol.EventID]int32
	labels  map[protocol.EventID]string
	leaf    protocol.EventID
	through protocol.Seq
	cut     bool // there are more than MaxNodes
	loading bool
}

// asking is what is asked before the conversation moves.
type asking struct {
	step  step
	menu  []option
	menuN int
	going Go
	label field.Field
	words field.Field // instructions for a summary
}

// New makes an empty tree.
func New(cfg Config) *Tree {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Location == nil {
		cfg.Location = time.Local
	}
	t := &Tree{cfg: cfg, known: known{index: map[protocol.EventID]int32{}, labels: map[protocol.EventID]string{}}, folds: map[int32]bool{}, on: -1, stale: true}
	t.words.Placeholder = "what the summary should keep"
	t.label.Max = protocol.MaxLabel
	return t
}

// SetLoading reports whether further events are on their way.
func (t *Tree) SetLoading(on bool) { t.loading = on }

// Add takes in persistent events in the order of the log. Those that it has, by their
// seq, and transient ones change nothing.
func (t *Tree) Add(events []protocol.Event) {
	if t.nodes == nil {
		t.nodes = make([]node, 0, len(events))
	}
	for i := range events {
		e := &events[i]
		if e.Seq <= t.through || e.IsTransient() {
			continue
		}
		t.through = e.Seq
		t.stale = true
		if leaf, moves := e.Leaf(); moves {
			t.moveTo(leaf)
			continue
		}
		if b, ok := e.Body.(*protocol.Label); ok {
			t.name(b)
			continue
		}
		if e.Class() == protocol.Conversation {
			t.add(e)
		}
	}
}

// moveTo follows a change of the leaf; an id that is not known changes nothing.
func (t *Tree) moveTo(id protocol.EventID) {
	if _, ok := t.index[id]; ok || id == "" {
		t.leaf = id
	}
}

func (t *Tree) name(b *protocol.Label) {
	if b.Label == nil || len(*b.Label) > protocol.MaxLabel {
		delete(t.labels, b.TargetEventID)
	} else {
		t.labels[b.TargetEventID] = *b.Label
	}
}

// add takes in a conversation event. One whose parent is missing hangs on the one
// before it in the log, as in a log that was damaged.
func (t *Tree) add(e *protocol.Event) {
	if len(t.nodes) >= MaxNodes {
		t.cut = true
		return
	}
	at := int32(len(t.nodes))
	if _, twice := t.index[e.ID]; twice {
		return
	}
	n := nodeOf(e)
	n.parent = at - 1 // mostly the right one
	if e.ParentID == "" {
		n.parent = -1
	} else if at == 0 || t.nodes[at-1].id != e.ParentID {
		if p, ok := t.index[e.ParentID]; ok {
			n.parent = p
		}
	}
	t.index[e.ID] = at
	t.nodes = append(t.nodes, n)
	t.leaf = e.ID
}

// Leaf is where the conversation is, "" for the empty one.
func (t *Tree) Leaf() protocol.EventID { return t.leaf }

// Len is how many conversation events there are.
func (t *Tree) Len() int { return len(t.nodes) }

// Path returns the active path, the first event first.
func (t *Tree) Path() []protocol.EventID {
	var path []protocol.EventID
	i, ok := t.index[t.leaf]
	for ok && i >= 0 {
		path = append(path, t.nodes[i].id)
		i = t.nodes[i].parent
	}
	for a, b := 0, len(path)-1; a < b; a, b = a+1, b-1 {
		path[a], path[b] = path[b], path[a]
	}
	return path
}

// On is the event that is on, "" when none is.
func (t *Tree) On() protocol.EventID {
	t.lay()
	if t.on < 0 {
		return ""
	}
	return t.nodes[t.on].id
}

// shows reports whether a node passes the filter and what is searched for.
func (t *Tree) shows(n *node, search string) bool {
	switch t.filter {
	case Default:
		if n.kind == note || n.kind == other {
			return false
		}
	case NoTools:
		if n.kind == note || n.kind == other || n.kind == result || n.kind == calls {
			return false
		}
	case UserOnly:
		if n.kind != user {
			return false
		}
	case Labelled:
		if _, ok := t.labels[n.id]; !ok {
			return false
		}
	}
	if search == "" {
		return true
	}
	for word := range strings.FieldsSeq(search) {
		if !strings.Contains(strings.ToLower(n.line()), word) && !strings.Contains(strings.ToLower(t.labels[n.id]), word) {
			return false
		}
	}
	return true
}
