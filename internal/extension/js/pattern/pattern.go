// Package pattern makes regular expressions with Unicode properties work in the goja
// interpreter, whose fast engine silently takes \p{L} for a letter p. Mend is
// pure; LimitTime sets a limit for the process, and Compile compiles within it.
package pattern

import (
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// MatchTimeout is when a backtracking expression gives up; it then has no match. Nothing
// else stops one.
const MatchTimeout = 2 * time.Second

var limitTime = sync.OnceFunc(func() { regexp2.DefaultMatchTimeout = MatchTimeout })

// LimitTime bounds all expressions of the process that are compiled from now on: it is
// called before any script is.
func LimitTime() { limitTime() }

// Compile compiles a script of Scorel's own, whose literals have the limit. Scripts may be
// compiled side by side: the limit is set before the first.
func Compile(name string, source []byte) (*goja.Program, error) {
	LimitTime()
	ast, err := parser.ParseFile(nil, name, source, 0)
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(ast, false)
}

// Mend makes \p{…} of a pattern with the flag u work: only the backtracking
// engine knows it, which a lookahead selects, and it wants the bare name of a script.
func Mend(p string) string {
	if !strings.Contains(p, `\p{`) && !strings.Contains(p, `\P{`) {
		return p
	}
	var b strings.Builder
	b.WriteString("(?=)")
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' || i+1 == len(p) {
			b.WriteByte(p[i])
			continue
		}
		b.WriteString(p[i : i+2])
		kind := p[i+1]
		i++
		if kind != 'p' && kind != 'P' || i+1 >= len(p) || p[i+1] != '{' {
			continue
		}
		end := strings.IndexByte(p[i:], '}')
		if end < 0 {
			continue
		}
		b.WriteString("{" + propertyName(p[i+2:i+end]) + "}")
		i += end
	}
	return b.String()
}

// propertyName returns the short name of a Unicode property, which the engine knows.
func propertyName(name string) string {
	if key, value, ok := strings.Cut(name, "="); ok {
		switch key {
		case "Script", "sc", "Script_Extensions", "scx", "General_Category", "gc":
			name = value
		}
	}
	switch name {
	case "Letter", "Alphabetic", "Alpha":
		return "L"
	case "Uppercase_Letter", "Uppercase":
		return "Lu"
	case "Lowercase_Letter", "Lowercase":
		return "Ll"
	case "Mark":
		return "M"
	case "Number":
		return "N"
	case "Decimal_Number":
		return "Nd"
	case "Punctuation", "punct":
		return "P"
	case "Symbol":
		return "S"
	case "Separator":
		return "Z"
	case "Space_Separator":
		return "Zs"
	case "Other":
		return "C"
	case "Control":
		return "Cc"
	case "Emoji", "Emoji_Presentation", "Extended_Pictographic":
		return "So"
	}
	return name
}
