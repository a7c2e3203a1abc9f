package lane

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// restore takes the files back to what they were when the path from's part behind to
// began. Those that a person changed since, or between two writes of the agent, are listed
// and left alone unless the move names them. A named file that this part did not write may
// have been written by what an earlier move left, as long as nothing was said since.
func (l *Lane) restore(ctx context.Context, from, to protocol.EventID, m Move, moved *protocol.Moved) error {
	left, err := l.abandoned(ctx, from, to)
	if err != nil {
		return err
	}
	list := left.paths
	if !m.RestoreFiles {
		list = slices.DeleteFunc(slices.Clone(list), func(p string) bool { return !slices.Contains(m.Files, p) })
	} else {
		moved.Skipped = append(moved.Skipped, left.unknown...)
	}
	if err := l.restoreFiles(ctx, left, list, m.Files, moved); err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(m.Files), func(p string) bool { return slices.Contains(left.paths, p) })
	if len(missing) == 0 {
		return nil
	}
	for move, err := range l.cfg.Log.Index().MovesSinceConversation(ctx) {
		if err != nil {
			return err
		}
		left, err := l.abandoned(ctx, move.ParentID, to)
		if err != nil {
			return err
		}
		list := slices.DeleteFunc(slices.Clone(missing), func(p string) bool { return !slices.Contains(left.paths, p) })
		if err := l.restoreFiles(ctx, left, list, list, moved); err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, func(p string) bool { return slices.Contains(list, p) })
		if len(missing) == 0 {
			return nil
		}
	}
	for _, p := range missing {
		moved.Skipped = append(moved.Skipped, protocol.SkippedFile{Path: p, Why: "what was left has not written it"})
	}
	return nil
}

// restoreFiles takes back the files of a list.
func (l *Lane) restoreFiles(ctx context.Context, left *abandonedFiles, list, named []string, moved *protocol.Moved) error {
	if len(list) == 0 {
		return nil
	}
	files, err := l.cfg.Files(l.Meta())
	if err != nil {
		return err
	}
	defer files.Close()
	var items []tool.RestoreItem
	for _, path := range list {
		item, why := left.files[path].item(path)
		if why != "" {
			moved.Skipped = append(moved.Skipped, protocol.SkippedFile{Path: path, Why: why})
			continue
		}
		item.Named = slices.Contains(named, path)
		item.Content = func(ctx context.Context, limit int64) ([]byte, error) {
			return l.cfg.Blobs.Read(ctx, item.SHA256, limit)
		}
		items = append(items, item)
	}
	done := tool.Restore(ctx, files, items)
	moved.Restored = append(moved.Restored, done.Restored...)
	moved.Removed = append(moved.Removed, done.Removed...)
	for _, s := range done.Skipped {
		moved.Skipped = append(moved.Skipped, protocol.SkippedFile{Path: s.Path, Why: s.Why, Offered: s.Offered})
	}
	return nil
}

// RestoreAgain takes back the files of a rewind whose answer was lost: its host may
// have been killed before they were. Where the conversation has gone on since, they are
// left alone: what stands in them may be the work of a later turn.
func (l *Lane) RestoreAgain(ctx context.Context, rewind protocol.Event, m Move) (*protocol.Moved, error) {
	moved := &protocol.Moved{}
	if b, ok := rewind.Body.(*protocol.Rewind); ok && b.TargetEventID != nil {
		moved.LeafID = *b.TargetEventID
	}
	switch _, err := l.clear(ctx, ""); {
	case err == nil:
	case protocol.AsError(err).Code == protocol.CodeRuntimeBusy:
		return moved, nil // a turn runs, so it has gone on
	default:
		return nil, err
	}
	release := l.hold()
	l.mu.Unlock()
	defer release()
	for e, err := range l.cfg.Log.Index().EventsAfter(ctx, rewind.Seq) {
		if err != nil {
			return nil, err
		}
		if _, ok := e.Body.(*protocol.BranchSummary); ok && SameCause(e, rewind) {
			moved.LeafID, moved.SummaryID = e.ID, e.ID
			continue
		}
		if e.Class() == protocol.Conversation || e.Type == protocol.TypeRewind || e.Type == protocol.TypeBranch {
			return moved, nil
		}
	}
	return moved, l.restore(ctx, rewind.ParentID, moved.LeafID, m, moved)
}

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
	left   *tool.LeftFile // nil: the call failed, or how it went is lost
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
func (a *abandonedFile) item(path string) (tool.RestoreItem, string) {
	switch {
	case a.lost:
		return tool.RestoreItem{}, whyLost
	case a.imported:
		return tool.RestoreItem{}, whyImported
	}
	first, last := a.writes[0].before, a.writes[len(a.writes)-1]
	item := tool.RestoreItem{Path: path, Existed: first.Existed, Restorable: first.Restorable, Mode: first.Mode, SHA256: first.Blob, Left: last.left}
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

// leftIt says whether a write left the file as the next one found it.
func (w write) leftIt(found *protocol.FileSnapshot) bool {
	if w.left == nil { // it did not write, or nobody knows
		b := w.before
		return found.Existed == b.Existed && found.Blob == b.Blob && found.Mode == b.Mode && (b.Restorable || !b.Existed)
	}
	return found.Existed && found.Blob == w.left.SHA256 && (w.left.Mode == 0 || found.Mode == w.left.Mode)
}

// abandoned collects the snapshots and results of the path to from, as far back
// as the path to to does not reach.
func (l *Lane) abandoned(ctx context.Context, from, to protocol.EventID) (*abandonedFiles, error) {
	out := &abandonedFiles{files: map[string]*abandonedFile{}, calls: map[string]bool{}}
	index := l.cfg.Log.Index()
	gone, err := l.leftEvents(from, to)
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
		a.imported = a.imported || e.Seq <= index.Header().ImportedThrough
		w := write{seq: e.Seq, before: s}
		if r := resultBehind(results[s.ToolCallID], e.Seq); r != nil {
			r.noted = true
			w.left = r.left(s)
		}
		a.writes = append(a.writes, w)
	}
	out.unnoted(results, &damaged)
	out.unheard(calls, results, l.Meta().WorkDir, &damaged)
	for _, id := range damaged {
		out.unknown = append(out.unknown, protocol.SkippedFile{Why: fmt.Sprintf("the log is damaged at %s, where a file's content from before was noted; which file it is cannot be known", id)})
	}
	return out, nil
}

// leftEvents gives the events of the path to from that are not on the path to to.
func (l *Lane) leftEvents(from, to protocol.EventID) (map[protocol.EventID]bool, error) {
	index := l.cfg.Log.Index()
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

// writesFiles reports whether a built-in tool writes the file that a call of it names.
func writesFiles(name string) bool {
	info := protocol.FindTool(name)
	return info.Tells == protocol.TellsFiles && info.Kind == protocol.ToolWrites
}

// fileCall is a call that writes a file.
type fileCall struct{ id, path string }

// callsOf gives the calls that write files of an answer.
func callsOf(e protocol.Event) (calls []fileCall) {
	m, ok := e.Message()
	if !ok || m.Role != protocol.RoleAssistant {
		return nil
	}
	for _, b := range slices.Backward(m.Calls()) {
		var input struct {
			Path string `json:"path"`
		}
		if writesFiles(b.Name) && json.Unmarshal(b.Input, &input) == nil && input.Path != "" {
			calls = append(calls, fileCall{b.ID, input.Path})
		}
	}
	return calls
}

// fileResult is the result of a call that writes a file.
type fileResult struct {
	call   string
	seq    protocol.Seq
	failed bool
	files  []protocol.FileState
	noted  bool // its snapshot is there
}

// resultOf gives the result of a call that writes a file, nil for any other event.
func resultOf(e protocol.Event) *fileResult {
	m, ok := e.Message()
	if !ok || m.Role != protocol.RoleToolResult || !writesFiles(m.ToolName) {
		return nil
	}
	r := &fileResult{call: m.ToolCallID, seq: e.Seq, failed: m.IsError}
	var d protocol.ToolDetails
	if len(m.Details) > 0 && json.Unmarshal(m.Details, &d) == nil {
		r.files = d.Files
	}
	return r
}

// resultBehind gives the first result behind seq of a list that begins with the newest.
func resultBehind(results []*fileResult, seq protocol.Seq) *fileResult {
	for _, r := range slices.Backward(results) {
		if r.seq > seq && !r.noted {
			return r
		}
	}
	return nil
}

// left gives how the write of a snapshot left its file, nil where that is not known.
func (r *fileResult) left(before *protocol.FileSnapshot) *tool.LeftFile {
	if r.failed {
		return nil
	}
	for _, f := range r.files {
		if f.Path != before.Path {
			continue
		}
		mode := f.Mode
		if mode == 0 && before.Existed { // written before modes were noted; a write keeps it
			mode = before.Mode
		}
		return &tool.LeftFile{SHA256: f.SHA256, Mode: mode}
	}
	return nil
}
