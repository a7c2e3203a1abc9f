package main

import "fmt"

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
	goName    string // "" of one that has no field in Go
	optional  bool
	typ       typ
}

// module is all declarations, by name and in their order.
type module struct {
	decls  []*decl
	by     map[string]*decl
	pairs  []pair
	limits []limit
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
