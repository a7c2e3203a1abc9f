package permission

import (
	"strings"

	"scorel/internal/engine/permission/shellparse"
	"scorel/protocol"
)

// maxSuggested is how many rules one answer may grant: more is not read.
const maxSuggested = 4

// suggest returns the answers for a question: once, and where rules can grant
// exactly this action, for the session and always.
func (p *Policy) suggest(a Action) []protocol.Suggestion {
	out := []protocol.Suggestion{{Label: "Allow once", Scope: "once"}}
	rules := p.grants(a)
	if len(rules) == 0 || len(rules) > maxSuggested {
		return out
	}
	list := strings.Join(rules, ", ")
	// The list is offered only if it can be read back, and grants the action.
	if back := Split(list); strings.Join(back, ", ") != list || len(back) != len(rules) {
		return out
	}
	q, err := p.With(Layer{Scope: ScopeSession, Allow: []string{list}})
	if err != nil || q.judge(a).Decision != protocol.DecisionAllow {
		return out
	}
	return append(out,
		protocol.Suggestion{Label: "Allow " + list + " for this session", Scope: "session", Rule: list},
		protocol.Suggestion{Label: "Always allow " + list + " in this project", Scope: "always", Rule: list})
}

// grants returns the rules that would allow the action and were missing.
func (p *Policy) grants(a Action) []string {
	switch a.Kind {
	case Read, Write:
		name := toolOf(protocol.RuleFiles, a.Kind)
		var rules []string
		for _, f := range a.Paths {
			if printable(f.Abs) {
				rules = append(rules, name+"("+escapeGlob(f.Abs)+")")
			}
		}
		return rules
	case Net:
		if protocol.FindTool(a.Tool).Rule != protocol.RuleHost {
			break
		}
		if a.Host == "" {
			return nil
		}
		return []string{a.Tool + "(domain:" + canonicalHost(a.Host) + ")"}
	case Exec:
		if a.Command != "" {
			return p.grantCommands(a)
		}
	}
	if !toolName(a.Tool) || a.Server != "" && !a.prompt() && !strings.HasPrefix(a.Tool, "mcp__") { // what reads resources of one server reads those of all
		return nil
	}
	if a.Name != "" {
		return []string{a.Tool + "(" + a.Name + ")"}
	}
	return []string{a.Tool}
}

func (p *Policy) grantCommands(a Action) []string {
	line, err := shellparse.Parse(a.Command)
	if err != nil || line.Ask != "" {
		return nil
	}
	at := newPlaces(p, a)
	at.survey(line)
	var rules []string
	for _, step := range line.Steps {
		at.enter(step)
		if _, why := p.loosenStep(at, step); why != "" {
			r := grantStep(at, step)
			if r == "" {
				return nil
			}
			if !has(rules, r) {
				rules = append(rules, r)
			}
		}
		at.after(step)
	}
	return rules
}

// grantStep returns the narrowest useful rule for a step: a listed harmless command
// with any arguments, else exactly these words in the folder in which they run.
func grantStep(at *places, step shellparse.Step) string {
	if step.Ask != "" || len(step.Words) == 0 {
		return ""
	}
	var words []string
	for _, w := range step.Words {
		words = append(words, w.Text)
	}
	if n := harmlessPrefix(words); n > 0 && !at.inIgnored() {
		prefix := rule{form: command, words: words[:n], prefix: true}
		if prefix.permits(step.Words) {
			return toolOf(protocol.RuleCommand, Exec) + "(" + shellparse.Quote(words[:n]) + ":*)"
		}
	}
	for _, w := range step.Words {
		if !w.Literal || !printable(w.Text) {
			return ""
		}
	}
	if shellparse.RunsInput(step.Words) {
		return ""
	}
	front, ok := at.given()
	if !ok {
		return ""
	}
	return toolOf(protocol.RuleCommand, Exec) + "(" + front + shellparse.Quote(words) + ")"
}

// harmlessPrefix returns how many first words name a command that only looks at
// things, whatever the arguments (with the options of keepsMeaning refused).
func harmlessPrefix(words []string) int {
	sub := ""
	if len(words) > 1 {
		sub = words[1]
	}
	switch words[0] {
	case "pwd", "ls", "wc", "date", "whoami", "uname":
		if words[0] == "date" && len(words) > 1 {
			return 0 // date -s sets the clock
		}
		return 1
	case "git":
		switch sub {
		case "status", "diff", "log", "show", "ls-files", "blame", "rev-parse", "describe", "shortlog":
			return 2
		}
	case "npm":
		switch sub {
		case "ls", "outdated", "view":
			return 2
		}
	case "docker":
		if sub == "ps" || sub == "images" {
			return 2
		}
	}
	return 0
}

func printable(s string) bool {
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == 0xfffd || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) {
			return false
		}
	}
	return s != ""
}

func has(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
