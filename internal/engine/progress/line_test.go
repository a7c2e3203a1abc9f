package progress

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"scorel/protocol"
)

func TestOnlyMarkedLinesOfStderrAreEvents(t *testing.T) {
	for _, line := range []string{
		"", "plain stderr", `{"stage":"frames","message":"too broad"}`, `{"type":"log","message":"m"}`, `{"type":"process_event"}`,
		`{"type":"process_event","message":1,"stage":null}`, `{"type":"process_event","message":"m"} x`, `{"type":"process_event","message":"m"`,
		`[{"type":"process_event","message":"m"}]`, `"process_event"`, `{"Type":"process_event","message":"m"}`, `{"type":["process_event"],"message":"m"}`,
		"x" + `{"type":"process_event","message":"m"}`,
		`{"type":"process_event","message":"` + strings.Repeat("m", MaxLine) + `"}`,
	} {
		if u, ok := ParseLine([]byte(line)); ok {
			t.Errorf("%.80q is an event: %+v", line, u)
		}
	}
}

func TestALineOfStderrIsReadFieldByField(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"a whole one", `{"type":"process_event","time":"2026-05-06T04:07:17.187Z","stage":"frames","message":"frames extracted","taskId":"inspection-1","frameCount":361,"duration":120.38,"resolution":"960x544"}`,
			`{"targetType":"skill","source":"skill","taskId":"inspection-1","stage":"frames","status":"running","level":"info","message":"frames extracted","payload":{"frameCount":361,"duration":120.38,"resolution":"960x544"},"timestamp":"2026-05-06T04:07:17.187Z"}`},
		{"batches", `{"type":"process_event","stage":"detect","message":"m","batch":3,"totalBatches":8,"damageCount":3}`,
			`{"targetType":"skill","source":"skill","stage":"detect","status":"running","level":"info","message":"m","current":3,"total":8,"payload":{"damageCount":3}}`},
		{"current before batch", `{"type":"process_event","message":"m","current":1,"batch":3,"total":2,"totalBatches":8,"percent":7}`,
			`{"targetType":"skill","source":"skill","status":"running","level":"info","message":"m","current":1,"total":2,"percent":7}`},
		{"a stage alone", `{"type":"process_event","stage":"s","message":5}`,
			`{"targetType":"skill","source":"skill","stage":"s","status":"running","level":"info","message":""}`},
		{"words", `{"type":"process_event","message":"m","status":"failed","level":"warning","timestamp":"2026-01-01T00:00:00Z"}`,
			`{"targetType":"skill","source":"skill","status":"failed","level":"warning","message":"m","timestamp":"2026-01-01T00:00:00Z"}`},
		{"words that nobody knows", `{"type":"process_event","message":"m","status":"burning","level":7,"time":5,"timestamp":"t"}`,
			`{"targetType":"skill","source":"skill","status":"running","level":"info","message":"m","timestamp":"t"}`},
		{"numbers that are none", `{"type":"process_event","message":"m","current":"1","total":null,"percent":1e999}`,
			`{"targetType":"skill","source":"skill","status":"running","level":"info","message":"m"}`},
		{"what has no meaning here", `{"type":"process_event","message":"m","operationId":"x","detail":"d","source":"host","payload":{"a":1},"token":"t"}`,
			`{"targetType":"skill","source":"skill","status":"running","level":"info","message":"m","payload":{"operationId":"x","detail":"d","source":"host","payload":"[object]","token":"[redacted]"}}`},
		{"blanks around it", " \t" + `{"type":"process_event","message":"m"}` + "\r\n",
			`{"targetType":"skill","source":"skill","status":"running","level":"info","message":"m"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, ok := ParseLine([]byte(c.line))
			if !ok {
				t.Fatal("it is no event")
			}
			got, err := json.Marshal(u)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, c.want)
			}
		})
	}
	if e := Normalise(mustParse(t, `{"type":"process_event","stage":"s"}`), noon); e.Message != "s" {
		t.Errorf("the message of a stage is %q", e.Message)
	}
}

func mustParse(t *testing.T, line string) protocol.ProcessUpdate {
	t.Helper()
	u, ok := ParseLine([]byte(line))
	if !ok {
		t.Fatalf("%s is no event", line)
	}
	return u
}

func FuzzParseLine(f *testing.F) {
	for _, s := range []string{`{"type":"process_event","message":"m","batch":1,"totalBatches":0}`, `{"type":"process_event","stage":"s","a":{"b":[1,2]},"a":"\ud800"}`,
		`{"type":"process_event","message":"m","percent":-1e308,"token":"x","n":00}`, `{"type":"process_event","message":"m","":1e400}`, "{", "x", "{}{}", "{}\u00a0"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		splitAsJSON(t, line)
		u, ok := ParseLine(line)
		if !ok {
			return
		}
		if !json.Valid(line) || !bytes.Contains(line, []byte("{")) {
			t.Fatalf("%q is an event", line)
		}
		e := Normalise(u, noon)
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%q cannot be written: %v", line, err)
		}
		var back protocol.ProcessEvent
		if err := json.Unmarshal(raw, &back); err != nil || !utf8.Valid(raw) {
			t.Fatalf("%q cannot be read: %v", raw, err)
		}
		if e.Percent != nil && (*e.Percent < 0 || *e.Percent > 100) || len(raw) > 64<<10 {
			t.Fatalf("%q is out of its bounds", raw)
		}
		var payload map[string]any
		if e.Payload != nil && json.Unmarshal(e.Payload, &payload) != nil {
			t.Fatalf("the payload %q", e.Payload)
		}
		for key, value := range payload {
			switch value.(type) {
			case map[string]any, []any:
				t.Fatalf("%q is nested", key)
			}
			if secret(key) && value != "[redacted]" {
				t.Fatalf("%q is shown", key)
			}
		}
	})
}

// splitAsJSON compares how an object is taken apart with what encoding/json says.
func splitAsJSON(t *testing.T, data []byte) {
	t.Helper()
	var want map[string]json.RawMessage
	isObject := json.Unmarshal(data, &want) == nil && want != nil
	fields, ok := object(data)
	if ok != isObject {
		t.Fatalf("%q is an object: %v, not %v", data, ok, isObject)
	}
	if !ok || len(fields) > maxDistinct {
		return
	}
	if len(fields) != len(want) {
		t.Fatalf("%q has %d fields, not %d", data, len(fields), len(want))
	}
	for _, f := range fields {
		if string(want[f.key]) != string(f.value) {
			t.Fatalf("%q of %q is %q, not %q", f.key, data, f.value, want[f.key])
		}
	}
}
