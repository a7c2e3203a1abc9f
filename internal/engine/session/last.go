package session

import "scorel/protocol"

// LastID is the event with the highest seq; empty when there is none.
func (ix *Index) LastID() protocol.EventID {
	s := ix.snapshot()
	if len(s.entries) == 0 {
		return ""
	}
	return s.entries[s.at(len(s.entries)-1)].id.id()
}

// SeqOf returns the seq of an event, 0 for an unknown one.
func (ix *Index) SeqOf(id protocol.EventID) protocol.Seq {
	i, ok := ix.lookup(id)
	if !ok {
		return 0
	}
	return protocol.Seq(ix.snapshot().entries[i].seq)
}

// LastConversation is the seq of the newest conversation event of the file, 0 when there
// is none.
func (ix *Index) LastConversation() protocol.Seq {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ix.lastConv == none {
		return 0
	}
	return protocol.Seq(ix.entries[ix.lastConv].seq)
}
