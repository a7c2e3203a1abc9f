package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"scorel/protocol/jsonscan"
)

func persistentTypes() (types []EventType) {
	for _, s := range EventSpecs() {
		if s.Class != Transient {
			types = append(types, s.Type)
		}
	}
	return types
}

func transientTypes() (types []EventType) {
	for _, s := range EventSpecs() {
		if s.Class == Transient {
			types = append(types, s.Type)
		}
	}
	return types
}

// fill sets every field below v to something that is not its zero value.
func fill(v reflect.Value) {
	switch m := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*m = json.RawMessage(`{"k":[1,"<b>",null]}`)
		return
	case *Message:
		*m = Message{Role: RoleAssistant, Content: []Block{Text("a <b> & \u2028 ü"), ToolUse("c1", "Read", json.RawMessage(`{"path":"x"}`)),
			{Type: BlockThinking, Thinking: "hm", Signature: "s", Provider: &ProviderData{API: "a", Data: json.RawMessage(`"d"`)}}},
			Provider: "p", Model: "m", StopReason: StopToolUse, Usage: &Usage{InputTokens: 1, CostUSD: 0.25}}
		return
	case *Block:
		*m = Block{Type: BlockFile, Name: "n", MediaType: "text/plain", Blob: strings.Repeat("a", 64)}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text \"quoted\"\n")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(0o644)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	default:
		panic("no sample for " + v.Type().String())
	}
}

func sample(t EventType, r *rand.ChaCha8) Event {
	body := newBody(t)
	fill(reflect.ValueOf(body).Elem())
	ev := NewEvent(body)
	ev.Seq, ev.SessionID, ev.ClientID, ev.TS = 9, NewSessionID(time.UnixMilli(1_800_000_000_000), r), HostClient, 1_800_000_000_123
	if body.class() != Transient {
		ev.ID, ev.ParentID = NewEventID(r), NewEventID(r)
		ev.Cause = &Cause{ClientID: ClientIDOf([]byte("k")), RequestID: NewRequestID(r)}
	} else {
		ev.TurnID = TurnID(randomID("trn_", r, 10))
	}
	return ev
}

func TestEveryEventTypeSurvivesARoundTrip(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	for _, typ := range append(persistentTypes(), transientTypes()...) {
		ev := sample(typ, r)
		line, err := ev.AppendLine(nil)
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		if !json.Valid(line) || bytes.ContainsAny(line, "\n\u2028\u2029") {
			t.Fatalf("%s is not one line of JSON: %s", typ, line)
		}
		got, err := ParseEvent(line)
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		if !reflect.DeepEqual(got.Envelope, ev.Envelope) || !reflect.DeepEqual(got.Body, ev.Body) {
			t.Errorf("%s comes back as\n%+v\nand not as\n%+v", typ, got, ev)
		}
		again, err := Event{Envelope: got.Envelope, Body: got.Body}.AppendLine(nil)
		if err != nil || !bytes.Equal(again, line) {
			t.Errorf("%s is written anew as\n%s\nand not as\n%s (%v)", typ, again, line, err)
		}
	}
}

func TestEnvelopeKeysStandFirstAndInOrder(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	for _, typ := range persistentTypes() {
		line, err := sample(typ, r).AppendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"type", "id", "parentId", "seq", "cause"}
		if newBody(typ).class() == Control {
			want = append(want, "control")
		}
		var keys []string
		for m := jsonscan.NewMembers(line); len(keys) < len(want) && m.Next(); {
			keys = append(keys, string(m.Key))
		}
		if !reflect.DeepEqual(keys, want) {
			t.Errorf("%s begins with %v, want %v", typ, keys, want)
		}
	}
}

func TestUnknownTypesAndFieldsSurviveByteForByte(t *testing.T) {
	for _, tc := range []struct {
		line  string
		class Class
	}{
		{`{"type":"hologram","id":"evt_0000000000000001","parentId":null,"seq":1, "x" : [1.50, "\u00e9"]}`, Conversation},
		{`{"type":"hologram","id":"evt_0000000000000001","parentId":null,"seq":1,"control":true,"x":{}}`, Control},
		{`{"type":"hologram","seq":1}`, Transient},
		{`{"type":"message","id":"evt_0000000000000001","parentId":null,"seq":1,"future":1e3,"message":{"role":"user","content":"x","tone":"warm"}}`, Conversation},
		{`{"seq":1,"type":"label","id":"evt_0000000000000001","targetEventId":"evt_0000000000000002","label":null,"control":true}`, Control},
	} {
		ev, err := ParseEvent([]byte(tc.line))
		if err != nil {
			t.Errorf("%s: %v", tc.line, err)
			continue
		}
		got, err := ev.AppendLine(nil)
		if err != nil || string(got) != tc.line {
			t.Errorf("%s is written back as %s (%v)", tc.line, got, err)
		}
		if ev.Class() != tc.class {
			t.Errorf("%s has class %d, want %d", tc.line, ev.Class(), tc.class)
		}
		if b, err := json.Marshal([]Event{ev}); err != nil || !json.Valid(b) {
			t.Errorf("%s does not marshal inside other JSON: %v", tc.line, err)
		}
	}
}

func TestWriterRefusesEventsThatBreakTheContract(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	for name, spoil := range map[string]func(*Event){
		"no body":       func(e *Event) { e.Body = nil },
		"other type":    func(e *Event) { e.Type = TypeCompact },
		"no seq":        func(e *Event) { e.Seq = 0 },
		"no client":     func(e *Event) { e.ClientID = "" },
		"no session":    func(e *Event) { e.SessionID = "" },
		"no id":         func(e *Event) { e.ID = "" },
		"bad id":        func(e *Event) { e.ID = "evt_../../etc" },
		"bad parent":    func(e *Event) { e.ParentID = "evt_x" },
		"wrong control": func(e *Event) { e.Control = true },
		"unknown body":  func(e *Event) { e.Body, e.Type = &Unknown{Type: "x"}, "x" },
		"too deep": func(e *Event) {
			*e = sample(TypeCustom, r)
			e.Body = &Custom{Kind: "x", Data: []byte(strings.Repeat("[", jsonscan.MaxDepth) + strings.Repeat("]", jsonscan.MaxDepth))}
		},
		"too long":        func(e *Event) { e.Body = &MessageBody{Message: UserText(strings.Repeat("x", MaxLine))} },
		"unwritable role": func(e *Event) { e.Body = &MessageBody{Message: Message{Role: "ghost"}} },
		"unwritable block": func(e *Event) {
			e.Body = &MessageBody{Message: Message{Role: RoleUser, Content: []Block{{Type: "ghost"}}}}
		},
		"broken tool input": func(e *Event) {
			e.Body = &MessageBody{Message: Message{Role: RoleAssistant, Content: []Block{ToolUse("a", "b", json.RawMessage("{"))}}}
		},
	} {
		ev := sample(TypeMessage, r)
		spoil(&ev)
		if line, err := ev.AppendLine([]byte("before")); err == nil {
			t.Errorf("%s was written: %.200s", name, line)
		} else if string(line) != "before" {
			t.Errorf("%s left %q behind", name, line)
		}
	}
}

func TestReaderRefusesLinesThatAreNoEvents(t *testing.T) {
	const id = `"id":"evt_0000000000000001"`
	for _, line := range []string{
		"", " ", "null", "[]", "{}", `{"type":"message"}`, `{"type":"message",` + id + `}`,
		`{"type":"message",` + id + `,"seq":0,"message":{"role":"user","content":""}}`,
		`{"type":"message",` + id + `,"seq":-1,"message":{"role":"user","content":""}}`,
		`{"type":"message",` + id + `,"seq":1.5,"message":{"role":"user","content":""}}`,
		`{"type":"message",` + id + `,"seq":1,"message":{"role":"user","content":""}`,
		`{"type":"message",` + id + `,"seq":1,"message":{"role":"user","content":""}}{}`,
		`{"type":"message",` + id + `,"seq":1,"message":{"role":"user","content":7}}`,
		`{"type":"message",` + id + `,"seq":1,"message":{"content":"x"}}`,
		`{"type":"message",` + id + `,"seq":1,"message":{"role":"user","content":"` + "\x01" + `"}}`,
		`{"type":"message",` + id + `,"seq":1,"message":{"role":"user","content":"x"},"y":tru}`,
		`{"type":"message","id":"evt_1","seq":1,"message":{"role":"user","content":"x"}}`,
		`{"type":"hologram",` + id + `,"seq":1,"x":01}`,
		`{"type":"compact",` + id + `,"seq":1,"summary":5}`,
		strings.Repeat("[", 100000), `{"type":` + strings.Repeat("[", 100000),
	} {
		if ev, err := ParseEvent([]byte(line)); err == nil {
			t.Errorf("%.120q was read as %+v", line, ev.Envelope)
		}
	}
}

func TestWithSessionChangesNothingElse(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	to := NewSessionID(time.UnixMilli(1_900_000_000_000), r)
	for _, typ := range persistentTypes() {
		line, err := sample(typ, r).AppendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		from, err := ScanEnvelope(line)
		if err != nil {
			t.Fatal(err)
		}
		got, err := WithSession(line, to)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(string(line), string(from.SessionID), string(to), 1); string(got) != want {
			t.Errorf("%s became\n%s\nwant\n%s", typ, got, want)
		}
	}
}

func TestIDsSortByTimeAndKnowIt(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	last := SessionID("")
	for ms := int64(1_700_000_000_000); ms < 1_900_000_000_000; ms += 7_777_777_777 {
		id := NewSessionID(time.UnixMilli(ms), r)
		if err := id.Check(); err != nil {
			t.Fatal(err)
		}
		if id <= last {
			t.Fatalf("%s of a later time sorts before %s", id, last)
		}
		if got := id.Time().UnixMilli(); got != ms {
			t.Fatalf("%s was made at %d, says %d", id, ms, got)
		}
		last = id
	}
}

func TestIDsOfAnotherFormAreRefused(t *testing.T) {
	for _, id := range []string{"", "ses_", "ses_../../../../etc/passwd00000", "evt_0123456789abcdef0123456789", "ses_0123456789ABCDEF0123456789", "ses_0123456789abcdef012345678w"} {
		if SessionID(id).Check() == nil {
			t.Errorf("%q passes as a session id", id)
		}
	}
}

func TestHeaderSurvivesARoundTrip(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	var h Header
	fill(reflect.ValueOf(&h).Elem())
	h.Version, h.SessionID = HeaderVersion, NewSessionID(time.UnixMilli(1_800_000_000_000), r)
	h.Meta.Name = "a\u2028b"
	line, err := h.AppendLine(nil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(line, []byte("\u2028")) {
		t.Fatalf("a raw line separator stands in %s", line)
	}
	for _, prefix := range []string{"", "\xef\xbb\xbf"} {
		got, err := ParseHeader(append([]byte(prefix), line...))
		if err != nil || !reflect.DeepEqual(got, h) {
			t.Fatalf("%+v (%v), want %+v", got, err, h)
		}
	}
	if _, err := ParseHeader([]byte(`{"version":1,"sessionId":"x"}`)); err == nil {
		t.Fatal("a header without a session id was read")
	}
}

func BenchmarkParseMessages(b *testing.B) {
	r := rand.NewChaCha8([32]byte{1})
	ev := sample(TypeMessage, r)
	ev.Body = &MessageBody{Message: Message{Role: RoleAssistant, Content: []Block{Text(strings.Repeat("a line\n", 20))},
		Provider: "anthropic", Model: "claude", StopReason: StopEndTurn, Usage: &Usage{InputTokens: 10}}}
	line, err := ev.AppendLine(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("%dB", len(line)), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseEvent(line); err != nil {
				b.Fatal(err)
			}
		}
	})
}
