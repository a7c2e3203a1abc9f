package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"scorel/internal/engine/discovery"
)

// Find returns the templates of the places, nearest first; of those with the same name
// the first counts. Problems are sentences about the others and about what is not
// looked at.
func (f *Templates) Find(ctx context.Context, list []discovery.Place) (out []Template, problems []string) {
	w := &walk{Templates: f, have: map[string]string{}}
	for _, p := range list {
		if !w.folder(ctx, p, "", 0) {
			break
		}
	}
	return w.out, w.problems
}

// walk is one look for templates.
type walk struct {
	*Templates
	have     map[string]string // name -> path
	folders  int
	out      []Template
	problems []string
}

func (w *walk) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// title is what a sentence about all of them begins with.
func (w *walk) title() string { return strings.ToUpper(w.noun[:1]) + w.noun[1:] + "s" }

// folder takes the templates of a folder; front is what their names begin with. It
// reports whether to go on.
func (w *walk) folder(ctx context.Context, p discovery.Place, front string, depth int) bool {
	names, more, err := p.Names()
	if err != nil {
		w.problem("%s: %v.", w.title(), err)
	}
	if more {
		w.problem("%s: %s has more files than are looked at.", w.title(), p.Dir)
	}
	for _, file := range names {
		name, ok := strings.CutSuffix(file, ".md")
		if ctx.Err() != nil {
			return false
		}
		if !ok {
			if sub, ok := w.sub(p, file, depth); ok && !w.folder(ctx, sub, front+file+":", depth+1) {
				return false
			}
			continue
		}
		if len(w.out) >= maxTemplates {
			w.problem("%s: there are more than %d; the others are left out.", w.title(), maxTemplates)
			return false
		}
		path := filepath.Join(p.Dir, file)
		if !ValidName(name) {
			w.problem("The %s %s is left out: a name has letters, digits, dots, dashes and underscores, at most %d.", w.noun, path, maxName)
			continue
		}
		name = front + name
		if other := w.have[name]; other != "" {
			w.problem("The %s %s is hidden by %s.", w.noun, path, other)
			continue
		}
		w.have[name] = path
		t := w.look(p, file)
		t.Name = name
		w.out = append(w.out, t)
	}
	return true
}

// sub is a folder in a folder of commands, if it is one that is looked at.
func (w *walk) sub(p discovery.Place, name string, depth int) (discovery.Place, bool) {
	sub := p
	sub.Dir = filepath.Join(p.Dir, name)
	if p.Name != "" {
		sub.Name = p.Name + "/" + name
	}
	real, err := p.Resolve(name, w.own)
	if err != nil {
		return sub, false
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return sub, false
	}
	switch w.folders++; {
	case depth >= MaxDepth:
		w.problem("%s: %s is left out: at most %d folders can be nested.", w.title(), sub.Dir, MaxDepth)
	case w.folders > maxFolders:
		if w.folders == maxFolders+1 {
			w.problem("%s: there are more than %d folders; %s and further ones are left out.", w.title(), maxFolders, sub.Dir)
		}
	case !ValidName(name):
		w.problem("The %ss in %s are left out: a name has letters, digits, dots, dashes and underscores, at most %d.", w.noun, sub.Dir, maxName)
	default:
		return sub, true
	}
	return sub, false
}
