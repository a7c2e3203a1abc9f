package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// eventSpec is a [protocol.EventSpec] as it is in the source.
type eventSpec struct {
	variable  string
	constant  string // of the type
	name      string // on the wire
	class     string // the name of the constant
	body      string // the type
	usageKind string // the word
	word      string // "" is the name
	aspects   map[string]string
	display   eventDisplay
}

// eventDisplay is a [protocol.Display]: of closed sets the words.
type eventDisplay struct {
	kind, view, place, title, text string
	lines                          []string
	status                         []statusCase
	hideEmpty                      bool
	ref, toolCallID, toolName, id  string
}

type statusCase struct{ condition, status string }

// The values of aspects that are not members.
const (
	none  = "none"
	coded = "coded"
)

// aspectNames are the fields of a spec that are aspects.
func aspectNames() []string { return []string{"Search", "Usage", "Payloads", "Leaf", "Context"} }

// eventDescriptor notes a variable that is a [protocol.EventSpec]. Names of constants become
// words in completeEvent.
func (s *source) eventDescriptor(name string, lit *ast.CompositeLit) {
	e := eventSpec{variable: name, aspects: map[string]string{}}
	for key, value := range keyed(lit) {
		switch key {
		case "Type":
			e.constant = ident(value)
		case "Class":
			e.class = ident(value)
		case "New":
			e.body = made(value)
		case "UsageKind":
			e.usageKind = ident(value)
		case "Word":
			e.word = word(value)
		case "AnyTime": // for hosts
		case "Display":
			if d, ok := value.(*ast.CompositeLit); ok {
				e.display = displayOf(d)
			}
		default:
			e.aspects[key] = word(value)
		}
	}
	if e.constant == "" && e.body == "" {
		return // that of unknown types
	}
	s.events = append(s.events, e)
}

func displayOf(lit *ast.CompositeLit) (d eventDisplay) {
	for key, value := range keyed(lit) {
		switch key {
		case "Kind":
			d.kind = ident(value)
		case "View":
			d.view = ident(value)
		case "Place":
			d.place = ident(value)
		case "Title":
			d.title = word(value)
		case "Text":
			d.text = word(value)
		case "Ref":
			d.ref = word(value)
		case "ToolCallID":
			d.toolCallID = word(value)
		case "ToolName":
			d.toolName = word(value)
		case "ID":
			d.id = word(value)
		case "HideEmpty":
			d.hideEmpty = ident(value) == "true"
		case "Lines":
			for _, e := range elements(value) {
				d.lines = append(d.lines, word(e))
			}
		case "Status":
			for _, e := range elements(value) {
				if pair := elements(e); len(pair) == 2 {
					d.status = append(d.status, statusCase{word(pair[0]), ident(pair[1])})
				}
			}
		}
	}
	return d
}

// keyed returns the fields of a literal, by their names.
func keyed(lit *ast.CompositeLit) map[string]ast.Expr {
	all := map[string]ast.Expr{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			all[ident(kv.Key)] = kv.Value
		}
	}
	return all
}

func elements(e ast.Expr) []ast.Expr {
	if lit, ok := e.(*ast.CompositeLit); ok {
		return lit.Elts
	}
	return nil
}

// word returns the text of an expression: of literals, and of the constants None and Coded.
func word(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return word(e.X) + word(e.Y)
		}
	case *ast.Ident:
		return strings.ToLower(e.Name)
	}
	text, _ := literal(e)
	return text
}

// completeEvent puts words in the place of constants, and fails when something lacks or
// names what there is not.
func (s *source) completeEvent(e *eventSpec) error {
	var ok bool
	if e.name, ok = s.constant("EventType", e.constant); !ok || e.body == "" || !slices.Contains([]string{"Conversation", "Control", "Transient"}, e.class) {
		return fmt.Errorf("the spec %s of an event must have its type, its class and its body", e.variable)
	}
	if want := strings.TrimSuffix(e.variable, "Spec"); want == e.variable {
		return fmt.Errorf("the spec %s of an event must be called …Spec", e.variable)
	}
	for _, set := range []struct {
		typ  string
		word *string
	}{{"DisplayKind", &e.display.kind}, {"View", &e.display.view}, {"Place", &e.display.place}, {"UsageKind", &e.usageKind}} {
		if *set.word == "" {
			continue
		}
		if *set.word, ok = s.constant(set.typ, *set.word); !ok {
			return fmt.Errorf("%s: there is no such %s", e.variable, set.typ)
		}
	}
	for i := range e.display.status {
		c := &e.display.status[i]
		if c.status, ok = s.constant("DisplayStatus", c.status); !ok {
			return fmt.Errorf("%s: there is no such status", e.variable)
		}
	}
	if (e.display.kind == "") == (e.display.view == "") {
		return fmt.Errorf("%s must have either a kind or a view; one that is not shown has the kind DisplayHidden", e.variable)
	}
	s.returns[e.body+".EventType"], s.returns[e.body+".class"] = e.constant, e.class
	return s.checkAspects(e)
}

// checkAspects holds that every aspect of a persistent event is there or explicitly none,
// and that the generic code that reads it can.
func (s *source) checkAspects(e *eventSpec) error {
	for name := range e.aspects {
		if !slices.Contains(aspectNames(), name) {
			return fmt.Errorf("%s: %s is not known here", e.variable, name)
		}
	}
	for _, name := range aspectNames() {
		value := e.aspects[name]
		if e.class == "Transient" {
			if value != "" {
				return fmt.Errorf("%s: a transient event has no %s", e.variable, name)
			}
			e.aspects[name] = none
			continue
		}
		if value == "" {
			return fmt.Errorf("%s: %s must be said: None, Coded or a member", e.variable, name)
		}
	}
	usage := e.aspects["Usage"]
	switch {
	case usage != none && usage != "usage" && usage != "message.usage":
		return fmt.Errorf("%s: usage is read only from the member usage of the event, or of its message", e.variable)
	case (usage == none) != (e.usageKind == ""):
		return fmt.Errorf("%s must have both Usage and UsageKind, or neither", e.variable)
	case e.aspects["Leaf"] != none && e.class != "Control":
		return fmt.Errorf("%s: only a control event moves the leaf", e.variable)
	}
	return nil
}

// Paths of members in a template and in a condition.
var (
	templatePath  = regexp.MustCompile(`\{([?!+]?)([A-Za-z.]+)`)
	conditionPath = regexp.MustCompile(`^([?!+])([A-Za-z.]+)`)
)

// paths returns the members that are read for the display of an event, each once.
func (e *eventSpec) paths() []string {
	var all []string
	d := e.display
	for _, text := range append([]string{d.title, d.text}, d.lines...) {
		for _, found := range templatePath.FindAllStringSubmatch(text, -1) {
			all = append(all, found[2])
		}
	}
	for _, c := range d.status {
		for _, found := range conditionPath.FindAllStringSubmatch(c.condition, -1) {
			all = append(all, found[2])
		}
	}
	for _, path := range []string{d.ref, d.toolCallID, d.toolName, d.id} {
		if path != "" {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nullable returns the members whose presence is asked for with {+path:…}.
func (e *eventSpec) nullable() []string {
	var all []string
	for _, text := range append([]string{e.display.title, e.display.text}, e.display.lines...) {
		for _, found := range templatePath.FindAllStringSubmatch(text, -1) {
			if found[1] == "+" {
				all = append(all, found[2])
			}
		}
	}
	return all
}

// reached is a member as Go code reaches it.
type reached struct {
	expr    string   // from the receiver b
	typ     ast.Expr // without a pointer
	pointer bool
	checks  []string // pointers on the way that must not be nil
}

// reach finds the member of a body at a path.
func (s *source) reach(body, path string) (reached, error) {
	r := reached{expr: "b", typ: ast.NewIdent(body)}
	for _, name := range strings.Split(path, ".") {
		if r.pointer {
			r.checks = append(r.checks, r.expr)
		}
		t := s.types[ident(r.typ)]
		if t == nil {
			return r, fmt.Errorf("%s has no member %q", body, path)
		}
		found := false
		st, _ := t.expr.(*ast.StructType)
		for _, f := range structFields(st) {
			if tag, _, _ := strings.Cut(tagOfField(f, "json"), ","); tag == name && len(f.Names) == 1 {
				r.expr, r.typ, r.pointer, found = r.expr+"."+f.Names[0].Name, f.Type, false, true
				if star, ok := f.Type.(*ast.StarExpr); ok {
					r.typ, r.pointer = star.X, true
				}
			}
		}
		if !found && t.name == "Message" && name == "usage" { // it has no tags: it is written by hand
			r.expr, r.typ, r.pointer, found = r.expr+".Usage", ast.NewIdent("Usage"), true, true
		}
		if !found {
			return r, fmt.Errorf("%s has no member %q", body, path)
		}
	}
	return r, nil
}

func structFields(st *ast.StructType) []*ast.Field {
	if st == nil {
		return nil
	}
	return st.Fields.List
}

// underlying returns the name of the type that a type is made of, [] before that of the
// entries of a list.
func (s *source) underlying(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ArrayType:
		return "[]" + s.underlying(e.Elt)
	case *ast.Ident:
		if t := s.types[e.Name]; t != nil {
			return s.underlying(t.expr)
		}
		return e.Name
	}
	return ""
}
