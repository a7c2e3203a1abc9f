package main

import (
	"fmt"
	"strings"
)

// schemas writes declarations as JSON Schema (draft 2020-12), which is also what
// OpenAPI 3.1 takes.
type schemas struct {
	m      *module
	prefix string // before the name of a declaration in a $ref
	// tagged says that unions name the field that tells their members apart, as
	// generators of clients want it.
	tagged bool
	used   map[string]bool // the declarations that something refers to; nil: not noted
}

// schemaJSON writes the schema of everything that goes over a connection.
func schemaJSON(c *module) ([]byte, error) {
	w := schemas{m: c, prefix: "#/$defs/"}
	return document(members{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$comment", mark + " from the Go package protocol. DO NOT EDIT."},
		{"title", "Scorel: the messages of a connection"},
		{"description", schemaDoc},
		{"anyOf", []members{w.typ(ref("ClientMessage")), w.typ(ref("HostMessage"))}},
		{"$defs", w.defs()},
	})
}

const schemaDoc = "Each text message of a WebSocket connection is one JSON object that fits here. " +
	"What a client sends is described as the host judges it: a field that is required must be there; where null is allowed for one that is not required, it is the same as leaving the field out. " +
	"The host counts the length of a text in bytes of UTF-8 and a schema in characters: a text that is longer than maxLength is refused, and one of other characters than ASCII may be refused earlier. " +
	"What a host sends may have further fields, and further types of events, frames and blocks, when the host is newer than this document: ignore those that you do not know. " +
	"The request of the name N is call.N, and its answer reply.N."

// defs writes all declarations by their names.
func (w schemas) defs() members {
	var all members
	for _, d := range w.m.sorted() {
		all = all.with(d.name, w.decl(d))
	}
	return all
}

// decl writes a declaration.
func (w schemas) decl(d *decl) members {
	about := w.m.plainDoc(d.doc, d.fields)
	switch d.kind {
	case alias:
		s := w.bounded(w.typ(d.is), d.bound)
		if d.name == base64Name {
			s = s.with("contentEncoding", "base64").with("pattern", "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$")
		}
		return s.and("description", about)
	case brand:
		return members{{"type", "string"}}.and("description", about)
	case enum:
		var words []string
		for _, v := range d.values {
			words = append(words, v.value)
			if v.doc != "" {
				about += fmt.Sprintf("\n\n%s: %s", v.value, w.m.plainDoc(v.doc, nil))
			}
		}
		return members{{"type", "string"}, {"enum", words}}.and("description", strings.TrimSpace(about))
	}
	own := w.object(d.fields)
	if len(d.extends) == 0 {
		return own.and("description", about)
	}
	var all []members
	for _, name := range d.extends {
		all = append(all, w.typ(ref(name)))
	}
	if len(d.fields) > 0 {
		all = append(all, own)
	}
	return members{{"allOf", all}}.and("description", about)
}

// object writes fields as an object.
func (w schemas) object(fields []field) members {
	var properties members
	var needed []string
	for _, f := range fields {
		properties = properties.with(f.name, w.field(f, fields))
		if !f.optional {
			needed = append(needed, f.name)
		}
	}
	o := members{{"type", "object"}}
	if len(needed) > 0 {
		o = o.with("required", needed)
	}
	if len(properties) > 0 {
		o = o.with("properties", properties)
	}
	return o
}

// field writes a field of an object that has these fields.
func (w schemas) field(f field, fields []field) members {
	about := w.m.plainDoc(f.doc, fields)
	if f.bound.line {
		about = strings.TrimSpace(about + " One line of text without control characters.")
	}
	return w.bounded(w.typ(f.typ), f.bound).and("description", about)
}

// bounded adds the bounds of a value. They hold for what is not null.
func (w schemas) bounded(s members, b bound) members {
	number := func(key string, n int) {
		if n > 0 {
			s = s.with(key, n)
		}
	}
	switch {
	case len(b.words) > 0:
		var words []any
		for _, word := range b.words {
			words = append(words, word)
		}
		if allowsNull(s) {
			words = append(words, nil)
		}
		s = s.with("enum", words)
	case (b.need || b.filled) && isText(s) && b.pattern == "":
		number("minLength", 1)
	}
	number("maxLength", b.maxLength)
	number("minItems", b.minItems)
	number("maxItems", b.maxItems)
	if b.minimum != nil {
		s = s.with("minimum", *b.minimum)
	}
	if b.maximum != nil {
		s = s.with("maximum", *b.maximum)
	}
	s = s.and("pattern", b.pattern)
	if b.each != nil {
		for i := range s {
			if s[i].key == "items" {
				s[i].value = w.bounded(s[i].value.(members), *b.each)
			}
		}
	}
	return s
}

// isText reports whether a schema is of a text, or refers to what can only be one here.
func isText(s members) bool {
	if len(s) == 0 {
		return false
	}
	all, ok := s[0].value.([]string)
	return s[0].value == "string" || s[0].key == "$ref" || ok && all[0] == "string"
}

func allowsNull(s members) bool {
	if len(s) == 0 {
		return false
	}
	all, ok := s[0].value.([]string)
	return ok && all[len(all)-1] == "null"
}

// typ writes a type.
func (w schemas) typ(t typ) members {
	switch t := t.(type) {
	case prim:
		switch t {
		case unknown:
			return members{}
		case long:
			return members{{"type", "integer"}, {"format", "int64"}}
		case count:
			return members{{"type", "integer"}, {"format", "int64"}, {"minimum", 0}}
		}
		return members{{"type", string(t)}}
	case lit:
		return members{{"type", "string"}, {"const", string(t)}}
	case yes:
		return members{{"type", "boolean"}, {"const", true}}
	case ref:
		return members{{"$ref", w.name(string(t))}}
	case list:
		return members{{"type", "array"}, {"items", w.typ(t.of)}}
	case union:
		return w.union(t)
	}
	panic("a type of an unknown kind")
}

// name returns the reference to a declaration.
func (w schemas) name(name string) string {
	if w.used != nil {
		w.used[name] = true
	}
	return w.prefix + name
}

// union writes a choice. What is also null has both types in one.
func (w schemas) union(t union) members {
	if rest := notNull(t); !isUnion(rest) {
		s := w.typ(rest)
		if name, ok := s[0].value.(string); ok && s[0].key == "type" {
			s[0].value = []string{name, "null"}
			return s
		}
	}
	if w.tagged {
		t = w.m.flat(t)
	}
	var all []members
	for _, u := range t {
		all = append(all, w.typ(u))
	}
	s := members{{"oneOf", all}}
	if field, words := w.m.tag(t); w.tagged && field != "" {
		var mapping members
		for i, word := range words {
			mapping = mapping.with(word, w.name(string(t[i].(ref))))
		}
		s = s.with("discriminator", members{{"propertyName", field}, {"mapping", mapping}})
	}
	return s
}

// flat puts the members of unions within a union into it.
func (m *module) flat(t union) (all union) {
	for _, u := range t {
		if r, ok := u.(ref); ok {
			if inner, ok := m.by[string(r)].is.(union); ok {
				all = append(all, m.flat(inner)...)
				continue
			}
		}
		all = append(all, u)
	}
	return all
}

func isUnion(t typ) bool {
	_, ok := t.(union)
	return ok
}

// tag returns the field whose literals tell the members of a union apart, and these; "" when
// there is none.
func (m *module) tag(t union) (name string, words []string) {
	for _, u := range t {
		r, ok := u.(ref)
		if !ok || m.by[string(r)].kind != object {
			return "", nil
		}
		for _, f := range m.all(m.by[string(r)]) {
			if word, ok := f.typ.(lit); ok && (name == "" || name == f.name) {
				name, words = f.name, append(words, string(word))
				break
			}
		}
	}
	if len(words) != len(t) {
		return "", nil
	}
	return name, words
}
