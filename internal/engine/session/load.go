package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"

	"scorel/internal/engine/session/health"
	"scorel/internal/engine/session/ordered"
	"scorel/internal/engine/session/rawlog"
	"scorel/protocol"
)

// loaded is what a pass over a log found besides the index.
type loaded struct {
	index  *Index
	report health.Report
	size   int64 // of the file
	tail   int64 // where the tail begins
	ended  bool  // the byte before the tail is a newline (or there is none)

	tailScan  rawlog.Damage // the whole tail
	unasked   bool          // damage may have moved the leaf, and nothing later says where it is
	tailMoves bool          // such damage is in the tail
	newer     string        // why a log of a later version takes no events
}

// load reads the first size bytes of a log into an index. It changes nothing.
func load(ctx context.Context, id protocol.SessionID, src *source, size int64) (*loaded, error) {
	l := &loaded{index: newIndex(id, src), size: size}
	var err error
	if l.tail, err = rawlog.FindTail(ctx, src.readAt, size); err != nil {
		return nil, fmt.Errorf("read the end of %s: %w", id, err)
	}
	l.ended = true
	if l.tail > 0 {
		if _, l.ended, err = rawlog.EndsWithNewline(src.readAt, l.tail); err != nil {
			return nil, err
		}
	}
	if size == 0 { // each log is made with its header
		l.report.Add(health.Finding{Kind: health.DamagedHeader, Detail: "the file is empty"})
	}
	ix := l.index
	ix.header = bareHeader(id)
	ix.end = l.tail
	if per := int64(300); l.tail/per > 16 { // a guess that is never far too large
		ix.entries = make([]entry, 0, l.tail/per/2)
		ix.links = make([]link, 0, l.tail/per/2)
	}
	ld := &loader{l: l, doubt: -1}
	if err := ld.run(ctx, src.readAt); err != nil {
		return nil, fmt.Errorf("read %s: %w", id, err)
	}
	if err := l.reorder(ctx, ld); err != nil {
		return nil, fmt.Errorf("read %s: %w", id, err)
	}
	ix = l.index
	if err := l.scanTail(ctx, src.readAt); err != nil {
		return nil, err
	}
	ix.sortBySeq()
	if ix.bySeq != nil {
		if err := ix.foldMeta(ctx); err != nil {
			return nil, err
		}
	}
	if err := l.forgetRepaired(ctx); err != nil {
		return nil, err
	}
	// Without a message there is one place to go on from.
	l.tailMoves = l.tailMoves && ix.lastConv != none
	l.unasked = l.tailMoves || ld.doubt >= 0 && ix.lastConv != none
	return l, nil
}

func bareHeader(id protocol.SessionID) protocol.Header {
	return protocol.Header{Version: protocol.HeaderVersion, SessionID: id, CreatedAt: id.Time().UnixMilli()}
}

// loader merges what was found in the blocks, in order.
type loader struct {
	l    *loaded
	line int
	crlf int
	// session is what the header says that it is of, or the first event: every line says
	// the same, or what the name of the file says.
	session protocol.SessionID
	header  []byte // the line of a sound header
	summed  bool   // a checksum was right

	// doubt is the offset of the first damage that may have moved the leaf and after
	// which nothing says where the leaf is; -1 without one.
	doubt int64
	hole  hole // the damage after the newest event
}

// hole is damage between two events.
type hole struct {
	open   bool
	before int64        // the loader's doubt before it
	maxSeq protocol.Seq // the highest number in it
}

// finding is a piece of a block: an event or damage.
type finding struct {
	rec     record
	damage  []byte // set: these bytes are no event
	why     string
	joined  bool // there are several pieces in this line
	changed bool // with damage: it has the form of an event, and its checksum is wrong or NULs stand in it
	lines   int  // lines before this one in the block
	crlf    bool
	headish bool // line 0
}

type parsed struct {
	block rawlog.Block
	found []finding
	used  usages
	lines int
	err   error
}

func (ld *loader) run(ctx context.Context, read rawlog.ReaderAt) error {
	b := &rawlog.Blocks{Read: read, Size: ld.l.tail}
	width := runtime.GOMAXPROCS(0)
	free := make(chan parsed, width+1) // whose memory may be used again
	var failed error
	next := func() func(context.Context) parsed {
		var used parsed
		select {
		case used = <-free:
		default:
		}
		if ctx.Err() != nil {
			return nil
		}
		blk, err := b.Next(used.block.Data)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			b.Stop()
			return func(context.Context) parsed { return parsed{err: err} }
		}
		return func(context.Context) parsed { return parseBlock(blk, used.found[:0], used.used[:0]) }
	}
	ordered.Run(ctx, width, next, func(p parsed) bool {
		if p.err != nil {
			failed = p.err
			return false
		}
		ld.merge(p)
		if p.block.Data != nil {
			select {
			case free <- p:
			default:
			}
		}
		return true
	})
	if failed == nil {
		failed = ctx.Err()
	}
	if ld.crlf > 0 {
		ld.l.report.Add(health.Finding{Kind: health.CRLF, Detail: fmt.Sprintf("%d lines", ld.crlf)})
	}
	return failed
}

// parseBlock finds the events of a block, into the memory of found and used. It
// runs beside others.
func parseBlock(b rawlog.Block, found []finding, used usages) parsed {
	p := parsed{block: b, found: found, used: used}
	if b.Long != nil {
		p.lines = 1
		return p
	}
	if p.found == nil {
		p.found = make([]finding, 0, len(b.Data)/400+4)
		p.used = make(usages, 0, len(b.Data)/1000+4)
	}
	nul := bytes.IndexByte(b.Data, 0) >= 0
	for data := b.Data; len(data) > 0; p.lines++ {
		off := b.Off + int64(len(b.Data)-len(data))
		line := data
		i := bytes.IndexByte(data, '\n')
		ended := i >= 0
		if ended {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		p.found = parseLine(p.found, &p.used, line, off, ended, nul, p.lines)
	}
	return p
}

func parseLine(found []finding, used *usages, line []byte, off int64, ended, nul bool, lines int) []finding {
	crlf := false
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line, crlf = line[:n-1], true
	}
	f := finding{lines: lines, crlf: crlf, headish: off == 0}
	skipped := int64(0)
	if off == 0 && bytes.HasPrefix(line, rawlog.BOM()) {
		skipped = int64(len(rawlog.BOM()))
	}
	err := parseRecord(line[skipped:], off+skipped, &f.rec, used)
	if err == nil {
		return append(found, f.checked(line[skipped:], nul))
	}
	if off == 0 {
		f.damage = line // the loader tries it as a header
		return append(found, f)
	}
	segs := rawlog.WholeEvents(line, ended)
	damage := func(from, to int) {
		if to > from {
			f.damage, f.rec = line[from:to], record{off: off + int64(from)}
			found = append(found, f)
		}
	}
	f.why, f.joined = err.Error(), len(segs) > 1 || len(segs) == 1 && segs[0] != rawlog.Segment{Start: 0, End: len(line)}
	if len(segs) == 0 {
		f.damage, f.rec = line[:len(line):len(line)], record{off: off}
		if f.damage == nil {
			f.damage = []byte{}
		}
		return append(found, f)
	}
	at := 0
	for _, s := range segs {
		damage(at, s.Start)
		g := f
		g.damage = nil
		if err := parseRecord(line[s.Start:s.End], off+int64(s.Start), &g.rec, used); err != nil {
			f.why = err.Error()
			damage(s.Start, s.End)
		} else {
			found = append(found, g.checked(line[s.Start:s.End], nul))
		}
		at = s.End
	}
	damage(at, len(line))
	return found
}

// checked returns the finding of a line that has the form of an event. A control event
// that was changed since it was written, or in which NULs stand, does not act.
func (f finding) checked(line []byte, nul bool) finding {
	f.rec.nul = nul && bytes.IndexByte(line, 0) >= 0
	if f.rec.control && (f.rec.nul || f.rec.sum == protocol.SumWrong) {
		f.damage, f.changed, f.rec = line, true, record{off: f.rec.off, id: f.rec.id}
	}
	return f
}

// parseRecord reads what the index needs of a line. What its call used goes to used.
func parseRecord(line []byte, off int64, r *record, used *usages) error {
	*r = record{off: off, size: len(line)}
	if len(line) > protocol.MaxLine {
		return fmt.Errorf("%d bytes are more than a line may have", len(line))
	}
	var k protocol.Keys
	if err := protocol.ScanKeys(line, &k); err != nil {
		return err
	}
	switch {
	case len(k.ID) == 0:
		return fmt.Errorf("an event of type %.32q that is never stored", k.Type)
	case k.Seq > rawlog.MaxSeq:
		return fmt.Errorf("the number %d is impossible", k.Seq)
	}
	r.seq, r.id, r.control, r.typ = k.Seq, parseKey(k.ID), k.Control, k.Type
	r.sum, r.prev, r.hasPrev, r.session = k.Sum(line), k.Prev, k.HasPrev, k.SessionID
	switch class, known := protocol.StoredClass(k.Type); {
	case known && k.Control != (class == protocol.Control):
		return fmt.Errorf("the control mark of a %s event is wrong", k.Type)
	case !known && k.Control && r.sum == protocol.SumUnknown:
		r.odd = bytes.Contains(line, []byte(`"targetEventId":`)) || bytes.Contains(line, []byte(`"leafEventId":`))
	}
	if len(k.ParentID) > 0 {
		r.hasParent = true
		if isKey(k.ParentID) { // else it is as good as missing
			r.parent = parseKey(k.ParentID)
		}
	}
	r.state = stateOf(k.Message)
	used.read(&k, r)
	return r.parseMove(line)
}

// parseMove decodes the few events that the fold needs.
func (r *record) parseMove(line []byte) error {
	switch protocol.EventType(r.typ) {
	case protocol.TypeRewind:
		return r.parseTarget(line, "targetEventId")
	case protocol.TypeBranch:
		return r.parseTarget(line, "leafEventId")
	case protocol.TypeSessionInfo:
		r.info = &protocol.SessionInfo{}
		return json.Unmarshal(line, r.info)
	}
	return nil
}

// parseTarget reads where a move goes. One that names no place is damaged; the empty id
// goes nowhere.
func (r *record) parseTarget(line []byte, key string) error {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(line, &body); err != nil {
		return err
	}
	if string(body[key]) == "null" {
		r.noLeaf, r.move = true, true
		return nil
	}
	var target protocol.EventID
	if err := json.Unmarshal(body[key], &target); err != nil {
		return fmt.Errorf("it has no %s", key)
	}
	if target == "" {
		return nil
	}
	if err := target.Check(); err != nil {
		return err
	}
	r.target, r.move = parseKey(target), true
	return nil
}

func (ld *loader) merge(p parsed) {
	if p.block.Long != nil {
		ld.damaged(p.block.Off, ld.line+1, p.block.Long, "a line of "+fmt.Sprint(p.block.Long.Size)+" bytes", p.block.Off == 0)
	}
	for i := range p.found {
		f := &p.found[i]
		line := ld.line + f.lines + 1
		if f.crlf {
			ld.crlf++
		}
		if f.headish {
			ld.first(f, p.used, line)
			continue
		}
		if f.joined && (i == 0 || p.found[i-1].lines != f.lines) {
			ld.l.report.Add(health.Finding{Kind: health.JoinedLines, Offset: f.rec.off, Line: line, Detail: f.why})
		}
		if f.damage != nil && len(ld.header) > 0 && bytes.Equal(f.damage, ld.header) { // the log was appended to itself
			ld.l.report.Add(health.Finding{Kind: health.RepeatedHeader, Offset: f.rec.off, Line: line})
			continue
		}
		if f.damage != nil {
			d := &rawlog.Damage{}
			d.Feed(f.damage)
			if f.changed {
				ld.changed(&f.rec, line, d)
			} else {
				ld.damaged(f.rec.off, line, d, f.why, false)
			}
			continue
		}
		ld.event(&f.rec, p.used, line)
	}
	ld.line += p.lines
}

// first handles line 0: the header, unless that is lost.
func (ld *loader) first(f *finding, used usages, line int) {
	l := ld.l
	if f.damage == nil {
		l.report.Add(health.Finding{Kind: health.DamagedHeader, Line: line, Detail: "there is none"})
		if f.rec.off > 0 {
			l.report.Add(health.Finding{Kind: health.BOM, Line: line})
		}
		ld.event(&f.rec, used, line)
		return
	}
	text := bytes.TrimPrefix(f.damage, rawlog.BOM())
	if len(text) < len(f.damage) {
		l.report.Add(health.Finding{Kind: health.BOM, Line: line})
	}
	h, err := protocol.ParseHeader(text)
	if err == nil && protocol.HeaderSum(text) == protocol.SumWrong {
		l.report.Add(health.Finding{Kind: health.ChangedHeader, Line: line})
	} else if err == nil {
		ld.header = bytes.Clone(text)
	}
	if err != nil {
		d := &rawlog.Damage{}
		d.Feed(text)
		ld.damaged(0, line, d, err.Error(), true)
		return
	}
	if ld.session = h.SessionID; h.SessionID != l.index.id {
		l.report.Add(health.Finding{Kind: health.DamagedHeader, Line: line, Detail: "it names session " + string(h.SessionID)})
		h.SessionID = l.index.id
	}
	if h.Version > protocol.HeaderVersion {
		l.newer = fmt.Sprintf("it was written by a later version of Scorel (log version %d, this one knows %d); update Scorel to continue it", h.Version, protocol.HeaderVersion)
		l.report.Add(health.Finding{Kind: health.NewerVersion, Line: line, Detail: fmt.Sprint(h.Version)})
	}
	l.index.header, l.index.meta = h, h.Meta
	l.index.headerAt = [2]int{len(f.damage) - len(text), len(text)}
}

func (ld *loader) damaged(off int64, line int, d *rawlog.Damage, why string, header bool) {
	kind := health.DamagedLine
	switch {
	case header:
		kind = health.DamagedHeader
	case d.NUL > 0 && 2*d.NUL >= d.Size:
		kind, why = health.NULRun, fmt.Sprintf("%d bytes", d.NUL)
	}
	ld.l.report.Add(health.Finding{Kind: kind, Offset: off, Line: line, Detail: why})
	ld.noteHole(off, d)
}

// changed handles a control event that does not act.
func (ld *loader) changed(r *record, line int, d *rawlog.Damage) {
	ld.l.report.Add(health.Finding{Kind: health.ChangedControl, Offset: r.off, Line: line, EventID: r.id.id()})
	ld.noteHole(r.off, d)
}

// noteHole takes note of damage after the newest event.
func (ld *loader) noteHole(off int64, d *rawlog.Damage) {
	ld.l.index.floor = max(ld.l.index.floor, d.MaxSeq)
	if !ld.hole.open {
		ld.hole = hole{open: true, before: ld.doubt}
	}
	ld.hole.maxSeq = max(ld.hole.maxSeq, d.MaxSeq)
	if d.Doubtful() {
		ld.doubts(off)
	}
}

// doubts says that what stood at an offset may have moved the leaf.
func (ld *loader) doubts(off int64) {
	if ld.doubt < 0 {
		ld.doubt = off
	}
}

func (ld *loader) event(r *record, used usages, line int) {
	ix := ld.l.index
	if kind := ix.repeats(r.id, r.seq); kind != "" {
		ld.l.report.Add(health.Finding{Kind: kind, Offset: r.off, Line: line, EventID: r.id.id()})
		ix.floor = max(ix.floor, r.seq)
		return
	}
	if ld.session == "" {
		ld.session = protocol.SessionID(r.session)
	}
	ld.summed = ld.summed || r.sum == protocol.SumRight
	strange := string(r.session) != string(ld.session) && string(r.session) != string(ix.id)
	if r.sum == protocol.SumRight && strange || r.sum == protocol.SumUnknown && ld.summed && len(r.session) == 0 {
		r.sum = protocol.SumWrong // the checksum leaves this value out; every version writes it
		if r.control {
			ld.changed(r, line, &rawlog.Damage{Moves: r.move, MaxSeq: r.seq})
			return
		}
	}
	if r.seq < ix.lastSeq {
		ld.find(r, line, health.Disorder, "")
	}
	ld.follows(r, line)
	ld.hole = hole{}
	switch {
	case r.nul:
		ld.find(r, line, health.Unreadable, "")
	case r.sum == protocol.SumWrong:
		ld.find(r, line, health.Changed, "")
	case r.odd:
		ld.find(r, line, health.OddType, fmt.Sprintf("%.32q", r.typ))
		ld.doubts(r.off)
	}
	gap := ix.add(r, used)
	if gap {
		ld.find(r, line, health.MissingParent, string(r.parent.id()))
	}
	switch {
	case ix.moveAt == r.off || string(r.typ) == string(protocol.TypeRepair):
		ld.doubt = -1
	case r.move && ix.followsOn(r.seq):
		ld.find(r, line, health.UnknownTarget, string(r.target.id()))
		ld.doubts(r.off)
	case ld.doubt >= 0 && !gap && ld.proves(r):
		ld.find(r, line, health.LeafProved, "")
		ld.doubt = -1
	}
}

func (ld *loader) find(r *record, line int, kind health.Kind, detail string) {
	ld.l.report.Add(health.Finding{Kind: kind, Offset: r.off, Line: line, EventID: r.id.id(), Detail: detail})
}

// follows looks whether lines are missing before an event, and whether none is where
// bytes are damaged.
func (ld *loader) follows(r *record, line int) {
	ix := ld.l.index
	if !r.hasPrev || r.sum != protocol.SumRight || !ix.followsOn(r.seq) {
		return
	}
	switch {
	case r.prev == ix.lastSeq:
		if ld.hole.open {
			ld.doubt = ld.hole.before // no event stood there
		}
	case r.prev < ix.lastSeq: // one before it has a wrong number
	case !ld.hole.open:
		ld.find(r, line, health.MissingLines, "")
		ld.doubts(r.off)
	case r.prev != ld.hole.maxSeq:
		ld.doubts(r.off) // more is missing than what stands there
	}
}

// proves reports whether a conversation event after the doubt shows where the
// conversation was: it hangs on an event before that, or begins the conversation.
func (ld *loader) proves(r *record) bool {
	if r.control || r.nul || r.sum == protocol.SumWrong {
		return false
	}
	ix := ld.l.index
	parent := ix.entries[len(ix.entries)-1].parent
	return parent == none || ix.entries[parent].off < ld.doubt
}

// followsOn reports whether the lines of a log are known to have nothing left out before
// an event of that seq: those that were copied from another log have.
func (ix *Index) followsOn(seq protocol.Seq) bool {
	copied := ix.header.ClonedFrom != nil
	return !copied || ix.header.CopiedThrough > 0 && seq > ix.header.CopiedThrough
}

// forgetRepaired takes the gaps out of the report that a repair made and named.
func (l *loaded) forgetRepaired(ctx context.Context) error {
	if !slices.ContainsFunc(l.report.Findings, health.Finding.Repairable) {
		return nil
	}
	known, err := l.index.repaired(ctx)
	if err != nil {
		return err
	}
	l.report.Findings = slices.DeleteFunc(l.report.Findings, func(f health.Finding) bool { return f.Repairable() && known[f.EventID] })
	return nil
}

// repaired returns the events that repairs name: they stand after known gaps.
func (ix *Index) repaired(ctx context.Context) (map[protocol.EventID]bool, error) {
	known := map[protocol.EventID]bool{} // bounded by what the log names
	for ev, err := range ix.OfType(ctx, protocol.TypeRepair) {
		if err != nil {
			return nil, err
		}
		if b, ok := ev.Body.(*protocol.Repair); ok {
			for _, g := range b.Gaps {
				known[g.Before] = true
			}
		}
	}
	return known, nil
}

// scanTail looks through the tail. Its last line, when no newline ends it, was
// told to nobody: only its numbers count, unless NULs stand in it that no power cut
// leaves.
func (l *loaded) scanTail(ctx context.Context, read rawlog.ReaderAt) error {
	unfinished := l.size
	if l.tail < l.size {
		body, ended, err := rawlog.EndsWithNewline(read, l.size)
		if err != nil {
			return err
		}
		if !ended {
			if unfinished, err = rawlog.LineStart(read, body); err != nil {
				return err
			}
			unfinished = max(unfinished, l.tail)
		}
	}
	t := rawlog.Tail{Unfinished: unfinished}
	buf := make([]byte, min(rawlog.BlockSize, l.size-l.tail))
	for off := l.tail; off < l.size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := buf[:min(int64(len(buf)), l.size-off)]
		if err := rawlog.ReadFull(read, p, off); err != nil {
			return err
		}
		t.Feed(p, off)
		off += int64(len(p))
	}
	t.End()
	l.tailMoves = t.Doubtful(l.tail, l.size)
	l.tailScan = rawlog.Damage{MaxSeq: t.MaxSeq, NUL: t.NUL, Size: l.size - l.tail}
	l.index.floor = max(l.index.floor, l.tailScan.MaxSeq)
	if nul := l.tailScan.NUL; nul > 0 && 2*nul >= l.tailScan.Size {
		l.report.Add(health.Finding{Kind: health.NULRun, Offset: l.tail, Detail: fmt.Sprintf("%d bytes", nul)})
	}
	return nil
}
