package shellparse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker collects the steps of a parsed source.
type walker struct {
	src   string
	steps []Step
	ask   string
	loops int
	inner int // substitutions around
	deep  int // substitutions around whose text is worked out
	vars  variables
	whole bool // the substitution that is walked is a here-document with a certain end
	// of the step that is read
	hidden    string   // a part of which the source does not tell what it would run
	evaluates []string // texts that bash expands once more
}

// hide keeps the first part of which the source does not tell what it would run.
func (w *walker) hide(part string) { note(&w.hidden, part) }

// evaluated notes a text that bash expands once more.
func (w *walker) evaluated(text string) {
	if strings.Contains(text, "$(") || strings.Contains(text, "`") {
		w.evaluates = append(w.evaluates, text)
	}
}

// note keeps the first reason.
func note(ask *string, why string) {
	if *ask == "" {
		*ask = why
	}
}

func (w *walker) source(n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if from > to || to > uint(len(w.src)) {
		return ""
	}
	return w.src[from:to]
}

func (w *walker) add(s Step) {
	s.Loop = w.loops > 0
	note(&s.Unknown, w.hidden)
	s.Evaluates = append(s.Evaluates, w.evaluates...)
	w.hidden, w.evaluates = "", nil
	w.steps = append(w.steps, s)
}

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

// maxNested is how many substitutions may stand in each other. The text of each
// holds that of all inside it.
const maxNested = 50

// nested walks the statements of a substitution.
func (w *walker) nested(list []*syntax.Stmt) {
	if w.inner >= maxNested {
		note(&w.ask, "substitutions are nested too deeply")
		return
	}
	w.inner++
	w.stmts(list)
	w.inner--
}

func (w *walker) stmt(s *syntax.Stmt) {
	if s == nil {
		return
	}
	if s.Coprocess || s.Disown {
		note(&w.ask, "it starts a co-process")
	}
	step := Step{Source: strings.TrimRight(w.source(s), " \t\n;&")}
	call, simple := s.Cmd.(*syntax.CallExpr)
	if simple {
		w.call(call, &step)
	}
	for _, r := range s.Redirs {
		w.redirect(r, &step)
	}
	if simple || len(s.Redirs) > 0 {
		w.add(step)
	}
	if !simple {
		w.command(s.Cmd)
	}
}

func (w *walker) call(c *syntax.CallExpr, step *Step) {
	for _, a := range c.Assigns {
		step.Assigns = true
		if len(c.Args) == 0 || !harmlessAssign(a) {
			note(&step.Ask, "it sets variables")
		}
		w.assign(a, step)
	}
	var lists [][][]Word
	for _, word := range c.Args {
		step.Words = append(step.Words, w.word(word, &step.Ask))
		lists = append(lists, w.become(word))
	}
	step.become(lists)
	if len(step.Words) == 0 {
		return
	}
	if !step.Words[0].Literal {
		note(&step.Ask, "the name of the command is not literal")
	}
	note(&step.Ask, builtinAsk(step.Words))
	w.byName(step.Words)
}

func (w *walker) assign(a *syntax.Assign, step *Step) {
	w.arithmetic(a.Index, &step.Ask)
	if a.Value != nil {
		w.word(a.Value, &step.Ask)
		if a.Name != nil && w.vars.integer[a.Name.Value] {
			w.calculates(a.Value)
		}
	}
	w.environment(a)
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			w.arithmetic(e.Index, &step.Ask)
			if e.Value != nil {
				w.word(e.Value, &step.Ask)
			}
		}
	}
}

// timed is what time measures, without the -- before it.
func timed(s *syntax.Stmt) *syntax.Stmt {
	if s == nil {
		return nil
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) < 2 || call.Args[0].Lit() != "--" {
		return s
	}
	measured := *s
	measured.Cmd = &syntax.CallExpr{Args: call.Args[1:]}
	return &measured
}

// declares reports whether a declaration has an option of one letter.
func declares(c *syntax.DeclClause, option rune) bool {
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") && strings.ContainsRune(a.Value.Lit(), option) {
			return true
		}
	}
	return false
}

func (w *walker) command(cmd syntax.Command) {
	switch c := cmd.(type) {
	case nil:
	case *syntax.Subshell:
		w.stmts(c.Stmts)
	case *syntax.Block:
		w.stmts(c.Stmts)
	case *syntax.BinaryCmd:
		from := len(w.steps)
		w.stmt(c.X)
		mid := len(w.steps)
		w.stmt(c.Y)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			text, known := w.exactStmt(c.X)
			wide := printed(w.steps[from:mid])
			for i := range w.steps[mid:] {
				step := &w.steps[mid+i]
				if known {
					step.Input = append(step.Input, text)
				} else {
					note(&step.Fed, w.source(c.X))
				}
				if wide != "" && wide != text {
					step.Input = append(step.Input, wide)
				}
			}
		}
		if c.Op == syntax.AndStmt {
			w.behind(w.lastCd(c.X, from, mid), mid)
		}
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond)
			w.stmts(c.Then)
		}
	case *syntax.WhileClause:
		w.loops++
		w.stmts(c.Cond)
		w.stmts(c.Do)
		w.loops--
	case *syntax.ForClause:
		w.loop(c)
	case *syntax.CaseClause:
		step := Step{Source: w.source(c.Word)}
		w.word(c.Word, &step.Ask)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.word(p, &step.Ask)
			}
		}
		step.Test = true
		w.add(step)
		for _, item := range c.Items {
			w.stmts(item.Stmts)
		}
	case *syntax.TestClause:
		step := Step{Test: true, Source: w.source(c)}
		w.test(c.X, &step.Ask)
		w.add(step)
	case *syntax.TimeClause:
		from := len(w.steps)
		w.stmt(timed(c.Stmt))
		for i := range w.steps[from:] {
			note(&w.steps[from+i].Ask, "it runs under time")
		}
	case *syntax.DeclClause:
		step := Step{Source: w.source(c), Words: []Word{{Text: c.Variant.Value, Literal: true, Operand: true}}, Ask: c.Variant.Value + " changes the shell"}
		for _, a := range c.Args {
			w.assign(a, &step)
			step.Words = append(step.Words, Word{Text: w.source(a)})
			if a.Index != nil || a.Name == nil {
				w.evaluated(w.source(a))
			}
			if a.Value != nil && (a.Name == nil && !strings.HasPrefix(a.Value.Lit(), "-") || declares(c, 'n')) {
				w.looksUp(a.Value)
			}
		}
		w.add(step)
	case *syntax.FuncDecl:
		note(&w.ask, "it defines a function")
		w.stmt(c.Body)
	case *syntax.CoprocClause:
		note(&w.ask, "it starts a co-process")
		w.stmt(c.Stmt)
	case *syntax.ArithmCmd:
		step := Step{Ask: "it calculates", Source: w.source(c)}
		w.arithmetic(c.X, &step.Ask)
		w.add(step)
	case *syntax.LetClause:
		step := Step{Ask: "it calculates", Source: w.source(c)}
		for _, x := range c.Exprs {
			w.evaluated(w.source(x))
			w.arithmetic(x, &step.Ask)
		}
		w.add(step)
	default:
		note(&w.ask, "it uses a construct that is not known")
	}
}

func (w *walker) loop(c *syntax.ForClause) {
	step := Step{Source: "for " + w.source(c.Loop)}
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		if c.Select || !harmlessName(l.Name.Value) {
			note(&step.Ask, "a loop sets the variable "+l.Name.Value)
		}
		for _, item := range l.Items {
			w.word(item, &step.Ask)
		}
	case *syntax.CStyleLoop:
		note(&step.Ask, "it calculates")
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			w.arithmetic(x, &step.Ask)
		}
	default:
		note(&step.Ask, "it uses a loop that is not known")
	}
	step.Test = true
	w.add(step)
	w.loops++
	w.stmts(c.Do)
	w.loops--
}

// harmlessName reports whether a loop may set a variable of this name. What changes
// how programs run (PATH, IFS, GIT_PAGER, npm_config_…) is never a short word of
// small letters.
func harmlessName(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return len(name) <= 12
}

// test reads a condition inside [[ ]]. Comparing numbers evaluates arithmetic,
// and so does -v with a subscript.
func (w *walker) test(x syntax.TestExpr, ask *string) {
	switch t := x.(type) {
	case nil:
	case *syntax.Word:
		w.word(t, ask)
	case *syntax.ParenTest:
		w.test(t.X, ask)
	case *syntax.UnaryTest:
		if t.Op == syntax.TsVarSet || t.Op == syntax.TsRefVar {
			note(ask, "a condition looks up a variable by name")
			if word, ok := t.X.(*syntax.Word); ok {
				w.looksUp(word)
			}
		}
		w.test(t.X, ask)
	case *syntax.BinaryTest:
		switch t.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{t.X, t.Y} {
				word, ok := side.(*syntax.Word)
				if !ok || !digits(word.Lit()) {
					note(ask, "it calculates with variables")
				}
				if ok {
					w.calculates(word)
				}
			}
		}
		w.test(t.X, ask)
		w.test(t.Y, ask)
	default:
		note(ask, "it uses a condition that is not known")
	}
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
