package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"scorel/internal/engine/session/match"
	"scorel/internal/engine/session/ordered"
	"scorel/internal/engine/session/rawlog"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// DefaultHits is how many events a search gives when it names no limit.
const DefaultHits = 50

// Bounds of a search.
const (
	maxWords       = 16   // in a search
	maxWordBytes   = 256  // of one of them
	maxHits        = 500  // at most
	hitsPerSession = 3    // the newest; the others are counted
	maxCounted     = 1000 // in a session; what is beyond is not counted
	searchWidth    = 16   // files that are read at once: cold ones wait for the disk
)

// ErrPartly is the error of a session of which damaged lines could not be searched.
var ErrPartly = errors.New("damaged lines of the session could not be searched")

// ErrQuery is in the chain when a search asks for nothing that can be found.
var ErrQuery = errors.New("the search cannot be carried out")

// Search says what to look for.
type Search struct {
	Words     []string           // each as it stands, blanks included; all in one event
	ProjectID protocol.ProjectID // empty: in all projects
	MatchCase bool               // false: words without capitals are found in any case
	Limit     int                // events; 0: 50
}

// check refuses what no search can be made of.
func (q *Search) check() error {
	q.Words = slices.DeleteFunc(slices.Clone(q.Words), func(w string) bool { return strings.TrimSpace(w) == "" })
	switch {
	case len(q.Words) == 0:
		return fmt.Errorf("%w: say what to look for", ErrQuery)
	case len(q.Words) > maxWords:
		return fmt.Errorf("%w: %d words are more than the %d that it may have", ErrQuery, len(q.Words), maxWords)
	case q.Limit < 0 || q.Limit > maxHits:
		return fmt.Errorf("%w: the limit is at most %d", ErrQuery, maxHits)
	}
	for _, w := range q.Words {
		if len(w) > maxWordBytes || !utf8.ValidString(w) {
			return fmt.Errorf("%w: a word is text of at most %d bytes", ErrQuery, maxWordBytes)
		}
	}
	if q.Limit == 0 {
		q.Limit = DefaultHits
	}
	return nil
}

// Search returns the sessions in which the words stand in what people read, newest
// first, until Limit events have been given. All logs are read, as bytes and
// without their locks; nothing is kept between searches. An event of a log counts
// where [Store.View] shows it, and is durable when it is given.
//
// Bytes are compared as the log writes them: a text that a foreign program wrote
// with other JSON escapes, or in another Unicode normal form, is not found. Of a
// session the newest three events are given and the others counted. An error with
// a SessionID concerns that session alone, and the search goes on; ErrQuery and
// the context's error end it. Of a session with lines that are visibly no events it is
// ErrPartly, and what was found beside them comes too. Where the header is damaged the
// session is searched for any project.
func (s *Store) Search(ctx context.Context, q Search) iter.Seq2[protocol.FoundSession, error] {
	return func(yield func(protocol.FoundSession, error) bool) {
		if err := q.check(); err != nil {
			yield(protocol.FoundSession{}, err)
			return
		}
		files, err := s.files()
		if err != nil {
			yield(protocol.FoundSession{}, err)
			return
		}
		slices.SortFunc(files, func(a, b listed) int { return a.position().compare(b.position()) })
		sc := &scan{store: s, words: match.New(q.Words, q.MatchCase), project: q.ProjectID}
		next := func() func(context.Context) scanned {
			if len(files) == 0 {
				return nil
			}
			f := files[0]
			files = files[1:]
			return func(ctx context.Context) scanned { return sc.file(ctx, f) }
		}
		given, stopped := 0, false
		ordered.Run(ctx, searchWidth, next, func(r scanned) bool {
			found, err := r.found(ctx, s)
			if ctx.Err() != nil {
				return false
			}
			if err == nil && r.damaged {
				if stopped = !yield(protocol.FoundSession{SessionID: r.file.id}, ErrPartly); stopped {
					return false
				}
			}
			switch {
			case err != nil:
				stopped = !yield(protocol.FoundSession{SessionID: r.file.id}, err)
				return !stopped
			case len(found.Hits) == 0:
				return true
			}
			if over := given + len(found.Hits) - q.Limit; over > 0 {
				found.More += over
				found.Hits = found.Hits[:len(found.Hits)-over]
			}
			given += len(found.Hits)
			stopped = !yield(found, nil) || given >= q.Limit
			return !stopped
		})
		if err := ctx.Err(); err != nil && !stopped {
			yield(protocol.FoundSession{}, err)
		}
	}
}

// scan is one search through many files.
type scan struct {
	store   *Store
	words   match.Words
	project protocol.ProjectID
	buffers sync.Pool // *[]byte
}

// scanned is what was found in one file.
type scanned struct {
	file  listed
	hits  []protocol.SearchHit // the newest, oldest first
	count int
	late  [][]byte // the newest lines that were not looked at because count is at its bound
	// damaged says that there are lines that are no events.
	damaged bool
	err     error
}

// file searches one log.
func (sc *scan) file(ctx context.Context, f listed) (r scanned) {
	r.file = f
	if f.gone {
		r.err = ErrNotFound
		return r
	}
	file, err := sc.store.fs.Open(sc.store.path(f.id), disk.ReadOnly)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // else it was deleted meanwhile
			r.err = err
		}
		return r
	}
	defer file.Close()
	buf, _ := sc.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer sc.buffers.Put(buf)
	b := &rawlog.Blocks{Read: file.ReadAt, Size: f.size}
	for {
		if r.err = ctx.Err(); r.err != nil {
			return r
		}
		blk, err := b.Next(*buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			r.err = err
			return r
		}
		if blk.Data == nil {
			r.damaged = true
			continue
		}
		*buf = blk.Data[:0]
		if blk.Off == 0 {
			of, ok := sc.ofProject(blk.Data)
			if r.damaged = !ok; ok && !of {
				return r
			}
		}
		r.damaged = r.damaged || !whole(blk.Data, blk.End == f.size)
		sc.block(&r, blk)
	}
	r.damaged = r.damaged || f.size == 0
	for _, line := range r.late {
		sc.line(&r, line)
	}
	return r
}

// ofProject reports whether the header that data begins with names the project, any for none,
// and whether it can be read; for any project it is not decoded, which takes a tenth of a search.
func (sc *scan) ofProject(data []byte) (of, ok bool) {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	if sc.project == "" {
		return true, json.Valid(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
	}
	h, err := protocol.ParseHeader(bytes.TrimSuffix(line, []byte("\r")))
	return h.Meta.ProjectID == sc.project, err == nil
}

// whole reports whether lines look like events from outside: it decodes none. What follows
// the last line end of a log may be on its way.
func whole(data []byte, last bool) bool {
	if last {
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if n := len(line); n < 2 || line[0] != '{' || line[n-1] != '}' {
			return false
		}
		data = rest
	}
	return true
}

// block searches some lines.
func (sc *scan) block(r *scanned, blk rawlog.Block) {
	data := blk.Data
	sc.words.Candidates(data, func(start, end int) int {
		from := bytes.LastIndexByte(data[:start], '\n') + 1
		to := len(data)
		if i := bytes.IndexByte(data[end:], '\n'); i >= 0 {
			to = end + i
		}
		line := bytes.TrimSuffix(data[from:to], []byte("\r"))
		switch {
		case !sc.words[1:].MayBeIn(line):
		case blk.Off == 0 && from == 0:
			sc.header(r, line)
		case r.count < maxCounted:
			was := r.damaged
			sc.line(r, line)
			if to == len(data) { // it may be on its way
				r.damaged = was
			}
		default:
			if len(r.late) == 2*hitsPerSession {
				r.late = append(r.late[:0], r.late[1:]...)
			}
			r.late = append(r.late, bytes.Clone(line))
		}
		return to
	})
}

// header looks at the name in line 0.
func (sc *scan) header(r *scanned, line []byte) {
	h, err := protocol.ParseHeader(line)
	if err != nil {
		return
	}
	if parts, ok := sc.words.Snippet([]string{h.Meta.Name}); ok {
		r.add(protocol.SearchHit{TS: h.CreatedAt, Active: true, Snippet: parts})
	}
}

// line decodes a line in which the bytes of all words stand and looks whether
// people read them there.
func (sc *scan) line(r *scanned, line []byte) {
	env, err := protocol.ScanEnvelope(line)
	if err != nil {
		r.damaged = true
		return
	}
	if spec := protocol.SpecOfEvent(env.Type); spec == nil || spec.Search == protocol.None {
		return
	}
	ev, err := protocol.ParseEvent(bytes.Clone(line)) // the buffer is used again
	if err != nil {
		r.damaged = true
		return
	}
	parts, ok := sc.words.Snippet(ev.SearchTexts())
	if !ok {
		return
	}
	hit := protocol.SearchHit{EventID: ev.ID, Seq: ev.Seq, Type: protocol.EventType(strings.Clone(string(ev.Type))), TS: ev.TS, Snippet: parts}
	if m, ok := ev.Message(); ok {
		hit.Role = protocol.Role(strings.Clone(string(m.Role)))
	}
	r.add(hit)
}

// add takes a hit in; the oldest goes when there are too many.
func (r *scanned) add(h protocol.SearchHit) {
	r.count = min(r.count+1, maxCounted)
	if len(r.hits) == hitsPerSession {
		r.hits = append(r.hits[:0], r.hits[1:]...)
	}
	r.hits = append(r.hits, h)
}

// found looks the hits up in the log, as a view shows it, so that what is given is
// durable and its place is known.
func (r *scanned) found(ctx context.Context, s *Store) (protocol.FoundSession, error) {
	out := protocol.FoundSession{SessionID: r.file.id, UpdatedAt: r.file.mod.UnixMilli()}
	if r.err != nil || len(r.hits) == 0 {
		return out, r.err
	}
	v, _, err := s.View(ctx, r.file.id)
	if errors.Is(err, ErrNotFound) {
		return out, nil // deleted meanwhile
	}
	if err != nil {
		return out, err
	}
	defer v.Close()
	sn := v.ix.snapshot()
	path := sn.path(v.ix.leafIndex())
	for _, h := range slices.Backward(r.hits) {
		if h.EventID != "" {
			i, ok := v.ix.lookup(h.EventID)
			if !ok {
				continue // of an unfinished line, or a repeated one
			}
			h.Active = sn.onPath(i, path)
		}
		out.Hits = append(out.Hits, h)
	}
	if out.More = r.count - len(r.hits); r.count == maxCounted {
		out.More = maxCounted
	}
	out.Meta = v.ix.Meta()
	out.FirstPrompt, err = v.ix.firstPrompt(ctx)
	return out, err
}

// leafIndex is Leaf as an index.
func (ix *Index) leafIndex() int32 {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.leaf
}

// onPath reports whether an event is part of a path or, as a control event, belongs
// to it.
func (s snapshot) onPath(i int32, path []int32) bool {
	if e := &s.entries[i]; e.flags&flagControl != 0 {
		return s.belongs(e, path)
	}
	_, ok := slices.BinarySearch(path, i)
	return ok
}

// firstPrompt returns the text of the first user message of a log, cut; it looks at
// no more than the first 64 events.
func (ix *Index) firstPrompt(ctx context.Context) (string, error) {
	s := ix.snapshot()
	for n := range min(len(s.entries), 64) {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		e := &s.entries[s.at(n)]
		if !s.is(e, protocol.TypeMessage) {
			continue
		}
		line, err := ix.src.read(e.off, int(e.size))
		if err != nil {
			return "", err
		}
		if text := firstPrompt(line); text != "" {
			return text, nil
		}
	}
	return "", nil
}
