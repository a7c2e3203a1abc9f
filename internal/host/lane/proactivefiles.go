package lane

import (
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// maxWatched is how many of the files that a session has read proactive mode looks at: the
	// first by their paths.
	maxWatched = 256
	// watchEvery is how often it looks, and how long a file must have stayed as it is.
	watchEvery = 2 * time.Second
	// changeEvery is how often a change begins a turn, at most.
	changeEvery = time.Minute
	// maxChanged is how many changed files a model is told of.
	maxChanged = 20
)

// watch looks whether files change that the session has read. Polling sees changes on every file
// system, and needs no handle of the system's. The journal's lock guards it.
type watch struct {
	files []string         // of the newest turn, absolute
	was   map[string]stamp // as they were then; nil before the first look
	now   map[string]stamp // as the last look has found them
	last  time.Time        // when a change last began a turn
	timer *time.Timer      // of the next look
}

// stamp is a version of a file, the zero value where there is none.
type stamp struct {
	size int64
	mod  time.Time
}

func (w *watch) disarm() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// stampsOf looks at files.
func stampsOf(files []string) map[string]stamp {
	out := make(map[string]stamp, len(files))
	for _, f := range files {
		var s stamp
		if info, err := os.Stat(f); err == nil {
			s = stamp{info.Size(), info.ModTime()}
		}
		out[f] = s
	}
	return out
}

// noteFiles notes which files the model of a turn has seen, and how they are at its end. It is
// called by the goroutine of the turn.
func (l *Lane) noteFiles(t *turn) {
	if t.view.seen == nil || t.command || t.foreign {
		return
	}
	files := t.view.seen.Paths()
	files = files[:min(len(files), maxWatched)]
	l.j.Lock()
	look := l.course.proactive.set.Files && l.course.proactive.on
	l.j.Unlock()
	var was map[string]stamp
	if look {
		was = stampsOf(files)
	}
	l.j.Lock()
	defer l.j.Unlock()
	w := &l.course.proactive.watch
	w.files, w.was, w.now = files, was, nil
}

// armWatch has the next look come. The journal is locked.
func (l *Lane) armWatch(gen int) {
	p := &l.course.proactive
	if !p.set.Files || len(p.watch.files) == 0 {
		return
	}
	p.watch.timer = time.AfterFunc(watchEvery, func() { l.lookAtFiles(gen) })
}

// lookAtFiles begins a turn when files have changed, and have stayed so since the last look. It
// runs in a goroutine of a timer.
func (l *Lane) lookAtFiles(gen int) {
	defer func() {
		if r := recover(); r != nil {
			l.Panicked(r)
		}
	}()
	l.j.Lock()
	p := &l.course.proactive
	current := p.on && p.gen == gen
	files := p.watch.files
	l.j.Unlock()
	if !current {
		return
	}
	if changed := l.changedFiles(gen, files, stampsOf(files)); len(changed) > 0 {
		l.tick(gen, changed)
	}
}

// changedFiles returns which files have changed and begin a turn now; without any it has the next
// look come.
func (l *Lane) changedFiles(gen int, files []string, now map[string]stamp) (changed []string) {
	l.j.Lock()
	defer l.j.Unlock()
	p := &l.course.proactive
	if !p.on || p.gen != gen {
		return nil
	}
	w := &p.watch
	if w.was == nil {
		w.was = now
	}
	stable := true
	dir := l.j.Meta().WorkDir
	for _, f := range files {
		if now[f] == w.was[f] {
			continue
		}
		stable = stable && w.now != nil && w.now[f] == now[f]
		if rel, err := filepath.Rel(dir, f); err == nil && filepath.IsLocal(rel) {
			f = rel
		}
		changed = append(changed, strconv.Quote(f))
	}
	w.now = now
	if len(changed) == 0 || !stable || l.cfg.Now().Sub(w.last) < changeEvery {
		l.armWatch(gen)
		return nil
	}
	w.was, w.last = now, l.cfg.Now()
	return changed[:min(len(changed), maxChanged)]
}
