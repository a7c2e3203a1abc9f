package transcript

import (
	"slices"
	"strconv"
	"time"

	"scorel/protocol"
	"scorel/protocol/display"
)

// maxItems and maxBytes bound what a transcript holds: items, and bytes of their events'
// lines. Beyond one of them the oldest go, down to keepItems and keepBytes, and are wanted
// again by WantOlder.
const (
	maxItems  = 20_000
	keepItems = 15_000
	maxBytes  = 64 << 20
	keepBytes = 48 << 20
)

// Transcript is the conversation. Make one with New.
type Transcript struct {
	cfg      Config
	items    []*item
	calls    map[string]*item // by the id of the call; of what is held only
	live     map[string]*item // what is coming in, by id
	early    map[string]*call // what is known of calls that are not there yet
	running  map[string]bool  // the calls that run; true while the newest state has them
	waits    waits
	retry    *item
	notes    int    // to name notices
	draws    int    // how often an item was drawn
	kept     int    // lines that are kept
	bytes    int    // of the lines of the events that are held
	more     bool   // older events exist
	earlier  int    // how many, 0 where that is not known
	began    bool   // Commit has given something
	stale    bool   // what Commit has given is not all on the path any more
	thoughts string // the heading of folded thoughts that an extension sets, "" for the usual one
	awaited  bool   // an image of the item that is drawn may be there soon

	next int // the first item that Commit has not given
	view view
}

// waits is what is waited for.
type waits struct {
	open   []*item  // the calls that may get a result
	asking []string // the calls that somebody is asked about
	rest   *item    // the newest answer, while the next message of the model continues it
}

// New makes an empty transcript.
func New(c Config) *Transcript {
	if c.Now == nil {
		c.Now = time.Now
	}
	t := &Transcript{cfg: c}
	t.Reset()
	return t
}

// Reset drops everything that is held, for another session or a whole reload.
func (t *Transcript) Reset() {
	*t = Transcript{cfg: t.cfg, calls: map[string]*item{}, live: map[string]*item{}, running: map[string]bool{}, early: map[string]*call{}, view: view{bottom: true}}
}

// Swap exchanges what two transcripts hold, with their places; each stays drawn as it is.
func (t *Transcript) Swap(other *Transcript) { *t, *other = *other, *t }

// Another returns an empty transcript that is drawn in the same way.
func (t *Transcript) Another() *Transcript { return New(t.cfg) }

// Redraw has everything drawn again: what was being loaded for it may have come to nothing.
func (t *Transcript) Redraw() {
	for _, it := range t.items {
		it.changed()
	}
}

// More reports whether events older than those held exist.
func (t *Transcript) More(older bool) {
	v := &t.view
	if older != t.more && v.top.index == 0 && !v.bottom && !v.first { // the line that says so comes, or goes
		if v.top.line--; older {
			v.top.line += 2
		}
		v.top.line = max(0, v.top.line)
	}
	t.more, t.earlier = older, 0
	if v.first = v.first && older && !t.heavy(); !older {
		t.searchedAll()
	}
}

// Earlier says how many they are.
func (t *Transcript) Earlier(n int) { t.earlier = n }

// Append takes in a persistent event that follows those held, whatever its type. A
// rewind or branch cuts the path; what is said of a call may come before the call.
// Events are appended before the state after them is given to [Transcript.Live].
func (t *Transcript) Append(e protocol.Event) {
	if leaf, moves := e.Leaf(); moves {
		t.Cut(leaf)
	}
	if display.GoesOn(e.Body) {
		t.Settle()
	}
	t.insert(t.weighed(e)...)
	t.bound()
}

// Settle closes the calls that are open: what has no result now gets none, because no turn runs
// that could bring one, or it has gone on.
func (t *Transcript) Settle() {
	for _, it := range t.waits.open {
		if c := it.call; c.result == nil && t.calls[c.id] == it {
			c.unanswered, c.running, it.final = true, false, true
			it.changed()
		}
	}
	t.waits.open = nil
}

// weighed makes the items of an event, and counts its size.
func (t *Transcript) weighed(e protocol.Event) []*item {
	items := t.of(e)
	if text := display.Changed(e); text != "" && len(items) > 0 && items[0].kind != shown {
		items = append(items, &item{kind: said, id: string(e.ID) + "/changed", event: e.ID, text: text, level: "warning", final: true})
	}
	if len(items) > 0 {
		items[0].size = len(e.Raw())
		t.bytes += items[0].size
	}
	return items
}

// insert adds items of a rank after all that belongs before them.
func (t *Transcript) insert(items ...*item) {
	if len(items) == 0 {
		return
	}
	at, rank := len(t.items), items[0].rank()
	for at > 0 && t.items[at-1].rank() > rank {
		at--
	}
	t.items = slices.Insert(t.items, at, items...)
	t.view.inserted(at, len(items))
}

// Prepend takes in events that are older than those held, the oldest first.
func (t *Transcript) Prepend(events []protocol.Event) {
	for len(events) > 0 && len(t.items) > 0 && t.items[0].apart() {
		t.remove(t.items[0]) // where the path was begun again stands nothing more
	}
	held, open, rest := t.items, t.waits.open, t.waits.rest
	t.items, t.waits.open, t.waits.rest = nil, nil, nil
	for _, e := range events {
		if display.GoesOn(e.Body) {
			t.Settle()
		}
		t.items = append(t.items, t.weighed(e)...)
	}
	if i := slices.IndexFunc(held, (*item).isMessage); t.waits.rest != nil && !t.began && i >= 0 && held[i].kind == answer {
		first := held[i]
		t.join(t.waits.rest, first)
		for at := first; at != nil; at = at.more {
			at.first = t.waits.rest
		}
		if rest == first {
			rest = t.waits.rest
		} else {
			t.waits.rest.final = first.final
		}
		t.waits.rest = nil
	}
	t.shut()
	t.waits.rest = rest
	n, older, stale := len(t.items), t.items, t.view.search.stale
	for _, it := range t.items {
		it.given = t.began
	}
	t.items = append(t.items, held...)
	if t.began {
		t.next += n
	}
	t.view.shift(n)
	if t.view.search.stale = stale; t.adopt() {
		t.view.search.stale = true
	}
	if slices.ContainsFunc(held, (*item).isMessage) {
		t.Settle()
	}
	t.waits.open = append(t.waits.open, open...)
	if n := t.view.owed; n > 0 && !t.view.first && !t.view.bottom {
		t.view.owed = 0
		t.scroll(-n)
	}
	t.searchedOlder(older)
}

// Cut drops what came after the event that is the leaf now; "" is the beginning. When
// the leaf is not held, nothing is.
func (t *Transcript) Cut(leaf protocol.EventID) {
	n := 0
	for i, it := range t.items {
		if it.event == leaf && leaf != "" {
			n = i + 1
		}
	}
	var lost []*item
	for _, it := range t.items[n:] {
		t.stale = t.stale || it.begun || it.first != nil && it.first.begun
		if it == t.waits.rest {
			t.waits.rest = nil
		}
		t.part(it)
		t.drop(it)
		t.forget(it)
		t.bytes -= it.size
		if it.live != nil && it.begun {
			lost = append(lost, &item{kind: broken, id: it.id + "/lost", final: true})
		}
	}
	clear(t.items[n:])
	t.items = t.items[:n]
	t.next = min(t.next, n)
	t.view.clamp(n)
	t.live, t.retry = map[string]*item{}, nil
	t.shut()
	t.insert(lost...)
}

// Oldest returns the oldest event of the path that is held, "" when none is.
func (t *Transcript) Oldest() protocol.EventID {
	for _, it := range t.items {
		if it.event != "" && !it.apart() {
			return it.event
		}
	}
	return ""
}

// isMessage reports whether an item is of a message of a person or the model.
func (it *item) isMessage() bool {
	return it.kind == user || it.event != "" && (it.kind == answer || it.kind == piece || it.kind == thinking || it.kind == card && it.call.asked > 0)
}

// apart says that an item is of an event that belongs to no path, as a rewind.
func (it *item) apart() bool {
	return it.event != "" && it.body.Body != nil && it.body.Class() != protocol.Conversation
}

// drop takes an item out of what is looked up.
func (t *Transcript) drop(it *item) {
	switch {
	case it.kind == card && t.calls[it.call.id] == it:
		delete(t.calls, it.call.id)
	case it.kind == hidden && it.call != nil && it.call.resultIn == it.event:
		it.call.result, it.call.resultIn = nil, ""
		if c := t.calls[it.call.id]; c != nil {
			c.final = false
			c.changed()
			t.waits.open = append(t.waits.open, c)
		}
	}
}

// bound drops the oldest items when there are too many.
func (t *Transcript) bound() {
	if len(t.items) <= maxItems && t.bytes <= maxBytes {
		return
	}
	n := 0
	for ; n < len(t.items)-1 && (len(t.items)-n > keepItems || t.bytes > keepBytes); n++ {
		it := t.items[n]
		t.forget(it)
		t.promote(it)
		t.bytes -= it.size
		if it.kind == card && t.calls[it.call.id] == it {
			delete(t.calls, it.call.id)
		}
	}
	t.items = slices.Delete(t.items, 0, n)
	t.next = max(0, t.next-n)
	t.view.shift(-n)
	t.more, t.earlier = true, 0
}

// of makes the items of an event.
func (t *Transcript) of(e protocol.Event) []*item {
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		switch b.Message.Role {
		case protocol.RoleUser:
			t.shut()
			return []*item{{kind: user, id: string(e.ID), event: e.ID, body: e, final: true}}
		case protocol.RoleAssistant:
			return t.assistant(e, &b.Message)
		case protocol.RoleToolResult:
			return t.result(e, &b.Message)
		}
	case *protocol.PermissionDecision:
		c := t.audited(b.ToolCallID)
		c.decisions = append(c.decisions, b)
		if b.Scope != "rule" {
			c.decided = max(c.decided, e.TS)
		}
		return nil
	case *protocol.FileSnapshot:
		c := t.audited(b.ToolCallID)
		c.snapshots = append(c.snapshots, b)
		return nil
	case *protocol.CustomMessage:
		if result, output, ok := protocol.ShellOf(b); ok {
			return t.shell(e, &result, output)
		}
	}
	it := t.other(e)
	if it.kind == shown {
		t.shut()
	}
	return []*item{it}
}

// maxEarly bounds the calls of which more is known than that they were made; beyond it
// that is forgotten.
const maxEarly = 64

// audited returns the call that a decision or a snapshot is about, or what keeps it until
// the call is there.
func (t *Transcript) audited(id string) *call {
	if it := t.calls[id]; it != nil {
		it.changed()
		return it.call
	}
	c := t.early[id]
	if c == nil {
		if len(t.early) >= maxEarly {
			clear(t.early)
		}
		c = &call{}
		t.early[id] = c
	}
	return c
}

// shell returns the card of a command that a person ran.
func (t *Transcript) shell(e protocol.Event, result *protocol.ShellResult, output string) []*item {
	it := t.calls[string(e.ID)]
	if it == nil {
		it = &item{kind: card, id: string(e.ID), call: &call{id: string(e.ID)}}
	} else {
		t.remove(it)
		it.changed()
	}
	it.event, it.loose, it.final = e.ID, false, true
	it.call.name, it.call.running, it.call.shell, it.call.output = shellName, false, result, output
	t.calls[it.call.id] = it
	return []*item{it}
}

// assistant returns the items of what the model said. What came in before it was stored
// becomes what is stored.
func (t *Transcript) assistant(e protocol.Event, m *protocol.Message) []*item {
	var items []*item
	for i, b := range m.Content {
		id := string(e.ID) + "/" + strconv.Itoa(i)
		it := t.live[id]
		if it != nil {
			delete(t.live, id)
			t.remove(it)
			it.took = it.live.took
			if it.took == 0 {
				it.took = t.cfg.Now().Sub(it.live.began)
			}
			it.changed()
		} else {
			it = &item{id: id}
		}
		it.event, it.live, it.blob = e.ID, nil, b.Blob
		switch b.Type {
		case protocol.BlockText:
			t.become(it, answer)
			it.text, it.final = b.Text, true
		case protocol.BlockThinking:
			t.become(it, thinking)
			it.text, it.final = b.Thinking, true
			if b.Redacted {
				it.text = redacted
			}
		case protocol.BlockToolUse:
			t.become(it, card)
			if it.call == nil {
				it.call = &call{}
			}
			name, input := protocol.Target(b.Name, b.Input)
			it.call.id, it.call.name, it.call.input, it.call.asked = b.ID, name, input, e.TS
			if before := t.calls[b.ID]; before != nil && before.loose { // it ran before its call was held
				before.kind, before.call, before.final = hidden, nil, true
				before.changed()
			}
			t.calls[b.ID] = it
			t.waits.open = append(t.waits.open, it)
			if c := t.early[b.ID]; c != nil {
				it.call.decided = max(it.call.decided, c.decided)
				it.call.decisions, it.call.snapshots = append(it.call.decisions, c.decisions...), append(it.call.snapshots, c.snapshots...)
				delete(t.early, b.ID)
			}
		default:
			t.become(it, shown)
			it.final = true
			it.body = protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{b}}})
		}
		items = append(items, it)
	}
	if tail := display.Ending(m); tail != "" {
		items = append(items, &item{kind: said, id: string(e.ID) + "/end", event: e.ID, text: tail, level: endLevel(m), final: true})
	}
	if len(items) == 0 {
		items = append(items, &item{kind: hidden, id: string(e.ID), event: e.ID, final: true})
	}
	t.goOn(m, items)
	return items
}

// become makes an item one of a kind. What was coming in as another one is lost.
func (t *Transcript) become(it *item, k kind) {
	if k == answer && it.first != nil {
		k = piece
	} else if k != piece && it.first != nil {
		t.part(it)
	}
	if it.kind != k {
		it.kind, it.feed, it.shown = k, nil, nil
	}
}

// result returns a result to its call; one without its call stands for itself.
func (t *Transcript) result(e protocol.Event, m *protocol.Message) []*item {
	c := t.calls[m.ToolCallID]
	var items []*item
	if c == nil || c.call.result != nil {
		c = &item{kind: card, id: string(e.ID), event: e.ID, call: &call{id: m.ToolCallID, name: m.ToolName}}
		if t.calls[m.ToolCallID] == nil {
			t.calls[m.ToolCallID] = c
		}
		items = append(items, c)
	}
	c.call.result, c.call.resultAt, c.call.resultIn = m, e.TS, e.ID
	c.call.running = false
	c.final = true
	c.changed()
	if len(items) == 0 {
		items = append(items, &item{kind: hidden, id: string(e.ID), event: e.ID, call: c.call, final: true})
	}
	return items
}

// adopt returns results that came without their calls to the calls, once these are held. It
// reports whether there were some.
func (t *Transcript) adopt() (some bool) {
	byID := map[string]*item{}
	for i, it := range t.items {
		if it.kind != card {
			continue
		}
		first := byID[it.call.id]
		if first == nil || first.call.result != nil || it.call.result == nil || it.event != it.call.resultIn {
			byID[it.call.id] = it
			continue
		}
		first.call.result, first.call.resultAt, first.call.resultIn = it.call.result, it.call.resultAt, it.call.resultIn
		first.final = true
		first.changed()
		t.calls[it.call.id] = first
		t.items[i] = &item{kind: hidden, id: it.id, event: it.event, size: it.size, call: first.call, final: true, scrollback: scrollback{given: it.given}}
		some = true
	}
	return some
}

// remove takes an item out of the list.
func (t *Transcript) remove(it *item) {
	i := slices.Index(t.items, it)
	if i < 0 {
		return
	}
	t.items = slices.Delete(t.items, i, i+1)
	t.bytes, it.size = t.bytes-it.size, 0
	if i < t.next {
		t.next--
	}
	t.view.removed(i)
}

// ImageReady says that an image is drawn differently from now on; "" says it of all. What
// was given to the scrollback stays as it is.
func (t *Transcript) ImageReady(blob string) {
	for _, it := range t.items {
		if it.has(func(b protocol.Block) bool { return isImage(b) && (blob == "" || b.Blob == blob) }) {
			it.changed()
		}
	}
}

func isImage(b protocol.Block) bool { return b.Type == protocol.BlockImage }

// has reports whether an item has a block of a kind among what it draws.
func (it *item) has(is func(protocol.Block) bool) bool {
	switch it.kind {
	case card:
		return it.call.result != nil && slices.ContainsFunc(it.call.result.Content, is)
	case user, shown:
		m, ok := it.body.Message()
		return ok && slices.ContainsFunc(m.Content, is)
	}
	return false
}

// Note adds a notice that is no event, of the level info, warning or error.
func (t *Transcript) Note(level, text string) {
	t.notes++
	t.insert(&item{kind: said, id: "note/" + strconv.Itoa(t.notes), text: text, level: level, final: true})
	t.bound()
}
