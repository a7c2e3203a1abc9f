package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"strings"
)

// displayDecl returns the declaration of [protocol.Display], which has no JSON of its own: its
// members are called as its fields, beginning with a small letter.
func (s *source) displayDecl() (*decl, error) {
	t := s.types["Display"]
	if t == nil {
		return nil, fmt.Errorf("there is no type Display")
	}
	d := &decl{name: "Display", doc: t.doc, file: "eventspec"}
	st, _ := t.expr.(*ast.StructType)
	group := "" // the comment of fields that stand together
	for _, f := range structFields(st) {
		if text := comment(f.Doc, f.Comment); text != "" {
			group = text
		}
		for _, n := range f.Names {
			is := map[string]typ{"Kind": ref("DisplayKind"), "View": ref("View"), "Place": ref("Place"), "Lines": list{text}, "Status": list{ref("StatusCase")}, "HideEmpty": yes{}}[n.Name]
			if is == nil {
				is = text
			}
			doc := group
			if strings.HasPrefix(doc, "Ref, ") && n.Name != "Ref" || n.Name == "Title" || n.Name == "Text" {
				doc = ""
			}
			d.fields = append(d.fields, field{name: memberName(n.Name), goName: n.Name, doc: doc, typ: is, optional: true})
		}
	}
	return d, nil
}

// memberName is the name of a field of Go in JSON.
func memberName(name string) string {
	if name == "ID" {
		return "id"
	}
	name = strings.ToLower(name[:1]) + name[1:]
	if rest, ok := strings.CutSuffix(name, "ID"); ok {
		return rest + "Id"
	}
	return name
}

// tsEvents declares the table of the types of events, from [protocol.EventSpec].
func tsEvents(m *module) error {
	for _, d := range []*decl{
		m.display,
		{name: "StatusCase", doc: "A status and the condition under which an item has it: that of a part of a template; an empty one always holds.",
			fields: []field{required("if", text), required("status", ref("DisplayStatus"))}, file: "eventspec"},
		{name: "EventSpec", doc: "What is known of a type of event besides its fields.", file: "eventspec", fields: []field{
			required("class", union{lit("conversation"), lit("control"), lit("transient")}), required("display", ref("Display")),
			{name: "word", doc: "What a list of places that a search found calls the event; without it that is its type.", typ: text, optional: true},
			{name: "usage", doc: "The member that says what calls of a model have used.", typ: text, optional: true}}},
	} {
		if err := m.add(d); err != nil {
			return err
		}
	}
	var b strings.Builder
	b.WriteString("export const eventSpecs: Readonly<Record<SessionEvent[\"type\"], EventSpec>> = {\n")
	for _, e := range m.events {
		fmt.Fprintf(&b, "  %s: { class: %q, display: { %s }", e.name, strings.ToLower(e.class), strings.Join(e.display.literals(), ", "))
		if e.word != "" {
			fmt.Fprintf(&b, ", word: %q", e.word)
		}
		if usage := e.aspects["Usage"]; usage != none {
			fmt.Fprintf(&b, ", usage: %q", usage)
		}
		b.WriteString(" },\n")
	}
	b.WriteString("};")
	return m.add(&decl{kind: raw, name: "eventSpecs", file: "eventspec", doc: "The types of events.", uses: []string{"SessionEvent", "EventSpec"}, body: b.String()})
}

// literals returns the members of a display as TypeScript writes them.
func (d *eventDisplay) literals() (all []string) {
	add := func(name, value string) {
		if value != "" {
			all = append(all, name+": "+quoted(value))
		}
	}
	add("kind", d.kind)
	add("view", d.view)
	add("place", d.place)
	add("title", d.title)
	add("text", d.text)
	if len(d.lines) > 0 {
		lines := make([]string, len(d.lines))
		for i, l := range d.lines {
			lines[i] = quoted(l)
		}
		all = append(all, "lines: ["+strings.Join(lines, ", ")+"]")
	}
	if len(d.status) > 0 {
		cases := make([]string, len(d.status))
		for i, c := range d.status {
			cases[i] = fmt.Sprintf("{ if: %s, status: %s }", quoted(c.condition), quoted(c.status))
		}
		all = append(all, "status: ["+strings.Join(cases, ", ")+"]")
	}
	if d.hideEmpty {
		all = append(all, "hideEmpty: true")
	}
	add("ref", d.ref)
	add("toolCallId", d.toolCallID)
	add("toolName", d.toolName)
	add("id", d.id)
	return all
}

func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a form in JSON
	}
	return string(data)
}
