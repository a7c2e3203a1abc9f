package main

import (
	"bytes"
	"fmt"
	"strings"
)

// Pages of the reference.
const (
	readmePage   = "README.md"
	requestsPage = "requests.md"
	eventsPage   = "events.md"
	framesPage   = "frames.md"
	typesPage    = "types.md"
)

// place is where a declaration is described: a heading of a page.
type place struct{ page, title string }

// manual writes the reference for people.
type manual struct {
	m      *module
	places map[string]place // by the declaration
	page   string           // that is being written
	out    *bytes.Buffer
}

// markdown writes the pages of the reference, by their names.
func markdown(c *module) map[string][]byte {
	w := manual{m: c, places: places(c)}
	pages := map[string][]byte{}
	for name, write := range map[string]func(manual){
		readmePage: manual.readme, requestsPage: manual.requests, eventsPage: manual.events, framesPage: manual.frames, typesPage: manual.types,
	} {
		w.page, w.out = name, &bytes.Buffer{}
		w.line("<!-- %s from the Go package protocol. DO NOT EDIT. -->", mark)
		write(w)
		pages[name] = w.out.Bytes()
	}
	return pages
}

// places returns where each declaration is described.
func places(c *module) map[string]place {
	at := map[string]place{}
	for _, d := range c.decls {
		switch {
		case strings.Contains(d.name, "."): // calls and replies are in no list of types
		case d.file == "calls" || d.file == "connect" && d.name != "Anchors" && d.name != sent+"Anchors" || isFrame(d):
			at[d.name] = place{framesPage, headOf(d)}
		case isEvent(c, d):
			at[d.name] = place{eventsPage, d.tag()}
			at[d.extends[1]] = place{eventsPage, d.tag()}
		}
	}
	for _, p := range c.pairs {
		at[p.request] = place{requestsPage, p.name}
	}
	for _, d := range c.decls {
		if _, ok := at[d.name]; ok || strings.Contains(d.name, ".") {
			continue
		}
		page := typesPage
		if strings.HasSuffix(d.name, "Event") && d.kind == alias || strings.HasSuffix(d.name, "Base") {
			page = eventsPage
		}
		at[d.name] = place{page, d.name}
	}
	return at
}

// tag is the type that a message of a declaration has on the wire, "" without one.
func (d *decl) tag() string {
	for _, f := range d.fields {
		if word, ok := f.typ.(lit); ok && f.name == "type" {
			return string(word)
		}
	}
	return ""
}

func isFrame(d *decl) bool { return d.file == "frame" && (d.tag() != "" || d.name == "Frame") }

// isEvent reports whether a declaration is an event with its envelope.
func isEvent(m *module, d *decl) bool {
	return d.file == "event" && len(d.extends) == 2 && d.tag() != "" && m.by[d.extends[1]] != nil
}

// headOf returns the heading of a message of a connection: its type on the wire, or its name.
func headOf(d *decl) string {
	if tag := d.tag(); tag != "" {
		return tag
	}
	return d.name
}

func (w manual) line(format string, args ...any) { fmt.Fprintf(w.out, format+"\n", args...) }

// paragraph writes text between empty lines.
func (w manual) paragraph(text string) {
	if text != "" {
		w.line("\n%s", text)
	}
}

// link returns a link to a declaration.
func (w manual) link(name string) string {
	at, ok := w.places[name]
	if !ok {
		return name
	}
	page := at.page
	if page == w.page {
		page = ""
	}
	shown := at.title
	if shown != name {
		shown = "`" + shown + "`"
	}
	return fmt.Sprintf("[%s](%s#%s)", shown, page, strings.ToLower(at.title))
}

// doc returns a comment as Markdown.
func (w manual) doc(doc string, fields []field) string {
	quoted := func(name string) string { return "`" + name + "`" }
	return w.m.wireDoc(strings.ReplaceAll(doc, "<", "&lt;"), fields, marks{w.link, quoted})
}

// typ returns a type as Markdown.
func (w manual) typ(t typ) string {
	switch t := t.(type) {
	case prim:
		return map[prim]string{text: "text", number: "number", integer: "whole number", long: "whole number", count: "whole number",
			boolean: "true or false", unknown: "any JSON", null: "null"}[t]
	case lit:
		return "`\"" + string(t) + "\"`"
	case yes:
		return "`true`"
	case ref:
		return w.link(string(t))
	case list:
		return "list of " + w.typ(t.of)
	case union:
		parts := make([]string, len(t))
		for i, u := range t {
			parts[i] = w.typ(u)
		}
		return strings.Join(parts, ", ")
	}
	panic("a type of an unknown kind")
}

// table writes fields. What is sent says which of them must be there.
func (w manual) table(fields []field) {
	if len(fields) == 0 {
		return
	}
	w.line("\n| field | type | |\n|---|---|---|")
	for _, f := range fields {
		var notes []string
		if !f.optional {
			notes = append(notes, "Required.")
		}
		if bounds := w.bounds(f.bound); bounds != "" {
			notes = append(notes, bounds)
		}
		if about := w.doc(f.doc, fields); about != "" {
			notes = append(notes, strings.ToUpper(about[:1])+about[1:])
		}
		t := f.typ
		if f.optional {
			t = notNull(t) // the same as leaving it out
		}
		cell := strings.ReplaceAll(strings.Join(notes, " "), "|", "\\|")
		w.line("| `%s` | %s | %s |", f.name, w.typ(t), strings.ReplaceAll(cell, "\n", "<br>"))
	}
}

// bounds says in words what a value may be.
func (w manual) bounds(b bound) string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if len(b.words) > 0 {
		var words []string
		for _, word := range b.words {
			words = append(words, fmt.Sprintf("`%q`", word))
		}
		add("One of %s.", strings.Join(words, ", "))
	}
	filled := b.need || b.filled
	switch {
	case filled && b.maxLength > 0:
		add("1 to %d bytes.", b.maxLength)
	case b.maxLength > 0:
		add("At most %d bytes.", b.maxLength)
	case filled && b.pattern == "" && len(b.words) == 0:
		add("Not empty.")
	}
	if b.maxItems > 0 {
		add("At most %d entries.", b.maxItems)
	}
	if b.each != nil && b.each.maxLength > 0 {
		add("Each has 1 to %d bytes.", b.each.maxLength)
	}
	if b.minimum != nil {
		add("At least %d.", *b.minimum)
	}
	if b.maximum != nil {
		add("At most %d.", *b.maximum)
	}
	if b.line {
		add("One line of text without control characters.")
	}
	if b.pattern != "" {
		add("Of the form `%s`.", b.pattern)
	}
	return strings.Join(all, " ")
}
