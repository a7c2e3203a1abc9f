package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"scorel/protocol"
)

// judge validates JSON against the definitions of a schema.
type judge struct{ all *jsonschema.Resolved }

// judged returns the judge of the schema that is generated from the source.
func judged(t *testing.T) (judge, *module) {
	t.Helper()
	m, _ := built(t)
	c, err := contract(m)
	if err != nil {
		t.Fatal(err)
	}
	data, err := schemaJSON(c)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	// One schema with a field for each definition is resolved once.
	s.AnyOf, s.Properties = nil, map[string]*jsonschema.Schema{}
	for name := range s.Defs {
		s.Properties[name] = &jsonschema.Schema{Ref: "#/$defs/" + name}
	}
	all, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return judge{all}, c
}

// says returns what is wrong with JSON as a value of the definition of a name.
func (j judge) says(t *testing.T, name string, data []byte) error {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, data)
	}
	if j.all.Schema().Defs[name] == nil {
		t.Fatalf("the schema has no definition %s", name)
	}
	return j.all.Validate(map[string]any{name: v})
}

// TestWhatAHostWritesFitsTheSchema validates what the marshallers write of all answers,
// events, frames and messages of the handshake.
func TestWhatAHostWritesFitsTheSchema(t *testing.T) {
	j, c := judged(t)
	m, s := built(t)
	seen := map[string]bool{}
	for _, x := range samples(t, m, s) {
		for _, name := range x.defs {
			seen[name] = true
			if err := j.says(t, name, x.data); err != nil {
				t.Errorf("%s is no %s: %v\n%s", x.what, name, err, x.data)
			}
		}
	}
	for _, d := range c.decls {
		if (strings.HasPrefix(d.name, "reply.") || strings.HasSuffix(d.name, "Event") && d.kind == object && len(d.extends) == 2) && !seen[d.name] {
			t.Errorf("there is no sample of %s", d.name)
		}
	}
}

func TestTheSchemaRefusesWhatDoesNotFit(t *testing.T) {
	j, _ := judged(t)
	const ids = `"requestId":"req_00000000000000000000000000","sessionId":"ses_00000000000000000000000000"`
	for _, x := range []struct{ name, json string }{
		{"Question", `{"question":"q"}`},
		{"Question", `{"question":1,"options":null}`},
		{"Question", `{"question":"q","options":[{"label":null}]}`},
		{"Grant", `"all"`},
		{"TextBlock", `{"type":"image","text":"t"}`},
		{"Message", `{"role":"user","content":[{"type":"sound"}]}`},
		{"LabelEvent", `{"type":"label","targetEventId":"x"}`},
		{"SessionEvent", `{"type":"text_delta","seq":1,"sessionId":"s","clientId":"c","ts":1,"eventId":"e","block":0}`},
		{"SessionEvent", `{"type":"no_event","seq":1,"sessionId":"s","clientId":"c","ts":1}`},
		{"Seq", `-1`},
		{"Seq", `1.5`},
		{"call.ping", `{"type":"ping"}`},
		{"call.ping", `{"type":"pong",` + ids + `}`},
		{"call.ping", `{"type":"ping","requestId":"1"}`},
		{"call.cancel", `{"type":"cancel",` + ids + `}`},
		{"call.cancel", `{"type":"cancel","turnId":null,` + ids + `}`},
		{"call.cancel", `{"type":"cancel","turnId":"t","requestId":"req_00000000000000000000000000"}`},
		{"call.send_message", `{"type":"send_message","content":[],` + ids + `}`},
		{"call.send_message", `{"type":"send_message","content":[{"type":"tool_use"}],` + ids + `}`},
		{"call.send_message", `{"type":"send_message","content":[{"type":"image","blob":"ab","mediaType":"image/png"}],` + ids + `}`},
		{"reply.get_status", `{"type":"response","requestId":"r","data":null}`},
		{"ErrorMessage", `{"type":"error","requestId":"","code":"oops","message":"m"}`},
		{"Frame", `{"type":"resync","sessionId":"s","mode":"none"}`},
		{"ClientMessage", `{"type":"events","sessionId":"s","events":[]}`},
	} {
		if j.says(t, x.name, []byte(x.json)) == nil {
			t.Errorf("%s is a %s", x.json, x.name)
		}
	}
}

// TestTheSchemaOfARequestSaysWhatTheHostSays puts each field of each request to both: left
// out, null, of other types, empty, too long.
func TestTheSchemaOfARequestSaysWhatTheHostSays(t *testing.T) {
	j, c := judged(t)
	for _, p := range c.pairs {
		x := example{c}
		whole := x.object(c.by["call."+p.name])
		if data, err := json.Marshal(whole); err != nil || hostSays(data) != nil {
			t.Errorf("%s: the host refuses an example of the schema: %v\n%s", p.name, hostSays(data), data)
		}
		for _, f := range c.by[p.request].fields {
			values := map[string]any{"null": nil, "a text": "x", "an empty text": "", "a number": 7, "a negative number": -7, "a fraction": 1.5, "a truth": true,
				"an object": map[string]any{}, "a list": []any{}, "a list of texts": []any{"x"}, "a long text": strings.Repeat("x", 5000)}
			if n := f.bound.maxLength; n > 0 && f.bound.pattern == "" {
				values["a text of its bound"], values["a text beyond its bound"] = strings.Repeat("x", n), strings.Repeat("x", n+1)
			}
			if n := f.bound.maxItems; n > 0 {
				values["a list beyond its bound"] = slices.Repeat([]any{"x"}, n+1)
			}
			for what, v := range values {
				if what == "a list" && p.name+"."+f.name == "put_blob.data" {
					continue // encoding/json reads a list of numbers as bytes
				}
				compare(t, j, p.name, f.name, what, with(whole, f.name, v))
			}
			left := with(whole, f.name, nil)
			delete(left, f.name)
			compare(t, j, p.name, f.name, "left out", left)
		}
	}
}

// beyond are the fields of which the host asks more than the schema says, with sentences of
// their own.
var beyond = []string{"answer_permission.choice", "rewind_to.targetEventId", "update_info.changes",
	"list_sessions.before", "list_sessions.beforeTime", "send_message.whenBusy"}

func compare(t *testing.T, j judge, request, field, what string, call map[string]any) {
	t.Helper()
	data, err := json.Marshal(call)
	if err != nil {
		t.Fatal(err)
	}
	host, schema := hostSays(data), j.says(t, "call."+request, data)
	if (host == nil) != (schema == nil) && (host == nil || !slices.Contains(beyond, request+"."+field)) {
		t.Errorf("%s with %s as %s: the host says %v, the schema %v", request, field, what, host, schema)
	}
}

// hostSays returns why the host does not carry out a call as it is.
func hostSays(call []byte) error {
	parsed, err := protocol.ParseCall(call)
	if err != nil {
		return err
	}
	if p := parsed.Check(); p != nil {
		return p.Err()
	}
	return nil
}

func with(call map[string]any, field string, value any) map[string]any {
	out := map[string]any{}
	for k, v := range call {
		out[k] = v
	}
	out[field] = value
	return out
}

// example makes values that fit their declarations, with all fields.
type example struct{ c *module }

func (x example) object(d *decl) map[string]any {
	out := map[string]any{}
	for _, f := range x.c.all(d) {
		out[f.name] = x.value(f.typ, f.bound)
	}
	return out
}

func (x example) value(t typ, b bound) any {
	switch t := notNull(t).(type) {
	case prim:
		switch t {
		case boolean:
			return true
		case integer, long, count, number:
			return 1
		}
		return x.text(b)
	case lit:
		return string(t)
	case ref:
		d := x.c.by[string(t)]
		switch d.kind {
		case brand:
			return x.text(b)
		case enum:
			return d.values[0].value
		case alias:
			if d.name == base64Name {
				return "aGk="
			}
			return x.value(d.is, d.bound)
		}
		return x.object(d)
	case list:
		inner := bound{}
		if b.each != nil {
			inner = *b.each
		}
		return []any{x.value(t.of, inner)}
	case union:
		return x.value(t[0], b)
	}
	panic(fmt.Sprintf("no example of %v", t))
}

// text returns a text within its bounds.
func (x example) text(b bound) string {
	switch {
	case b.pattern == sha256Pattern:
		return strings.Repeat("ab", 32)
	case b.pattern != "":
		found := regexp.MustCompile(`(\w+_)\[0-9a-v\]\{(\d+)\}`).FindStringSubmatch(b.pattern)
		n, err := strconv.Atoi(found[2])
		if err != nil {
			panic(err)
		}
		return found[1] + strings.Repeat("0", n)
	case len(b.words) > 0:
		return b.words[len(b.words)-1]
	}
	return "x"
}
