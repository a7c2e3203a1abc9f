package demo

import (
	"encoding/json"
	"slices"
	"strings"

	"scorel/protocol"
)

// story is what a transcript tells: what is asked, what was found, what was
// tried. Everything that the model decides follows from it.
type story struct {
	wish wish

	looked  bool // a search for files has answered
	files   []string
	sources map[string]*source // what was read, by path
	greps   int

	run      testRun // the newest, if nothing was changed since and it is of this turn
	report   report  // what failed before the first change
	reported bool
	tries    []try
	todos    []todo // as last written; nil when none are open

	slow     int    // runs in a row that were ended because they took too long
	refused  string // why a call of this turn was not carried out
	complain string // how the newest call of Edit failed, "" when it did not
	edits    int    // calls of Edit that failed in a row in this turn
	vain     int    // answers of Read in a row that were not a whole file
}

// source is a file as it is known.
type source struct {
	path  string
	base  string // before the model changed it
	now   string
	known bool // now is what the file holds, as far as the transcript tells
	// maybe are contents that the file may have: a change was cut off.
	maybe []string
	// past are changes that a summary tells of, oldest first.
	past [][]replacement
}

// try is a change that was made to see whether the checks pass.
type try struct{ path, content string }

// testRun is one run of the tests.
type testRun struct {
	done   bool
	passed bool
	code   int
	output string
}

// read folds the messages of a request.
func read(messages []protocol.Message) *story {
	s := &story{sources: map[string]*source{}}
	calls := map[string]protocol.Block{}
	for _, m := range messages {
		switch m.Role {
		case protocol.RoleUser:
			s.user(plain(m))
		case protocol.RoleAssistant:
			for _, c := range m.Calls() {
				calls[c.ID] = c
			}
			if s.run.passed && len(m.Calls()) == 0 {
				s.settle()
			}
		case protocol.RoleToolResult:
			if c, ok := calls[m.ToolCallID]; ok {
				s.result(c, plain(m), m.IsError)
			}
		}
	}
	return s
}

// settle ends a repair: what the files hold now is what a later one begins with.
func (s *story) settle() {
	s.tries, s.reported = nil, false
	for _, f := range s.sources {
		f.base = f.now
	}
}

// user takes in a message of the user, or the summary that stands for earlier
// ones.
func (s *story) user(text string) {
	if summary, ok := cutSummary(text); ok {
		s.recall(summary)
		return
	}
	if text = strings.TrimSpace(text); text == "" {
		return // nothing but a reminder
	}
	s.wish = s.wish.then(text)
	s.run, s.refused, s.complain, s.edits, s.vain, s.slow = testRun{}, "", "", 0, 0, 0
}

// result takes in what a call gave.
func (s *story) result(c protocol.Block, text string, failed bool) {
	switch c.Name {
	case "Glob":
		if s.took(failed, text) {
			s.looked = true
			for _, f := range listed(text) {
				if !slices.Contains(s.files, f) {
					s.files = append(s.files, f)
				}
			}
		}
	case "Grep":
		s.greps++
		s.took(failed, text)
	case "Read":
		if s.took(failed, text) {
			s.vain++
			if lines, ok := shown(text); ok {
				s.vain = 0
				s.saw(decode[readInput](c.Input).Path, strings.Join(lines, "\n"))
			}
		}
	case "TodoWrite":
		if !failed {
			s.todos = openTodos(decode[todoInput](c.Input).Todos)
		}
	case "Bash":
		s.ran(text, failed)
	case "Edit":
		s.changed(c.Input, text, failed)
	}
}

// took reports whether a call was carried out; else it notes why not.
func (s *story) took(failed bool, text string) bool {
	if failed && !cutOff(text) {
		s.refused = strings.TrimSpace(text)
	}
	return !failed
}

// saw takes in the whole content of a file.
func (s *story) saw(path, content string) {
	f := s.sources[path]
	if f == nil {
		f = &source{path: path}
		s.sources[path] = f
	}
	switch {
	case len(f.past) > 0:
		s.trace(f, content)
	case f.base == "" && f.now == "":
		f.base = content
	case content == f.base:
	case content == f.now || slices.Contains(f.maybe, content) || s.tried(path, content):
		s.attempt(path, content)
	default: // somebody else has changed it: what was tried tells nothing about this
		f.base = content
		s.tries = slices.DeleteFunc(s.tries, func(t try) bool { return t.path == path })
	}
	f.now, f.known, f.maybe, f.past = content, true, nil, nil
}

// changed takes in what a call of Edit gave.
func (s *story) changed(input json.RawMessage, text string, failed bool) {
	in := decode[editInput](input)
	f := s.sources[in.Path]
	if f == nil {
		f = &source{path: in.Path}
		s.sources[in.Path] = f
	}
	after, ok := apply(f.now, in.Edits)
	if failed {
		s.edits++
		s.complain = strings.TrimSpace(text)
		if ok {
			f.maybe = append(f.maybe, after)
		}
		if cutOff(text) || outdated(text) {
			f.known, s.run = false, testRun{}
		} else {
			s.refused = s.complain
		}
		return
	}
	s.edits, s.complain, s.run = 0, "", testRun{}
	if !f.known || !ok {
		f.past, f.known = append(f.past, in.Edits), false
		return
	}
	f.now = after
	if f.now != f.base {
		s.attempt(in.Path, after)
	}
}

// ran takes in what a run of the tests gave.
func (s *story) ran(text string, failed bool) {
	output, code, ok := ranWith(text)
	if !ok {
		if !cutOff(text) {
			s.refused = strings.TrimSpace(text)
		}
		return
	}
	if s.slow++; !strings.Contains(text, "[timed out after") {
		s.slow = 0
	}
	s.run = testRun{done: true, passed: code == 0 && !failed, code: code, output: output}
	if !s.run.passed && (!s.reported || s.pristine()) {
		s.report, s.reported = parseReport(output), true
	}
}

// pristine reports whether no change of the model is in a file.
func (s *story) pristine() bool {
	for _, f := range s.sources {
		if f.now != f.base || len(f.past) > 0 {
			return false
		}
	}
	return true
}

func (s *story) tried(path, content string) bool {
	return slices.Contains(s.tries, try{path, content})
}

func (s *story) attempt(path, content string) {
	if !s.tried(path, content) {
		s.tries = append(s.tries, try{path, content})
	}
}

// cutOff reports whether a call failed because it was cut off: it may have
// taken effect.
func cutOff(text string) bool {
	return strings.Contains(text, "The host stopped while this ran") || strings.HasPrefix(strings.TrimSpace(text), "Cancelled by user")
}

// outdated reports whether an edit failed because the file is not as it was seen.
func outdated(text string) bool {
	return strings.Contains(text, "old_string") || strings.Contains(text, "Read it")
}

func openTodos(list []todo) []todo {
	for _, t := range list {
		if t.Status != "completed" {
			return list
		}
	}
	return nil
}

// apply carries out replacements, each of a text that is exactly once.
func apply(text string, edits []replacement) (string, bool) {
	for _, e := range edits {
		if e.Old == "" || strings.Count(text, e.Old) != 1 {
			return "", false
		}
		text = strings.Replace(text, e.Old, e.New, 1)
	}
	return text, true
}

// undo takes replacements back.
func undo(text string, edits []replacement) (string, bool) {
	back := make([]replacement, 0, len(edits))
	for _, e := range slices.Backward(edits) {
		back = append(back, replacement{Old: e.New, New: e.Old})
	}
	return apply(text, back)
}
