package tool

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"scorel/internal/engine/tool/ignore"
	"scorel/internal/platform/fault"
)

// walk names every file below the folder that is neither hidden nor ignored, as
// ripgrep would, in no order. Links, pipes and devices are not files; a folder
// that cannot be read is noted and passed over. emit is called by several goroutines; walk
// returns when all have ended.
func (s *searchRoot) walk(ctx context.Context, depth int, emit func(rel string)) {
	w := &walker{ctx: ctx, root: s, depth: depth, emit: emit, slots: make(chan struct{}, runtime.GOMAXPROCS(0)-1)}
	w.folder("", 1, ignore.Above(s.path.Abs))
	w.group.Wait()
}

type walker struct {
	ctx   context.Context
	root  *searchRoot
	depth int // of files, 0 for any
	emit  func(rel string)
	slots chan struct{} // for goroutines beside the first
	group fault.Group
}

// folder handles the entries of the folder rel, which are at depth.
func (w *walker) folder(rel string, depth int, above *ignore.Level) {
	if w.ctx.Err() != nil {
		return
	}
	entries := w.root.entries(rel)
	abs := filepath.Join(w.root.path.Abs, rel)
	level := above.Enter(abs, func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	})
	for _, e := range entries {
		if w.ctx.Err() != nil {
			return
		}
		name := e.Name()
		at := abs + "/" + name
		if abs == "/" {
			at = "/" + name
		}
		switch level.Judge(at, e.IsDir()) {
		case ignore.Ignored:
			continue
		case ignore.Unnamed:
			if strings.HasPrefix(name, ".") {
				continue
			}
		}
		below := path.Join(rel, name)
		switch {
		case e.Type().IsRegular():
			w.emit(below)
		case e.IsDir() && (w.depth == 0 || depth < w.depth) && !w.root.closed(at):
			select {
			case w.slots <- struct{}{}:
				w.group.Go(func() { // ends with the folder
					w.folder(below, depth+1, level)
					<-w.slots
				})
			default:
				w.folder(below, depth+1, level)
			}
		}
	}
}

// entries lists a folder through the root; what cannot be read is empty, and noted.
func (s *searchRoot) entries(rel string) []fs.DirEntry {
	if rel == "" {
		rel = "."
	}
	dir, err := s.root.OpenFile(rel, os.O_RDONLY, 0)
	if err != nil {
		s.unread(rel, err)
		return nil
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		s.unread(rel, err)
	}
	return entries
}
