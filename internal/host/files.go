package host

import (
	"context"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"scorel/internal/engine/tool"
	"scorel/internal/text/fuzzy"
	"scorel/protocol"
)

// Bounds of finding files.
const (
	filesLimit    = 50  // of an answer, without one
	maxFilesLimit = 200 // of an answer
	maxFilesQuery = 256 // bytes

	maxFileLists  = 4                // projects whose files are kept in memory; the one not used for longest goes
	maxFileWalks  = 2                // lists that are taken at once; further ones wait
	fileListFresh = 3 * time.Second  // a list is taken anew when it is older, and ten times the time that took
	fileListIdle  = 10 * time.Minute // after which lists go that nobody has asked for
	fileListTime  = 60 * time.Second // for a list; what was found until then counts

	fileListPatience = 300 * time.Millisecond // then a query that waits for a list is answered from what was found so far
)

// listFiles gives the files of a project that fit a query, best first. It answers
// from a list in memory: when that is not fresh a new one is taken meanwhile. Only the
// first query of a project waits for it, and one that finds nothing, for a moment.
func (h *Host) listFiles(ctx context.Context, r *protocol.ListFiles) (*protocol.FileList, error) {
	if len(r.Query) > maxFilesQuery {
		return nil, protocol.About("query", "", protocol.CodeInvalidRequest, "To find a file takes at most %d bytes.", maxFilesQuery)
	}
	limit := r.Limit
	if limit <= 0 {
		limit = filesLimit
	}
	files, more, err := h.trees.find(ctx, r.ProjectID, h.projectRoot, h.takeFiles, r.Query, min(limit, maxFilesLimit))
	if err != nil {
		return nil, err
	}
	return &protocol.FileList{Files: append([]string{}, files...), More: more}, nil
}

// takeFiles adds the files below a root to a list. Names that are no text cannot be
// told to a client and are left out.
func (h *Host) takeFiles(ctx context.Context, root string, b *fuzzy.Builder) error {
	dir, err := existing("projectId", root)
	if err != nil {
		return err
	}
	files, err := tool.NewFiles(tool.Config{Root: dir, Home: h.cfg.UserHome, Reach: h.cfg.Dir})
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	defer files.Close()
	limited, cancel := context.WithTimeout(ctx, fileListTime)
	defer cancel()
	err = tool.ListFiles(limited, files, func(rel string) bool { return !utf8.ValidString(rel) || b.Add(rel) })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && limited.Err() == nil:
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	return nil
}

// takeFunc adds the files below a root to a list.
type takeFunc func(ctx context.Context, root string, b *fuzzy.Builder) error

// fileLists are the files of the projects that clients look for files in. The zero
// value is empty.
type fileLists struct {
	mu     sync.Mutex // guards all below; not held while a list is taken
	by     map[protocol.ProjectID]*fileList
	order  []protocol.ProjectID // least lately asked for first
	idle   *time.Timer
	walks  sync.WaitGroup
	slots  chan struct{}   // holds one for each walk under way
	ctx    context.Context // of the walks
	cancel context.CancelFunc
	closed bool
}

// fileList is the list of one project. A list that was taken is not changed.
type fileList struct {
	root    string
	list    *fuzzy.List // nil until the first is there
	err     error       // of the walk, when list is nil
	taken   time.Time
	took    time.Duration
	walking chan struct{}  // closed when the walk under way ends; nil when there is none
	found   *fuzzy.Builder // of that walk
}

// find gives the files of a project that fit a query; more says that there are, or may
// be, further ones. What is not in an old list may have been made since: then it waits
// for the new one that is being taken, for a moment.
func (f *fileLists) find(ctx context.Context, id protocol.ProjectID, rootOf func(protocol.ProjectID) (string, error), take takeFunc, query string, limit int) (files []string, more bool, err error) {
	list, newer, err := f.get(ctx, id, rootOf, take)
	if err != nil {
		return nil, false, err
	}
	if files, more = list.Find(query, limit); len(files) == 0 && newer != nil {
		patience := time.NewTimer(fileListPatience)
		defer patience.Stop()
		select {
		case <-newer:
		case <-patience.C:
			return nil, true, nil
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
		if list, _, err = f.get(ctx, id, rootOf, take); err != nil {
			return nil, false, err
		}
		files, more = list.Find(query, limit)
	}
	return files, more || list.Cut(), nil
}

// get gives the list of a project, and what is closed when a newer one is there; nil
// when none is being taken. rootOf is asked once a project, take for each list.
func (f *fileLists) get(ctx context.Context, id protocol.ProjectID, rootOf func(protocol.ProjectID) (string, error), take takeFunc) (list *fuzzy.List, newer <-chan struct{}, err error) {
	f.mu.Lock()
	l := f.by[id]
	f.mu.Unlock()
	root := ""
	if l == nil {
		if root, err = rootOf(id); err != nil {
			return nil, nil, err
		}
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, nil, protocol.Errorf(protocol.CodeInternalError, "The host is closing.")
	}
	if l = f.by[id]; l == nil {
		if root == "" { // it went meanwhile
			f.mu.Unlock()
			return f.get(ctx, id, rootOf, take)
		}
		l = &fileList{root: root}
		f.enter(id, l)
	}
	f.touch(id)
	age := time.Since(l.taken)
	if l.walking == nil && (l.list == nil || age > max(fileListFresh, 10*l.took)) {
		f.walk(l, take)
	}
	list, walking, found := l.list, l.walking, l.found
	f.mu.Unlock()
	if list != nil {
		return list, walking, nil
	}
	patience := time.NewTimer(fileListPatience)
	defer patience.Stop()
	select {
	case <-walking:
	case <-patience.C:
		return found.SoFar(), nil, nil // it says itself that it is cut
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return l.list, nil, l.err
}

// enter adds a list, with mu held, and drops the one that was not asked for longest.
func (f *fileLists) enter(id protocol.ProjectID, l *fileList) {
	if f.by == nil {
		f.by = map[protocol.ProjectID]*fileList{}
		f.ctx, f.cancel = context.WithCancel(context.Background())
		f.slots = make(chan struct{}, maxFileWalks)
		f.idle = time.AfterFunc(fileListIdle, f.rest)
	}
	if len(f.order) >= maxFileLists {
		delete(f.by, f.order[0])
		f.order = f.order[1:]
	}
	f.by[id], f.order = l, append(f.order, id)
}

// touch notes, with mu held, that a list was asked for.
func (f *fileLists) touch(id protocol.ProjectID) {
	i := slices.Index(f.order, id)
	f.order = append(slices.Delete(f.order, i, i+1), id)
	f.idle.Reset(fileListIdle)
}

// taken is what a walk has found; a panic of it is an error.
func (f *fileLists) taken(root string, found *fuzzy.Builder, take takeFunc) (list *fuzzy.List, took time.Duration, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errInside()
		}
	}()
	if took, err = f.take(root, found, take); err == nil {
		list = found.List()
	}
	return list, took, err
}

// walk takes a list, with mu held. One that fails leaves none: the folder is gone.
func (f *fileLists) walk(l *fileList, take takeFunc) {
	done, found := make(chan struct{}), &fuzzy.Builder{}
	l.walking, l.found = done, found
	f.walks.Add(1)
	go func() { // ends with the walk, which close cancels
		defer f.walks.Done()
		list, took, err := f.taken(l.root, found, take)
		f.mu.Lock()
		defer f.mu.Unlock()
		l.list, l.err, l.taken, l.took, l.walking, l.found = list, err, time.Now(), took, nil, nil
		close(done)
	}()
}

// take takes a list when there is a place for it.
func (f *fileLists) take(root string, found *fuzzy.Builder, take takeFunc) (time.Duration, error) {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-f.ctx.Done():
		return 0, f.ctx.Err()
	}
	start := time.Now()
	err := take(f.ctx, root, found)
	return time.Since(start), err
}

// forget drops the list of a project.
func (f *fileLists) forget(id protocol.ProjectID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.by, id)
	f.order = slices.DeleteFunc(f.order, func(other protocol.ProjectID) bool { return other == id })
}

// rest drops all lists: nobody has asked for one for long.
func (f *fileLists) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.by)
	f.order = nil
}

// close ends the walks and waits for them.
func (f *fileLists) close() {
	f.mu.Lock()
	f.closed = true
	if f.idle != nil {
		f.idle.Stop()
		f.cancel()
	}
	f.mu.Unlock()
	f.walks.Wait()
}

// handleFiles registers the handlers of this file's requests.
func (h *Host) handleFiles(t handlers) {
	on(t, func(ctx context.Context, _ *target, r *protocol.ListFiles) (protocol.Response, error) {
		return h.listFiles(ctx, r)
	})
}
