package transcript

import "scorel/protocol"

// An answer that the output limit of the model has cut goes on in the next message. It is drawn
// as one text, since the cut may be inside a word or a block of code: on the item of its first
// piece, which is not final as long as more may come. The items of the others hold their places
// and show nothing.

// said returns what the model has said so far, in all pieces of the answer.
func (it *item) said() []byte {
	if it.more == nil {
		return it.own()
	}
	var all []byte
	for ; it != nil; it = it.more {
		all = append(all, it.own()...)
	}
	return all
}

// own returns what the model has said so far in one piece.
func (it *item) own() []byte {
	if it.live != nil {
		return it.live.raw
	}
	return []byte(it.text)
}

// head returns the item that an answer or a piece of one is drawn on, nil for another item.
func (it *item) head() *item {
	switch it.kind {
	case answer:
		return it
	case piece:
		return it.first
	}
	return nil
}

// join hangs a text on the answer that it continues.
func (t *Transcript) join(head, it *item) {
	last := head
	for last.more != nil {
		last = last.more
	}
	last.more, it.first = it, head
	t.become(it, piece)
	head.final = false
	it.changed()
}

// part takes a piece, and those after it, off its answer.
func (t *Transcript) part(it *item) {
	head := it.first
	if head == nil {
		return
	}
	for at := head; at != nil; at = at.more {
		if at.more == it {
			at.more = nil
		}
	}
	for at := it; at != nil; at = at.more {
		at.first = nil
	}
	head.final = t.waits.rest != head
	head.changed()
}

// promote has an answer whose first piece is held no longer drawn on its next one.
func (t *Transcript) promote(it *item) {
	next := it.more
	if next == nil {
		return
	}
	it.more, next.first = nil, nil
	t.become(next, answer)
	for at := next.more; at != nil; at = at.more {
		at.first = next
	}
	if next.final = it.final; t.waits.rest == it {
		t.waits.rest = next
	}
	next.changed()
}

// goOn takes the items of a message of the model: it joins the first to the answer that it
// continues, and notes whether the next message will continue the last.
func (t *Transcript) goOn(m *protocol.Message, items []*item) {
	first, last := items[0], items[len(items)-1]
	if t.waits.rest != nil && first.kind == answer && !first.begun {
		t.join(t.waits.rest, first)
	}
	was, now := t.waits.rest, last.head()
	if t.waits.rest = nil; m.Continued() {
		t.waits.rest = now
	}
	for _, head := range []*item{was, first.head(), now} {
		if head != nil && head.final == (head == t.waits.rest) {
			head.final = head != t.waits.rest
			head.changed()
		}
	}
}

// shut notes that nothing continues the newest answer any more.
func (t *Transcript) shut() {
	it := t.waits.rest
	if t.waits.rest = nil; it == nil {
		return
	}
	for at := it; at != nil; at = at.more {
		if at.live != nil { // it is final when that is stored, or lost
			return
		}
	}
	it.final = true
	it.changed()
}
