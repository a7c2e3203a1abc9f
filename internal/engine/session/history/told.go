package history

import (
	"bytes"
	"slices"
	"strings"

	"scorel/protocol"
)

// Told is the newest harness item of each kind that the model has been told
// after the newest compact of its path, sorted by kind. It is never changed.
type Told []protocol.Item

// Get returns the newest item of a kind.
func (t Told) Get(kind protocol.ItemKind) (protocol.Item, bool) {
	for _, item := range t {
		if item.Kind == kind {
			return item, true
		}
	}
	return protocol.Item{}, false
}

// addOlder adds an item that is older than all in t.
func (t *Told) addOlder(item protocol.Item) {
	if _, ok := t.Get(item.Kind); !ok {
		*t = append(*t, item)
	}
}

// with returns a copy of t with a newer item.
func (t Told) with(item protocol.Item) Told {
	out := slices.DeleteFunc(slices.Clone(t), func(i protocol.Item) bool { return i.Kind == item.Kind })
	out = append(out, item)
	out.sort()
	return out
}

func (t Told) sort() {
	slices.SortFunc(t, func(a, b protocol.Item) int { return strings.Compare(string(a.Kind), string(b.Kind)) })
}

// Missing returns, in order, the items of want that the model has not been told or
// that have changed since; the host appends them before it calls the model. An item
// without content is told only to somebody who was told otherwise. Of a listing of
// skills that the model has, it is told what has changed ([listingDelta]).
func Missing(told Told, want []protocol.Item) []protocol.Item {
	var out []protocol.Item
	for _, item := range want {
		last, ok := told.Get(item.Kind)
		switch {
		case !ok && item.Content == "":
		case ok && item.Kind == protocol.ItemSkillListing:
			if delta, ok := listingDelta(told, last, item); ok {
				out = append(out, delta)
			}
		case !ok || last.Content != item.Content || !bytes.Equal(last.Data, item.Data):
			out = append(out, item)
		}
	}
	return out
}
