package permission

import (
	"fmt"
	"slices"

	"scorel/protocol"
)

// files judges an action that reads or writes files. The worst of its paths
// decides.
func (p *Policy) files(a Action) Verdict {
	if r, ok := p.anyPath(p.deny, a, false); ok {
		return denied(r)
	}
	if a.Kind == Write && p.mode != Bypass {
		for _, path := range a.Paths {
			if path.Protected {
				return ask("", fmt.Sprintf("%s is a protected file: its content is run or trusted later.", path.Abs))
			}
		}
	}
	if r, ok := p.anyPath(p.ask, a, true); ok {
		return asked(r)
	}
	if p.mode == Bypass && !p.guardsOutside(a) {
		return Verdict{Decision: protocol.DecisionAllow}
	}
	v := Verdict{Decision: protocol.DecisionAllow}
	byTool := func(r rule) bool { return r.forTool(a.Tool) }
	if r, ok := find(p.allow, byTool); ok {
		return allowed(r)
	}
	for _, path := range a.Paths {
		r, ok := find(p.allow, func(r rule) bool { return r.forFile(a.Kind, path.Abs, false) })
		switch {
		case ok:
			v.Rule = join(v.Rule, r.text)
		case path.Skill && a.Kind == Read, path.Inside && (a.Kind == Read || p.mode == AcceptEdits || p.mode == Bypass):
		case path.Keys:
			return ask("", fmt.Sprintf("%s uses %s, where keys are kept.", a.Tool, path.Abs))
		case a.Kind == Read:
			return ask("", fmt.Sprintf("%s reads %s, outside the workspace.", a.Tool, path.Abs))
		case path.Inside:
			return ask("", a.writes(path)+".")
		default:
			return ask("", a.writes(path)+", outside the workspace.")
		}
	}
	if a.Kind == Write && len(a.Paths) == 0 {
		return ask("", fmt.Sprintf("%s writes what it does not name.", a.Tool))
	}
	return v
}

// writes says what a write does with a file.
func (a Action) writes(path Path) string {
	verb, size := "writes", ""
	if a.Effect != nil {
		verb, size = a.Effect()
	}
	return a.Tool + " " + verb + " " + path.Abs + size
}

// guardsOutside reports whether a write outside the workspace is asked for although
// nothing else is: root may do without questions only what the sandbox bounds,
// and it bounds commands, not file tools.
func (p *Policy) guardsOutside(a Action) bool {
	return p.uid == 0 && a.Kind == Write && slices.ContainsFunc(a.Paths, func(path Path) bool { return !path.Inside })
}

// anyPath finds a rule that tightens and covers the tool (if wanted) or one of
// the paths.
func (p *Policy) anyPath(rules []rule, a Action, tool bool) (rule, bool) {
	return find(rules, func(r rule) bool {
		if tool && r.forTool(a.Tool) {
			return true
		}
		for _, path := range a.Paths {
			if r.forFile(a.Kind, path.Abs, true) || path.Named != "" && r.forFile(a.Kind, path.Named, true) {
				return true
			}
		}
		return false
	})
}

// Withheld returns what says of a file below a folder whether a search of the
// folder leaves it out: a rule denies reading it, or asks for it and not for the
// folder. Both are absolute and without symlinks. It is nil when no rule does.
func (p *Policy) Withheld() func(folder, file string) bool {
	reads := func(r rule) bool { return r.form == file && r.kind != Write }
	if !slices.ContainsFunc(p.deny, reads) && !slices.ContainsFunc(p.ask, reads) {
		return nil
	}
	return func(folder, file string) bool {
		return slices.ContainsFunc(p.deny, func(r rule) bool { return r.forFile(Read, file, true) }) ||
			slices.ContainsFunc(p.ask, func(r rule) bool { return r.forFile(Read, file, true) && !r.forFile(Read, folder, true) })
	}
}

// join adds a rule to a list of them, once.
func join(list, rule string) string {
	if list == "" {
		return rule
	}
	for _, have := range Split(list) {
		if have == rule {
			return list
		}
	}
	return list + ", " + rule
}
