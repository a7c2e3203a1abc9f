package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/permission"
	engine "scorel/internal/engine/tool"
	"scorel/protocol"
)

// fake is a server that answers as it is told.
type fake struct {
	answer *connect.Answer
	err    error
	tells  []connect.Progress
	asked  string
}

func (f *fake) Call(_ context.Context, c connect.Call) (*connect.Answer, error) {
	f.asked = c.Tool + string(c.Input)
	for _, p := range f.tells {
		c.Tell(p)
	}
	return f.answer, f.err
}

// kept are payloads in memory.
type kept struct {
	all  [][]byte
	fail error
}

func (k *kept) PutBlob(_ context.Context, r io.Reader) (string, error) {
	data, err := io.ReadAll(r)
	if err == nil {
		err = k.fail
	}
	k.all = append(k.all, data)
	return fmt.Sprintf("sha%d", len(k.all)), err
}

func toolOf(t *testing.T, readOnly bool) connect.Tool {
	t.Helper()
	tools, faults := connect.Tools("db", []*mcp.Tool{{Name: "run.query", Title: "Query", Description: "asks", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: readOnly},
		InputSchema: map[string]any{"type": "object", "properties": map[string]any{"q": map[string]any{"type": "string"}}, "required": []any{"q"}}}})
	if len(tools) != 1 {
		t.Fatal(faults)
	}
	return tools[0]
}

func run(t *testing.T, f *fake, k *kept, told func(protocol.ProcessUpdate)) (engine.Result, error) {
	t.Helper()
	p, err := New(Source{Name: "db"}, toolOf(t, false), f, People{}, k).Prepare(t.Context(), engine.Call{ID: "c1", Input: json.RawMessage(`{"q":"x"}`), Process: told})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	return p.Run(t.Context(), nil)
}

func TestACallIsAskedForAsExecWhateverItsServerSays(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		tool := New(Source{Name: "db"}, toolOf(t, readOnly), &fake{}, People{}, &kept{})
		s := tool.Spec()
		if s.Name != "mcp__db__run_query" || s.Kind != protocol.ToolRuns || s.Parallel != readOnly || s.Description != "asks" {
			t.Errorf("%+v", s)
		}
		p, err := tool.Prepare(t.Context(), engine.Call{Input: json.RawMessage(`{"q":"x"}`)})
		if err != nil || p.Action().Kind != permission.Exec || p.Action().Tool != s.Name {
			t.Errorf("%v, %+v", err, p)
		}
	}
	err := New(Source{Name: "db"}, toolOf(t, false), &fake{}, People{}, &kept{}).Check(json.RawMessage(`{}`))
	if err == nil || !strings.Contains(err.Error(), "missing properties") {
		t.Errorf("%v", err)
	}
}

func TestAnAnswerBecomesAResult(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3000, 10))); err != nil {
		t.Fatal(err)
	}
	f := &fake{answer: &connect.Answer{IsError: true, Structured: json.RawMessage(`{"n":1}`), Parts: []connect.Part{
		{Text: "rows"},
		{Data: picture.Bytes(), MediaType: "image/png", Image: true},
		{Data: []byte("no png"), MediaType: "image/png", Image: true},
		{Data: []byte("wav"), MediaType: "audio/wav", Text: "[audio/wav, 3 bytes]"},
	}}, tells: []connect.Progress{{Done: 1, Total: 4, Message: "a quarter"}, {Done: 2}}}
	var told []string
	k := &kept{}
	r, err := run(t, f, k, func(u protocol.ProcessUpdate) {
		line := u.Message
		if u.Percent != nil {
			line += fmt.Sprint(" ", *u.Percent)
		}
		told = append(told, line)
	})
	if err != nil || !r.IsError || f.asked != `run.query{"q":"x"}` {
		t.Fatalf("%v, %+v, asked %s", err, r, f.asked)
	}
	if len(r.Content) != 2 || !strings.HasPrefix(r.Content[0].Text, "rows\n[a picture, image/png, 6 bytes, cannot be shown: ") || !strings.HasSuffix(r.Content[0].Text, "\n[audio/wav, 3 bytes] kept as blob:sha2") ||
		r.Content[1].Type != protocol.BlockImage || r.Content[1].Blob != "sha1" || len(k.all) != 2 || bytes.Equal(k.all[0], picture.Bytes()) {
		t.Errorf("%+v, %d kept", r.Content, len(k.all))
	}
	if d := r.Details.(protocol.ToolDetails); string(d.Structured) != `{"n":1}` {
		t.Errorf("%+v", d)
	}
	if strings.Join(told, "|") != "a quarter 25|It goes on." {
		t.Errorf("%q", told)
	}
}

func TestALongAnswerIsCutAndKeptWhole(t *testing.T) {
	long := strings.Repeat("ä", maxText)
	r, err := run(t, &fake{answer: &connect.Answer{Parts: []connect.Part{{Text: long}}}}, &kept{}, nil)
	if err != nil || len(r.Content) != 1 || len(r.Content[0].Text) > maxText+200 || !strings.Contains(r.Content[0].Text, `Read with path "result:c1" has the whole`) {
		t.Fatalf("%v, %d", err, len(r.Content))
	}
	if whole, err := io.ReadAll(r.Full); err != nil || string(whole) != long {
		t.Errorf("%v, %d bytes are kept", err, len(whole))
	}
	r, err = run(t, &fake{answer: &connect.Answer{}}, &kept{}, nil)
	if err != nil || r.Content[0].Text != "(no output)" {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	for want, err := range map[string]error{
		"the MCP server db wants somebody to sign in: scorel mcp login db":                                                             connect.ErrNeedsAuth,
		"the MCP server db: it broke off; whether the call took effect is not known, and it is not sent again; check before repeating": fmt.Errorf("it broke off; %w", connect.ErrUnknownEffect),
		"the MCP server db: it is gone": errors.New("it is gone"),
	} {
		if _, got := run(t, &fake{err: err}, &kept{}, nil); got == nil || got.Error() != want {
			t.Errorf("%v\nwant %s", got, want)
		}
	}
	if _, err := run(t, &fake{answer: &connect.Answer{Parts: []connect.Part{{Data: []byte("x"), Text: "[x]"}}}}, &kept{fail: errors.New("the disk is full")}, nil); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("%v", err)
	}
}
