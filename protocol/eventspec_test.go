package protocol

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// full returns a body with something in every field.
func full(s *EventSpec) Body {
	body := s.New()
	fill(reflect.ValueOf(body).Elem())
	return body
}

// TestEveryEventTypeHasASpec: each constant of a type has one, and what it makes is of that
// type and class.
func TestEveryEventTypeHasASpec(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	types := map[EventType]bool{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			typ, _ := v.Type.(*ast.Ident)
			value, _ := v.Values[0].(*ast.BasicLit)
			if typ != nil && typ.Name == "EventType" && value != nil {
				types[EventType(strings.Trim(value.Value, `"`))] = true
			}
			return true
		})
	}
	for typ := range types {
		if SpecOfEvent(typ) == nil {
			t.Errorf("the type %s has no spec", typ)
		}
	}
	for _, s := range EventSpecs() {
		body := s.New()
		if !types[s.Type] || SpecOfEvent(s.Type) != s || body.EventSpec() != s || body.EventType() != s.Type || body.class() != s.Class {
			t.Errorf("%s makes a %T, which is %s of the class %d", s.Type, body, body.EventType(), body.class())
		}
		class, known := StoredClass([]byte(s.Type))
		if known != (s.Class != Transient) || known && class != s.Class {
			t.Errorf("%s is stored as %d (%t), and its spec says %d", s.Type, class, known, s.Class)
		}
	}
	if len(types) < 40 || len(types) != len(EventSpecs()) {
		t.Errorf("%d types have %d specs", len(types), len(EventSpecs()))
	}
	if SpecOfEvent("later") != nil || SpecOfEvent("") != nil {
		t.Error("what is not known has a spec")
	}
}

// TestEveryAspectIsThereOrExplicitlyNone: a stored event says of each aspect what it is, and
// has its method, and no other.
func TestEveryAspectIsThereOrExplicitlyNone(t *testing.T) {
	for _, s := range EventSpecs() {
		body := s.New()
		has := map[string]bool{}
		_, has["Search"] = body.(searchable)
		_, has["Usage"] = body.(counted)
		_, has["Leaf"] = body.(mover)
		for name, a := range map[string]Aspect{"Search": s.Search, "Usage": s.Usage, "Leaf": s.Leaf, "Payloads": s.Payloads, "Context": s.Context} {
			if (a == "") != (s.Class == Transient) {
				t.Errorf("%s: %s is %q", s.Type, name, a)
			}
			if is, checked := has[name]; checked && is != (a != None && a != "") {
				t.Errorf("%s: %s is %q, and its method is there: %t", s.Type, name, a, is)
			}
		}
		if (s.UsageKind == "") != (s.Usage == None || s.Usage == "") {
			t.Errorf("%s: its usage %q counts as %q", s.Type, s.Usage, s.UsageKind)
		}
		if s.Payloads == None && len(NewEvent(full(s)).Payloads()) > 0 {
			t.Errorf("%s names payloads", s.Type)
		}
		d := &s.Display
		reads := strings.Contains(d.Title+d.Text+strings.Join(d.Lines, ""), "{") || d.Ref+d.ToolCallID+d.ToolName+d.ID != ""
		reads = reads || slices.ContainsFunc(d.Status, func(c StatusCase) bool { return c.If != "" })
		if _, has := body.(shown); has != reads {
			t.Errorf("%s: its members are there: %t", s.Type, has)
		}
	}
}

// TestTheAspectsOfAFullEventAreThoseOfItsMembers compares what the generated methods return
// with the JSON of the event.
func TestTheAspectsOfAFullEventAreThoseOfItsMembers(t *testing.T) {
	found := map[string]int{}
	for _, s := range EventSpecs() {
		e := NewEvent(full(s))
		line, err := marshal(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		if texts := e.SearchTexts(); s.Search != Coded {
			var want []string
			for _, path := range s.Search.Members() {
				var text string
				at(t, line, path, &text)
				want = append(want, text)
			}
			if !slices.Equal(texts, want) {
				t.Errorf("%s: a search looks through %q, want %q", s.Type, texts, want)
			}
			found["search"] += len(want)
		} else if len(texts) == 0 {
			t.Errorf("%s: nothing is searched", s.Type)
		}
		if s.Usage != None && s.Usage != "" {
			var want Usage
			at(t, line, string(s.Usage), &want)
			if u := e.Usage(); u == nil || *u != want || want.ContextTokens() == 0 {
				t.Errorf("%s: its usage is %v, want %v", s.Type, u, want)
			}
			found["usage"]++
		} else if e.Usage() != nil {
			t.Errorf("%s has a usage", s.Type)
		}
		if StoredUsage([]byte(s.Type)) != (s.Usage == "usage") {
			t.Errorf("%s: the member usage counts: %t", s.Type, StoredUsage([]byte(s.Type)))
		}
		leaf, moves := e.Leaf()
		if moves != (s.Leaf != None && s.Leaf != "") {
			t.Errorf("%s moves the leaf: %t", s.Type, moves)
		}
		if moves {
			var want EventID
			at(t, line, string(s.Leaf), &want)
			if leaf != want {
				t.Errorf("%s moves the leaf to %q, want %q", s.Type, leaf, want)
			}
			found["leaf"]++
		}
		members(t, s, e, line)
	}
	if found["search"] < 6 || found["usage"] < 4 || found["leaf"] != 2 {
		t.Errorf("found %v", found)
	}
	if leaf, moves := NewEvent(&Rewind{}).Leaf(); leaf != "" || !moves {
		t.Errorf("a rewind to the beginning moves to %q: %t", leaf, moves)
	}
}

// members compares the members that the display of an event names with its JSON.
func members(t *testing.T, s *EventSpec, e Event, line []byte) {
	t.Helper()
	d := s.Display
	for _, path := range regexp.MustCompile(`\{[?!+]?([A-Za-z.]+)`).FindAllStringSubmatch(d.Title+d.Text+strings.Join(d.Lines, ""), -1) {
		var want any
		at(t, line, path[1], &want)
		m := MemberOf(e.Body, path[1])
		is := false
		switch want := want.(type) {
		case string:
			is = m.Is == TextMember && m.Text == want
		case float64:
			is = m.Is == NumberMember && m.Number == int64(want)
		case bool:
			is = m.Is == FlagMember && (m.Number == 1) == want
		case []any:
			is = m.Is == ListMember && m.Number == int64(len(want))
		}
		if !is || m.Empty() {
			t.Errorf("%s: the member %s is %+v, want %v", s.Type, path[1], m, want)
		}
	}
	if m := MemberOf(e.Body, "no.member"); m != (Member{}) {
		t.Errorf("%s has a member that it has not: %+v", s.Type, m)
	}
}

// at reads the member of a JSON object at a path.
func at(t *testing.T, data []byte, path string, into any) {
	t.Helper()
	for _, name := range strings.Split(path, ".") {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		data = fields[name]
	}
	if data = bytes.TrimSpace(data); len(data) == 0 {
		t.Errorf("there is no member %s", path)
		return
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func TestAnUnknownEventHasNoAspects(t *testing.T) {
	e, err := ParseEvent([]byte(`{"type":"later","id":"evt_0000000000000001","parentId":null,"seq":1,"usage":{"inputTokens":1},"text":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, moves := e.Leaf(); e.SearchTexts() != nil || e.Usage() != nil || moves || MemberOf(e.Body, "text") != (Member{}) || e.Body.EventSpec().Display.Kind != DisplayHidden {
		t.Errorf("%+v", e.Body.EventSpec())
	}
}
