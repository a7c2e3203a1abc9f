package session

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"scorel/internal/engine/archive"
	"scorel/internal/engine/session/health"
	"scorel/internal/engine/session/rawlog"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// ErrImport is in the chain when a file cannot be imported; the rest says why, as
// a sentence for people. Nothing was made.
var ErrImport = errors.New("the file cannot be imported")

// ErrImportLeaf is in the chain, with ErrImport, when the event to continue from must be
// named.
var ErrImportLeaf = fmt.Errorf("%w", ErrImport)

// ImportOptions say how an imported session differs from its source.
type ImportOptions struct {
	// Meta gives the meta of the new session from that of the source; nil keeps it.
	// Another WorkDir is also put after the events as a change, which ClientID
	// made.
	Meta func(protocol.Meta) protocol.Meta
	// Leaf, when set, is put after the events as a branch to it.
	Leaf     protocol.EventID
	ClientID protocol.ClientID
}

// Import makes a log from a file that ExportJSONL or ExportBundle wrote, or from
// any log as it stands on a disk, and is its writer. All events are taken, on all
// branches, with their ids and seqs; only the sessionId of each line changes, and
// what waited in queues stays behind. Every line is decoded, and every payload
// stored under the hash of its bytes before an event names it; one that no event names
// is left out.
//
// The report says what was left out because it was damaged, as Repair would do,
// and which payloads are missing; a repair event names the gaps. A file in which damage may have moved the leaf
// (unless the options name it), and what is no session at all, gives ErrImport, as
// does a bundle that a Writer of [bundle] would not make. The rest of the header is filled in as by Create,
// with its errors; all of the log and its payloads is made or nothing. A crash leaves
// files without names, which are removed when they are a day old.
func (s *Store) Import(ctx context.Context, src io.Reader, h protocol.Header, opt ImportOptions) (*Log, health.Report, error) {
	if h.SessionID == "" {
		h.SessionID = protocol.NewSessionID(s.cfg.Now(), s.cfg.Rand)
	}
	switch ok, err := s.exists(h.SessionID); { // before the work; make looks again
	case err != nil:
		return nil, health.Report{}, fmt.Errorf("import: %w", err)
	case ok:
		return nil, health.Report{}, fmt.Errorf("import: %w", ErrExists)
	}
	if err := s.makeDir(s.sessions()); err != nil {
		return nil, health.Report{}, fmt.Errorf("import: %w: %w", ErrStorage, err)
	}
	f, tmp, err := disk.Temp(s.fs, s.path(h.SessionID))
	if err != nil {
		return nil, health.Report{}, fmt.Errorf("import: %w: %w", ErrStorage, err)
	}
	im := &importing{store: s, file: f, to: h.SessionID, client: opt.ClientID, pick: opt.Leaf}
	defer func() {
		_ = f.Close()
		_ = s.fs.Remove(tmp)
		for _, st := range im.payloads {
			s.Blobs().discard(st)
		}
	}()
	switch err := im.read(ctx, src); {
	case errors.Is(err, ErrImport):
		return nil, im.report, err
	case err != nil:
		return nil, im.report, fmt.Errorf("import: %w", err)
	}
	from := im.ix.Header()
	leaf := im.leaf()
	h.ClonedFrom = &protocol.ClonedFrom{SessionID: im.ix.id, DeviceID: from.DeviceID, EventID: leaf}
	h.ImportedThrough, h.CopiedThrough = im.ix.LastSeq(), im.copiedThrough()
	h.Meta = im.ix.Meta()
	if opt.Meta != nil {
		h.Meta = opt.Meta(h.Meta)
	}
	im.workDir = h.Meta.WorkDir
	fresh, err := im.publish(ctx)
	if err == nil {
		var log *Log
		if log, err = s.make(ctx, h, func(_ protocol.SessionID, put func([]byte) error) error { return im.write(ctx, put) }); err == nil {
			return log, im.report, nil
		}
	}
	for sha, mod := range fresh {
		_, _ = s.Blobs().removeSame(sha, mod) // what cannot be removed goes with prune
	}
	return nil, im.report, err
}

// publish returns the payloads their names, and says which there were not before, with
// the times of their last change.
func (im *importing) publish(ctx context.Context) (fresh map[string]time.Time, err error) {
	b := im.store.Blobs()
	fresh = map[string]time.Time{} // bounded by the parts of a bundle
	for len(im.payloads) > 0 {
		st := im.payloads[0]
		had := b.Has(st.sha)
		if err := b.publish(ctx, st); err != nil {
			return fresh, fmt.Errorf("import: %w", err)
		}
		im.payloads = im.payloads[1:]
		if info, err := b.store.fs.Stat(b.path(st.sha)); err == nil && !had {
			fresh[st.sha] = info.ModTime()
		}
	}
	return fresh, nil
}

// importing is one import.
type importing struct {
	store   *Store
	file    disk.File // the source's log, as it came
	to      protocol.SessionID
	client  protocol.ClientID
	workDir string
	pick    protocol.EventID // where the conversation goes on; empty: where it did

	payloads []staged // of the bundle, durable and without their names
	damaged  []string // payloads of the bundle whose content is not what their names say, left out

	ix     *Index
	broken map[int]bool // places of events that are damaged inside
	report health.Report
}

// read takes the source in: the log into the temporary file, the payloads into
// the store.
func (im *importing) read(ctx context.Context, src io.Reader) error {
	in := bufio.NewReader(src)
	head, err := in.Peek(2)
	if err != nil && err != io.EOF {
		return err
	}
	if !archive.Is(head) {
		if err := im.log(ctx, in); err != nil {
			return err
		}
		return im.missing(ctx)
	}
	b, err := archive.NewReader(in)
	if err != nil {
		return refused(err)
	}
	first, err := b.Next()
	if err != nil {
		return refused(err)
	}
	if err := im.log(ctx, first); err != nil {
		return err
	}
	named, err := im.ix.named(ctx, im.leftOut)
	if err != nil {
		return err
	}
	wanted := make(map[string]bool, len(named))
	for _, sha := range named {
		wanted[sha] = true
	}
	var queued []string // what waited in queues names these too
	unnamed := 0
	for {
		e, err := b.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return refused(err)
		}
		if !wanted[e.SHA256] {
			if queued == nil {
				if queued, err = im.ix.named(ctx, nil); err != nil {
					return err
				}
			}
			if !slices.Contains(queued, e.SHA256) {
				unnamed++
			}
			continue
		}
		delete(wanted, e.SHA256)
		st, err := im.store.Blobs().stage(ctx, e)
		if err != nil {
			return refused(err)
		}
		if st.sha != e.SHA256 { // the rest of the conversation is whole
			im.store.Blobs().discard(st)
			im.damaged = append(im.damaged, e.SHA256)
			continue
		}
		im.payloads = append(im.payloads, st)
	}
	if unnamed > 0 {
		im.report.Add(health.Finding{Kind: health.BlobUnnamed, Detail: fmt.Sprintf("%d, left out", unnamed)})
	}
	return im.missing(ctx)
}

// refused is what is said of a bundle that is none.
func refused(err error) error {
	if errors.Is(err, archive.ErrFormat) {
		return fmt.Errorf("%w: %w", ErrImport, err)
	}
	return err
}

// log takes the source's log in and looks at every line.
func (im *importing) log(ctx context.Context, r io.Reader) error {
	size, err := im.copy(ctx, r)
	if err != nil {
		return err
	}
	id := im.sourceID(size)
	ld, err := load(ctx, id, &source{file: im.file}, size)
	if err != nil {
		return err
	}
	im.ix, im.report = ld.index, ld.report
	switch {
	case ld.newer != "":
		return fmt.Errorf("%w: %s", ErrImport, ld.newer)
	case im.ix.headerAt[1] == 0 && im.ix.Len() == 0:
		return fmt.Errorf("%w: it holds no session; give a file that was exported as bundle or jsonl", ErrImport)
	case im.pick != "":
		if _, err := im.ix.conversation(im.pick); err != nil {
			return fmt.Errorf("%w: it has no message %.24q to continue from", ErrImport, string(im.pick))
		}
	case ld.unasked:
		return fmt.Errorf("%w: damaged parts of it may have moved the place where the conversation continues; name the event to continue from (the newest that is whole is %s)", ErrImportLeaf, im.ix.newest())
	}
	if ld.tail < ld.size {
		im.report.Add(health.Finding{Kind: health.Tail, Offset: ld.tail, Detail: fmt.Sprintf("%d bytes, left out", ld.size-ld.tail)})
	}
	if im.broken, err = im.ix.undecodable(ctx); err != nil {
		return err
	}
	for i := range im.ix.entries {
		if e := &im.ix.entries[i]; im.broken[i] {
			im.report.Add(health.Finding{Kind: health.DamagedLine, Offset: e.off, EventID: e.id.id(), Detail: "left out"})
		}
	}
	return nil
}

// copy writes r into the temporary file.
func (im *importing) copy(ctx context.Context, r io.Reader) (int64, error) {
	out := &appender{file: im.file}
	n, err := io.Copy(writerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return len(p), out.put(p)
	}), io.LimitReader(r, archive.MaxUnpacked+1))
	if err == nil {
		err = out.flush()
	}
	switch {
	case out.err != nil:
		return 0, fmt.Errorf("%w: %w", ErrStorage, out.err)
	case err != nil:
		return 0, refused(err)
	case n > archive.MaxUnpacked:
		return 0, fmt.Errorf("%w: it has more than %d GiB", ErrImport, int64(archive.MaxUnpacked)>>30)
	}
	return n, nil
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// sourceID returns the session that line 0 names; the new one when it names none.
func (im *importing) sourceID(size int64) protocol.SessionID {
	line := make([]byte, min(size, protocol.MaxLine))
	if rawlog.ReadFull(im.file.ReadAt, line, 0) != nil {
		return im.to
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	if h, err := protocol.ParseHeader(bytes.TrimSuffix(line, []byte("\r"))); err == nil {
		return h.SessionID
	}
	return im.to
}

// missing reports the payloads that neither the bundle nor the store has. Those of the
// store stay there for the new log.
func (im *importing) missing(ctx context.Context) error {
	named, err := im.ix.named(ctx, im.leftOut)
	if err != nil {
		return err
	}
	brought := make(map[string]bool, len(im.payloads))
	for _, st := range im.payloads {
		brought[st.sha] = true
	}
	for _, sha := range named {
		if brought[sha] {
			continue
		}
		switch err := im.store.Blobs().Keep(sha); {
		case errors.Is(err, ErrNoBlob) && slices.Contains(im.damaged, sha):
			im.report.Add(health.Finding{Kind: health.BlobDamaged, Detail: sha + ", left out"})
		case errors.Is(err, ErrNoBlob):
			im.report.Add(health.Finding{Kind: health.BlobMissing, Detail: sha})
		case err != nil:
			return err
		}
	}
	return nil
}

// leftOut reports whether the event at a place is not taken: it is damaged inside, or says
// what waited in a queue, which is the source's to say, once.
func (im *importing) leftOut(place int) bool {
	s := im.ix.snapshot()
	return im.broken[place] || s.is(&s.entries[place], protocol.TypeQueueUpdate)
}

// copied returns the events that the new log takes over.
func (im *importing) copied() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		s := im.ix.snapshot()
		for i := range s.entries {
			if !im.leftOut(i) && !yield(&s.entries[i]) {
				return
			}
		}
	}
}

// copiedThrough is [Index.copiedThrough] of an import.
func (im *importing) copiedThrough() protocol.Seq {
	last := protocol.Seq(1)
	for e := range im.copied() {
		last = max(last, protocol.Seq(e.seq))
	}
	return last
}

// write returns the lines of the new log after its header.
func (im *importing) write(ctx context.Context, put func([]byte) error) error {
	last := protocol.Seq(0) // of the lines that are written
	for e := range im.copied() {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := im.ix.src.read(e.off, int(e.size))
		if err != nil {
			return err
		}
		if line, err = protocol.WithSession(line, im.to); err != nil {
			return fmt.Errorf("%w: event %s: %w", ErrImport, e.id.id(), err)
		}
		last = max(last, protocol.Seq(e.seq))
		if len(line) > protocol.MaxLine {
			return fmt.Errorf("%w: event %s is longer than a line may be", ErrImport, e.id.id())
		}
		if err := put(append(line, '\n')); err != nil {
			return err
		}
	}
	gaps, err := im.ix.gapsWithout(ctx, im.broken, im.report)
	if err != nil {
		return err
	}
	behind := []protocol.Body{}
	if len(gaps) > 0 { // what was found is told by the import
		behind = append(behind, &protocol.Repair{Gaps: gaps})
	}
	if im.pick != "" {
		behind = append(behind, &protocol.Branch{LeafEventID: im.pick})
	}
	if im.workDir != im.ix.Meta().WorkDir {
		behind = append(behind, &protocol.SessionInfo{Changes: protocol.MetaChanges{WorkDir: &im.workDir}})
	}
	for i, body := range behind {
		ev := protocol.NewEvent(body)
		ev.ID, ev.ParentID, ev.Seq = protocol.NewEventID(im.store.cfg.Rand), im.leaf(), im.ix.NextSeqFloor()+protocol.Seq(i)
		ev.SessionID, ev.ClientID, ev.TS = im.to, im.client, im.store.cfg.Now().UnixMilli()
		if ev.Type == protocol.TypeRepair {
			ev.ClientID = protocol.HostClient
		}
		ev, err := ev.SealAfter(last)
		if err != nil {
			return err
		}
		last = ev.Seq
		if err := put(append(ev.Raw(), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// leaf is where the imported conversation goes on.
func (im *importing) leaf() protocol.EventID {
	if im.pick != "" {
		return im.pick
	}
	return im.ix.Leaf()
}

// newest returns the last conversation event of the file, for people.
func (ix *Index) newest() protocol.EventID { return ix.snapshot().idAt(ix.lastConv) }
