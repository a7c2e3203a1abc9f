package main

import (
	"fmt"
	"slices"
	"strings"
)

// typ is a type of a JSON value: a prim, lit, yes, ref, list or union.
type typ interface{ isType() }

type (
	prim  string // one of those below
	lit   string // a string that stands for itself
	yes   struct{}
	ref   string // a declaration
	list  struct{ of typ }
	union []typ
)

// The plain types.
const (
	text    prim = "string"
	number  prim = "number"  // with a fraction
	integer prim = "integer" // a whole number
	long    prim = "long"    // a whole number of 64 bits
	count   prim = "count"   // a whole number of 64 bits that is not negative
	boolean prim = "boolean"
	unknown prim = "unknown" // any JSON
	null    prim = "null"
)

func (prim) isType()  {}
func (lit) isType()   {}
func (yes) isType()   {}
func (ref) isType()   {}
func (list) isType()  {}
func (union) isType() {}

// orNull is t, or null.
func orNull(t typ) typ { return union{t, null} }

// notNull is t without null.
func notNull(t typ) typ {
	u, ok := t.(union)
	if !ok {
		return t
	}
	u = slices.DeleteFunc(slices.Clone(u), func(t typ) bool { return t == null })
	if len(u) == 1 {
		return u[0]
	}
	return u
}

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
	object kind = iota // extends, fields
	alias              // a name for a type
	brand              // a string that no other string is
	enum               // a string of a closed set: values
	raw                // TypeScript as it is in body
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
	bound     bound  // of an alias
	pattern   string // of a brand: the form of an id
	body      string
	uses      []string // declarations that body names
}

type field struct {
	name, doc string
	goName    string // "" of one that has no field in Go
	optional  bool
	typ       typ
	bound     bound // in requests
}

// bound is what the host checks of the value of a field of a request. Zero values are no
// bounds.
type bound struct {
	need      bool // it must be there and not be empty
	filled    bool // it may be left out, but not be empty
	maxLength int  // bytes
	minItems  int
	maxItems  int
	minimum   *int
	maximum   *int
	pattern   string
	words     []string // the only ones that it can be
	line      bool     // one line without control characters
	each      *bound   // of the entries of a list
}

// module is all declarations, by name and in their order.
type module struct {
	decls  []*decl
	by     map[string]*decl
	pairs  []pair
	limits []limit
	tools  string            // the table of tools, in TypeScript
	sizes  map[string]int    // the values of constants that are whole numbers, by their names in Go
	words  map[string]string // the values of constants that are texts, by their names in Go
	roots  []string          // what is kept though nothing names it

	events  []eventSpec
	display *decl // of how they are shown
}

// limit is a number or name that clients need, too.
type limit struct {
	name, doc string
	value     any    // an int or a string
	typ       string // the declaration that the value is of, "" for none
}

func (m *module) add(d *decl) error {
	if m.by[d.name] != nil {
		return fmt.Errorf("%s is declared twice", d.name)
	}
	m.by[d.name] = d
	m.decls = append(m.decls, d)
	return nil
}

// files returns the files that have declarations.
func (m *module) files() map[string]bool {
	files := map[string]bool{}
	for _, d := range m.decls {
		files[d.file] = true
	}
	return files
}

// all returns the fields of an object with those that it extends.
func (m *module) all(d *decl) []field {
	var out []field
	for _, name := range d.extends {
		out = append(out, m.all(m.by[name])...)
	}
	return append(out, d.fields...)
}

// sorted returns the declarations by their names.
func (m *module) sorted() []*decl {
	return slices.SortedFunc(slices.Values(m.decls), func(a, b *decl) int { return strings.Compare(a.name, b.name) })
}
