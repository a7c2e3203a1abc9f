package extensions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
	"scorel/protocol/display"
)

// append appends state of an extension to the log.
func (x *Session) append(ctx context.Context, e extension.Extension, p *rpc.AppendEntry) (any, error) {
	switch {
	case !kindName(p.Kind):
		return nil, fmt.Errorf("an entry needs a type: at most %d bytes on one line, without control characters", maxEntryKind)
	case coreType(p.Kind) || strings.HasPrefix(p.Kind, protocol.OwnKind):
		return nil, fmt.Errorf("%s is a type of Scorel itself; give the entry a type of your own, such as %s_%s", p.Kind, e.ID, p.Kind)
	case x.set.Immediate(e.ID):
		return nil, fmt.Errorf("a command that runs beside a turn cannot save entries; register it without immediate")
	}
	data := p.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	back, err := x.reserve(ctx, len(p.Kind)+len(data))
	if err != nil {
		return nil, err
	}
	ev, err := x.lane.Control(ctx, &protocol.Custom{Kind: p.Kind, Data: data})
	if err != nil {
		back()
		return nil, err
	}
	return struct {
		ID protocol.EventID `json:"id"`
	}{ev.ID}, nil
}

// kindName reports whether a text can be the kind of an entry or message.
func kindName(s string) bool {
	return s != "" && len(s) <= maxEntryKind && utf8.ValidString(s) && display.Line(s) == s
}

// kept counts the entries of extensions in a session.
type kept struct {
	mu      sync.Mutex
	counted bool // those of before are in it
	entries int
	bytes   int
}

// reserve makes room for an entry among those that extensions may have in the session;
// back gives it back when the entry was not stored.
func (x *Session) reserve(ctx context.Context, size int) (back func(), err error) {
	k := &x.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.counted {
		k.entries, k.bytes = 0, 0
		for e, err := range x.lane.Log().Index().OfType(ctx, protocol.TypeCustom) {
			if err != nil {
				return nil, err
			}
			if b, ok := e.Body.(*protocol.Custom); ok && !strings.HasPrefix(b.Kind, protocol.OwnKind) {
				k.entries, k.bytes = k.entries+1, k.bytes+len(b.Kind)+len(b.Data)
			}
		}
		k.counted = true
	}
	if k.entries >= maxEntries || k.bytes+size > maxEntryBytes {
		return nil, fmt.Errorf("extensions have %d entries of %d bytes in this session; at most %d of %d MiB: write what is large or often changed into a file", k.entries, k.bytes, maxEntries, maxEntryBytes>>20)
	}
	k.entries, k.bytes = k.entries+1, k.bytes+size
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.entries, k.bytes = k.entries-1, k.bytes-size
	}, nil
}

// coreType reports whether a kind is one of the log's own, or what extensions see of one.
func coreType(kind string) bool {
	_, stored := protocol.StoredClass([]byte(kind))
	return stored || kind == "compaction"
}
