package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// translate turns the source into the model that all writers share.
func translate(s *source) (*module, error) {
	display, err := s.displayDecl()
	if err != nil {
		return nil, err
	}
	m := &module{by: map[string]*decl{}, pairs: s.pairs, sizes: s.sizes(), words: s.texts(), events: s.events, display: display}
	if err := m.limit(); err != nil {
		return nil, err
	}
	for _, name := range s.order {
		d, err := s.declare(s.types[name])
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		if err := m.add(d); err != nil {
			return nil, err
		}
	}
	for _, step := range []func(*source, *module) error{messages, events, frames} {
		if err := step(s, m); err != nil {
			return nil, err
		}
	}
	return m, m.complete()
}

// declare returns the declaration of a Go type, nil for one that is not on
// the wire by itself or has a shape of its own.
func (s *source) declare(t *goType) (*decl, error) {
	d := &decl{name: tsName(t.name), doc: t.doc, file: t.file}
	switch t.name {
	case "Event", "Envelope", "Class", "Unknown", "Block", "Message", "Call", "Reply", "Scope", "Aspect", "MemberKind":
		return nil, nil
	case "Answer": // may stand without a list around it
		d.kind, d.is = alias, union{text, list{text}, null}
		return d, nil
	}
	switch e := t.expr.(type) {
	case *ast.InterfaceType:
		return nil, nil
	case *ast.StructType:
		if !onWire(e) {
			return nil, nil
		}
		return d, s.fields(d, e)
	case *ast.ArrayType:
		d.kind, d.is = alias, text
		if elem, ok := e.Elt.(*ast.Ident); !ok || elem.Name != "byte" { // Growing is a text
			of, err := s.typ(e.Elt)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			d.is = list{of}
		}
		return d, nil
	case *ast.Ident:
		if e.Name != "string" {
			is, err := s.typ(e)
			d.kind, d.is = alias, is
			return d, err
		}
		d.kind, d.pattern = brand, s.pattern(t.name)
		if t.file != "id" {
			if d.kind, d.values = enum, s.consts[t.name]; len(d.values) == 0 {
				d.kind, d.is = alias, text
			}
		}
		return d, nil
	}
	return nil, fmt.Errorf("%s: there is no JSON type for it", t.name)
}

// onWire reports whether a struct is made for JSON: it has a tag, or no fields of its
// own.
func onWire(st *ast.StructType) bool {
	named := false
	for _, f := range st.Fields.List {
		if f.Tag != nil {
			return true
		}
		named = named || len(f.Names) > 0
	}
	return !named
}

// tsName is the name of a Go type: some are those of the language's own.
func tsName(name string) string {
	switch name {
	case "Error":
		return "ProtocolError"
	case "Event":
		return "SessionEvent"
	}
	return name
}

func (s *source) fields(d *decl, st *ast.StructType) error {
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 {
			id, ok := f.Type.(*ast.Ident)
			if !ok {
				return fmt.Errorf("%s embeds what has no name", d.name)
			}
			d.extends = append(d.extends, tsName(id.Name))
			continue
		}
		if f.Tag == nil {
			return fmt.Errorf("%s.%s has no json tag", d.name, f.Names[0].Name)
		}
		name, options, _ := strings.Cut(tagOfField(f, "json"), ",")
		if name == "-" {
			continue
		}
		is, err := s.typ(f.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", d.name, name, err)
		}
		out := field{name: name, goName: f.Names[0].Name, doc: comment(f.Doc, f.Comment), typ: is}
		r, err := ruleOf(f)
		if err == nil {
			out.bound, err = s.bound(r, types.ExprString(f.Type))
		}
		if err != nil {
			return fmt.Errorf("%s.%s: %w", d.name, name, err)
		}
		switch options {
		case "":
			if s.nullable(f.Type) {
				out.typ = orNull(is)
			}
		case "omitempty":
			out.optional = s.omittable(f.Type)
		default:
			return fmt.Errorf("%s.%s: the json option %q is not known here", d.name, name, options)
		}
		d.fields = append(d.fields, out)
	}
	return nil
}

// nullable reports whether Go writes null for the zero value of a type.
func (s *source) nullable(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StarExpr, *ast.MapType:
		return true
	case *ast.ArrayType:
		return true
	case *ast.Ident:
		if t := s.types[e.Name]; t != nil && e.Name != "Growing" { // it writes itself
			_, slice := t.expr.(*ast.ArrayType)
			return slice
		}
	}
	return false // json.RawMessage is unknown, which null is, too
}

// omittable reports whether omitempty ever leaves a type out: a struct never is.
func (s *source) omittable(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	if !ok || s.types[id.Name] == nil {
		return true
	}
	_, isStruct := s.types[id.Name].expr.(*ast.StructType)
	return !isStruct
}

// typ returns the type of a field that is there.
func (s *source) typ(e ast.Expr) (typ, error) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return s.typ(e.X)
	case *ast.SelectorExpr:
		if types.ExprString(e) == "json.RawMessage" {
			return unknown, nil
		}
	case *ast.ArrayType:
		if id, ok := e.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return ref("Base64"), nil
		}
		of, err := s.typ(e.Elt)
		return list{of}, err
	case *ast.Ident:
		switch e.Name {
		case "string":
			return text, nil
		case "bool":
			return boolean, nil
		case "int":
			return integer, nil
		case "int64":
			return long, nil
		case "uint32", "uint64":
			return count, nil
		case "float64":
			return number, nil
		}
		if s.types[e.Name] != nil {
			return ref(tsName(e.Name)), nil
		}
	}
	return nil, fmt.Errorf("there is no JSON type for %s", types.ExprString(e))
}

// complete reports whether all that declarations name is declared.
func (m *module) complete() error {
	for _, d := range m.decls {
		var missing error
		need := func(name string) {
			if m.by[name] == nil && missing == nil {
				missing = fmt.Errorf("%s names %s, which is not declared", d.name, name)
			}
		}
		m.uses(d, need)
		if missing != nil {
			return missing
		}
	}
	return nil
}

// uses calls f for every declaration that d names.
func (m *module) uses(d *decl, f func(string)) {
	for _, name := range d.extends {
		f(name)
	}
	for _, name := range d.uses {
		f(name)
	}
	for _, fl := range d.fields {
		refs(fl.typ, f)
	}
	if d.is != nil {
		refs(d.is, f)
	}
}

// limit notes the numbers and names that clients need, too.
func (m *module) limit() error {
	for _, l := range []struct{ name, constant, typ, doc string }{
		{"protocolVersion", "Version", "", "The version of the protocol that these types describe."},
		{"maxMessage", "MaxMessage", "", "The longest message of a client in bytes."},
		{"maxQueueItems", "MaxQueueItems", "", "How many messages may wait in one queue."},
		{"maxAnswer", "MaxAnswer", "", "The longest label or text of an answer to a dialog in bytes."},
		{"hostClient", "HostClient", "ClientID", "The clientId of what the host itself produced."},
		{"dialogQuestion", "DialogQuestion", "", "The kind of a dialog in which a model asks people."},
	} {
		out := limit{name: l.name, doc: l.doc, typ: l.typ}
		if n, ok := m.sizes[l.constant]; ok {
			out.value = n
		} else if text, ok := m.words[l.constant]; ok {
			out.value = text
		} else {
			return fmt.Errorf("there is no constant %s", l.constant)
		}
		m.limits = append(m.limits, out)
	}
	return nil
}
