package protocol

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWhatIsNoTextIsFoundWithItsField(t *testing.T) {
	for _, test := range []struct{ data, field, says string }{
		{`{"a":"b"}`, "", ""},
		{`{"a":"\ud83d\ude00"}`, "", ""}, // both halves
		{`{"a":"\\ud800"}`, "", ""},      // a backslash, and no escape
		{`{"a":"\ufffd"}`, "", ""},
		{"{\"a\":\"\xff\"}", "a", "byte 6 of 9"},
		{"{\"a\":\"\xff", "", "byte 6 of 7"},
		{"{\"\xff\":1}", "", "UTF-8"},
		{`{"a":"\ud800"}`, "a", `\ud800 at byte 6`},
		{`{"a":"\ude00\ud83d"}`, "a", `\ude00`},
		{`{"a":"\ud83dx"}`, "a", `\ud83d`},
		{`{"a":"\ud83d\ud83d\ude00"}`, "a", "byte 6"},
		{`{"a":[{},{"b" : "\uDC00"}]}`, "a[1].b", `\uDC00`},
		{`{"a":{"b":[[1],["x","\ud800"]]}}`, "a.b[1][1]", `\ud800`},
		{`{"` + strings.Repeat("n", 200) + `":"\ud800"}`, strings.Repeat("n", MaxWord), `\ud800`},
		{"\xff", "", "byte 0 of 1"},
		{`"\`, "", ""}, {`"\u`, "", ""}, {`"\ud8`, "", ""},
	} {
		p := CheckText("message", []byte(test.data))
		switch {
		case test.says == "" && p != nil:
			t.Errorf("%q: %v", test.data, p)
		case test.says != "" && (p == nil || p.Field != test.field || !strings.Contains(p.Text, test.says)):
			t.Errorf("%q: %+v, not %q with %q", test.data, p, test.field, test.says)
		}
	}
}

// FuzzCheckText: what is not text for one is changed by the decoder, and the other way round.
func FuzzCheckText(f *testing.F) {
	for _, s := range []string{`{"a":"\ud800"}`, `{"a":"\ud83d\ude00"}`, "{\"a\":[\"\xff\"]}", `{"\ud800":1}`, `["\\\ud800"]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := CheckText("message", data)
		if !json.Valid(data) {
			return
		}
		var v any
		if json.Unmarshal(data, &v) != nil {
			return
		}
		plain, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		replaced := strings.Count(string(plain), "\ufffd") + strings.Count(string(plain), `\ufffd`)
		own := strings.Count(strings.ToLower(string(data)), `\ufffd`) + strings.Count(string(data), "\ufffd")
		if p == nil && replaced > own {
			t.Errorf("%q is text, and is read as %q", data, plain)
		}
		if p != nil && replaced == 0 {
			t.Errorf("%q: %s; it is read as %q", data, p.Text, plain)
		}
	})
}
