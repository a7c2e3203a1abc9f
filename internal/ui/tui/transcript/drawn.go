package transcript

import (
	"slices"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// Drawer has what extensions draw.
type Drawer interface {
	// Drawn returns how an extension draws an entry, as far as that is known. It must not
	// block.
	Drawn(e Entry) Drawn
}

// Entry is a call of a tool, or a message or an entry of an extension, at a width.
type Entry struct {
	Event, Result protocol.EventID // Result is that of a call, "" while there is none
	Call          string           // its id, "" of a message
	Name          string           // of the tool, or the kind of the message or entry
	Width         int
	Expanded      bool
}

// Drawn is what an extension draws: lines with no control sequences but SGR. Nil is what it
// does not draw, which looks as it does without.
type Drawn struct {
	Call, Body []string
	// Coming says that this may be known soon: what is final is not given by Commit until it
	// is, or never will be, and EntryDrawn says so.
	Coming bool
}

// entry returns what the drawer knows an item as; false for one that only Scorel draws.
func (t *Transcript) entry(it *item, room int) (Entry, bool) {
	switch {
	case t.cfg.Drawer == nil:
	case it.kind == card && it.call.asked > 0 && it.call.shell == nil && it.event != it.call.resultIn:
		return Entry{Event: it.event, Result: it.call.resultIn, Call: it.call.id, Name: it.call.name, Width: room, Expanded: !t.folded(it)}, true
	case it.kind == shown:
		e := Entry{Event: it.event, Width: room, Expanded: !t.folded(it)}
		if b, ok := it.body.Body.(*protocol.CustomMessage); ok {
			e.Name = "message " + b.Kind
		} else if b, ok := it.body.Body.(*protocol.Custom); ok {
			e.Name = "entry " + b.Kind
		}
		return e, e.Name != ""
	}
	return Entry{}, false
}

// Beside takes in state of an extension, which belongs to the end of the path that it names. It
// is seen where the extension draws it, as long as that end is held.
func (t *Transcript) Beside(e protocol.Event) {
	b, ok := e.Body.(*protocol.Custom)
	if !ok || strings.HasPrefix(b.Kind, protocol.OwnKind) {
		return
	}
	at := -1
	for i, it := range slices.Backward(t.items) {
		beside := it.apart() && it.body.ParentID == e.ParentID
		if it.event == e.ID {
			return // it is there
		}
		if at < 0 && (beside || it.event == e.ParentID) {
			at = i + 1
		}
		if at >= 0 && !beside {
			break
		}
	}
	if at < 0 {
		return
	}
	at = max(at, t.next) // what was given to the scrollback stays as it is
	t.items = slices.Insert(t.items, at, t.weighed(e)...)
	t.view.inserted(at, 1)
	t.bound()
}

// drawnBy returns how an extension draws an item.
func (t *Transcript) drawnBy(it *item, room int) Drawn {
	e, ok := t.entry(it, room)
	if !ok {
		return Drawn{}
	}
	d := t.cfg.Drawer.Drawn(e)
	t.awaited = t.awaited || d.Coming
	return d
}

// EntryDrawn says that an entry is drawn differently from now on. What was given to the
// scrollback stays as it is.
func (t *Transcript) EntryDrawn(e Entry) {
	for _, it := range t.items {
		if it.event == e.Event && (it.kind == shown || it.kind == card && it.call.id == e.Call) {
			it.changed()
		}
	}
}

// Foreign cuts lines of an extension, and ends their styles.
func Foreign(lines []string, room int, th *theme.Theme) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if th.Plain {
			l = cell.Plain(l)
		}
		out[i] = cell.Cut(l, room, "") + cell.Reset
	}
	return out
}
