package list

import (
	"slices"
	"strings"

	"scorel/internal/ui/tui/keymap"
)

// nearEnd is how many items before the last one more are asked for.
const nearEnd = 20

// Places says where keys count: in a list, and while a name is typed first of all in the
// editor.
func (l *List) Places() []keymap.Place {
	if l.ask == askName {
		return []keymap.Place{keymap.Editor, keymap.List}
	}
	return []keymap.Place{keymap.List, keymap.Editor}
}

// Do does an action of these places.
func (l *List) Do(a keymap.Action) Outcome {
	switch l.ask {
	case askName:
		return l.doName(a)
	case askDelete:
		switch a {
		case keymap.ListPick, keymap.Submit:
			return l.delete()
		case keymap.ListClose, keymap.Cancel:
			l.ask = askFilter
		}
		return Outcome{}
	}
	if a == keymap.ListMark && l.cfg.Can&Multi == 0 { // there is one to be chosen
		return l.pick()
	}
	if l.look && l.doLook(a) || l.moves(a) || l.begins(a) {
		return Outcome{}
	}
	switch a {
	case keymap.ListPick, keymap.Submit:
		return l.pick()
	case keymap.ListClose, keymap.Cancel:
		// What is typed goes first, so that a picker is not lost with a slip.
		if l.input.Text() == "" {
			return Outcome{Kind: Closed}
		}
		l.input.Set("")
		l.typed()
	case keymap.ListScope:
		if n := len(l.cfg.Scopes); n > 1 {
			l.scope = (l.scope + 1) % n
			return Outcome{Kind: ScopeTaken, Scope: l.scope}
		}
	case keymap.ListMoveUp:
		return l.reorder(-1)
	case keymap.ListMoveDown:
		return l.reorder(1)
	case keymap.ListEdit:
		if l.can(Edit) {
			return Outcome{Kind: Edited, IDs: []string{l.ID()}}
		}
	default:
		if l.types() {
			before := l.input.Text()
			l.input.Do(a)
			if l.input.Text() != before {
				l.typed()
			}
		}
	}
	return Outcome{}
}

// can reports whether there is an item with which something can be done. One that cannot be
// picked can only be looked into.
func (l *List) can(c Can) bool {
	return l.cfg.Can&c != 0 && l.ID() != "" && (c == Preview || l.disabled() == "")
}

// moves does an action that moves among the rows; false for others.
func (l *List) moves(a keymap.Action) bool {
	switch a {
	case keymap.ListUp, keymap.Up:
		l.step(-1)
	case keymap.ListDown, keymap.Down:
		l.step(1)
	case keymap.ListPageUp:
		l.to(l.on - l.page())
	case keymap.ListPageDown:
		l.to(l.on + l.page())
	case keymap.ListTop:
		l.to(0)
	case keymap.ListBottom:
		l.to(len(l.shown) - 1)
	default:
		return false
	}
	return true
}

// begins does an action that marks an item, or begins to ask or show something of it; false
// for others.
func (l *List) begins(a keymap.Action) bool {
	switch a {
	case keymap.ListMark:
		l.mark()
	case keymap.ListPreview:
		l.look = !l.look && l.can(Preview)
		l.lookFrom = 0
	case keymap.ListDelete:
		if l.can(Delete) {
			l.ask, l.asked = askDelete, l.ID()
		}
	case keymap.ListRename:
		if l.can(Rename) {
			l.ask, l.asked = askName, l.ID()
			l.name.Set(l.items[l.shown[l.on]].Title)
		}
	default:
		return false
	}
	return true
}

// Insert takes text that was typed.
func (l *List) Insert(text string) Outcome {
	switch {
	case l.ask == askName:
		l.name.Insert(text)
	case l.ask == askDelete:
		switch strings.ToLower(text) {
		case "y":
			return l.delete()
		case "n":
			l.ask = askFilter
		}
	case l.types():
		l.look = false
		l.input.Insert(text)
		l.typed()
	}
	return Outcome{}
}

// Paste takes text that was pasted. It answers no question.
func (l *List) Paste(text string) {
	if l.ask != askDelete {
		l.Insert(text)
	}
}

// Wants returns what the list wants to know now; each thing once.
func (l *List) Wants() Wants {
	var w Wants
	if id := l.ID(); l.cfg.Can&Preview != 0 && id != l.wanted {
		l.wanted, l.lookFrom = id, 0
		if _, ok := l.previews.Get(id); !ok {
			w.Preview = id
		}
	}
	if text := l.input.Text(); text != l.knownText {
		l.knownText, l.askedMoreAt = text, -1
		w.Asks, w.Typed = l.cfg.Can&Query != 0, text
	}
	if n := len(l.items); !l.loading && l.on >= len(l.shown)-nearEnd && n != l.askedMoreAt && n < MaxItems {
		l.askedMoreAt, w.More = n, true
	}
	return w
}

// types reports whether there is a line to type in.
func (l *List) types() bool { return l.cfg.Can&(Filter|Query) != 0 }

// typed follows a change of the filter: the best match is on.
func (l *List) typed() {
	if l.cfg.Can&Filter != 0 {
		l.match()
		l.on = 0
	}
}

func (l *List) step(by int) {
	if n := len(l.shown); n > 0 {
		l.on = (l.on + by + n) % n
	}
}

func (l *List) to(i int) { l.on = max(0, min(i, len(l.shown)-1)) }

func (l *List) page() int { return max(1, l.seen-1) }

// pick returns what is picked, or the item that is on. One that is disabled says why, in
// its row.
func (l *List) pick() Outcome {
	var ids []string
	if l.cfg.Can&Multi != 0 {
		for _, it := range l.items {
			if l.picked[it.ID] && it.Disabled == "" {
				ids = append(ids, it.ID)
			}
		}
	}
	if len(ids) == 0 {
		id := l.ID()
		if id == "" || l.items[l.shown[l.on]].Disabled != "" {
			return Outcome{}
		}
		ids = []string{id}
	}
	return Outcome{Kind: Picked, IDs: ids}
}

func (l *List) mark() {
	id := l.ID()
	if l.cfg.Can&Multi == 0 || id == "" || l.items[l.shown[l.on]].Disabled != "" {
		return
	}
	if l.picked[id] {
		delete(l.picked, id)
	} else {
		l.picked[id] = true
	}
	l.to(l.on + 1)
}

func (l *List) delete() Outcome {
	l.ask = askFilter
	return Outcome{Kind: Deleted, IDs: []string{l.asked}}
}

func (l *List) doName(a keymap.Action) Outcome {
	switch a {
	case keymap.ListPick, keymap.Submit:
		if name := strings.TrimSpace(l.name.Text()); name != "" {
			l.ask = askFilter
			return Outcome{Kind: Renamed, IDs: []string{l.asked}, Text: name}
		}
	case keymap.ListClose, keymap.Cancel:
		l.ask = askFilter
	default:
		l.name.Do(a)
	}
	return Outcome{}
}

// doLook moves in the preview that is in place of the rows.
func (l *List) doLook(a keymap.Action) bool {
	switch a {
	case keymap.ListUp, keymap.Up:
		l.lookFrom--
	case keymap.ListDown, keymap.Down:
		l.lookFrom++
	case keymap.ListPageUp:
		l.lookFrom -= l.page()
	case keymap.ListPageDown:
		l.lookFrom += l.page()
	case keymap.ListTop:
		l.lookFrom = 0
	case keymap.ListBottom:
		l.lookFrom = maxPreviewLines
	case keymap.ListClose, keymap.ListPreview:
		l.look, l.lookFrom = false, 0
	default:
		return false
	}
	l.lookFrom = max(0, l.lookFrom)
	return true
}

// reorder moves the item that is on among the others, while all are shown.
func (l *List) reorder(by int) Outcome {
	to := l.on + by
	if l.cfg.Can&Reorder == 0 || !l.query.Empty() || to < 0 || to >= len(l.shown) || len(l.shown) == 0 {
		return Outcome{}
	}
	items := slices.Clone(l.items)
	items[l.on], items[to] = items[to], items[l.on]
	id := l.ID()
	l.take(items)
	l.Select(id)
	out := Outcome{Kind: Reordered}
	for _, it := range items {
		out.IDs = append(out.IDs, it.ID)
	}
	return out
}
