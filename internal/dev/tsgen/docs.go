package main

import (
	"regexp"
	"slices"
	"strings"
)

// base64Name is the declaration of bytes.
const base64Name = "Base64"

// goName is a link in a Go comment, or a word that may be the name of a field in Go, or of
// one within it, or nil.
var goName = regexp.MustCompile(`\bnil\b|\[[A-Za-z][A-Za-z0-9.]*\]|\b[A-Z][A-Za-z0-9]*(?:\.[A-Z][A-Za-z0-9]*)*\b`)

// marks say how a document writes what a comment names.
type marks struct {
	link func(name string) string // a declaration
	word func(name string) string // a field or a value, as it is on the wire
}

// plainDoc returns a Go comment as text for people who know no Go: a paragraph a line, with
// the fields of its type as they are on the wire.
func (m *module) plainDoc(doc string, fields []field) string {
	same := func(name string) string { return name }
	return m.wireDoc(doc, fields, marks{same, same})
}

// wireDoc is plainDoc with marks.
func (m *module) wireDoc(doc string, fields []field, to marks) string {
	return joined(goName.ReplaceAllStringFunc(doc, func(found string) string {
		if found == "nil" {
			return string(null)
		}
		name, isLink := strings.CutPrefix(found, "[")
		if !isLink {
			if path := m.onTheWire(strings.Split(name, "."), fields); path != "" {
				return to.word(path)
			}
			return found
		}
		name = strings.TrimSuffix(name, "]")
		if value, ok := m.words[name]; ok {
			return to.word(value)
		}
		typ, within, inType := strings.Cut(name, ".")
		d := m.by[tsName(typ)]
		if d == nil {
			return name
		}
		if !inType {
			return to.link(d.name)
		}
		if path := m.onTheWire(strings.Split(within, "."), d.fields); path != "" {
			return to.word(path) + " of " + to.link(d.name)
		}
		return name
	}))
}

// onTheWire returns the path of a field on the wire from its names in Go, "" when there is
// none.
func (m *module) onTheWire(words []string, fields []field) string {
	i := slices.IndexFunc(fields, func(f field) bool { return f.goName == words[0] && words[0] != "" })
	if i < 0 {
		return ""
	}
	path := fields[i].name
	if len(words) == 1 {
		return path
	}
	rest := ""
	refs(fields[i].typ, func(name string) {
		if inner := m.onTheWire(words[1:], m.by[name].fields); inner != "" {
			rest = path + "." + inner
		}
	})
	return rest
}

// joined puts the lines of each paragraph into one. Lines that are indented stay.
func joined(doc string) string {
	var out strings.Builder
	before := ""
	for i, line := range strings.Split(doc, "\n") {
		switch {
		case i == 0:
		case line == "" || before == "" || strings.HasPrefix(line, "\t") || strings.HasPrefix(before, "\t"):
			out.WriteByte('\n')
		default:
			out.WriteByte(' ')
		}
		out.WriteString(line)
		before = line
	}
	return out.String()
}
