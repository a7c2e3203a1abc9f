package shape

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/protocol"
)

func same(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("%s: %s: %v", what, got, err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("%s: %s: %v", what, want, err)
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if string(x) != string(y) {
		t.Errorf("%s:\n got  %s\n want %s", what, x, y)
	}
}

// whole are messages with everything that the log can hold.
func whole() []string {
	return []string{
		`{"role":"user","content":[{"type":"text","text":"hello"}],"meta":{"source":"steer"}}`,
		`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","mediaType":"image/png","blob":"ab12"},{"type":"file","name":"a.pdf","mediaType":"application/pdf","blob":"cd"}]}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look"},{"type":"tool_use","id":"c1","name":"Read","input":{"path":"a"}},{"type":"tool_use","id":"c2","name":"own_tool","input":{}}],
			"provider":"p","model":"m","stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4,"reasoningTokens":5,"costUSD":0.5}}`,
		`{"role":"assistant","content":[],"provider":"p","model":"m","stopReason":"refusal","usage":{"inputTokens":1,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0},"partial":true,"errorMessage":"no"}`,
		`{"role":"tool_result","toolCallId":"c1","toolName":"Glob","content":[{"type":"text","text":"a.go"}],"isError":true,"details":{"n":1}}`,
		`{"role":"internal","content":[{"type":"text","text":"note"}]}`,
	}
}

func TestAMessageComesBackAsItWas(t *testing.T) {
	for _, text := range whole() {
		var m protocol.Message
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		pi, err := ToPi([]byte(text), 7)
		if err != nil {
			t.Fatal(err)
		}
		back, err := FromPi(pi)
		if err != nil {
			t.Fatal(err)
		}
		same(t, text, back, string(want))
	}
}

func TestAMessageLooksAsPiHasIt(t *testing.T) {
	for i, want := range []string{
		`{"role":"user","content":"hello","timestamp":7,"scorelMeta":{"source":"steer"}}`,
		`{"role":"user","timestamp":7,"content":[{"type":"text","text":"look"},{"type":"image","mimeType":"image/png","data":"","blob":"ab12"},{"type":"file","name":"a.pdf","mimeType":"application/pdf","blob":"cd"}]}`,
		`{"role":"assistant","timestamp":7,"provider":"p","model":"m","stopReason":"toolUse",
			"content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"text","text":"I look"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a"}},{"type":"toolCall","id":"c2","name":"own_tool","arguments":{}}],
			"usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5},"scorelReasoningTokens":5}}`,
	} {
		pi, err := ToPi([]byte(whole()[i]), 7)
		if err != nil {
			t.Fatal(err)
		}
		same(t, whole()[i], pi, want)
	}
}

func TestBuiltInToolsHaveTheirNamesOnBothSides(t *testing.T) {
	for _, name := range []string{"Bash", "Read", "Write", "Edit", "Grep", "Glob", "WebFetch", "mcp__a__b"} {
		if got := toolFromPi(toolToPi(name)); got != name {
			t.Errorf("%s comes back as %s", name, got)
		}
	}
}

func TestNewDataOfAPictureStandsForItsBlob(t *testing.T) {
	for pi, want := range map[string]string{
		`{"type":"image","mimeType":"image/png","data":"QQ=="}`:               "data:QQ==",
		`{"type":"image","mimeType":"image/png","data":"QQ==","blob":"ab12"}`: "data:QQ==",
		`{"type":"image","mimeType":"image/png","data":"","blob":"ab12"}`:     "ab12",
	} {
		got, err := FromPi([]byte(`{"role":"user","content":[` + pi + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		same(t, pi, got, `{"role":"user","content":[{"type":"image","mediaType":"image/png","blob":"`+want+`"}]}`)
	}
}

func TestWhatIsNoMessageIsRefusedWithASentence(t *testing.T) {
	for text, want := range map[string]string{
		`"hello"`:                                                "an object with role and content",
		`{"content":"x"}`:                                        "it has no role",
		`{"role":"robot","content":"x"}`:                         `its role is "robot"`,
		`{"role":"user","content":7}`:                            "neither a text nor a list",
		`{"role":"user","content":[{"text":"x"}]}`:               "no type",
		`{"role":"user","content":[{"type":"text"}]}`:            "has no text",
		`{"role":"user","content":[{"type":"image","data":""}]}`: "neither data nor a blob",
		`{"role":"toolResult","content":[],"toolName":"read"}`:   "without the id of its call",
	} {
		if _, err := FromPi([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; it should say %q", text, err, want)
		}
	}
}

func FuzzWhatComesBackIsAMessageOrAnError(f *testing.F) {
	for _, text := range whole() {
		f.Add([]byte(text))
		if pi, err := ToPi([]byte(text), 7); err == nil {
			f.Add(pi)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		back, err := FromPi(data)
		if err != nil {
			return
		}
		var m protocol.Message
		if err := json.Unmarshal(back, &m); err != nil {
			t.Fatalf("%s became %s: %v", data, back, err)
		}
		if _, err := ToPi(back, 0); err != nil {
			t.Fatalf("%s cannot be shown again: %v", back, err)
		}
	})
}
