package list

import (
	"slices"
	"strings"

	"scorel/internal/platform/lru"
	"scorel/internal/text/fuzzy"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds. MaxItems is how many items a list has: whoever has more shows the first and
// gives others for what is typed.
const (
	MaxItems        = 20_000
	maxPreviews     = 64    // of items that were looked into
	maxPreviewLines = 1_000 // of one of them
	maxItemText     = 2_000 // bytes of each text of an item
)

// Tone says how a mark is coloured.
type Tone int

// The tones.
const (
	Quiet Tone = iota
	Good
	Active
	Bad
	Warn
)

// Item is one row. ID is another for each; the others are text.
type Item struct {
	ID     string
	Title  string
	Detail string // after the title where there is room; with TwoLines in a line below
	// Snippet, when there is one, is in place of Detail: the place that a search of
	// the caller found.
	Snippet []protocol.SnippetPart
	Right   string // at the right end: an age, a state
	Group   string // a heading above the items of the group, which stand side by side
	Mark    string // one or two cells before the title: running, asking
	Tone    Tone   // of the mark
	Search  string // is found and not shown
	Color   string // of the title, as of an agent; "" for the usual
	// Disabled says why the item cannot be picked, "" when it can.
	Disabled string
}

// Can is what may be done with items besides picking them.
type Can int

// The abilities; a list may have several.
const (
	Filter  Can = 1 << iota // typing shows the items that match
	Query                   // typing is told to the caller, who gives other items (with Filter: in addition)
	Multi                   // several may be picked
	Preview                 // items can be looked into
	Delete                  // asked for once more
	Rename
	Reorder
	Edit // ListEdit: take the item out to edit it
)

// Config is how a list begins.
type Config struct {
	Title  string
	Items  []Item
	Can    Can
	Typed  string   // what is in the filter at first
	On     string   // the ID that is on at first
	Picked []string // the IDs that are picked at first, with Multi
	// Scopes are the names of what the list can be about ("this project", "all"), of
	// which Scope is on. None: there is nothing to choose.
	Scopes   []string
	Scope    int
	Loading  bool   // items are on their way
	Empty    string // a sentence for when there are none
	TwoLines bool   // each item has a second line, for Detail
	// Keys returns the hints of the last line; nil: there are none.
	Keys *keymap.Map
	// Confirm is the question before deleting, in which %s is the item's title; "" is a
	// usual one.
	Confirm string
	// PickWord says what picking an item does, for the hint; "" is choose.
	PickWord string
	// DeleteWord says what deleting is, for the hint; "" is delete.
	DeleteWord string
}

// Kind says what a person wants of a list.
type Kind int

// The kinds.
const (
	Nothing    Kind = iota
	Picked          // IDs, at least one
	Closed          // nothing was picked
	Deleted         // IDs[0] is to be deleted, and it was asked whether that is meant
	Renamed         // IDs[0] is to be called Text, which is not empty
	ScopeTaken      // Scope is on now; the caller gives its items
	Reordered       // IDs are all items in their new order
	Edited          // IDs[0] is to be taken out and edited
)

// Outcome is what a person wants of a list.
type Outcome struct {
	Kind  Kind
	IDs   []string
	Text  string
	Scope int
}

// Wants is what a list wants to know.
type Wants struct {
	Preview string // the ID of the item whose preview is wanted, "" when none is
	Asks    bool   // Typed has changed, and with Query other items are wanted for it
	Typed   string
	More    bool // the end is near: more items, if there are any
}

// ask is what the line below the title is for.
type ask int

const (
	askFilter ask = iota
	askName       // the new name
	askDelete     // whether to delete
)

// List is a picker.
type List struct {
	cfg     Config
	scope   int
	picked  map[string]bool
	loading bool
	problem string

	matched
	window
	line
	peek

	knownText   string // what of the filter the caller knows
	askedMoreAt int    // the number of items at which more were asked for
}

// matched are the items, and which of them match.
type matched struct {
	items   []Item
	small   []string // what the filter looks in, in lower case: the title first
	titles  []int    // how long that is
	grouped bool
	shown   []int // indices of the items that match, in their order
	query   fuzzy.Query
}

// window is what of the rows is seen.
type window struct {
	on     int   // in shown
	first  int   // the first line of the rows that is seen
	seen   int   // how many items are seen at once, as drawn last
	starts []int // the lines at which the items shown begin, where there are groups
}

// line is the line below the title.
type line struct {
	input field.Field
	name  field.Field
	ask   ask
	asked string // the ID that ask is about
}

// peek is the preview of the item that is on.
type peek struct {
	previews *lru.Cache[string, []string]
	wanted   string // the preview that was asked for last
	look     bool   // the preview instead of the rows, where there is no room beside
	lookFrom int    // its first line that is seen
}

// New makes a list.
func New(cfg Config) *List {
	l := &List{cfg: cfg, scope: cfg.Scope, loading: cfg.Loading, picked: map[string]bool{}, askedMoreAt: -1,
		peek: peek{previews: lru.New[string, []string](maxPreviews, maxPreviews)}}
	for _, id := range cfg.Picked {
		l.picked[id] = true
	}
	l.input.Insert(cfg.Typed)
	l.knownText = l.input.Text()
	l.take(cfg.Items)
	l.Select(cfg.On)
	return l
}

// SetItems replaces the items; the one that is on stays so when it is still there.
func (l *List) SetItems(items []Item) {
	id := l.ID()
	l.loading, l.problem = false, ""
	l.take(items)
	l.Select(id)
}

// SetLoading says that items are on their way.
func (l *List) SetLoading() { l.loading = true }

// SetProblem says in a sentence why there are no items, or not all.
func (l *List) SetProblem(text string) {
	l.loading, l.problem = false, display.Line(text)
}

// SetKeys returns the keys for the hints.
func (l *List) SetKeys(keys *keymap.Map) { l.cfg.Keys = keys }

// SetTitle replaces the title.
func (l *List) SetTitle(title string) { l.cfg.Title = title }

// SetPreview sets the preview of an item: styled lines of at most [PreviewWidth] cells.
func (l *List) SetPreview(id string, lines []string) {
	l.previews.Put(id, lines[:min(len(lines), maxPreviewLines)])
}

// ID is the item that is on, "" when there is none.
func (l *List) ID() string {
	if l.on < len(l.shown) {
		return l.items[l.shown[l.on]].ID
	}
	return ""
}

// Typed is what is in the filter.
func (l *List) Typed() string { return l.input.Text() }

// Select puts an item on. It stays as it is when there is none of that ID.
func (l *List) Select(id string) {
	if id == "" {
		return
	}
	if i := slices.IndexFunc(l.shown, func(i int) bool { return l.items[i].ID == id }); i >= 0 {
		l.on = i
	}
}

// take cleans and keeps items.
func (l *List) take(items []Item) {
	items = slices.Clone(items[:min(len(items), MaxItems)])
	l.small, l.titles, l.grouped = l.small[:0], l.titles[:0], false
	for i := range items {
		it := &items[i]
		for _, text := range []*string{&it.Title, &it.Detail, &it.Right, &it.Group, &it.Mark, &it.Disabled} {
			*text = oneLine(*text)
		}
		it.Snippet = slices.Clone(it.Snippet)
		for k := range it.Snippet {
			it.Snippet[k].Text = display.Line(it.Snippet[k].Text)
		}
		title := strings.ToLower(it.Title)
		l.small = append(l.small, title+" "+strings.ToLower(it.Detail+" "+it.Search+" "+it.Group))
		l.titles = append(l.titles, len(title))
		l.grouped = l.grouped || it.Group != ""
	}
	l.items = items
	l.match()
}

// oneLine makes a text of an item safe and short.
func oneLine(s string) string {
	if len(s) > maxItemText {
		s = strings.ToValidUTF8(s[:maxItemText], "")
	}
	return display.Line(s)
}

// match finds the items that fit what is typed: the best first, but in their own order
// where they have groups.
func (l *List) match() {
	l.shown = l.shown[:0]
	l.query = fuzzy.Query{}
	if l.cfg.Can&Filter != 0 {
		l.query = fuzzy.NewQuery(l.input.Text())
	}
	if l.query.Empty() {
		for i := range l.items {
			l.shown = append(l.shown, i)
		}
	} else {
		var scores []int
		for i, small := range l.small {
			s := l.query.Score(small, small)
			if s > 0 && !l.grouped {
				s += inTitle * l.query.Score(small[:l.titles[i]], small[:l.titles[i]])
			}
			scores = append(scores, s)
			if s > 0 {
				l.shown = append(l.shown, i)
			}
		}
		if !l.grouped {
			slices.SortStableFunc(l.shown, func(a, b int) int { return scores[b] - scores[a] })
		}
	}
	l.on = max(0, min(l.on, len(l.shown)-1))
}

// inTitle is what a match in the title counts for beside one anywhere.
const inTitle = 4
