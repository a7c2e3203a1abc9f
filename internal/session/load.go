package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"scorel/protocol"
)

// loaded is what a pass over a log found besides the index.
type loaded struct {
	index  *Index
	report Report
	size   int64 // of the file
	tail   int64 // where the tail begins
	ended  bool  // the byte before the tail is a newline (or there is none)

	tailScan  damageScan // the whole tail
	unasked   bool       // damaged bytes may hold moves of the leaf that nothing later overrules
	tailMoves bool       // such bytes are in the tail
}

// load reads the first size bytes of a log into an index. It changes nothing.
func load(ctx context.Context, id protocol.SessionID, src *source, size int64) (*loaded, error) {
	l := &loaded{index: newIndex(id, src), size: size}
	var err error
	if l.tail, err = findTail(ctx, src.readAt, size); err != nil {
		return nil, fmt.Errorf("read the end of %s: %w", id, err)
	}
	l.ended = true
	if l.tail > 0 {
		if _, l.ended, err = endsWithNewline(src.readAt, l.tail); err != nil {
			return nil, err
		}
	}
	ix := l.index
	ix.header = bareHeader(id)
	ix.end = l.tail
	if per := int64(300); l.tail/per > 16 { // a guess that is never far too large
		ix.entries = make([]entry, 0, l.tail/per/2)
		ix.links = make([]link, 0, l.tail/per/2)
	}
	ld := &loader{l: l, lastMoves: -1}
	if err := ld.run(ctx, src.readAt); err != nil {
		return nil, fmt.Errorf("read %s: %w", id, err)
	}
	if err := l.scanTail(ctx, src.readAt); err != nil {
		return nil, err
	}
	ix.sortBySeq()
	if ix.bySeq != nil {
		if err := ix.foldMeta(ctx); err != nil {
			return nil, err
		}
	}
	l.unasked = ld.lastMoves > ix.moveAt || l.tailMoves
	return l, nil
}

func bareHeader(id protocol.SessionID) protocol.Header {
	return protocol.Header{Version: protocol.HeaderVersion, SessionID: id, CreatedAt: id.Time().UnixMilli()}
}

// loader merges what was found in the blocks, in order.
type loader struct {
	l         *loaded
	line      int
	lastMoves int64 // offset of the last damaged bytes that hold a move, -1
	crlf      int
}

// finding is a piece of a block: an event or damage.
type finding struct {
	rec     record
	damage  []byte // set: these bytes are no event
	why     string
	joined  bool // there are several pieces in this line
	lines   int  // lines before this one in the block
	crlf    bool
	headish bool // line 0
}

type parsed struct {
	block block
	found []finding
	used  usages
	lines int
	err   error
}

func (ld *loader) run(ctx context.Context, read readerAt) error {
	b := &blocks{read: read, size: ld.l.tail}
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
		blk, err := b.next(used.block.data)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			b.off = b.size
			return func(context.Context) parsed { return parsed{err: err} }
		}
		return func(context.Context) parsed { return parseBlock(blk, used.found[:0], used.used[:0]) }
	}
	ordered(ctx, width, next, func(p parsed) bool {
		if p.err != nil {
			failed = p.err
			return false
		}
		ld.merge(p)
		if p.block.data != nil {
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
		ld.l.report.add(Finding{Kind: FindCRLF, Detail: fmt.Sprintf("%d lines", ld.crlf)})
	}
	return failed
}

// parseBlock finds the events of a block, into the memory of found and used. It
// runs beside others.
func parseBlock(b block, found []finding, used usages) parsed {
	p := parsed{block: b, found: found, used: used}
	if b.long != nil {
		p.lines = 1
		return p
	}
	if p.found == nil {
		p.found = make([]finding, 0, len(b.data)/400+4)
		p.used = make(usages, 0, len(b.data)/1000+4)
	}
	for data := b.data; len(data) > 0; p.lines++ {
		off := b.off + int64(len(b.data)-len(data))
		line := data
		i := bytes.IndexByte(data, '\n')
		ended := i >= 0
		if ended {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		p.found = parseLine(p.found, &p.used, line, off, ended, p.lines)
	}
	return p
}

func parseLine(found []finding, used *usages, line []byte, off int64, ended bool, lines int) []finding {
	crlf := false
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line, crlf = line[:n-1], true
	}
	f := finding{lines: lines, crlf: crlf, headish: off == 0}
	skipped := int64(0)
	if off == 0 && bytes.HasPrefix(line, bom()) {
		skipped = int64(len(bom()))
	}
	err := parseRecord(line[skipped:], off+skipped, &f.rec, used)
	if err == nil {
		return append(found, f)
	}
	if off == 0 {
		f.damage = line // the loader tries it as a header
		return append(found, f)
	}
	segs := wholeEvents(line, ended)
	damage := func(from, to int) {
		if to > from {
			f.damage, f.rec = line[from:to], record{off: off + int64(from)}
			found = append(found, f)
		}
	}
	f.why, f.joined = err.Error(), len(segs) > 0
	if len(segs) == 0 {
		f.damage, f.rec = line[:len(line):len(line)], record{off: off}
		if f.damage == nil {
			f.damage = []byte{}
		}
		return append(found, f)
	}
	at := 0
	for _, s := range segs {
		damage(at, s.start)
		g := f
		g.damage = nil
		if parseRecord(line[s.start:s.end], off+int64(s.start), &g.rec, used) == nil {
			found = append(found, g)
		}
		at = s.end
	}
	damage(at, len(line))
	return found
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
	case k.Seq > maxSeq:
		return fmt.Errorf("the number %d is impossible", k.Seq)
	}
	r.seq, r.id, r.control, r.typ = k.Seq, parseKey(k.ID), k.Control, k.Type
	if len(k.ParentID) > 0 {
		r.hasParent = true
		if isKey(k.ParentID) { // else it is as good as missing
			r.parent = parseKey(k.ParentID)
		}
	}
	r.todos = listsTodos(k.Message)
	used.read(&k, r)
	return r.parseMove(line)
}

// parseMove decodes the few events that the fold needs.
func (r *record) parseMove(line []byte) error {
	var target *protocol.EventID
	switch protocol.EventType(r.typ) {
	case protocol.TypeRewind:
		var b struct{ TargetEventID *protocol.EventID }
		if err := json.Unmarshal(line, &b); err != nil {
			return err
		}
		target, r.noLeaf = b.TargetEventID, b.TargetEventID == nil
	case protocol.TypeBranch:
		var b protocol.Branch
		if err := json.Unmarshal(line, &b); err != nil {
			return err
		}
		target = &b.LeafEventID
	case protocol.TypeSessionInfo:
		r.info = &protocol.SessionInfo{}
		return json.Unmarshal(line, r.info)
	default:
		return nil
	}
	if target != nil && target.Check() == nil {
		r.target = parseKey(*target)
	}
	r.move = r.control && (r.noLeaf || r.target != eventKey{})
	return nil
}

func (ld *loader) merge(p parsed) {
	if p.block.long != nil {
		ld.damaged(p.block.off, ld.line+1, p.block.long, "a line of "+fmt.Sprint(p.block.long.size)+" bytes", p.block.off == 0)
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
			ld.l.report.add(Finding{Kind: FindJoinedLines, Offset: f.rec.off, Line: line, Detail: f.why})
		}
		if f.damage != nil {
			d := &damageScan{}
			d.feed(f.damage)
			ld.damaged(f.rec.off, line, d, f.why, false)
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
		l.report.add(Finding{Kind: FindDamagedHeader, Line: line, Detail: "there is none"})
		if f.rec.off > 0 {
			l.report.add(Finding{Kind: FindBOM, Line: line})
		}
		ld.event(&f.rec, used, line)
		return
	}
	text := bytes.TrimPrefix(f.damage, bom())
	if len(text) < len(f.damage) {
		l.report.add(Finding{Kind: FindBOM, Line: line})
	}
	h, err := protocol.ParseHeader(text)
	if err != nil {
		d := &damageScan{}
		d.feed(text)
		ld.damaged(0, line, d, err.Error(), true)
		return
	}
	if h.SessionID != l.index.id {
		l.report.add(Finding{Kind: FindDamagedHeader, Line: line, Detail: "it names session " + string(h.SessionID)})
		h.SessionID = l.index.id
	}
	l.index.header, l.index.meta = h, h.Meta
	l.index.headerAt = [2]int{len(f.damage) - len(text), len(text)}
}

func (ld *loader) damaged(off int64, line int, d *damageScan, why string, header bool) {
	kind := FindDamagedLine
	switch {
	case header:
		kind = FindDamagedHeader
	case d.nul > 0 && 2*d.nul >= d.size:
		kind, why = FindNULRun, fmt.Sprintf("%d bytes", d.nul)
	}
	ld.l.report.add(Finding{Kind: kind, Offset: off, Line: line, Detail: why})
	ld.l.index.floor = max(ld.l.index.floor, d.maxSeq)
	if d.moves {
		ld.lastMoves = off
	}
}

func (ld *loader) event(r *record, used usages, line int) {
	ix := ld.l.index
	if kind := ix.repeats(r.id, r.seq); kind != "" {
		ld.l.report.add(Finding{Kind: kind, Offset: r.off, Line: line, EventID: r.id.id()})
		ix.floor = max(ix.floor, r.seq)
		return
	}
	if r.seq < ix.lastSeq {
		ld.l.report.add(Finding{Kind: FindDisorder, Offset: r.off, Line: line, EventID: r.id.id()})
	}
	if ix.add(r, used) {
		ld.l.report.add(Finding{Kind: FindMissingParent, Offset: r.off, Line: line, EventID: r.id.id(), Detail: string(r.parent.id())})
	}
}

// scanTail looks through the tail. Its last line, when no newline ends it, was
// told to nobody: only its numbers count.
func (l *loaded) scanTail(ctx context.Context, read readerAt) error {
	unfinished := l.size
	if l.tail < l.size {
		body, ended, err := endsWithNewline(read, l.size)
		if err != nil {
			return err
		}
		if !ended {
			if unfinished, err = lineStart(read, body); err != nil {
				return err
			}
			unfinished = max(unfinished, l.tail)
		}
	}
	var told, untold damageScan
	buf := make([]byte, min(blockSize, l.size-l.tail))
	for off := l.tail; off < l.size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, end := &told, unfinished
		if off >= unfinished {
			d, end = &untold, l.size
		}
		p := buf[:min(int64(len(buf)), end-off)]
		if err := readFull(read, p, off); err != nil {
			return err
		}
		d.feed(p)
		off += int64(len(p))
	}
	l.tailMoves = told.moves
	l.tailScan = damageScan{maxSeq: max(told.maxSeq, untold.maxSeq), nul: told.nul + untold.nul, size: l.size - l.tail}
	l.index.floor = max(l.index.floor, l.tailScan.maxSeq)
	if nul := l.tailScan.nul; nul > 0 && 2*nul >= l.tailScan.size {
		l.report.add(Finding{Kind: FindNULRun, Offset: l.tail, Detail: fmt.Sprintf("%d bytes", nul)})
	}
	return nil
}
