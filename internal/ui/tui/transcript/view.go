package transcript

import (
	"strconv"
	"unicode"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
)

// olderPage is how many older events are wanted at once, when fewer than olderAhead
// items are above the screen; searchPage, when all of them are gone through.
const (
	olderPage  = 200
	olderAhead = 40
	searchPage = 1000
)

// view is the scroll position of full-screen mode: the line that is at the top, or
// the end of the conversation, whatever comes.
type view struct {
	top    place
	bottom bool // the end is shown, and followed
	first  bool // the very beginning is wanted, which is not held yet
	grew   bool // something came below while it was not
	sel    int  // the selected item, counted from 1; 0 for none

	// letters are before the line at kept, which was at the top when the width changed.
	letters int
	kept    place

	pages int  // to scroll, when it is known how high one is
	owed  int  // lines to scroll up, when what is further up is there
	grip  grip // what the mouse holds

	rows   []place // of the last screenful
	height int     // of it, without the line below
	th     *theme.Theme
	width  int

	search search
}

// place is a line of an item. A negative index stands for none.
type place struct{ index, line int }

// inserted keeps the places when n items come in at an index.
func (v *view) inserted(at, n int) {
	if at <= v.top.index && !v.bottom {
		v.top.index += n
	}
	if v.sel > at {
		v.sel += n
	}
	v.grew, v.search.stale = true, true
}

// shift moves the places when n items come before (or, negative, go from the front).
func (v *view) shift(n int) {
	if !v.first {
		v.top.index += n
	}
	if v.top.index < 0 {
		v.top = place{}
	}
	if v.sel > 0 {
		v.sel = max(0, v.sel+n)
	}
	v.rows = nil
	v.search.stale = true
}

// removed keeps the places when item i is gone.
func (v *view) removed(i int) {
	if v.top.index > i {
		v.top.index--
	}
	if v.sel > i+1 {
		v.sel--
	}
	v.rows = nil
	v.search.stale = true
}

// clamp keeps the places among n items.
func (v *view) clamp(n int) {
	if v.top.index >= n {
		v.top, v.bottom = place{}, true
	}
	if v.sel > n {
		v.sel = 0
	}
	v.rows = nil
	v.search.stale = true
}

// block returns the lines of an item with the blank line before it. Before the first one
// stands what is not held, if there is something.
func (t *Transcript) block(i int, th *theme.Theme, width int) slab {
	s := t.lines(t.items[i], th, width)
	switch {
	case i == 0 && t.more:
		s.gap, s.lead = 1, cell.Cut(th.Dim.On(t.missing(th)), width, "")
	case i > 0 && s.len() > 0:
		s.gap = 1
	}
	return s
}

// missing says what of the conversation is before the first item that is held.
func (t *Transcript) missing(th *theme.Theme) string {
	text := "loading earlier messages"
	if t.heavy() {
		text = "earlier messages are not shown here: /tree shows them all, /export writes them"
		switch {
		case t.earlier == 1:
			text = "1 earlier message is not shown here: /tree shows it, /export writes it"
		case t.earlier > 1:
			text = strconv.Itoa(t.earlier) + " " + text
		}
	}
	if th.Plain {
		return text
	}
	return "↑ " + text
}

// View returns a screenful: exactly height lines, unless the conversation has fewer. The
// end is followed until somebody scrolls up.
func (t *Transcript) View(th *theme.Theme, width, height int) []string {
	v := &t.view
	if height <= 0 || width <= 0 {
		return nil
	}
	t.rewrap(th, width)
	v.th, v.width = th, width
	below := ""
	if v.search.open || v.search.query != "" {
		below = t.searchLine(th, width)
	}
	v.height = height
	if below != "" {
		v.height--
	}
	if v.bottom {
		v.top, v.grew = t.fromEnd(v.height), false
	}
	if n := v.pages; n != 0 {
		v.pages = 0
		t.scroll(n * max(1, v.height-1))
	}
	rows := t.rowsFrom(v.top, v.height)
	if len(rows) < v.height && !v.bottom && !v.first {
		v.top, v.bottom, v.grew = t.fromEnd(v.height), true, false
		rows = t.rowsFrom(v.top, v.height)
	}
	if !v.bottom && v.grew && below == "" && v.height > 1 {
		below = "↓ new below"
		if th.Plain {
			below = "new below"
		}
		below = cell.Cut(th.Accent.On(below), width, "")
		v.height--
		rows = rows[:min(len(rows), v.height)]
	}
	v.rows = rows
	out := make([]string, 0, height)
	last, lines := -1, slab{}
	from, to := t.ends()
	for _, r := range rows {
		if r.index != last {
			last, lines = r.index, t.block(r.index, th, width)
		}
		line := t.row(fit(lines.at(r.line), width), r, lines.gap)
		if a, b := t.cells(r, lines.gap, from, to); a < b {
			line = hold(line, a, b, th)
		}
		out = append(out, line)
	}
	if below != "" {
		out = append(out, below)
	}
	t.shed()
	return out
}

// rewrap keeps the text at the top there when the width changes.
func (t *Transcript) rewrap(th *theme.Theme, width int) {
	v := &t.view
	if v.th == nil || v.width == width || v.bottom || v.top.line == 0 || v.top.index >= len(t.items) {
		return
	}
	if v.kept != v.top {
		before := t.block(v.top.index, v.th, v.width)
		v.letters = 0
		for i := range min(v.top.line, before.len()) {
			v.letters += letters(before.at(i))
		}
	}
	now := t.block(v.top.index, th, width)
	line, n := 0, letters(now.at(0))
	for ; line < now.len()-1 && n <= v.letters; n += letters(now.at(line)) {
		line++
	}
	v.top.line = line
	v.kept = v.top
}

// letters counts what of a line does not depend on the width.
func letters(line string) (n int) {
	for _, r := range plain(line) {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// row returns a line as it is shown: with what was looked for, and the selection.
func (t *Transcript) row(line string, r place, gap int) string {
	v := &t.view
	if picture(line) {
		return line
	}
	if v.search.query != "" {
		line = mark(line, v.search.query, v.th.Match)
	}
	if v.sel != r.index+1 || line == "" || r.line < gap {
		return line
	}
	bar := v.th.Box.Bar
	if bar == "" {
		bar = ">"
	}
	return v.th.Accent.On(bar) + dropCells(line, cell.Width(bar))
}

// rowsFrom returns the places of at most n lines from one on.
func (t *Transcript) rowsFrom(from place, n int) []place {
	var rows []place
	for i := max(0, from.index); i < len(t.items) && len(rows) < n; i++ {
		have := t.block(i, t.view.th, t.view.width).len()
		line := 0
		if i == from.index {
			line = min(from.line, max(0, have-1))
		}
		for ; line < have && len(rows) < n; line++ {
			rows = append(rows, place{i, line})
		}
	}
	return rows
}

// fromEnd returns the place from which n lines reach to the end.
func (t *Transcript) fromEnd(n int) place {
	for i := len(t.items) - 1; i >= 0; i-- {
		have := t.block(i, t.view.th, t.view.width).len()
		if have >= n {
			return place{i, have - n}
		}
		n -= have
	}
	return place{}
}

// scroll moves by lines: down when n is positive.
func (t *Transcript) scroll(n int) {
	v := &t.view
	if v.th == nil || len(t.items) == 0 {
		return
	}
	v.first = false
	if n < 0 {
		if v.bottom { // it may have moved since it was drawn
			v.top, v.bottom = t.fromEnd(v.height), false
		}
		p := v.top
		p.line += n
		for p.line < 0 && p.index > 0 {
			p.index--
			p.line += t.block(p.index, v.th, v.width).len()
		}
		if p.line < 0 && t.more && !t.heavy() {
			v.owed = min(v.owed-p.line, v.height)
		}
		p.line = max(0, p.line)
		v.top = p
		return
	}
	v.owed = 0
	if v.bottom {
		return
	}
	rows := t.rowsFrom(v.top, n+v.height)
	switch {
	case len(rows) < n+v.height:
		v.bottom = true
	case len(rows) > n:
		v.top = rows[n]
	}
}

// Wheel scrolls by lines, down when n is positive.
func (t *Transcript) Wheel(n int) { t.scroll(n) }

// AtBottom says that the end is shown and followed.
func (t *Transcript) AtBottom() bool { return t.view.bottom }

// WantOlder says how many older events should be fetched and given to Prepend; 0 when
// none are needed now.
func (t *Transcript) WantOlder() int {
	v := &t.view
	switch {
	case !t.more || t.heavy():
		return 0
	case v.first || v.search.further: // also before the first View
		return searchPage
	case v.th == nil || v.top.index > olderAhead:
		return 0
	}
	return olderPage
}

// heavy says that no older events are taken in.
func (t *Transcript) heavy() bool { return len(t.items) >= maxItems || t.bytes >= maxBytes }

// Do does an action.
func (t *Transcript) Do(a keymap.Action) Outcome {
	v := &t.view
	if v.search.open {
		if o, ok := t.searchDo(a); ok {
			return o
		}
	}
	v.first = false
	switch a {
	case keymap.ScrollUp:
		t.scroll(-1)
	case keymap.ScrollDown:
		t.scroll(1)
	case keymap.PageUp:
		if v.th == nil { // it was never shown
			v.pages--
		}
		t.scroll(-max(1, v.height-1))
	case keymap.PageDown:
		t.scroll(max(1, v.height-1))
	case keymap.ScrollTop:
		v.top, v.bottom, v.first = place{}, false, t.more && !t.heavy()
		v.pages, v.owed = 0, 0
	case keymap.ScrollBottom:
		v.bottom, v.pages, v.owed = true, 0, 0
	case keymap.ItemUp:
		t.selectNext(-1)
	case keymap.ItemDown:
		t.selectNext(1)
	case keymap.Expand:
		return t.expand()
	case keymap.ToggleTools:
		t.cfg.ExpandTools = !t.cfg.ExpandTools
		t.unfoldAll(card)
		t.unfoldAll(user)
	case keymap.ToggleThinking:
		t.cfg.ShowThinking = !t.cfg.ShowThinking
		t.unfoldAll(thinking)
	case keymap.Copy:
		if it := t.selected(); it != nil {
			return Outcome{Handled: true, Copy: t.raw(it), Whole: it.whole()}
		}
	case keymap.Whole:
		if it := t.selected(); it != nil {
			return Outcome{Handled: true, Whole: it.whole()}
		}
	case keymap.Search:
		v.search.open = true
	case keymap.SearchNext:
		t.searchMove(1)
	case keymap.SearchBack:
		t.searchMove(-1)
	case keymap.Leave:
		if v.search.query != "" {
			v.search = search{}
			return Outcome{Handled: true}
		}
		v.sel = 0
		return Outcome{Handled: true, Leave: true}
	default:
		return Outcome{}
	}
	return Outcome{Handled: true}
}

// unfoldAll makes all items of a kind follow the setting.
func (t *Transcript) unfoldAll(k kind) {
	for _, it := range t.items {
		if it.kind == k {
			it.toggled = false
			it.changed()
		}
	}
}

func (t *Transcript) selected() *item {
	if t.view.sel < 1 || t.view.sel > len(t.items) {
		return nil
	}
	return t.items[t.view.sel-1]
}

func (t *Transcript) expand() Outcome {
	if t.selected() == nil {
		return Outcome{}
	}
	t.toggle(t.view.sel - 1)
	return Outcome{Handled: true}
}

// toggle folds or unfolds an item, which stays where it is.
func (t *Transcript) toggle(i int) {
	t.view.bottom = false
	t.items[i].toggled = !t.items[i].toggled
	t.items[i].changed()
	t.show(i)
}

// selectNext selects the next item that is seen, in a direction, and shows it.
func (t *Transcript) selectNext(step int) {
	v := &t.view
	if v.th == nil || len(t.items) == 0 {
		return
	}
	i := v.sel - 1 + step
	if v.sel == 0 {
		i = len(t.items) - 1
		if n := len(v.rows); n > 0 {
			i = v.rows[n-1].index
		}
		step = -1
	}
	for ; i >= 0 && i < len(t.items); i += step {
		if t.lines(t.items[i], v.th, v.width).len() > 0 {
			v.sel = i + 1
			t.show(i)
			return
		}
	}
}

// show scrolls so that the beginning of an item is seen, and all of it if it fits.
func (t *Transcript) show(i int) {
	v := &t.view
	have := t.block(i, v.th, v.width).len()
	if i < v.top.index || (i == v.top.index && v.top.line > 0) {
		v.top, v.bottom = place{i, 0}, false
		return
	}
	rows := t.rowsFrom(v.top, v.height)
	seen := 0
	for _, r := range rows {
		if r.index == i {
			seen++
		}
	}
	if seen >= have {
		return
	}
	if have >= v.height {
		v.top, v.bottom = place{i, 0}, false
		return
	}
	v.top, v.bottom = t.endingWith(i, v.height), false
}

// endingWith returns the place from which n lines reach to the end of an item.
func (t *Transcript) endingWith(last, n int) place {
	for i := last; i >= 0; i-- {
		have := t.block(i, t.view.th, t.view.width).len()
		if have >= n {
			return place{i, have - n}
		}
		n -= have
	}
	return place{}
}

// Where says where the screen is: "end", or the part of the items above it.
func (t *Transcript) Where() string {
	if t.view.bottom || len(t.items) == 0 {
		return "end"
	}
	return strconv.Itoa(100*t.view.top.index/len(t.items)) + "%"
}
