package tool

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/tool/files"
	"scorel/internal/platform/fault"
	"scorel/internal/platform/repository"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

const (
	// guardEvery is how often repositories are looked at while a command runs.
	guardEvery = time.Second
	// Protected files, and what was set aside, that a result names for clients and in its
	// text.
	maxChanged      = 100
	maxChangedShown = 10
)

// guard follows what a command does to protected files and to repositories, from before it
// starts until nothing of it runs. What would have Git run programs is set aside at once,
// the rest is named at the end; people are told of both.
type guard struct {
	files     *files.Files
	call      string
	protected Protected // nil: the result tells it
	before    sandbox.Protected
	stop      chan struct{}
	over      chan struct{}
	once      sync.Once
	found     harm         // complete when over is closed
	broken    *fault.Panic // of follow, set when over is closed

	repos *repository.State // only its goroutine looks, and end when that has ended
}

// harm is what a command did.
type harm struct {
	changed []string
	aside   []protocol.SetAside
	more    int  // set aside and not in aside
	told    bool // the model is told otherwise
}

// newGuard begins to follow a command that is about to start; end must be called.
func newGuard(files *files.Files, protected Protected, call string) *guard {
	g := &guard{found: harm{told: protected != nil}, files: files, call: call, protected: protected, before: files.Protected(), repos: repository.Look(files.Folders()),
		stop: make(chan struct{}), over: make(chan struct{})}
	go g.follow() // ends with end
	return g
}

func (g *guard) follow() {
	defer close(g.over)
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if g.broken = fault.Attempt(func() { g.setAside(false) }); g.broken != nil {
				return // end meets it
			}
		case <-g.stop:
			return
		}
	}
}

// setAside moves what was put into repositories, and tells people.
func (g *guard) setAside(ended bool) {
	moved := g.repos.SetAside(time.Now(), ended)
	if len(moved) == 0 {
		return
	}
	var now harm
	for _, a := range moved {
		s := protocol.SetAside{Path: a.Path, To: a.To, Why: clipped(a.Why)}
		if a.Err != nil {
			s.Error = a.Err.Error()
		}
		now.aside = append(now.aside, s)
		if len(g.found.aside) < maxChanged {
			g.found.aside = append(g.found.aside, s)
		} else {
			g.found.more++
		}
	}
	g.say(now)
}

// end looks for the last time; nothing of the command may run any more. It may be called
// again and then returns the same. What it returns says nothing to the model where an
// event does.
func (g *guard) end() harm {
	g.once.Do(func() {
		close(g.stop)
		<-g.over
		if g.broken != nil {
			panic(g.broken)
		}
		g.setAside(true)
		if g.found.changed = g.before.Changed(g.files.Protected()); len(g.found.changed) > 0 {
			g.say(harm{changed: g.found.changed})
		}
	})
	return g.found
}

// NotifyLeft tells people and the model what was left in the repositories of the workspace
// before anybody watched, and leads Git to the configuration of another one.
func NotifyLeft(f *files.Files, protected Protected) {
	if f == nil {
		return
	}
	var h harm
	for _, a := range repository.Left(f.Folders()) {
		h.aside = append(h.aside, protocol.SetAside{Path: a.Path, Why: clipped(a.Why), Error: a.Err.Error()})
	}
	if len(h.aside) > 0 {
		(&guard{protected: protected}).say(h)
	}
}

// say tells people.
func (g *guard) say(h harm) {
	if g.protected == nil {
		return
	}
	n := protocol.ProtectedNotice{ToolCallID: g.call, Changed: h.changed[:min(len(h.changed), maxChanged)], SetAside: h.aside[:min(len(h.aside), maxChanged)]}
	n.More = len(h.changed) - len(n.Changed) + len(h.aside) - len(n.SetAside)
	g.protected.NotifyProtected(n, "Attention: "+h.text()+".")
}

// maxWhy bounds why something was set aside, in bytes: it holds what a command wrote.
const maxWhy = 500

func clipped(s string) string {
	if len(s) <= maxWhy {
		return s
	}
	return strings.ToValidUTF8(s[:maxWhy], "") + "…"
}

// into puts it into the details of a result.
func (h harm) into(d *protocol.ToolDetails) {
	d.ChangedProtected, d.SetAside = h.changed[:min(len(h.changed), maxChanged)], h.aside
}

// note is the text after the output of a command.
func (h harm) note() string {
	if text := h.untold(); text != "" {
		return "\n[Attention: " + text + ".]"
	}
	return ""
}

// untold is text where nothing else tells the model.
func (h harm) untold() string {
	if h.told {
		return ""
	}
	return h.text()
}

// text says it to the model, "" when there is nothing to say.
func (h harm) text() string {
	var parts []string
	if len(h.aside) > 0 {
		var names []string
		for _, a := range h.aside[:min(len(h.aside), maxChangedShown)] {
			if a.To == "" {
				names = append(names, fmt.Sprintf("%s (it could not be moved: %s)", shownName(a.Path), a.Error))
				continue
			}
			names = append(names, shownName(a.Path)+" (now "+shownName(a.To)+")")
		}
		parts = append(parts, "this was put into the repository and would have had Git run programs or use another repository, so it was moved: "+
			strings.Join(names, ", ")+moreNames(len(h.aside)+h.more))
	}
	if len(h.changed) > 0 {
		var names []string
		for _, name := range h.changed[:min(len(h.changed), maxChangedShown)] {
			names = append(names, shownName(name))
		}
		parts = append(parts, "protected files changed, which other programs run or believe later: "+strings.Join(names, ", ")+moreNames(len(h.changed)))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + ". Say so to the user"
}

func moreNames(n int) string {
	if n <= maxChangedShown {
		return ""
	}
	return fmt.Sprintf(" and %d more", n-maxChangedShown)
}

// shownName quotes a name that was chosen to be read as something else.
func shownName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
