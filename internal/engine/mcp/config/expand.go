package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/platform/sandbox"
)

// maxExpanded is the longest value after its variables are replaced, in bytes.
const maxExpanded = 128 << 10

// Vars is what variables of entries are replaced with.
type Vars struct {
	Workspace string // of ${workspaceFolder}
	Home      string // of ${userHome}, and of ~ before a folder
	// Lookup returns a variable of the environment; nil for an empty environment.
	Lookup func(name string) (string, bool)
	// Inputs are the answers to ${input:ID} so far.
	Inputs map[string]string
	// Allowed are the variables that a project's entry may use; others have no such list.
	Allowed []string
	// Secret reports whether a variable holds a key of a provider, beside those that
	// [sandbox.Environ] knows: no project's entry gets it, whatever Allowed has, and no
	// extension's. Nil is none.
	Secret func(name string) bool
}

// Expand returns the entry with its variables replaced, in command, arguments, values of
// variables and headers, folder, file of variables and URL. ok is false when the result
// cannot be used, which a fault explains. A variable that is missing stays as it is
// written, and is a fault that names it.
//
// The forms are ${VAR}, ${VAR:-default}, ${env:VAR}, $VAR, ${input:ID},
// ${workspaceFolder}, ${workspaceFolderBasename}, ${userHome}, ${pathSeparator} and, in
// the entry of an extension, ${CLAUDE_PLUGIN_ROOT}; $$ is a dollar. What is put in is not looked into again.
func (e Entry) Expand(v Vars) (out Entry, faults []Fault, ok bool) {
	ok = true
	fault := func(key string, dropped bool, format string, args ...any) {
		ok = ok && !dropped
		faults = append(faults, Fault{Source: e.Source, Scope: e.Scope, Path: key, Server: e.Name, Dropped: dropped, Message: fmt.Sprintf(format, args...)})
	}
	one := func(key, text string) string {
		result, problems := v.expand(e, text)
		for _, p := range problems {
			fault(key, false, "%s", p)
		}
		if len(result) > maxExpanded {
			fault(key, true, "%s has %d bytes with its variables; at most %d are taken", key, len(result), maxExpanded)
			return ""
		}
		return result
	}
	out = e
	out.Command, out.URL = one("command", e.Command), one("url", e.URL)
	out.Cwd, out.EnvFile = v.folder(one("cwd", e.Cwd)), v.folder(one("envFile", e.EnvFile))
	out.Args = slices.Clone(e.Args)
	for i, a := range out.Args {
		out.Args[i] = one("args", a)
	}
	table := func(key string, m map[string]string) map[string]string {
		if m == nil {
			return nil
		}
		to := map[string]string{}
		for name := range sorted(m) {
			to[name] = one(key+"."+name, m[name])
		}
		return to
	}
	out.Env, out.Headers = table("env", e.Env), table("headers", e.Headers)
	for _, p := range out.problems(true) {
		fault(p.key, true, "%s", p.text)
	}
	return out, faults, ok
}

// folder returns a name with the home for ~, and below the workspace when it is relative.
func (v Vars) folder(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') && v.Home != "" {
		return v.Home + rest
	}
	if name != "" && !filepath.IsAbs(name) && v.Workspace != "" {
		return filepath.Join(v.Workspace, name)
	}
	return name
}

// expand replaces the variables of one text.
func (v Vars) expand(e Entry, text string) (result string, problems []string) {
	var b strings.Builder
	for p := range parts(text) {
		switch {
		case p.name == "":
			b.WriteString(p.text)
		default:
			value, problem := v.value(e, p)
			if problem != "" {
				problems = append(problems, problem)
				value = p.text
			}
			b.WriteString(value)
		}
		if b.Len() > maxExpanded {
			return b.String(), problems
		}
	}
	return b.String(), problems
}

// value returns what a variable is replaced with, or why it stays.
func (v Vars) value(e Entry, p part) (value, problem string) {
	switch p.kind {
	case "":
		switch p.name {
		case "workspaceFolder":
			if v.Workspace != "" {
				return v.Workspace, ""
			}
			return "", "${workspaceFolder} is not known here"
		case "workspaceFolderBasename":
			return filepath.Base(v.Workspace), ""
		case "CLAUDE_PLUGIN_ROOT", "extensionRoot":
			if e.Scope == ScopeExtension {
				return e.Dir, ""
			}
		case "userHome":
			if v.Home != "" {
				return v.Home, ""
			}
			return "", "${userHome} is not known here"
		case "pathSeparator", "/":
			return string(filepath.Separator), ""
		}
	case "env:":
	case "input:":
		if s, ok := v.Inputs[p.name]; ok {
			return s, ""
		}
		return "", "the input " + quote(p.name) + " has no answer yet"
	default:
		return "", "${" + p.kind + "…} is not supported"
	}
	refused := ""
	if e.Scope == ScopeProject || e.Scope == ScopeExtension || e.Scope == ScopeSession {
		switch {
		case v.secret(p.name):
			refused = "the variable " + p.name + " may hold a key of a provider, which no server of a project, an extension or a single session gets"
		case e.OfProject() && !slices.Contains(v.Allowed, p.name):
			refused = "the variable " + p.name + " is not among those that you let this project's server use"
		}
	}
	if refused == "" && v.Lookup != nil {
		if s, ok := v.Lookup(p.name); ok && (s != "" || !p.hasDefault) { // :- as in a shell
			return s, ""
		}
	}
	switch {
	case p.hasDefault:
		return p.def, ""
	case refused != "":
		return "", refused
	}
	return "", "the variable " + p.name + " is not set"
}

// secret reports whether a variable is kept from children of Scorel, or holds a key.
func (v Vars) secret(name string) bool {
	return len(sandbox.Environ([]string{name + "=x"}, nil)) == 0 || v.Secret != nil && v.Secret(name)
}

// part is a piece of a text: a variable, or plain text when name is empty.
type part struct {
	text       string // as it is written, but for $$
	kind       string // "", "env:", "input:" or another that ends with a colon
	name       string
	def        string
	hasDefault bool
}

// parts cuts a text at its variables.
func parts(text string) func(yield func(part) bool) {
	return func(yield func(part) bool) {
		for text != "" {
			i := strings.IndexByte(text, '$')
			if i < 0 || i == len(text)-1 {
				yield(part{text: text})
				return
			}
			if i > 0 {
				if !yield(part{text: text[:i]}) {
					return
				}
				text = text[i:]
			}
			p, n := variable(text)
			if !yield(p) {
				return
			}
			text = text[n:]
		}
	}
}

// variable reads what begins with a dollar, and how long it is.
func variable(text string) (part, int) {
	switch {
	case text[1] == '$':
		return part{text: "$"}, 2
	case text[1] == '{':
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return part{text: "$"}, 1
		}
		p := part{text: text[:end+1]}
		inner := text[2:end]
		if kind, rest, ok := strings.Cut(inner, ":"); ok && !strings.HasPrefix(rest, "-") && variableName(kind) {
			p.kind, inner = kind+":", rest
		}
		p.name = inner
		if p.kind == "" || p.kind == "env:" {
			p.name, p.def, p.hasDefault = strings.Cut(inner, ":-")
			if !variableName(p.name) && p.name != "/" {
				return part{text: p.text}, end + 1
			}
		}
		if p.name == "" {
			return part{text: p.text}, end + 1
		}
		return p, end + 1
	}
	n := 1
	for n < len(text) && variableName(text[1:n+1]) {
		n++
	}
	if n == 1 {
		return part{text: "$"}, 1
	}
	return part{text: text[:n], name: text[1:n]}, n
}

func variableName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func hasVariable(text string) bool {
	for p := range parts(text) {
		if p.name != "" {
			return true
		}
	}
	return false
}

// names returns the variables of a kind that the entry uses, sorted.
func (e Entry) names(kind string) []string {
	var out []string
	look := func(text string) {
		for p := range parts(text) {
			own := p.kind == kind || kind == "env:" && p.kind == ""
			switch {
			case p.name == "" || !own:
			case p.kind == "" && slices.Contains([]string{"workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/", "CLAUDE_PLUGIN_ROOT", "extensionRoot"}, p.name):
			case !slices.Contains(out, p.name):
				out = append(out, p.name)
			}
		}
	}
	for _, s := range append([]string{e.Command, e.URL, e.Cwd, e.EnvFile}, e.Args...) {
		look(s)
	}
	for _, m := range []map[string]string{e.Env, e.Headers} {
		for _, s := range m {
			look(s)
		}
	}
	slices.Sort(out)
	return out
}

// Variables returns the names of the variables of the environment that the entry uses,
// sorted: what the trust question of a project's entry lists.
func (e Entry) Variables() []string { return e.names("env:") }
