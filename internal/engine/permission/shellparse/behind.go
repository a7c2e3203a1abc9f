package shellparse

import "mvdan.cc/sh/v3/syntax"

// lastCd returns the step, plus one, of the cd that was the last to change the working
// directory when s, whose steps are from until to, has succeeded; 0 when that cannot be
// told: s must be simple commands joined by &&.
func (w *walker) lastCd(s *syntax.Stmt, from, to int) int {
	if !chain(s) {
		return 0
	}
	for i := to - 1; i >= from; i-- {
		if !w.steps[i].moves() {
			continue
		}
		if words := w.steps[i].Words; words[0].Text == "cd" {
			return i + 1
		}
		return 0
	}
	return 0
}

// chain reports whether s is simple commands joined by &&, none of them negated or in the
// background.
func chain(s *syntax.Stmt) bool {
	if s == nil || s.Negated || s.Background || s.Coprocess || s.Disown {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && chain(c.X) && chain(c.Y)
	}
	return false
}

// after notes for the steps from mid on that they run after the cd of step cd, as far
// as nothing among them changes the working directory again.
func (w *walker) behind(cd, mid int) {
	if cd == 0 {
		return
	}
	steps := w.steps[mid:]
	for i := range steps {
		if steps[i].Loop && steps[i].moves() && w.loops == 0 {
			return // what is before it in the loop runs after it, too
		}
	}
	for i := range steps {
		if steps[i].Behind == 0 {
			steps[i].Behind = cd
		}
		if steps[i].moves() {
			return
		}
	}
}

// moves reports whether a step may change the working directory of the steps that follow.
func (s *Step) moves() bool {
	words := s.Words
	for len(words) > 1 && (words[0].Text == "builtin" || words[0].Text == "command") {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	switch words[0].Text {
	case "cd", "pushd", "popd", "dirs", "eval", "source", ".", "trap":
		return true
	}
	return !words[0].Literal
}
