package permission

import (
	"path"
	"slices"
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// Each folder that a line may be in, and each file that it redirects to, is
// resolved. Beyond these numbers nothing is certain.
const (
	maxPlaces    = 8
	maxRedirects = 200
)

// places follows the working directory through a line. A line may change it
// conditionally, so it is a set: all the folders in which a step may run.
type places struct {
	home, root string
	resolve    func(string) Path
	repository func(string) Repository
	readable   []string
	dirs       []string
	now        []string  // of the step that is judged, as far as that is certain
	entered    []entered // the steps so far
	ignored    func(string) bool
	holds      func(string, func(string) bool) (string, bool)
	names      func(string) ([]string, bool)
	wild       wildcards
	outside    bool // one of them is not in the workspace, or not known
	plants     bool // a step may put a repository somewhere
	named      int  // files that words may name that were looked up
	looked     int  // inner commands that were looked into
	redirects  int  // files of redirections that were looked up
}

// wildcards is what the wildcards of the step that is judged stand for.
type wildcards struct {
	of    string // the words and folders
	found []string
	all   bool
	count int // of the line
}

func newPlaces(p *Policy, a Action) *places {
	at := &places{home: p.home, root: p.root, resolve: a.Resolve, repository: a.Repository, ignored: a.Ignored, holds: a.Holds, names: a.Names, readable: p.readable}
	if at.resolve == nil {
		at.resolve = at.lexical
	}
	if !path.IsAbs(a.Dir) {
		at.outside = true
		return at
	}
	dir := at.resolve(a.Dir)
	at.dirs = []string{dir.Abs}
	at.outside = !dir.Inside
	return at
}

// lexical judges a path by its text alone.
func (at *places) lexical(abs string) Path {
	abs = path.Clean(abs)
	return Path{Abs: abs, Inside: abs == at.root, OutOfReach: at.closed(abs)}
}

// closed reports whether abs is in ~/.scorel.
func (at *places) closed(abs string) bool {
	if at.home == "" {
		return false
	}
	if slices.ContainsFunc(at.readable, func(dir string) bool { return under(abs, dir) }) {
		return false // what would write there is judged as a write, and the sandbox holds it
	}
	return under(abs, path.Join(at.home, ".scorel"))
}

// under reports whether abs is dir or lies in it.
func under(abs, dir string) bool { return abs == dir || strings.HasPrefix(abs, dir+"/") }

// expand replaces what stands for the home folder in front of a path.
func (at *places) expand(text string) string {
	for _, front := range [...]string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(text, front); ok && (rest == "" || rest[0] == '/') && at.home != "" {
			return at.home + rest
		}
	}
	for _, front := range [...]string{"~+", "$PWD", "${PWD}", "$(pwd)", "`pwd`"} {
		if rest, ok := strings.CutPrefix(text, front); ok && (rest == "" || rest[0] == '/') {
			return "." + rest
		}
	}
	return text
}

// reach reports whether a word of a command names something in ~/.scorel, as far
// as its text tells. It is advice and no wall: a program can build a path.
func (at *places) reach(text string) (string, bool) {
	if !strings.Contains(text, ".scorel") {
		return "", false
	}
	candidates := []string{text}
	for i := 0; i < len(text); i++ {
		if strings.IndexByte("=:,@", text[i]) >= 0 {
			candidates = append(candidates, text[i+1:])
		}
	}
	for _, c := range candidates {
		c = at.expand(c)
		if path.IsAbs(c) {
			if c = path.Clean(c); at.closed(c) {
				return c, true
			}
			continue
		}
		for _, dir := range at.dirs {
			if abs := path.Join(dir, c); at.closed(abs) {
				return abs, true
			}
		}
	}
	return "", false
}

// files returns the files that the target of a redirection may be. It is not
// certain when bash would replace part of it, or when the folder is not known.
func (at *places) files(target shellparse.Word) (paths []Path, certain bool) {
	text := target.Text
	certain = target.Literal
	if target.Tilde || !target.Literal {
		expanded := at.expand(text)
		certain = certain || (target.Tilde && expanded != text && !strings.ContainsAny(expanded, "*?[{$`"))
		text = expanded
	}
	at.redirects++
	if text == "" || climbsBack(text) || at.redirects > maxRedirects {
		return nil, false
	}
	if path.IsAbs(text) {
		return []Path{at.resolve(text)}, certain
	}
	for _, dir := range at.dirs {
		paths = append(paths, at.resolve(dir+"/"+text))
	}
	return paths, certain && !at.outside && len(paths) > 0
}

// climbsBack reports whether a path goes up after a name: where that leads depends
// on symlinks.
func climbsBack(text string) bool {
	named := false
	for _, part := range strings.Split(text, "/") {
		switch part {
		case "", ".":
		case "..":
			if named {
				return true
			}
		default:
			named = true
		}
	}
	return false
}

func isCd(words []shellparse.Word) bool { return words[0].Literal && words[0].Text == "cd" }

// target returns where cd leads from dir, "" when that cannot be told.
func (at *places) target(step shellparse.Step, dir string) string {
	words := step.Words
	if len(words) == 3 && words[1].Text == "--" {
		words = words[1:]
	}
	if len(words) == 1 && isCd(words) {
		return at.home
	}
	if len(words) != 2 || (!words[1].Literal && !words[1].Tilde) {
		return ""
	}
	text := words[1].Text
	if words[1].Tilde {
		expanded := at.expand(text)
		if expanded == text || strings.ContainsAny(expanded, "*?[{$`") {
			return ""
		}
		text = expanded
	}
	switch {
	case text == "" || strings.HasPrefix(text, "-"):
		return ""
	case path.IsAbs(text):
		return path.Clean(text)
	}
	return path.Join(dir, text)
}

// stays reports whether a cd certainly leads to a folder of the workspace.
func (at *places) stays(step shellparse.Step) bool {
	if at.outside || len(at.dirs) == 0 {
		return false
	}
	for _, dir := range at.here() {
		to := at.target(step, dir)
		if to == "" || !at.resolve(to).Inside {
			return false
		}
	}
	return true
}

// after notes what a step does to the working directory.
func (at *places) after(step shellparse.Step) {
	if len(step.Words) == 0 {
		return
	}
	words := step.Words
	for len(words) > 1 && (words[0].Text == "builtin" || words[0].Text == "command") {
		words = words[1:]
	}
	switch words[0].Text {
	case "cd":
	case "pushd", "popd", "dirs", "eval", "source", ".":
		at.outside = true
		return
	default:
		return
	}
	if len(at.dirs) >= maxPlaces {
		return // outside is set already
	}
	step.Words = words
	if !at.stays(step) {
		at.outside = true
	}
	for _, dir := range slices.Clone(at.here()) {
		to := at.target(step, dir)
		if to == "" {
			continue
		}
		// bash keeps the logical name, the system opens below the real one.
		for _, d := range []string{to, at.resolve(to).Abs} {
			if !slices.Contains(at.dirs, d) {
				at.dirs = append(at.dirs, d)
			}
		}
	}
	if len(at.dirs) >= maxPlaces {
		at.dirs, at.outside = at.dirs[:maxPlaces], true
	}
}

// survey looks at what the whole line does before its steps are judged in turn: whether a
// step may put a repository somewhere, and whether the body of a loop changes the working
// directory: what is before the change runs after it too, so nothing is certain then.
func (at *places) survey(line shellparse.Line) {
	for _, step := range line.Steps {
		at.plants = at.plants || plants(step)
		if !step.Loop || len(step.Words) == 0 {
			continue
		}
		for _, w := range step.Words {
			switch w.Text {
			case "cd", "pushd", "popd":
				at.outside = true
			}
		}
	}
}
