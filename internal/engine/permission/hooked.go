package permission

import (
	"slices"

	"scorel/internal/engine/permission/shellparse"
	"scorel/protocol"
)

// JudgeHooked is [Policy.Judge] of a call of which a hook of the user says allow, or
// any hook says ask, with the hook's reason. An allow stands for the question that is
// asked because nothing allows the call: not for an ask rule, not for protected files,
// and not for a command that cannot be taken apart. An ask has people asked who would
// not have been, also where the mode asks for nothing; where nobody is asked the call
// is denied.
func (p *Policy) JudgeHooked(a Action, says protocol.Decision, reason string) Verdict {
	if says == protocol.DecisionAllow && p.mode != Plan && p.openQuestion(a) {
		return Verdict{Decision: protocol.DecisionAllow}
	}
	v := p.Judge(a)
	switch {
	case says != protocol.DecisionAsk || v.Decision == protocol.DecisionDeny:
		return v
	case v.Decision == protocol.DecisionAsk:
		v.Reason += " " + reason
		return v
	}
	if p.mode == Plan || p.mode == DontAsk {
		return deny("", "Nobody is asked in this mode: "+reason)
	}
	v = ask("", reason)
	v.Suggestions = []protocol.Suggestion{{Label: "Allow once", Scope: "once"}}
	return v
}

// openQuestion reports whether a call is asked for only because nothing allows it.
func (p *Policy) openQuestion(a Action) bool {
	v := p.rules(a)
	if v.Decision != protocol.DecisionAsk || v.Rule != "" {
		return false
	}
	if a.Kind == Write && slices.ContainsFunc(a.Paths, func(path Path) bool { return path.Protected }) {
		return false
	}
	if a.Kind == Exec && a.Command != "" {
		line, err := shellparse.Parse(a.Command)
		if err != nil {
			return false
		}
		_, tightened := p.tighten(a, newPlaces(p, a), line, 0)
		return !tightened
	}
	return true
}
