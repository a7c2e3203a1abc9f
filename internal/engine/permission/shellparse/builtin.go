package shellparse

import "strings"

// builtinAsk returns why a builtin may never be allowed by a rule, "" for all other
// commands. These change what later commands mean, run text as code, or set
// variables by name (where a subscript is evaluated).
func builtinAsk(words []Word) string {
	name := words[0].Text
	switch name {
	case "eval", "source", ".", "trap":
		return name + " runs text or a file as code"
	case "hash", "alias", "unalias", "enable", "exec", "export", "declare", "local", "readonly", "typeset",
		"nameref", "unset", "set", "shopt", "coproc", "bind", "complete", "compgen", "compopt", "caller":
		return name + " changes the shell"
	case "read", "mapfile", "readarray", "getopts", "let", "fc", "history":
		return name + " sets variables or runs text"
	case "printf":
		if len(words) > 1 && (!words[1].Literal || strings.HasPrefix(words[1].Text, "-v")) && !words[1].Operand {
			return "printf may set a variable"
		}
	case "wait":
		if len(words) > 1 && !words[1].Operand {
			return "wait may set a variable"
		}
	case "test", "[":
		for i, w := range words {
			if w.Literal && (w.Text == "-v" || w.Text == "-R") {
				return "a condition looks up a variable by name"
			}
			if i > 0 && (!w.Single || (!w.Literal && !words[i-1].Literal)) {
				return "the operators of a condition are not literal"
			}
		}
	}
	return ""
}
