package permission

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"scorel/protocol"
)

// FuzzJudgeCommand looks for sources that panic, and for allowed ones in which
// anything but an allowed simple command stands. The oracle walks the syntax
// tree by itself.
func FuzzJudgeCommand(f *testing.F) {
	for _, c := range commands() {
		f.Add(c.src)
	}
	p := compile(f, Default, Layer{Allow: []string{"Bash(git status:*)"}, Deny: []string{"Bash(rm:*)"}})
	f.Fuzz(func(t *testing.T, src string) {
		v := p.Judge(bash(src))
		if v.Decision != protocol.DecisionAllow {
			for _, s := range v.Suggestions[min(1, len(v.Suggestions)):] {
				q, err := p.With(Layer{Allow: []string{s.Rule}})
				if err != nil {
					t.Fatalf("%q: suggestion %q: %v", src, s.Rule, err)
				}
				if q.Judge(bash(src)).Decision != protocol.DecisionAllow {
					t.Fatalf("%q: suggestion %q does not allow it", src, s.Rule)
				}
			}
			return
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
		if err != nil {
			t.Fatalf("%q: allowed, but %v", src, err)
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			if why := forbidden(n); why != "" {
				t.Fatalf("%q: allowed, but it has %s", src, why)
			}
			return true
		})
	})
}

func forbidden(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.CallExpr:
		if len(n.Assigns) > 0 {
			return "an assignment"
		}
		name := bare(n.Args[0])
		if name == "git" && len(n.Args) > 1 && bare(n.Args[1]) == "status" {
			return ""
		}
		switch name {
		case "true", "false", ":", "cd", "exit", "return", "break", "continue":
		default:
			return "the command " + name
		}
	case *syntax.FuncDecl, *syntax.DeclClause, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CoprocClause, *syntax.TimeClause, *syntax.ExtGlob, *syntax.TestDecl:
		return "a construct that changes the shell"
	case *syntax.ParamExp:
		if n.Excl || (n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull || n.Exp.Op == syntax.OtherParamOps)) {
			return "an expansion with effects"
		}
	case *syntax.Redirect:
		switch n.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn:
			return ""
		case syntax.DplIn, syntax.DplOut:
			if strings.Trim(bare(n.Word), "0123456789") == "" || strings.Trim(bare(n.Word), "0123456789") == "-" {
				return ""
			}
		}
		switch bare(n.Word) {
		case "/dev/null", "/dev/stdout", "/dev/stderr":
			return ""
		}
		return "a redirection to " + bare(n.Word)
	}
	return ""
}

// bare writes a word without quotes.
func bare(w *syntax.Word) string {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, w); err != nil {
		return "?"
	}
	return strings.NewReplacer("\\\n", "", "'", "", `"`, "", `\`, "", "\n", "").Replace(b.String())
}
