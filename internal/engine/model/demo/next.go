package demo

import (
	"path"
	"slices"
	"strings"

	"scorel/internal/engine/model"
)

// Bounds of what the model does for one fault.
const (
	// maxTries bounds a repair. The faults of the tests take at most 33.
	maxTries   = 100
	maxSources = 4
	maxEdits   = 2  // calls of Edit that fail in a row
	firstRun   = 60 // seconds
	tryRun     = 15 // seconds: a wrong change may loop for ever, and a busy machine takes long
	maxSlow    = 12 // runs in a row that took longer than that
)

// next decides what comes next in a conversation: look for a test script, run
// it, read what fails, and try changes until it passes.
func next(req model.Request) answer {
	s := read(req.Messages)
	switch {
	case s.wish == talk:
		return answer{text: about()}
	case s.refused != "":
		return answer{text: refusedText(s.refused)}
	}
	if missing := missingTools(req.Tools, s.wish); len(missing) > 0 {
		return answer{text: missingText(missing)}
	}
	if !s.looked {
		return s.begin(hasTool(req.Tools, "TodoWrite"))
	}
	script := testScript(s.files)
	switch {
	case s.wish == look:
		return answer{text: lookedText(s.files, script)}
	case script == "":
		return answer{text: nothingText(s.files)}
	case !s.run.done && s.pending() == nil:
		return answer{text: "First the tests, to see where things stand.", calls: []call{runTests(script, firstRun)}}
	case s.run.done && s.run.passed:
		return s.passed(script)
	case s.run.done && noTests(s.run):
		return answer{text: notTestsText(script, s.run)}
	case s.wish == test:
		return answer{text: failedText(script, s.report)}
	}
	return s.search(script)
}

// begin looks at the folder and writes down what will be done.
func (s *story) begin(todos bool) answer {
	a := answer{text: hello, calls: []call{
		{"Glob", globInput{Pattern: "*", Limit: 100}},
		{"Glob", globInput{Pattern: scriptGlob, Limit: 20}},
	}}
	if todos && s.wish == repair {
		a.calls = append([]call{{"TodoWrite", todoList(0)}}, a.calls...)
	}
	return a
}

// search goes from a failing check to the next change to try.
func (s *story) search(script string) answer {
	c := s.report.first()
	f := s.sources[script]
	switch {
	case (f == nil || !f.known) && s.vain >= 2:
		return answer{text: unreadableText([]string{script})}
	case f == nil || !f.known:
		a := answer{text: failingText(s.report), calls: []call{{"Read", readInput{script}}}}
		if words := telling(c); words != "" && s.greps == 0 {
			a.calls = append([]call{{"Grep", grepInput{Pattern: words, Mode: "content", Fold: true, Limit: 40}}}, a.calls...)
		}
		return a
	}
	names := sourcesOf(s.files, script, f.now)
	if len(names) == 0 {
		return answer{text: noSourceText(script, s.report)}
	}
	var unread []call
	var files []*source
	for _, name := range names {
		if f := s.sources[name]; f == nil || !f.known {
			unread = append(unread, call{"Read", readInput{name}})
		} else {
			files = append(files, f)
		}
	}
	switch {
	case len(unread) > 0 && s.unreadable(unread):
		return answer{text: unreadableText(names)}
	case len(unread) > 0:
		return answer{text: readText(names, s.complain), calls: unread}
	case s.edits >= maxEdits:
		return answer{text: editFailedText(s.complain)}
	case !s.run.done:
		return answer{text: "Now the tests, with the file as it is.", calls: []call{runTests(script, tryRun)}}
	}
	return s.attemptNext(script, files)
}

// attemptNext makes the next change and runs the tests, or gives up.
func (s *story) attemptNext(script string, files []*source) answer {
	if len(s.tries) < maxTries && s.slow < maxSlow {
		for _, c := range candidates(files, s.report) {
			base := s.sources[c.path].base
			content := c.content(base)
			if s.tried(c.path, content) {
				continue
			}
			a := answer{text: tryText(len(s.tries)+1, c), calls: s.bring(files, c.path, content)}
			a.calls = append(a.calls, runTests(script, tryRun))
			if len(s.tries) == 0 && s.todos != nil {
				a.calls = append([]call{{"TodoWrite", todoList(2)}}, a.calls...)
			}
			return a
		}
	}
	if back := s.bring(files, "", ""); len(back) > 0 {
		return answer{text: "That was the last thing to try. I put the file back as it was.", calls: append(back, runTests(script, tryRun))}
	}
	return answer{text: gaveUpText(len(s.tries), s.report)}
}

// bring returns the edits after which the file at path has the content, and the
// others are as they were at first.
func (s *story) bring(files []*source, path, content string) []call {
	var calls []call
	for _, f := range files {
		want := f.base
		if f.path == path {
			want = content
		}
		if f.now != want {
			calls = append(calls, call{"Edit", editInput{f.path, editsFrom(f.now, want)}})
		}
	}
	return calls
}

// passed reports that all is well, after ticking off what was to be done.
func (s *story) passed(script string) answer {
	if s.todos != nil {
		return answer{text: "Every check passes.", calls: []call{{"TodoWrite", todoList(len(steps()))}}}
	}
	passed := len(parseReport(s.run.output).passed)
	for _, f := range s.sources {
		if f.known && f.now != f.base {
			return answer{text: repairedText(f, len(s.tries), passed)}
		}
	}
	return answer{text: nothingToRepairText(script, passed)}
}

// pending returns a file of which it is not known what it holds.
func (s *story) pending() *source {
	for _, f := range s.sources {
		if !f.known && len(f.maybe) > 0 {
			return f
		}
	}
	return nil
}

// unreadable reports whether the files were read in vain before: their answer was
// not the whole file.
func (s *story) unreadable(calls []call) bool { return s.vain >= 2*len(calls) }

// editsFrom returns the replacements that turn one text into another with as many
// lines, each with as many lines around it as make it unique.
func editsFrom(from, to string) []replacement {
	now, want := strings.Split(from, "\n"), strings.Split(to, "\n")
	if len(now) != len(want) {
		return []replacement{{from, to}}
	}
	var edits []replacement
	for i := range now {
		if now[i] == want[i] {
			continue
		}
		first, last := i, i
		for strings.Count(strings.Join(now, "\n"), strings.Join(now[first:last+1], "\n")) > 1 && (first > 0 || last+1 < len(now)) {
			first, last = max(0, first-1), min(len(now)-1, last+1)
		}
		old := strings.Join(now[first:last+1], "\n")
		now[i] = want[i]
		edits = append(edits, replacement{old, strings.Join(now[first:last+1], "\n")})
	}
	return edits
}

func runTests(script string, seconds int) call {
	return call{"Bash", bashInput{command(script), seconds}}
}

// command returns how a test script is run.
func command(script string) string {
	if path.Base(script) == "Makefile" {
		return "make test"
	}
	return "bash " + script
}

// scriptGlob finds test scripts in a folder of any size.
const scriptGlob = "{test,tests,check,run-tests,run_tests,runtests}.{sh,bash}"

// testScript picks a test script of the files: the one nearest to the top, else
// a Makefile there.
func testScript(files []string) string {
	best := ""
	for _, f := range files {
		name, _, isShell := cutAny(path.Base(f), ".sh", ".bash")
		if isShell && slices.Contains([]string{"test", "tests", "check", "run-tests", "run_tests", "runtests"}, name) &&
			(best == "" || strings.Count(f, "/") < strings.Count(best, "/")) {
			best = f
		}
	}
	if best == "" && slices.Contains(files, "Makefile") {
		best = "Makefile"
	}
	return best
}

func cutAny(s string, suffixes ...string) (before, suffix string, ok bool) {
	for _, suffix := range suffixes {
		if before, ok := strings.CutSuffix(s, suffix); ok {
			return before, suffix, true
		}
	}
	return s, "", false
}

// noTests reports whether a run was none of tests: the script or the target is not
// there.
func noTests(r testRun) bool {
	return r.code == 126 || r.code == 127 || strings.Contains(r.output, "No rule to make target")
}

// sourcesOf returns the files that the tests are about: those that the script
// names, else the other scripts.
func sourcesOf(files []string, script, text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`$(){};|&<>=,", r) })
	var named, other []string
	for _, f := range files {
		if f == script || isData(f) {
			continue
		}
		base := path.Base(f)
		if slices.ContainsFunc(words, func(w string) bool { return path.Base(w) == base }) {
			named = append(named, f)
		} else if _, _, shell := cutAny(base, ".sh", ".bash"); shell {
			other = append(other, f)
		}
	}
	if len(named) == 0 {
		named = other
	}
	slices.Sort(named)
	return named[:min(len(named), maxSources)]
}

// isData reports whether a file is no program, by its name.
func isData(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".txt", ".csv", ".json", ".log", ".lock", ".toml", ".yaml", ".yml", ".html", ".xml", ".png", ".jpg", ".gif", ".pdf":
		return true
	}
	return path.Base(name) == "Makefile"
}

// telling returns a pattern of the words that say what a check is about: its
// options, else its longest words.
func telling(c check) string {
	var words []string
	for _, w := range wordsOf(c.name) {
		if len(w) > 3 {
			words = append(words, w)
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	pick := slices.Compact(append(options(c.text), words...))
	return strings.Join(pick[:min(len(pick), 2)], "|")
}

func hasTool(tools []model.ToolSpec, name string) bool {
	return slices.ContainsFunc(tools, func(t model.ToolSpec) bool { return t.Name == name })
}

// missingTools returns the tools that a wish needs and that there are not.
func missingTools(tools []model.ToolSpec, w wish) []string {
	need := []string{"Glob"}
	switch w {
	case test:
		need = []string{"Glob", "Bash"}
	case repair:
		need = []string{"Glob", "Bash", "Grep", "Read", "Edit"}
	}
	return slices.DeleteFunc(need, func(name string) bool { return hasTool(tools, name) })
}
