package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestNamesOfTools(t *testing.T) {
	for _, test := range []struct{ server, tool, want string }{
		{"git", "status", "mcp__git__status"},
		{"my git", "städte.list", "mcp__my_git__st_dte_list"},
		{"plugin:a:b", "x", "mcp__plugin_a_b__x"},
		{"git", strings.Repeat("long", 30), "mcp__git__" + strings.Repeat("long", 11) + "l_3daff3a6"},
	} {
		got := ToolName(test.server, test.tool)
		if len(got) > maxName {
			t.Errorf("%q has %d bytes", got, len(got))
		}
		if len(test.tool) > 100 {
			if !regexp.MustCompile(`^mcp__git__(long)+l?_[0-9a-f]{8}$`).MatchString(got) || got == ToolName("git", test.tool+"2") {
				t.Errorf("%q", got)
			}
			continue
		}
		if got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func object(properties string) any {
	var v any
	if err := json.Unmarshal([]byte(`{"type":"object",`+properties+`}`), &v); err != nil {
		panic(err)
	}
	return v
}

func TestToolsThatAreLeftOut(t *testing.T) {
	doubling := `"$defs":{`
	for i := range 30 {
		doubling += fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	doubling += `"d30":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/d0"}}`
	for name, test := range map[string]struct {
		schema any
		want   string
	}{
		"none":          {nil, "no schema"},
		"no object":     {map[string]any{"type": "string"}, `"type" must be "object"`},
		"a boolean":     {true, `"type" must be "object"`},
		"foreign":       {object(`"properties":{"a":{"$ref":"https://evil.example/s.json"}}`), `refers to "https://evil.example/s.json"`},
		"endless":       {object(`"properties":{"a":{"$ref":"#/properties/a"}}`), "refers to itself"},
		"endless, far":  {object(`"$defs":{"x":{"allOf":[{"$ref":"#/$defs/y"}]},"y":{"anyOf":[{"$ref":"#/$defs/x"}]}},"properties":{"a":{"$ref":"#/$defs/x"}}`), "refers to itself"},
		"a name":        {object(`"$defs":{"x":{"$anchor":"n","allOf":[{"$ref":"#n"}]}}`), "refers to itself"},
		"doubling":      {object(doubling), "too long to check"},
		"a wrong value": {object(`"properties":{"a":{"minLength":"many"}}`), "not one"},
		"a pattern":     {object(`"properties":{"a":{"pattern":"(?!x)"}}`), "cannot be used"},
		"a reference":   {object(`"properties":{"a":{"$ref":"#/$defs/none"}}`), "cannot be used"},
		"large":         {object(`"description":"` + strings.Repeat("x", maxSchema) + `"`), "256 are taken"},
		"deep":          {object(`"properties":` + strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)), "levels deep"},
	} {
		tools, faults := Tools("s", []*mcp.Tool{{Name: "bad", InputSchema: test.schema}, {Name: "good", InputSchema: object(`"properties":{}`)}, nil})
		if len(tools) != 1 || len(faults) != 1 || !strings.Contains(faults[0], `its tool "bad" is left out: `) || !strings.Contains(faults[0], test.want) {
			t.Errorf("%s: %d tools, %q", name, len(tools), faults)
		}
	}
}

func TestOfTwoToolsWithOneNameTheFirstCounts(t *testing.T) {
	tools, faults := Tools("s", []*mcp.Tool{{Name: "a.b", InputSchema: object(`"properties":{}`)}, {Name: "a b", InputSchema: object(`"properties":{}`)}})
	if len(tools) != 1 || tools[0].Own != "a b" || len(faults) != 1 || !strings.Contains(faults[0], `"a.b" is left out: it would be called mcp__s__a_b, as "a b" is`) {
		t.Errorf("%+v, %q", tools, faults)
	}
}

func TestTextsOfAServerAreCleanedAndCut(t *testing.T) {
	tools, _ := Tools("s", []*mcp.Tool{{Name: "x", Title: "A\nB\x1b]0;evil\a", Description: "\u202eabc\U000E0041" + strings.Repeat("ä", 2000),
		InputSchema: object(`"properties":{"a":{"description":"\u001b[31mred` + strings.Repeat("x", 3000) + `"}}`)}})
	got := tools[0]
	if got.Title != "A B]0;evil" || !strings.HasPrefix(got.Description, "abcää") || len(got.Description) > maxDescription {
		t.Errorf("%q, %d bytes of %q", got.Title, len(got.Description), got.Description[:20])
	}
	if s := string(got.Schema); strings.Contains(s, `\u001b`) || len(s) > 2200 || !strings.Contains(s, "[31mred") {
		t.Errorf("%.100s", s)
	}
}

func TestAnInputIsCheckedSoon(t *testing.T) {
	tree := Tool{}
	if err := tree.read(object(`"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"type":"string"}]}},"additionalProperties":false`)); err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)
	done := make(chan struct{})
	go func() { // ends with the check
		defer close(done)
		if err := tree.Check(json.RawMessage(deep)); err != nil {
			t.Errorf("what takes too long is left to the server: %v", err)
		}
		if err := tree.Check(json.RawMessage(`{"b":1}`)); err == nil {
			t.Error("what does not fit passes")
		}
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the check does not end")
	}
}

func TestFramesPassOnlyMessages(t *testing.T) {
	in := "hello\n" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n\n" + `{"half":` + "\r\n" + `[1,2]` + "\n" + `{"jsonrpc":"2.0","method":"notifications/ours"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","method":"roots/list"}` + "\nlast"
	var left []string
	f := newFrames(io.NopCloser(iotest.OneByteReader(strings.NewReader(in))), func(line []byte) { left = append(left, string(line)) })
	got, err := io.ReadAll(f)
	want := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n[1,2]\n" + `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","method":"roots/list"}` + "\n"
	if err != nil || string(got) != want || strings.Join(left, "|") != `hello|{"half":|last` {
		t.Errorf("%v\n%s\nleft %q", err, got, left)
	}
}

func TestAFloodOfNotificationsIsThinned(t *testing.T) {
	one := `{"jsonrpc":"2.0","method":"notifications/message","params":{}}` + "\n"
	f := newFrames(io.NopCloser(strings.NewReader(strings.Repeat(one, 10_000))), func([]byte) {})
	f.now = func() time.Time { return time.Unix(1, 0) }
	got, err := io.ReadAll(f)
	if n := bytes.Count(got, []byte("\n")); err != nil || n != maxNotices {
		t.Errorf("%d pass, %v", n, err)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\nx\n[]\n{\"a\":1}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := io.ReadAll(newFrames(io.NopCloser(bytes.NewReader(in)), func([]byte) {}))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(got) {
			if !json.Valid(line) || !bytes.HasSuffix(line, []byte("\n")) || !bytes.Contains(in, bytes.TrimSpace(line)) {
				t.Fatalf("%q passes", line)
			}
		}
	})
}

func FuzzTools(f *testing.F) {
	f.Add("a", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`, `{"a":"b"}`)
	f.Fuzz(func(t *testing.T, name, schema, in string) {
		var v any
		if json.Unmarshal([]byte(schema), &v) != nil {
			return
		}
		tools, faults := Tools("s", []*mcp.Tool{{Name: name, InputSchema: v}})
		if len(tools)+len(faults) != 1 {
			t.Fatalf("%d tools, %q", len(tools), faults)
		}
		for _, tool := range tools {
			if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(tool.Name) || !json.Valid(tool.Schema) {
				t.Fatalf("%+v", tool)
			}
			_ = tool.Check(json.RawMessage(in)) // ends
		}
	})
}
