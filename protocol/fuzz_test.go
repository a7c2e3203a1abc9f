package protocol

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func fuzzSeeds(f *testing.F) {
	r := rand.NewChaCha8([32]byte{1})
	for _, typ := range append(persistentTypes(), transientTypes()...) {
		line, err := sample(typ, r).AppendLine(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	for _, s := range []string{
		`{"type":"message","id":"evt_0000000000000001","seq":1,"message":{"role":"user","content":"\ud83d\ude00\u00e9\\\""}}`,
		`{"type":"message","id":"evt_0000000000000001","seq":1,"message":{"Role":"user","role":"assistant","content":null,"usage":null}}`,
		`{"type":"message","id":"evt_0000000000000001","seq":1,"message":{"role":"user","content":[{"type":"ghost","a":[{}]}]}}`,
		`{"type":"message","id":"evt_0000000000000001","seq":1,"message":{"role":"assistant","usage":{"inputTokens":1e2,"costUSD":-0.5e-3}}}`,
		`{"ty\u0070e":"x","seq":18446744073709551615}`, `{"type":"x","seq":2,"type":null}`, `{"type":"x","seq":3,"cause":null,"control":1}`,
	} {
		f.Add([]byte(s))
	}
}

// checkParse holds what is true for every line.
func checkParse(t *testing.T, line []byte) {
	ev, err := ParseEvent(line)
	checkReader(t, &Reader{}, line, ev, err)
	if err != nil {
		return
	}
	if !json.Valid(line) {
		t.Fatalf("invalid JSON was read: %q", line)
	}
	if got, err := ev.AppendLine(nil); err != nil || !bytes.Equal(got, line) {
		t.Fatalf("%q is written back as %q (%v)", line, got, err)
	}
	body := newBody(ev.Type)
	if body == nil {
		return
	}
	if err := json.Unmarshal(line, body); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", line, err)
	}
	if !reflect.DeepEqual(body, ev.Body) {
		t.Fatalf("%q is\n%#v\nfor encoding/json\n%#v", line, ev.Body, body)
	}
}

// checkReader holds that a reader reads a line as ParseEvent did, and keeps nothing of it.
func checkReader(t interface{ Fatalf(string, ...any) }, r *Reader, line []byte, want Event, wantErr error) {
	buf := bytes.Clone(line)
	got, err := r.Parse(buf)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("a reader says %v of %q, ParseEvent %v", err, line, wantErr)
	}
	if !bytes.Equal(buf, line) {
		t.Fatalf("a reader has changed %q to %q", line, buf)
	}
	for i := range buf {
		buf[i] = 'X'
	}
	if err != nil {
		return
	}
	if !reflect.DeepEqual(got.Envelope, want.Envelope) || !reflect.DeepEqual(got.Body, want.Body) || got.Sum() != want.Sum() {
		t.Fatalf("%q is for a reader\n%#v\n%#v\nwant\n%#v\n%#v", line, got, got.Body, want, want.Body)
	}
	if raw := got.Raw(); raw != nil && !bytes.Equal(raw, line) {
		t.Fatalf("a reader gives %q the bytes %q", line, raw)
	}
	if out, err := got.AppendLine(nil); err == nil && !bytes.Equal(out, line) {
		t.Fatalf("what a reader read of %q is written as %q", line, out)
	}
}

// TestReaderKeepsEventsApart reads many messages of all lengths through one reader and
// one buffer, and compares them only when all are read.
func TestReaderKeepsEventsApart(t *testing.T) {
	const messages = 400
	text := func(i int) string {
		return strings.Repeat(strings.Repeat("a\"\n<ü", i%7)+"plain text ", i*i%2500)
	}
	var r Reader
	var got []Event
	var buf []byte
	for i := range messages {
		m := Message{Role: RoleAssistant, Provider: "mock", Model: "m", StopReason: StopToolUse, Details: json.RawMessage(`{"a":"b\n"}`),
			Content: []Block{Text(text(i)), ToolUse("call", "Read", json.RawMessage(`{"path":"`+strings.Repeat("x", i*i%9000)+`"}`))}}
		if i%2 > 0 {
			m = Message{Role: RoleToolResult, ToolCallID: "call", ToolName: "Read", Content: []Block{Text(text(i))}, Details: m.Details}
		}
		e := NewEvent(&MessageBody{Message: m})
		e.ID, e.Seq, e.SessionID, e.ClientID = "evt_0000000000000001", Seq(i+1), "ses_00000000000000000001", HostClient
		e, err := e.SealAfter(Seq(i))
		if err != nil {
			t.Fatal(err)
		}
		buf = append(buf[:0], e.Raw()...)
		if e, err = r.Parse(buf); err != nil || e.Raw() != nil {
			t.Fatalf("message %d: %v, with a line of %d bytes", i, err, len(e.Raw()))
		}
		got = append(got, e)
	}
	for i, e := range got {
		m, _ := e.Message()
		if want := text(i); m.PlainText() != want {
			t.Fatalf("message %d has the text %.40q of %d bytes, want %d bytes", i, m.PlainText(), len(m.PlainText()), len(want))
		}
		if i%2 == 0 && (len(m.Calls()) != 1 || len(m.Calls()[0].Input) != len(`{"path":""}`)+i*i%9000) {
			t.Fatalf("message %d has the calls %v", i, m.Calls())
		}
		if i%2 > 0 && string(m.Details) != `{"a":"b\n"}` {
			t.Fatalf("message %d has the details %s", i, m.Details)
		}
		if e.Sum() != SumRight {
			t.Fatalf("message %d has a wrong sum", i)
		}
	}
	if _, err := got[0].AppendLine(nil); err == nil {
		t.Fatal("a message without its line was written anew, without the members that a log needs")
	}
}

func FuzzParseEvent(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(checkParse)
}

// checkScan holds that the scanner reads the envelope as encoding/json does.
func checkScan(t *testing.T, line []byte) {
	e, err := ScanEnvelope(line)
	if err != nil || !json.Valid(line) {
		return // the scanner checks structure only
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	text := func(key string) string {
		var s string
		if v, ok := m[key]; ok {
			if err := json.Unmarshal(v, &s); err != nil {
				t.Fatalf("%s of %q: %v", key, line, err)
			}
		}
		return s
	}
	var seq Seq
	if err := json.Unmarshal(m["seq"], &seq); err != nil {
		t.Fatalf("seq of %q: %v", line, err)
	}
	want := Envelope{Type: EventType(text("type")), ID: EventID(text("id")), ParentID: EventID(text("parentId")), Seq: seq,
		Control: string(m["control"]) == "true", SessionID: SessionID(text("sessionId")), ClientID: ClientID(text("clientId")),
		TurnID: TurnID(text("turnId")), TS: e.TS, Cause: e.Cause}
	if e.ID == "" {
		want.ParentID = ""
	}
	if bytes.Count(line, []byte("lientId")) > 1 || bytes.ContainsRune(line, '\\') { // of two the first counts
		want.ClientID = e.ClientID
	}
	if !reflect.DeepEqual(e, want) {
		t.Fatalf("%q\nscanned %+v\nwant    %+v", line, e, want)
	}
}

func FuzzScanEnvelope(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(checkScan)
}

// TestHandDecoderAgreesWithEncodingJSON draws lines that are near to those of
// message events: keys repeated, misspelt, missing and of other types.
func TestHandDecoderAgreesWithEncodingJSON(t *testing.T) {
	scalar := rapid.SampledFrom([]string{`"x"`, `"user"`, `"tool_result"`, `"a\nb\u00e9\"\\"`, `"\ud83d\ude00"`, `"\ud800"`, `"ü\u2028"`, "\"\xff\"",
		`null`, `true`, `false`, `0`, `-1`, `12`, `1.0`, `1e2`, `1e999`, `99999999999999999999`, `[]`, `{}`, `[1]`, `"text"`, `"tool_use"`, `"thinking"`, `"ghost"`, ` "x" `, `tru`, `01`})
	var object func(depth int, keys []string) *rapid.Generator[string]
	blockKeys := []string{"type", "text", "thinking", "signature", "redacted", "id", "name", "mediaType", "blob", "input", "provider", "Type", "TEXT", "more"}
	object = func(depth int, keys []string) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			var s strings.Builder
			s.WriteByte('{')
			for i := range rapid.IntRange(0, 6).Draw(t, "fields") {
				if i > 0 {
					s.WriteByte(',')
				}
				key := rapid.SampledFrom(keys).Draw(t, "key")
				value := scalar
				if depth > 0 && rapid.IntRange(0, 2).Draw(t, "nest") > 0 {
					switch key {
					case "content":
						value = rapid.Map(rapid.SliceOfN(object(depth-1, blockKeys), 0, 3), func(l []string) string { return "[" + strings.Join(l, ",") + "]" })
					case "usage":
						value = object(0, []string{"inputTokens", "outputTokens", "costUSD", "inputtokens", "x"})
					case "meta":
						value = object(0, []string{"source", "queueItemId", "channel", "x"})
					case "provider":
						value = object(0, []string{"api", "model", "data", "API"})
					case "input", "details":
						value = object(depth-1, []string{"a", "b"})
					}
				}
				s.WriteString(`"` + key + `":` + value.Draw(t, "value"))
			}
			return s.String() + "}"
		})
	}
	message := object(2, []string{"role", "role", "role", "content", "content", "provider", "model", "stopReason", "usage", "partial", "errorMessage", "toolCallId", "toolName", "isError", "details", "process", "meta", "Role", "toolcallid", "more"})
	usual := `{"type":"message","id":"evt_0000000000000001","seq":1,"message":{"role":"user","content":[{"type":"text","text":"x"}],"meta":{"source":"steer"}}}`
	if _, ok := fastMessage([]byte(usual), nil); !ok {
		t.Fatal("the hand decoder does not read a usual line")
	}
	var reader Reader
	rapid.Check(t, func(rt *rapid.T) {
		line := `{"type":"message","id":"evt_0000000000000001","seq":1,"message":` + message.Draw(rt, "message") + "}"
		ev, err := ParseEvent([]byte(line))
		var want MessageBody
		if werr := json.Unmarshal([]byte(line), &want); (werr == nil) != (err == nil) {
			rt.Fatalf("%s\ngives %v, encoding/json %v", line, err, werr)
		}
		if err == nil && !reflect.DeepEqual(ev.Body, &want) {
			rt.Fatalf("%s\n%#v\n%#v", line, ev.Body, &want)
		}
		checkReader(rt, &reader, []byte(line), ev, err)
	})
}
