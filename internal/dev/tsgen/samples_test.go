package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"scorel/protocol"
)

// sample is JSON as Go writes it, with the declaration that it must fit.
type sample struct {
	what string
	typ  string // TypeScript, for the compiler
	data []byte
	fits func(v any) error
	defs []string // the definitions of the schema that it must fit
}

// samples returns values of everything that goes over the wire, of each type one with
// as little and one with as much in it as Go writes.
func samples(t *testing.T, m *module, s *source) (out []sample) {
	t.Helper()
	f := filler{m}
	add := func(what, typ string, data []byte, err error, fits func(any) error, defs ...string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		out = append(out, sample{what, typ, data, fits, defs})
	}
	named := func(name string) func(any) error { return func(v any) error { return m.fits(v, ref(name)) } }
	envelope := func(fields []field, rest string) func(any) error {
		return func(v any) error { return m.fitsFields(v, rest, append(fields, m.all(m.by[rest])...)) }
	}
	const requestID = protocol.RequestID("req_00000000000000000000000000")
	for _, p := range m.pairs {
		req := protocol.SpecOf(p.name).New()
		if req == nil {
			t.Fatalf("there is no request %s", p.name)
		}
		reply, err := protocol.ParseReply(fmt.Appendf(nil, `{"type":"response","requestId":%q,"data":null}`, requestID), p.name)
		if err != nil {
			t.Fatal(err)
		}
		head := []field{required("type", lit(p.name)), required("requestId", ref("RequestID")), optional("sessionId", ref("SessionID")), optional("repeat", yes{})}
		body := []field{required("type", lit("response")), required("requestId", ref("RequestID")), required("data", ref(p.response))}
		for _, full := range []bool{false, true} {
			f.fill(reflect.ValueOf(req).Elem(), full)
			call := protocol.Call{RequestID: requestID, Request: req}
			if full {
				call.SessionID, call.Repeat = "ses_x", true
			}
			data, err := json.Marshal(call)
			add("call "+p.name, fmt.Sprintf("p.Call<%q>", p.name), data, err, envelope(head, p.request))
			f.fill(reflect.ValueOf(reply.Data).Elem(), full)
			data, err = json.Marshal(protocol.Reply{RequestID: requestID, Data: reply.Data})
			add("reply to "+p.name, fmt.Sprintf("p.Reply<%q>", p.name), data, err, func(v any) error { return m.fitsFields(v, "reply", body) }, "reply."+p.name, "ResponseMessage")
		}
	}
	for _, name := range s.order {
		if constant, ok := s.returns[name+".EventType"]; ok && name != "Unknown" {
			wire, _ := s.constant("EventType", constant)
			for _, e := range f.events(t, wire, s.returns[name+".class"]) {
				data, err := e.AppendLine(nil)
				add("event "+wire, "p.SessionEvent", data, err, named("SessionEvent"), "SessionEvent")
				add("event "+wire, "p."+eventName(name), data, err, named(eventName(name)), eventName(name))
			}
		}
		if wire, ok := s.returns[name+".FrameName"]; ok {
			frame, err := protocol.ParseFrame(fmt.Appendf(nil, `{"type":%q}`, wire))
			if err != nil {
				t.Fatal(err)
			}
			for _, full := range []bool{false, true} {
				f.fill(reflect.ValueOf(frame).Elem(), full)
				data, err := protocol.MarshalFrame(frame)
				add("frame "+wire, "p."+name, data, err, named(name), name)
				add("frame "+wire, "p.Frame", data, err, named("Frame"), "Frame", "HostMessage")
			}
		}
	}
	for _, msg := range f.messages() {
		data, err := json.Marshal(msg)
		add("message", "p.Message", data, err, named("Message"), "Message")
	}
	for _, h := range []struct {
		wire, def string
		v         any
	}{{"hello", "ClientMessage", &protocol.Hello{}}, {"challenge", "HostMessage", &protocol.Challenge{}}, {"connect", "ClientMessage", &protocol.Prove{}}, {"connected", "HostMessage", &protocol.Connected{}}} {
		for _, full := range []bool{false, true} {
			f.fill(reflect.ValueOf(h.v).Elem(), full)
			data, err := json.Marshal(h.v)
			data = []byte(strings.Replace(string(data), "{", fmt.Sprintf(`{"type":%q,`, h.wire), 1))
			add("handshake "+h.wire, "p.HandshakeMessage", data, err, named("HandshakeMessage"), h.def)
		}
	}
	for _, v := range []struct {
		name string
		v    any
	}{{"Header", &protocol.Header{}}, {"TaskNotice", &protocol.TaskNotice{}}, {"Answers", &protocol.Answers{}}, {"Anchors", &protocol.Anchors{}}, {"Live", &protocol.Live{}}} {
		for _, full := range []bool{false, true} {
			f.fill(reflect.ValueOf(v.v).Elem(), full)
			data, err := json.Marshal(v.v)
			typ := "p." + v.name
			if v.name == "Answers" {
				typ += " | null"
			}
			add(v.name, typ, data, err, func(x any) error { return m.fits(x, orNull(ref(v.name))) })
		}
	}
	failed := protocol.Reply{RequestID: requestID, Err: protocol.Errorf(protocol.CodeConflict, "No.")}
	data, err := json.Marshal(failed)
	add("a failed request", "p.ErrorMessage", data, err, func(any) error { return nil }, "ErrorMessage", "HostMessage") // raw TypeScript: the compiler looks
	return out
}

// filler fills values by reflection.
type filler struct{ m *module }

// fill sets all that v has, with full, and else the zero value, with the first of
// the possible values where not every string is one.
func (f filler) fill(v reflect.Value, full bool) {
	switch x := v.Addr().Interface().(type) {
	case *protocol.Event:
		e := protocol.NewEvent(&protocol.TextDelta{EventID: "evt_x", Delta: "d"})
		e.Seq, e.SessionID, e.ClientID, e.TS = 1, "ses_x", "host", 1
		*x = e
		return
	case *protocol.Message:
		*x = protocol.UserText("hi")
		if full {
			*x = f.messages()[0]
		}
		return
	case *protocol.Block:
		*x = protocol.Text("t")
		if full {
			*x = protocol.ToolUse("id", "Read", json.RawMessage(`{"a":1}`))
		}
		return
	case *json.RawMessage:
		*x = nil
		if full {
			*x = json.RawMessage(`{"a":[1,null]}`)
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text(v.Type().Name(), full))
	case reflect.Bool:
		v.SetBool(full)
	case reflect.Int, reflect.Int64:
		v.SetInt(map[bool]int64{true: 7}[full])
	case reflect.Uint64, reflect.Uint32:
		v.SetUint(map[bool]uint64{true: 7}[full])
	case reflect.Float64:
		v.SetFloat(map[bool]float64{true: 0.5}[full])
	case reflect.Pointer:
		v.SetZero()
		if full {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), full)
		}
	case reflect.Slice:
		v.SetZero()
		if full {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			f.deep(v)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i), full)
			}
		}
	default:
		panic("a field of kind " + v.Kind().String())
	}
}

// deep fills a slice: its first element with much, its second with little. Bytes
// stay what they are, and a type that holds itself ends there.
func (f filler) deep(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return
	}
	self := v.Type().Elem() == reflect.TypeFor[protocol.BlobRef]()
	f.fill(v.Index(0), !self)
	f.fill(v.Index(1), false)
}

func (f filler) text(typ string, full bool) string {
	if d := f.m.by[tsName(typ)]; d != nil && d.kind == enum {
		return d.values[0].value
	}
	return map[bool]string{true: "<text> \u2028"}[full]
}

// events returns an event of a type with as little and with as much as there can be.
func (f filler) events(t *testing.T, typ, class string) (out []protocol.Event) {
	t.Helper()
	parsed, err := protocol.ParseEvent(fmt.Appendf(nil, `{"type":%q,"id":"evt_0000000000000000","parentId":null,"seq":1,"message":{"role":"user"}}`, typ))
	if err != nil {
		t.Fatal(err)
	}
	for _, full := range []bool{false, true} {
		body := reflect.New(reflect.TypeOf(parsed.Body).Elem())
		f.fill(body.Elem(), full)
		e := protocol.NewEvent(body.Interface().(protocol.Body))
		e.Seq, e.SessionID, e.ClientID, e.TS = 1, "ses_x", "host", 1
		switch {
		case class == "Transient" && full:
			e.TurnID = "trn_x"
		case class != "Transient":
			e.ID = "evt_0000000000000000"
			if full {
				e.ParentID, e.Cause = "evt_0000000000000001", &protocol.Cause{ClientID: "cli_x", RequestID: "req_x"}
			}
		}
		out = append(out, e)
	}
	return out
}

// messages returns messages of all roles with blocks of all types.
func (f filler) messages() []protocol.Message {
	var blocks []protocol.Block
	for _, typ := range f.m.by["BlockType"].values {
		b := protocol.Block{Type: protocol.BlockType(typ.value)}
		blocks = append(blocks, b)
		b.Text, b.Thinking, b.Signature, b.Redacted, b.MediaType, b.Blob, b.ID, b.Name = "t", "h", "s", true, "image/png", "ab", "i", "n"
		b.Input, b.Provider = json.RawMessage(`{"a":1}`), &protocol.ProviderData{API: "a", Model: "m", Data: json.RawMessage(`{}`)}
		blocks = append(blocks, b)
	}
	var out []protocol.Message
	for _, role := range f.m.by["Role"].values {
		full := protocol.Message{Role: protocol.Role(role.value), Content: blocks, Meta: &protocol.MessageMeta{Source: "steer", QueueItemID: "itm_x", Channel: "c"},
			Provider: "p", Model: "m", StopReason: "end_turn", Usage: &protocol.Usage{InputTokens: 1, ReasoningTokens: 1, CostUSD: 0.5}, Partial: true,
			ErrorMessage: "e", ToolCallID: "c", ToolName: "t", IsError: true, Details: json.RawMessage(`[1]`), Process: json.RawMessage(`"x"`)}
		out = append(out, full, protocol.Message{Role: full.Role}, protocol.Message{Role: full.Role, Content: []protocol.Block{protocol.Text("one")}})
	}
	return out
}
