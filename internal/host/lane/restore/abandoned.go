package restore

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

// abandonedFiles are the files that the part of a path that is left has written.
type abandonedFiles struct {
	paths   []string // in the order of their first writes
	files   map[string]*abandonedFile
	calls   map[string]bool        // that have a snapshot
	unknown []protocol.SkippedFile // files of which nothing is known, and damaged records of those whose names are lost
}

// abandonedFile is what the log says of one file.
type abandonedFile struct {
	writes []write
	// lost says that the record of what the file was before its first write is damaged or
	// missing; gap, that one of a later write is.
	lost, gap bool
	imported  bool // a file of anybody's may not decide what is written here
}

// write is one write of the agent: what the file was before, and how it was left.
type write struct {
	seq    protocol.Seq // of before
	before *protocol.FileSnapshot
	left   *files.LeftFile // nil: the call failed, or how it went is lost
}

// Why a file is left alone.
const (
	whyImported = "its old content came with an import"
	whyLost     = "the log is damaged where its content from before was noted"
	whyBetween  = "you, or a command, changed it between two writes of the agent"
	whyGap      = "the log is damaged where its content between two writes of the agent was noted"
	whyNothing  = "the agent was to write it, and nothing that the log still has says whether it did and what it was before"
)

// item says how a file is taken back, or why it cannot be.
func (a *abandonedFile) item(path string) (files.RestoreItem, string) {
	switch {
	case a.lost:
		return files.RestoreItem{}, whyLost
	case a.imported:
		return files.RestoreItem{}, whyImported
	}
	first, last := a.writes[0].before, a.writes[len(a.writes)-1]
	item := files.RestoreItem{Path: path, Existed: first.Existed, Restorable: first.Restorable, Mode: first.Mode, SHA256: first.Blob, Left: last.left}
	if a.gap {
		item.Changed = whyGap
	}
	for i, w := range a.writes[1:] {
		if !a.writes[i].leftIt(w.before) {
			item.Changed = whyBetween
		}
	}
	return item, ""
}

// leftIt reports whether a write left the file as the next one found it.
func (w write) leftIt(found *protocol.FileSnapshot) bool {
	if w.left == nil { // it did not write, or nobody knows
		b := w.before
		return found.Existed == b.Existed && found.Blob == b.Blob && found.Mode == b.Mode && (b.Restorable || !b.Existed)
	}
	return found.Existed && found.Blob == w.left.SHA256 && (w.left.Mode == 0 || found.Mode == w.left.Mode)
}

// abandoned collects the snapshots and results of the path to from, as far back
// as the path to to does not reach.
func (r Restorer) abandoned(ctx context.Context, from, to protocol.EventID) (*abandonedFiles, error) {
	out := &abandonedFiles{files: map[string]*abandonedFile{}, calls: map[string]bool{}}
	index := r.Index
	gone, err := r.leftEvents(from, to)
	if err != nil || len(gone) == 0 {
		return out, err
	}
	results := map[string][]*fileResult{} // by the id of the call, newest first
	var calls []fileCall
	for e, err := range index.Back(ctx, from) {
		if err != nil {
			return nil, err
		}
		if !gone[e.ID] {
			break
		}
		calls = append(calls, callsOf(e)...)
		if r := resultOf(e); r != nil {
			results[r.call] = append(results[r.call], r)
		}
	}
	var damaged []protocol.EventID
	for e, err := range index.Controls(ctx, from, protocol.TypeFileSnapshot) {
		if err != nil {
			return nil, err
		}
		if !gone[e.ParentID] {
			continue
		}
		s, ok := e.Body.(*protocol.FileSnapshot)
		if !ok {
			damaged = append(damaged, e.ID)
			continue
		}
		out.calls[s.ToolCallID] = true
		a := out.file(s.Path)
		a.imported = a.imported || index.Imported(e.Seq)
		w := write{seq: e.Seq, before: s}
		if result := resultBehind(results[s.ToolCallID], e.Seq); result != nil {
			result.noted = true
			w.left = result.left(s)
		}
		a.writes = append(a.writes, w)
	}
	out.unnoted(results, &damaged)
	out.unheard(calls, results, r.Meta.WorkDir, &damaged)
	for _, id := range damaged {
		out.unknown = append(out.unknown, protocol.SkippedFile{Why: fmt.Sprintf("the log is damaged at %s, where a file's content from before was noted; which file it is cannot be known", id)})
	}
	return out, nil
}

// leftEvents returns the events of the path to from that are not on the path to to.
func (r Restorer) leftEvents(from, to protocol.EventID) (map[protocol.EventID]bool, error) {
	index := r.Index
	old, err := index.Path(from)
	if err != nil {
		return nil, err
	}
	now, err := index.Path(to)
	if err != nil {
		return nil, err
	}
	shared := 0
	for shared < min(len(old), len(now)) && old[shared] == now[shared] {
		shared++
	}
	gone := make(map[protocol.EventID]bool, len(old)-shared)
	for _, id := range old[shared:] {
		gone[id] = true
	}
	return gone, nil
}

func (f *abandonedFiles) file(path string) *abandonedFile {
	a := f.files[path]
	if a == nil {
		a = &abandonedFile{}
		f.files[path] = a
		f.paths = append(f.paths, path)
	}
	return a
}

// unnoted marks the files of writes whose snapshots are damaged or missing; of the
// damaged ones it takes off those that these explain.
func (f *abandonedFiles) unnoted(results map[string][]*fileResult, damaged *[]protocol.EventID) {
	var lone []*fileResult
	for _, list := range results {
		for _, r := range list {
			if !r.noted && !r.failed && len(r.files) > 0 {
				lone = append(lone, r)
			}
		}
	}
	slices.SortFunc(lone, func(a, b *fileResult) int { return cmp.Compare(a.seq, b.seq) })
	for _, r := range lone {
		for _, file := range r.files {
			a := f.file(file.Path)
			if len(a.writes) == 0 || r.seq < a.writes[0].seq {
				a.lost = true
			}
			a.gap = true
		}
	}
	*damaged = (*damaged)[min(len(lone), len(*damaged)):]
}

// unheard lists the files of calls of which the log has neither a snapshot nor a result;
// of the damaged snapshots it takes off those that these explain.
func (f *abandonedFiles) unheard(calls []fileCall, results map[string][]*fileResult, dir string, damaged *[]protocol.EventID) {
	n := 0
	for _, c := range slices.Backward(calls) {
		if f.calls[c.id] || len(results[c.id]) > 0 {
			continue
		}
		n++
		path := c.path
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if f.files[path] == nil { // else it is compared with what is known of it
			f.unknown = append(f.unknown, protocol.SkippedFile{Path: path, Why: whyNothing})
		}
	}
	*damaged = (*damaged)[min(n, len(*damaged)):]
}
