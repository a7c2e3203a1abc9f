package tree

import (
	"strings"

	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
)

// Kind says what a person wants of a tree.
type Kind int

// The kinds.
const (
	Nothing Kind = iota
	Closed
	Moves  // as Go says
	Labels // Event is to be called Label, nil takes its name away
)

// Outcome is what a person wants of a tree.
type Outcome struct {
	Kind  Kind
	Go    Go
	Event protocol.EventID
	Label *string
}

// Go is a move of the conversation.
type Go struct {
	// Target is the new leaf, "" the empty conversation.
	Target protocol.EventID
	// Rewind says that the target is on the active path and one to rewind to; otherwise
	// it is a branch.
	Rewind bool
	// Text is the message of the person whose text goes to the editor, "" for none. Its
	// content is the first event of get_path with it as the leaf.
	Text         protocol.EventID
	RestoreFiles bool
	Summarise    bool
	Instructions string // for the summary
}

// Request returns the request of the move. Leaf is the leaf that the person saw; cancel,
// when not empty, the turn that is to be cancelled first.
func (g Go) Request(leaf protocol.EventID, cancel protocol.TurnID) protocol.Request {
	summarise := ""
	if g.Summarise {
		summarise = protocol.SummariseBranch
	}
	if !g.Rewind && g.Target != "" {
		return &protocol.BranchTo{LeafEventID: g.Target, ExpectedLeafID: &leaf, CancelFirst: cancel, Summarise: summarise, Instructions: g.Instructions}
	}
	r := &protocol.RewindTo{ExpectedLeafID: &leaf, RestoreFiles: g.RestoreFiles, CancelFirst: cancel, Summarise: summarise, Instructions: g.Instructions}
	if g.Target != "" {
		r.TargetEventID = &g.Target
	}
	return r
}

// step is what the keys are for.
type step int

const (
	browse  step = iota
	choose       // one of menu
	naming       // a label is typed
	wording      // instructions for a summary are typed
)

// option is an entry of the menu.
type option struct {
	label string
	pick  func(t *Tree) Outcome
}

// Places says where keys count: in a tree, and while a line is typed first of all in the
// editor.
func (t *Tree) Places() []keymap.Place {
	if t.step == naming || t.step == wording {
		return []keymap.Place{keymap.Editor, keymap.List}
	}
	return []keymap.Place{keymap.Tree, keymap.List, keymap.Editor}
}

// Do does an action of these places.
func (t *Tree) Do(a keymap.Action) Outcome {
	t.lay()
	switch t.step {
	case choose:
		return t.doMenu(a)
	case naming:
		return t.doNaming(a)
	case wording:
		return t.doWording(a)
	}
	if t.moves(a) {
		return Outcome{}
	}
	switch a {
	case keymap.ListPick, keymap.Submit:
		t.open()
	case keymap.ListClose, keymap.Cancel:
		if t.search.Text() == "" {
			return Outcome{Kind: Closed}
		}
		t.search.Set("")
		t.stale = true
	case keymap.TreeFold:
		t.fold()
	case keymap.TreeUnfold:
		t.unfold()
	case keymap.TreeFilter:
		t.filter, t.stale = (t.filter+1)%filters, true
	case keymap.TreeFilterBack:
		t.filter, t.stale = (t.filter+filters-1)%filters, true
	case keymap.TreeTimes:
		t.times = !t.times
	case keymap.TreeLabel:
		if t.on >= 0 {
			t.step = naming
			t.label.Set(t.labels[t.nodes[t.on].id])
		}
	default:
		before := t.search.Text()
		t.search.Do(a)
		t.stale = t.stale || t.search.Text() != before
	}
	return Outcome{}
}

// moves does an action that moves among the rows; false for others.
func (t *Tree) moves(a keymap.Action) bool {
	switch a {
	case keymap.ListUp, keymap.Up:
		t.to(t.at() - 1)
	case keymap.ListDown, keymap.Down:
		t.to(t.at() + 1)
	case keymap.ListPageUp:
		t.to(t.at() - max(1, t.seen-1))
	case keymap.ListPageDown:
		t.to(t.at() + max(1, t.seen-1))
	case keymap.ListTop:
		t.to(0)
	case keymap.ListBottom:
		t.to(len(t.rows) - 1)
	default:
		return false
	}
	return true
}

// doNaming does an action while a label is typed.
func (t *Tree) doNaming(a keymap.Action) Outcome {
	switch a {
	case keymap.ListPick, keymap.Submit:
		t.step = browse
		out := Outcome{Kind: Labels, Event: t.nodes[t.on].id}
		if name := strings.TrimSpace(t.label.Text()); name != "" {
			out.Label = &name
		}
		return out
	case keymap.ListClose, keymap.Cancel:
		t.step = browse
	default:
		t.label.Do(a)
	}
	return Outcome{}
}

// doWording does an action while the instructions for a summary are typed.
func (t *Tree) doWording(a keymap.Action) Outcome {
	switch a {
	case keymap.ListPick, keymap.Submit:
		t.going.Summarise, t.going.Instructions = true, strings.TrimSpace(t.words.Text())
		return t.goes()
	case keymap.ListClose, keymap.Cancel:
		t.step = choose
	default:
		t.words.Do(a)
	}
	return Outcome{}
}

// Insert takes text that was typed: it is searched for, or goes to the line that is
// typed in.
func (t *Tree) Insert(text string) Outcome {
	t.lay()
	switch t.step {
	case naming:
		t.label.Insert(text)
	case wording:
		t.words.Insert(text)
	case choose:
		if len(text) == 1 && text[0] >= '1' && int(text[0]-'1') < len(t.menu) {
			return t.menu[text[0]-'1'].pick(t)
		}
	default:
		t.search.Insert(text)
		t.stale = true
	}
	return Outcome{}
}

// Paste takes text that was pasted. It picks nothing.
func (t *Tree) Paste(text string) {
	if t.step != choose {
		t.Insert(text)
	}
}

// SetFilter changes what is shown.
func (t *Tree) SetFilter(f Filter) { t.filter, t.stale = f, true }

// at returns the row that is on.
func (t *Tree) at() int {
	if t.on < 0 {
		return 0
	}
	return int(t.rowOf[t.on])
}

func (t *Tree) to(i int) {
	if len(t.rows) > 0 {
		t.on, t.moved = t.rows[max(0, min(i, len(t.rows)-1))].node, true
	}
}

// fold folds the branch that is on, or goes to where its part of the conversation
// begins.
func (t *Tree) fold() {
	if t.on < 0 {
		return
	}
	i := t.at()
	if l := t.rows[i]; l.head && l.more == 0 && t.follows(i) && t.search.Text() == "" {
		t.folds[l.node], t.moved, t.stale = true, true, true
		return
	}
	for i--; i > 0 && !t.rows[i].head && !t.rows[i].fork; i-- {
	}
	t.to(i)
}

// follows reports whether something hangs below the head at a row.
func (t *Tree) follows(i int) bool {
	return i+1 < len(t.rows) && t.rows[i+1].depth >= t.rows[i].depth && (!t.rows[i+1].head || t.rows[i+1].depth > t.rows[i].depth)
}

// unfold unfolds the branch that is on, or goes to the next place where something
// branches.
func (t *Tree) unfold() {
	if t.on < 0 {
		return
	}
	i := t.at()
	if l := t.rows[i]; l.more > 0 {
		t.folds[l.node], t.moved, t.stale = false, true, true
		return
	}
	for i++; i < len(t.rows)-1 && !t.rows[i].head && !t.rows[i].fork; i++ {
	}
	t.to(i)
}

// open offers what can be done with the event that is on.
func (t *Tree) open() {
	if t.on < 0 {
		return
	}
	n := &t.nodes[t.on]
	base := Go{Target: n.id, Rewind: t.active[t.on] && t.rewindable(t.on)}
	what := "Continue from here"
	if n.kind == user {
		base = Go{Text: n.id, Rewind: t.active[t.on]}
		if n.parent >= 0 {
			base.Target = t.nodes[n.parent].id
		} else {
			base.Rewind = true // to the empty conversation
		}
		what = "Edit this message and send it again"
	}
	add := func(label string, g Go) {
		t.menu = append(t.menu, option{label, func(t *Tree) Outcome { return t.chosen(g) }})
	}
	t.menu, t.menuN, t.step = nil, 0, choose
	if n.id == t.leaf && n.kind != user {
		t.menu = append(t.menu, option{"The conversation is here already", func(t *Tree) Outcome { t.step = browse; return Outcome{} }})
		return
	}
	add(what, base)
	if base.Rewind {
		files := base
		files.RestoreFiles = true
		add(what+", with the files as they were", files)
	}
	if n.kind == user && n.id != t.leaf {
		// To stand after the message: the model has not answered it yet.
		add("Continue from after this message", Go{Target: n.id, Rewind: t.active[t.on]})
	}
}

// rewindable reports whether a rewind to a node is allowed: not between a call and its
// results.
func (t *Tree) rewindable(i int32) bool {
	n := &t.nodes[i]
	switch n.kind {
	case user, compaction, summary:
		return true
	case said, calls:
		return !n.calls
	case result:
		// Of results the last one: what follows on the path is none.
		for k := t.index[t.leaf]; k >= 0; k = t.nodes[k].parent {
			if t.nodes[k].parent == i {
				return t.nodes[k].kind != result
			}
		}
	}
	return false
}

// chosen asks about a summary of what is left, when something is.
func (t *Tree) chosen(g Go) Outcome {
	t.going = g
	if !t.cfg.Summaries || !t.abandons(g.Target) {
		return t.goes()
	}
	t.menuN = 0
	t.menu = []option{
		{"Leave the rest without a summary", (*Tree).goes},
		{"Summarise what is left behind", func(t *Tree) Outcome { t.going.Summarise = true; return t.goes() }},
		{"Summarise it, with instructions", func(t *Tree) Outcome { t.step = wording; t.words.Set(""); return Outcome{} }},
	}
	return Outcome{}
}

// leaves reports whether a move to target leaves something after.
func (t *Tree) abandons(target protocol.EventID) bool {
	i, ok := t.index[target]
	if !ok {
		return t.leaf != ""
	}
	for ; i >= 0; i = t.nodes[i].parent {
		if t.nodes[i].id == t.leaf {
			return false
		}
	}
	return true
}

func (t *Tree) goes() Outcome {
	t.step = browse
	return Outcome{Kind: Moves, Go: t.going}
}

func (t *Tree) doMenu(a keymap.Action) Outcome {
	switch a {
	case keymap.ListUp, keymap.Up:
		t.menuN = (t.menuN + len(t.menu) - 1) % len(t.menu)
	case keymap.ListDown, keymap.Down:
		t.menuN = (t.menuN + 1) % len(t.menu)
	case keymap.ListPick, keymap.Submit:
		return t.menu[t.menuN].pick(t)
	case keymap.ListClose, keymap.Cancel:
		t.step = browse
	}
	return Outcome{}
}
