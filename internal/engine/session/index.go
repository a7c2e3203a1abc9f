package session

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"scorel/internal/engine/session/health"
	"scorel/internal/engine/session/rawlog"
	"scorel/protocol"
)

// Index knows the events of one log: their ids, places and parents, and the
// leaf. It holds no bodies. Its methods may be called while a Commit appends;
// each sees the log as of one moment.
type Index struct {
	id  protocol.SessionID
	src *source

	lastPath atomic.Pointer[pathBits] // see OnPath

	mu       sync.RWMutex
	entries  []entry // in file order, unless they are mixed; elements never change
	mixed    bool    // the file has the events in another order than their numbers, and entries in that
	links    []link  // the children, same indices as entries
	root     link    // child: newest event without parent
	types    []protocol.EventType
	leaf     int32
	lastConv int32 // newest conversation event in the file
	lastSeq  protocol.Seq
	floor    protocol.Seq // highest number seen in damaged bytes
	end      int64        // after the last durable byte
	gaps     []Gap
	moveAt   int64 // offset of the newest event that sets the leaf by name, -1
	numbering
	facts
}

// numbering finds entries by their ids and numbers.
type numbering struct {
	table []int32             // open addressing by id: index+1, 0 is free
	bySeq []int32             // nil while seqs rise in file order
	seqs  map[uint64]struct{} // with bySeq: which there are
}

// facts are what the events of a log say of all of it.
type facts struct {
	header   protocol.Header
	headerAt [2]int // offset and length of a sound header line; zero length: none
	meta     protocol.Meta
	usage    protocol.Usage // of all events
}

// entry is one event. Together with its link and its slot in the table it costs
// about 64 bytes.
type entry struct {
	off    int64
	seq    uint64
	size   uint32
	parent int32 // index of the conversation event it hangs on, none for null
	id     eventKey
	typ    uint8 // index into types, otherType when there are too many
	flags  uint8
}

const (
	flagControl = 1 << iota
	flagGap     // its parent is not the one it names
	flagTodos   // a result of TodoWrite
	flagDir     // a result of Bash that names a working directory
)

type link struct{ child, next int32 } // newest child, next older sibling

const (
	none      = int32(-1)
	otherType = 255
)

// eventKey is the 80 bits of an event id.
type eventKey [10]byte

// parseKey decodes the 16 characters after "evt_"; the id has been checked.
func parseKey[T ~string | ~[]byte](id T) (k eventKey) {
	for half := range 2 {
		var n uint64
		for i := range 8 {
			c := id[4+8*half+i]
			n = n<<5 | uint64(c-'0'-c>>6*('a'-10-'0')) // letters have the bit 64
		}
		for i := range 5 {
			k[5*half+i] = byte(n >> (32 - 8*i))
		}
	}
	return k
}

// isKey reports whether id has the form of an event id.
func isKey(id []byte) bool {
	if len(id) != 20 || string(id[:4]) != "evt_" {
		return false
	}
	for _, c := range id[4:] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'v') {
			return false
		}
	}
	return true
}

func (k eventKey) id() protocol.EventID {
	const digits = "0123456789abcdefghijklmnopqrstuv"
	var s [20]byte
	copy(s[:], "evt_")
	for half := range 2 {
		var n uint64
		for i := range 5 {
			n = n<<8 | uint64(k[5*half+i])
		}
		for i := range 8 {
			s[4+8*half+i] = digits[n>>(35-5*i)&31]
		}
	}
	return protocol.EventID(s[:])
}

// hashSeed differs from process to process, so that nobody can write a log whose ids all
// stand in one place of the table.
var hashSeed = rand.Uint64()

// hash mixes the key: ids are random, but those of an imported log need not be. Every bit
// of the key moves every bit of the hash.
func (k eventKey) hash() uint64 {
	const odd = 0xd6e8feb86659fd93
	h := hashSeed ^ binary.LittleEndian.Uint64(k[:8])
	h ^= h >> 32
	h *= odd
	h ^= uint64(binary.LittleEndian.Uint16(k[8:]))
	h ^= h >> 32
	h *= odd
	return h ^ h>>32
}

func newIndex(id protocol.SessionID, src *source) *Index {
	return &Index{id: id, src: src, root: link{none, none}, leaf: none, lastConv: none, moveAt: -1, types: knownTypes()}
}

// knownTypes have codes from the start, so that no log with many unknown types
// takes them; the frequent ones come first.
func knownTypes() []protocol.EventType {
	const room = 24 // for all of them
	known := append(make([]protocol.EventType, 0, room),
		protocol.TypeMessage, protocol.TypePermissionDecision, protocol.TypeFileSnapshot, protocol.TypeHarnessItem)
	frequent := len(known)
	for _, s := range protocol.EventSpecs() {
		if s.Class != protocol.Transient && !slices.Contains(known[:frequent], s.Type) {
			known = append(known, s.Type)
		}
	}
	return known
}

// find returns the index of an event, none if there is none. It needs mu.
func (ix *Index) find(k eventKey) int32 {
	if len(ix.table) == 0 {
		return none
	}
	mask := uint64(len(ix.table) - 1)
	for h := k.hash() & mask; ; h = (h + 1) & mask {
		switch i := ix.table[h] - 1; {
		case i < 0:
			return none
		case ix.entries[i].id == k:
			return i
		}
	}
}

func (ix *Index) insert(i int32) {
	if 4*(len(ix.entries)+1) > 3*len(ix.table) {
		ix.grow()
	}
	mask := uint64(len(ix.table) - 1)
	h := ix.entries[i].id.hash() & mask
	for ix.table[h] != 0 {
		h = (h + 1) & mask
	}
	ix.table[h] = i + 1
}

func (ix *Index) grow() {
	size := max(64, 2*len(ix.table))
	ix.table = make([]int32, size)
	mask := uint64(size - 1)
	for i := range ix.entries[:max(0, len(ix.entries)-1)] { // the newest is being inserted
		h := ix.entries[i].id.hash() & mask
		for ix.table[h] != 0 {
			h = (h + 1) & mask
		}
		ix.table[h] = int32(i) + 1
	}
}

// typeCode returns the code of a type, making one while there is room.
func (ix *Index) typeCode(t []byte) uint8 {
	for i, known := range ix.types {
		if string(known) == string(t) {
			return uint8(i)
		}
	}
	if len(ix.types) == otherType {
		return otherType
	}
	ix.types = append(ix.types, protocol.EventType(t))
	return uint8(len(ix.types) - 1)
}

// record is what a pass over a line finds out for the index.
type record struct {
	off       int64
	size      int
	seq       protocol.Seq
	id        eventKey
	parent    eventKey
	hasParent bool
	control   bool
	typ       []byte

	move   bool // it sets the leaf to target, or with noLeaf to the empty conversation
	noLeaf bool
	target eventKey
	info   *protocol.SessionInfo
	state  uint8 // flagTodos or flagDir

	session []byte
	sum     protocol.Sum
	prev    protocol.Seq // with hasPrev: the seq that it follows on
	hasPrev bool
	nul     bool // NULs stand in it
	odd     bool // of an unknown type, without a checksum, and it names a place to go on from

	used int32 // its place in usages, from 1; 0: it used nothing
}

// add appends an event that has passed refuse. It needs mu held for writing.
func (ix *Index) add(r *record, used usages) (gap bool) {
	i := int32(len(ix.entries))
	e := entry{off: r.off, size: uint32(r.size), seq: uint64(r.seq), id: r.id, parent: none, typ: ix.typeCode(r.typ), flags: r.state}
	if r.hasParent {
		p := ix.lastConv // most events hang on the one before them
		if p == none || ix.entries[p].id != r.parent {
			p = ix.find(r.parent)
		}
		if p == none || ix.entries[p].flags&flagControl != 0 {
			gap = true
			p = ix.leaf // where the conversation was
			e.flags |= flagGap
			before := protocol.EventID("")
			if p != none {
				before = ix.entries[p].id.id()
			}
			if len(ix.gaps) < health.Max {
				ix.gaps = append(ix.gaps, Gap{After: before, Before: r.id.id(), Missing: r.parent.id(), Control: r.control})
			}
		}
		e.parent = p
	}
	if r.control {
		e.flags |= flagControl
	}
	ix.noteSeq(i, r.seq)
	ix.entries = append(ix.entries, e)
	ix.links = append(ix.links, link{none, none})
	ix.insert(i)
	if !r.control {
		parent := &ix.root
		if e.parent != none {
			parent = &ix.links[e.parent]
		}
		ix.links[i].next = parent.child
		parent.child = i
		ix.leaf, ix.lastConv = i, i
	}
	ix.fold(r, used)
	return gap
}

// noteSeq keeps lastSeq, and notices during a load that numbers fall somewhere.
func (ix *Index) noteSeq(i int32, seq protocol.Seq) {
	if seq <= ix.lastSeq && ix.seqs == nil {
		ix.seqs = make(map[uint64]struct{}, len(ix.entries)+1)
		for _, e := range ix.entries {
			ix.seqs[e.seq] = struct{}{}
		}
	}
	if ix.seqs != nil {
		ix.seqs[uint64(seq)] = struct{}{}
	}
	if ix.bySeq != nil { // only after a load, when every seq is a new highest
		ix.bySeq = append(ix.bySeq, i)
	}
	ix.lastSeq = max(ix.lastSeq, seq)
}

// sortBySeq ends a load: in a log whose numbers fall somewhere the order of seq
// is not that of the file.
func (ix *Index) sortBySeq() {
	if ix.seqs == nil {
		return
	}
	ix.seqs = nil
	ix.bySeq = make([]int32, len(ix.entries))
	for i := range ix.bySeq {
		ix.bySeq[i] = int32(i)
	}
	slices.SortFunc(ix.bySeq, func(a, b int32) int { return cmp.Compare(ix.entries[a].seq, ix.entries[b].seq) })
}

// fold follows what control events change: the leaf and the meta. It
// also sums up what was used.
func (ix *Index) fold(r *record, used usages) {
	if r.move {
		switch t := ix.find(r.target); {
		case r.noLeaf:
			ix.leaf, ix.moveAt = none, r.off
		case t != none && ix.entries[t].flags&flagControl == 0:
			ix.leaf, ix.moveAt = t, r.off
		}
	}
	if r.info != nil {
		r.info.Changes.Apply(&ix.meta)
	}
	if r.used > 0 {
		ix.usage.Add(used.of(r))
	}
}

// repeats says why an event with this id and seq would be a second one, or "".
// It needs mu.
func (ix *Index) repeats(id eventKey, seq protocol.Seq) health.Kind {
	if ix.find(id) != none {
		return health.RepeatedID
	}
	if seq > ix.lastSeq || len(ix.entries) == 0 {
		return ""
	}
	if ix.seqs != nil {
		if _, ok := ix.seqs[uint64(seq)]; ok {
			return health.RepeatedSeq
		}
		return ""
	}
	_, ok := slices.BinarySearchFunc(ix.entries, uint64(seq), func(e entry, s uint64) int { return cmp.Compare(e.seq, s) })
	if ok {
		return health.RepeatedSeq
	}
	return ""
}

// Gap is a place where an event names a parent that is not before it in the
// file. The event hangs on After instead, which is empty at the very beginning.
type Gap struct {
	After   protocol.EventID // the conversation event before it
	Before  protocol.EventID // the event after the gap
	Missing protocol.EventID // the parent that it names; empty when the event itself cannot be decoded
	Control bool             // Before is a control event
}

// snapshot is the part of an index that a reader walks without the lock.
type snapshot struct {
	entries []entry
	bySeq   []int32
	types   []protocol.EventType
	mixed   bool // see [Index]
}

func (ix *Index) snapshot() snapshot {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return snapshot{ix.entries, ix.bySeq, ix.types, ix.mixed}
}

// at returns the index of the n-th event in order of seq.
func (s snapshot) at(n int) int32 {
	if s.bySeq != nil {
		return s.bySeq[n]
	}
	return int32(n)
}

// typeSet says for each code whether it is one of types. others is true when one
// of them is none that has a code, so that events without a code must be looked
// at.
func (s snapshot) typeSet(types []protocol.EventType) (set [256]bool, others bool) {
	for _, t := range types {
		i := slices.Index(s.types, t)
		if i >= 0 {
			set[i] = true
		} else {
			others = others || len(s.types) == otherType
		}
	}
	set[otherType] = others
	return set, others
}

// SessionID is the session's id: the file's name, whatever stands in the header.
func (ix *Index) SessionID() protocol.SessionID { return ix.id }

// Len is the number of events.
func (ix *Index) Len() int {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return len(ix.entries)
}

// LastSeq is the highest seq of an event, 0 when there is none.
func (ix *Index) LastSeq() protocol.Seq {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.lastSeq
}

// NextSeqFloor is the lowest seq that the next event may have: above all events, above every
// number seen in damaged bytes, and above what counts as imported, of which a copy may lack
// the last ones.
func (ix *Index) NextSeqFloor() protocol.Seq {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	imported := ix.header.ImportedThrough
	if imported >= rawlog.MaxSeq { // nobody has written that
		imported = 0
	}
	return max(ix.lastSeq, ix.floor, imported) + 1
}

// Size is the length of the durable log in bytes.
func (ix *Index) Size() int64 {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.end
}

// Leaf is the event on which the next conversation event hangs; empty for the
// empty conversation.
func (ix *Index) Leaf() protocol.EventID {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ix.leaf == none {
		return ""
	}
	return ix.entries[ix.leaf].id.id()
}

// Has reports whether there is an event of that id.
func (ix *Index) Has(id protocol.EventID) bool {
	_, ok := ix.lookup(id)
	return ok
}

// lookup returns the index of an event.
func (ix *Index) lookup(id protocol.EventID) (int32, bool) {
	if id.Check() != nil {
		return none, false
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	i := ix.find(parseKey(id))
	return i, i != none
}

// mustLookup is lookup with the error that callers return.
func (ix *Index) mustLookup(id protocol.EventID) (int32, error) {
	i, ok := ix.lookup(id)
	if !ok {
		return none, fmt.Errorf("event %.24q of %s: %w", string(id), ix.id, ErrUnknownEvent)
	}
	return i, nil
}

// conversation is mustLookup for an event that can stand on a path; the empty id
// gives none.
func (ix *Index) conversation(id protocol.EventID) (int32, error) {
	if id == "" {
		return none, nil
	}
	i, err := ix.mustLookup(id)
	if err != nil {
		return none, err
	}
	if ix.snapshot().entries[i].flags&flagControl != 0 {
		return none, fmt.Errorf("event %s of %s is a control event: %w", id, ix.id, ErrUnknownEvent)
	}
	return i, nil
}

// Header is the header of the log; of a damaged one only the session's id and
// time of creation are known.
func (ix *Index) Header() protocol.Header {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.header
}

// Imported reports whether the event with this seq came from a file: see
// [protocol.Header.ImportedThrough].
func (ix *Index) Imported(seq protocol.Seq) bool {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return seq <= ix.header.ImportedThrough
}

// Gaps returns the places where events are missing, at most a thousand, for
// display.
func (ix *Index) Gaps() []Gap {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return slices.Clone(ix.gaps)
}
