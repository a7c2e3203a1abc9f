package main

import (
	"fmt"
	"strconv"
	"strings"
)

// typ is a TypeScript type: a prim, lit, ref, list or union.
type typ interface{ text() string }

type (
	prim  string // string, number, boolean, unknown or null
	lit   string // a string that stands for itself
	yes   struct{}
	ref   string // a declaration
	list  struct{ of typ }
	union []typ
)

func (p prim) text() string { return string(p) }
func (l lit) text() string  { return strconv.Quote(string(l)) }
func (yes) text() string    { return "true" }
func (r ref) text() string  { return string(r) }
func (l list) text() string {
	if _, ok := l.of.(union); ok {
		return "(" + l.of.text() + ")[]"
	}
	return l.of.text() + "[]"
}
func (u union) text() string {
	parts := make([]string, len(u))
	for i, t := range u {
		parts[i] = t.text()
	}
	return strings.Join(parts, " | ")
}

// orNull is t, or null.
func orNull(t typ) typ { return union{t, prim("null")} }

// refs calls f for every declaration that t names.
func refs(t typ, f func(string)) {
	switch t := t.(type) {
	case ref:
		f(string(t))
	case list:
		refs(t.of, f)
	case union:
		for _, u := range t {
			refs(u, f)
		}
	}
}

// kind is how a declaration is written.
type kind int

const (
	object kind = iota // an interface: extends, fields
	alias              // a name for a type
	brand              // a string that no other string is
	enum               // a string of a closed set: values
	raw                // TypeScript as it stands in body
)

// decl is one declaration of a file.
type decl struct {
	kind      kind
	name, doc string
	file      string // without its ending
	extends   []string
	fields    []field
	is        typ
	values    []goConst
	body      string
	uses      []string // declarations that body names
}

type field struct {
	name, doc string
	optional  bool
	typ       typ
}

// module is all declarations, by name and in their order.
type module struct {
	decls []*decl
	by    map[string]*decl
	pairs []pair
}

func (m *module) add(d *decl) error {
	if m.by[d.name] != nil {
		return fmt.Errorf("%s is declared twice", d.name)
	}
	m.by[d.name] = d
	m.decls = append(m.decls, d)
	return nil
}

// files gives the files that have declarations.
func (m *module) files() map[string]bool {
	files := map[string]bool{}
	for _, d := range m.decls {
		files[d.file] = true
	}
	return files
}

// all gives the fields of an object with those that it extends.
func (m *module) all(d *decl) []field {
	var out []field
	for _, name := range d.extends {
		out = append(out, m.all(m.by[name])...)
	}
	return append(out, d.fields...)
}
