package filelist

import (
	"context"
	"slices"
	"sync"
	"time"

	"scorel/internal/host/failure"
	"scorel/internal/text/fuzzy"
	"scorel/protocol"
)

// takeFunc adds the files below a root to a list.
type takeFunc func(ctx context.Context, root string, b *fuzzy.Builder) error

// lists are the files of the projects that clients look for files in. The zero
// value is empty.
type lists struct {
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

// find returns the files of a project that fit a query; more says that there are, or may
// be, further ones. What is not in an old list may have been made since: then it waits
// for the new one that is being taken, for a moment.
func (f *lists) find(ctx context.Context, id protocol.ProjectID, rootOf func(protocol.ProjectID) (string, error), take takeFunc, query string, limit int) (files []string, more bool, err error) {
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

// get returns the list of a project, and what is closed when a newer one is there; nil
// when none is being taken. rootOf is asked once a project, take for each list.
func (f *lists) get(ctx context.Context, id protocol.ProjectID, rootOf func(protocol.ProjectID) (string, error), take takeFunc) (list *fuzzy.List, newer <-chan struct{}, err error) {
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
func (f *lists) enter(id protocol.ProjectID, l *fileList) {
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
func (f *lists) touch(id protocol.ProjectID) {
	i := slices.Index(f.order, id)
	f.order = append(slices.Delete(f.order, i, i+1), id)
	f.idle.Reset(fileListIdle)
}

// taken is what a walk has found; a panic of it is an error.
func (f *lists) taken(root string, found *fuzzy.Builder, take takeFunc) (list *fuzzy.List, took time.Duration, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = failure.Inside()
		}
	}()
	if took, err = f.take(root, found, take); err == nil {
		list = found.List()
	}
	return list, took, err
}

// walk takes a list, with mu held. One that fails leaves none: the folder is gone.
func (f *lists) walk(l *fileList, take takeFunc) {
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
func (f *lists) take(root string, found *fuzzy.Builder, take takeFunc) (time.Duration, error) {
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
func (f *lists) forget(id protocol.ProjectID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.by, id)
	f.order = slices.DeleteFunc(f.order, func(other protocol.ProjectID) bool { return other == id })
}

// rest drops all lists: nobody has asked for one for long.
func (f *lists) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.by)
	f.order = nil
}

// close ends the walks and waits for them.
func (f *lists) close() {
	f.mu.Lock()
	f.closed = true
	if f.idle != nil {
		f.idle.Stop()
		f.cancel()
	}
	f.mu.Unlock()
	f.walks.Wait()
}
