package model

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"scorel/protocol"
)

func TestInputOfACallIsMadeOfWholeCharacters(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":"b"}`, `{"a":"b"}`},
		{`{"a":"\u00e9\n\\"}`, `{"a":"\u00e9\n\\"}`},
		{`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d\ude00"}`},
		{`{"a":"x\ud83d"}`, `{"a":"x\ufffd"}`},
		{`{"a":"\ude00\ud83d"}`, `{"a":"\ufffd\ufffd"}`},
		{`{"a":"\uD83D\uD83D\uDE00"}`, `{"a":"\ufffd\uD83D\uDE00"}`},
		{`{"a":"\ud83d\n"}`, `{"a":"\ufffd\n"}`},
		{`{"a":"\\ud83d"}`, `{"a":"\\ud83d"}`},
		{`{"a":"\\\ud83d"}`, `{"a":"\\\ufffd"}`},
		{`{"\ud83d":1}`, `{"\ufffd":1}`},
		{"{\"a\":\"\xf0\x9f\x98\"}", "{\"a\":\"\uFFFD\uFFFD\uFFFD\"}"}, // as Go's parser reads it
	} {
		end := CallEnd(0, "c", "R", c.in)
		if string(end.Block.Input) != c.want || end.Invalid {
			t.Errorf("%s became %s, want %s", c.in, end.Block.Input, c.want)
		}
		in := []protocol.Message{protocol.UserText("a"), assistantBy("x", "y", protocol.ToolUse("c", "R", json.RawMessage(c.in))), result("c", protocol.Text("z"))}
		if got := Fit(in, anthropicInfo())[1].Content[0].Input; string(got) != c.want {
			t.Errorf("from an older log %s became %s, want %s", c.in, got, c.want)
		}
	}
}

func FuzzWellFormed(f *testing.F) {
	for _, s := range []string{`{"a":"\ud83d\ude00"}`, `\`, `\u`, `\ud83`, `\ud83d\`, `\ud83d\u12`, "\xff\\ud83d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := wellFormed(s)
		if !utf8.ValidString(out) || wellFormed(out) != out {
			t.Fatalf("%q became %q", s, out)
		}
		if json.Valid([]byte(s)) {
			var was, is any
			if json.Unmarshal([]byte(s), &was) != nil || json.Unmarshal([]byte(out), &is) != nil {
				t.Fatalf("%q became %q", s, out)
			}
			a, _ := json.Marshal(was)
			b, _ := json.Marshal(is)
			if string(a) != string(b) {
				t.Fatalf("%s became %s", a, b)
			}
		}
	})
}

func TestACallOfAToolThatNeverWasCanBeSent(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		api  Info
		name string
		want string
	}{
		{anthropicInfo(), "Read", "Read"},
		{anthropicInfo(), "functions.Read:0", "functions_Read_0"},
		{openaiInfo(), "default_api.Read", "default_api_Read"},
		{responsesInfo(), "a b", "a_b"},
		{googleInfo(), "default_api.Read:0", "default_api.Read:0"},
		{googleInfo(), "9 to 5", "_9_to_5"},
		{anthropicInfo(), "", "unknown"},
		{anthropicInfo(), "äö", "__"},
		{anthropicInfo(), long, long[:128]},
		{openaiInfo(), long, long[:64]},
	} {
		in := []protocol.Message{protocol.UserText("a"), assistantBy("x", "y", protocol.ToolUse("c", c.name, nil)), result("c", protocol.Text("z"))}
		if got := Fit(in, c.api)[1].Content[0].Name; got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.api.API, c.name, got, c.want)
		}
	}
}
