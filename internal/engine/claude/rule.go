package claude

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/permission/shellparse"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// Rule is a permission rule of Claude Code as Scorel has it.
type Rule struct {
	From string   // as it was written
	As   []string // what it is here, all of them together; none where it has no counterpart
	// Wider reports that a rule which denies cannot be written exactly: As covers more, and
	// is asked for.
	Wider bool
	// Nothing reports that there is nothing here that it could be about.
	Nothing bool
	// Note is a sentence about what is different here, or why there is no counterpart.
	Note string
}

// MaxRules is how many rules a list of a file has: what they become fits into a layer of
// a policy.
const MaxRules = 300

// noTool is what [take] gives for the name of a tool that there is not.
const noTool = "-"

// maxRule is the longest rule that is read, in bytes.
const maxRule = 2000

// Tightens translates a rule that denies or asks.
func Tightens(from string) Rule {
	name, arg, has, note := take(from)
	if note != "" {
		return Rule{From: from, Note: note, Nothing: name == noTool}
	}
	here := protocol.FindTool(name)
	r := Rule{From: from}
	switch {
	case !has:
		r.As = []string{name}
	case here.Rule == protocol.RuleCommand:
		r.As, r.Wider, r.Note = commandTightens(name, arg)
	case here.Rule == protocol.RuleFiles:
		r.As, r.Note = filesTighten(name, arg)
	case here.Rule == protocol.RuleSkill:
		r.As = []string{name + "(" + skillOf(arg) + ")"}
	default:
		r.As = []string{name + "(" + arg + ")"}
	}
	if len(r.As) == 0 || check(r.As) == nil {
		r.Note = cmp.Or(r.Note, ofExtension(name))
		return r
	}
	// What it means cannot be written here, so all that it may mean is asked for.
	r.As, r.Wider = []string{name}, true
	r.Note = strings.TrimSpace(fmt.Sprintf("It cannot be written exactly here, so every call of %s is asked for. %s", name, ofExtension(name)))
	if here.Rule == protocol.RuleFiles {
		r.As, r.Wider = nil, false
		r.Note = "It is not a pattern of files that rules have here; what is outside the workspace is asked for anyway."
	}
	if check(r.As) != nil {
		return Rule{From: from, Note: "It is not a rule that can be read."}
	}
	return r
}

// Allows translates a rule that allows, exactly or not at all.
func Allows(from string) Rule {
	name, arg, has, note := take(from)
	if note != "" {
		return Rule{From: from, Note: note, Nothing: name == noTool}
	}
	here := protocol.FindTool(name)
	r := Rule{From: from}
	switch {
	case promptsafe.Clean(from) != from || strings.ContainsAny(from, "\n\t"):
		r.Note = "It has characters that cannot be seen."
	case !has:
		r.As = []string{name}
	case here.Rule == protocol.RuleCommand:
		body, prefix, wild := command(arg)
		switch {
		case wild != "":
			r.Note = "A rule that allows has a wildcard only as :* at its end, after a whole word."
		case prefix:
			r.As = []string{name + "(" + body + ":*)"}
		default:
			r.As = []string{name + "(" + body + ")"}
		}
	case here.Rule == protocol.RuleFiles:
		pattern, _, problem := filePattern(arg)
		if r.Note = problem; problem == "" {
			r.As = []string{name + "(" + pattern + ")"}
		}
	case here.Rule == protocol.RuleSkill:
		r.As = []string{name + "(" + skillOf(arg) + ")"}
	default:
		r.As = []string{name + "(" + arg + ")"}
	}
	if err := check(r.As); err != nil {
		r.As, r.Note = nil, "It cannot be written here: "+reason(err)+"."
	}
	r.Note = cmp.Or(r.Note, ofExtension(name))
	return r
}

// ofExtension says of a rule about a tool that is not built in what it is about, "" for others.
func ofExtension(name string) string {
	if protocol.FindTool(name).Name != "" || strings.HasPrefix(name, "mcp__") {
		return ""
	}
	return fmt.Sprintf("Scorel itself has no tool %s; the rule counts where an extension has one of that name.", name)
}

// take reads a rule as far as its tool: name is Scorel's. Note says why there is no
// such rule here.
func take(from string) (name, arg string, has bool, note string) {
	text := strings.TrimSpace(from)
	switch {
	case text == "":
		return "", "", false, "It is empty."
	case len(text) > maxRule:
		return "", "", false, fmt.Sprintf("It has %d bytes; at most %d are read.", len(text), maxRule)
	}
	theirs, arg, has := strings.Cut(text, "(")
	if has {
		var closed bool
		if arg, closed = strings.CutSuffix(arg, ")"); !closed {
			return "", "", false, "Its closing parenthesis is missing."
		}
		if arg = strings.TrimSpace(arg); arg == "" || arg == "*" {
			has = false
		}
	}
	name, known := ToolHere(theirs)
	if !known && !has || name == "" {
		return noTool, "", false, fmt.Sprintf("There is no tool %s in Scorel, so there is nothing that it could be about.", theirs)
	}
	if strings.HasPrefix(theirs, "mcp__") && has {
		return "", "", false, "Rules about the tools of an MCP server take nothing in parentheses."
	}
	return name, arg, has, ""
}

// command reads what a rule about commands has in parentheses: its words, whether more
// may follow them, and, where it has a wildcard that is not just that, which one.
func command(arg string) (body string, prefix bool, wild string) {
	body, prefix = strings.CutSuffix(arg, ":*")
	if !prefix {
		body, prefix = strings.CutSuffix(arg, " *")
	}
	if i := strings.IndexByte(body, '*'); i >= 0 {
		return body, prefix, body[i:]
	}
	return body, prefix, ""
}

// commandTightens translates a rule about commands that denies or asks.
func commandTightens(name, arg string) (as []string, wider bool, note string) {
	body, prefix, wild := command(arg)
	rule := func(words string) string { return name + "(" + words + ":*)" }
	switch {
	case wild == "*" && !strings.ContainsAny(body[:len(body)-1], " "): // npm*
		if words, err := shellparse.Words(strings.TrimSuffix(body, "*")); err == nil {
			return []string{rule(shellparse.Quote(words))}, false, "It covers the command of that name; here no wildcard stands for the rest of a word."
		}
	case wild == "" && prefix:
		if check([]string{rule(body)}) == nil {
			return []string{rule(body)}, false, ""
		}
	case wild == "":
		if exact := name + "(" + body + ")"; check([]string{exact}) == nil {
			return []string{exact}, false, ""
		}
	}
	var words []string
	for _, w := range strings.Fields(body) {
		if _, err := shellparse.Words(w); err != nil || strings.ContainsAny(w, "*'\"\\") {
			break
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return []string{name}, true, fmt.Sprintf("It cannot be written exactly here, so every call of %s is asked for.", name)
	}
	front := shellparse.Quote(words)
	if check([]string{rule(front)}) != nil {
		return []string{name}, true, fmt.Sprintf("It cannot be written exactly here, so every call of %s is asked for.", name)
	}
	return []string{rule(front)}, true, fmt.Sprintf("It cannot be written exactly here, so every %s is asked for.", front)
}

// filesTighten translates a rule about files that denies or asks: a path that begins with
// a slash is one of the project, and many mean one of the machine, so both are covered.
func filesTighten(name, arg string) (as []string, note string) {
	pattern, also, problem := filePattern(arg)
	if problem != "" {
		return nil, problem
	}
	as = []string{name + "(" + pattern + ")"}
	if also != "" && check([]string{name + "(" + also + ")"}) == nil {
		as = append(as, name+"("+also+")")
	}
	return as, ""
}

// filePattern translates a pattern of files. Those of Claude Code are those of a
// .gitignore: a name without a slash is one in any folder, // begins a path of the
// machine, ~/ one of the home, and / or anything else one of the project. Also is the path
// of the machine that one with a single slash may have been meant as.
func filePattern(arg string) (pattern, also, problem string) {
	arg = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(arg)
	inside := strings.TrimSuffix(strings.TrimPrefix(arg, "./"), "/")
	switch {
	case strings.HasPrefix(arg, "!"):
		return "", "", "A pattern that begins with ! has no counterpart here."
	case strings.HasPrefix(arg, "//"):
		return arg[1:], "", ""
	case arg == "~" || strings.HasPrefix(arg, "~/"):
		return arg, "", ""
	case strings.HasPrefix(arg, "/"):
		return "." + arg, arg, ""
	case strings.HasPrefix(arg, "./"):
		return arg, "", ""
	case !strings.Contains(inside, "/"):
		return "./**/" + arg, "", ""
	}
	return "./" + arg, "", ""
}

// skillOf is the name of a skill that a rule gives, without arguments.
func skillOf(arg string) string {
	for _, end := range []string{":*", " *"} {
		arg = strings.TrimSuffix(arg, end)
	}
	return arg
}

// check reports what is wrong with rules of ours.
func check(list []string) error {
	_, err := permission.Compile(permission.Config{Home: "/home", Root: "/project", UID: -1, Layers: []permission.Layer{{Scope: permission.ScopeUser, Allow: list}}})
	return err
}

// reason is the end of what check says: the rule that it names is not the one that a
// person wrote.
func reason(err error) string {
	var text = err.Error()
	for e := errors.Unwrap(err); e != nil; e = errors.Unwrap(e) {
		text = e.Error()
	}
	if _, after, ok := strings.Cut(text, `": `); ok {
		text = after
	}
	return strings.TrimRight(text, ".")
}
