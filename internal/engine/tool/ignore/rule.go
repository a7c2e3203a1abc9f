package ignore

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// rule is one line of an ignore file. Its glob is read as ripgrep reads
// it: as gitignore(5) says, and with {a,b} for alternatives.
type rule struct {
	include bool // the line begins with "!"
	dirOnly bool
	name    string         // the last element is this
	suffix  string         // or ends in this
	full    string         // or the whole path is this
	glob    *regexp.Regexp // or matches this
}

// parseLine returns the rule of a line; ok is false for a line without one.
func parseLine(line string) (rule rule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return rule, false
	}
	if !strings.HasSuffix(line, `\ `) {
		line = strings.TrimRight(line, " \t\r\n\v\f")
	}
	anchored := false
	if strings.HasPrefix(line, `\!`) || strings.HasPrefix(line, `\#`) {
		line = line[1:]
	} else {
		line, rule.include = strings.CutPrefix(line, "!")
		line, anchored = strings.CutPrefix(line, "/")
	}
	if line, rule.dirOnly = strings.CutSuffix(line, "/"); rule.dirOnly {
		line = strings.TrimSuffix(line, `\`)
	}
	if line == "" {
		return rule, false
	}
	if strings.ReplaceAll(line, "**/", "") == "" {
		line = "**" // every folder, as ripgrep has it
	}
	const special = `*?[]{}\`
	floating := !anchored && !strings.Contains(line, "/")
	switch {
	case floating && !strings.ContainsAny(line, special):
		rule.name = line
		return rule, true
	case floating && line[0] == '*' && len(line) > 1 && !strings.ContainsAny(line[1:], special):
		rule.suffix = line[1:]
		return rule, true
	case !strings.ContainsAny(line, special):
		rule.full = line
		return rule, true
	}
	if floating && line != "**" {
		line = "**/" + line
	}
	if strings.HasSuffix(line, "/**") {
		line += "/*" // what is in the folder, not the folder
	}
	expr, err := globExpr(line)
	if err == nil {
		rule.glob, err = regexp.Compile(expr)
	}
	return rule, err == nil // a broken glob matches nothing
}

// match reports whether the rule fits a path relative to its file's folder.
func (r *rule) match(rel string, dir bool) bool {
	switch {
	case r.dirOnly && !dir:
		return false
	case r.name != "":
		return path.Base(rel) == r.name
	case r.suffix != "":
		return strings.HasSuffix(path.Base(rel), r.suffix)
	case r.full != "":
		return rel == r.full
	}
	return r.glob.MatchString(rel)
}

var errGlob = errors.New("the glob is broken")

// globExpr translates a glob into an expression over whole paths.
func globExpr(glob string) (string, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	depth := 0 // of braces
	for i := 0; i < len(glob); {
		c, size := utf8.DecodeRuneInString(glob[i:])
		next := i + size
		switch c {
		case '?':
			b.WriteString(`[^/]`)
		case '*':
			for next < len(glob) && glob[next] == '*' {
				next++
			}
			starts := i == 0 || glob[i-1] == '/' || depth > 0 && (glob[i-1] == ',' || glob[i-1] == '{')
			ends := next == len(glob) || glob[next] == '/' || depth > 0 && (glob[next] == ',' || glob[next] == '}')
			switch {
			case next-i != 2 || !starts || !ends:
				b.WriteString(`[^/]*`)
			case next < len(glob) && glob[next] == '/':
				b.WriteString(`(?:.*/)?`) // with the slash that follows
				next++
			default:
				b.WriteString(`.*`)
			}
		case '[':
			class, end, err := globClass(glob, next)
			if err != nil {
				return "", err
			}
			b.WriteString(class)
			next = end
		case '{':
			depth++
			b.WriteString(`(?:`)
		case '}':
			if depth == 0 {
				return "", errGlob
			}
			depth--
			b.WriteByte(')')
		case ',':
			if depth > 0 {
				b.WriteByte('|')
			} else {
				b.WriteByte(',')
			}
		case '\\':
			if next == len(glob) {
				return "", errGlob
			}
			_, size := utf8.DecodeRuneInString(glob[next:])
			b.WriteString(regexp.QuoteMeta(glob[next : next+size]))
			next += size
		default:
			b.WriteString(regexp.QuoteMeta(glob[i:next]))
		}
		i = next
	}
	if depth > 0 {
		return "", errGlob
	}
	b.WriteString(`\z`)
	return b.String(), nil
}

// globClass translates a class that begins at glob[at], after its bracket.
func globClass(glob string, at int) (class string, end int, err error) {
	var b strings.Builder
	b.WriteByte('[')
	if at < len(glob) && (glob[at] == '!' || glob[at] == '^') {
		b.WriteByte('^')
		at++
	}
	for first := true; at < len(glob); first = false {
		c, size := utf8.DecodeRuneInString(glob[at:])
		if c == ']' && !first {
			b.WriteByte(']')
			return b.String(), at + 1, nil
		}
		at += size
		last := c
		if at+1 < len(glob) && glob[at] == '-' && glob[at+1] != ']' {
			last, size = utf8.DecodeRuneInString(glob[at+1:])
			at += 1 + size
		}
		if last < c {
			return "", 0, errGlob
		}
		b.WriteString(fmt.Sprintf(`\x{%x}-\x{%x}`, c, last))
	}
	return "", 0, errGlob
}
