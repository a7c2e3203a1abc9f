package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// detour is a tool whose calls are calls of others.
type detour struct {
	*gadget
	to map[string]*gadget
}

func newDetour(to ...*gadget) *detour {
	d := &detour{newGadget("Detour", nil), map[string]*gadget{}}
	d.spec.Schema = json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string"},"params":{"type":"object"}},"required":["tool_name","params"]}`)
	for _, g := range to {
		d.to[g.spec.Name] = g
	}
	return d
}

func (d *detour) Target(_ context.Context, input json.RawMessage) (tool.Tool, json.RawMessage, error) {
	var in struct {
		Name   string          `json:"tool_name"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, nil, err
	}
	if t := d.to[in.Name]; t != nil {
		return t, in.Params, nil
	}
	return nil, nil, errors.New("there is no such tool; search for it")
}

func (d *detour) Behind(name string) tool.Tool {
	if t := d.to[name]; t != nil {
		return t
	}
	return nil
}

// witness keeps what a host and hooks are asked.
type witness struct {
	*desk
	questions []Question
	before    []string
	after     []string
}

func (a *witness) Permit(_ context.Context, q Question) (Permit, error) {
	a.questions = append(a.questions, q)
	return Permit{Allowed: true}, nil
}

func (a *witness) BeforeTool(_ context.Context, call tool.Call, spec tool.Spec) (BeforeTool, error) {
	a.before = append(a.before, spec.Name+" "+string(call.Input))
	return BeforeTool{Input: json.RawMessage(`{"n":7}`)}, nil
}

func (a *witness) AfterTool(_ context.Context, call tool.Call, spec tool.Spec, m protocol.Message) (protocol.Message, error) {
	a.after = append(a.after, spec.Name+" "+string(call.Input))
	return m, nil
}

func (a *witness) Stop(context.Context, Ending) (string, error) { return "", nil }

func TestACallThatIsRedirectedIsOneOfItsTargetForAllButTheModel(t *testing.T) {
	far := newGadget("Far", func(_ context.Context, in json.RawMessage, _ func(string)) (tool.Result, error) {
		return tool.Result{Content: []protocol.Block{protocol.Text("ran " + string(in))}}, nil
	})
	tr := newTrial(t, []tool.Tool{newDetour(far)}, `{"do":[{"call":"Detour","id":"c1","input":{"tool_name":"Far","params":{"n":3}}}]}`, done)
	a := &witness{desk: tr.desk}
	tr.run.Host, tr.run.Hooks = a, a
	tr.execute(t.Context())
	if got := tr.results(); !slices.Equal(got, []string{`c1 false ran {"n":7}`}) {
		t.Errorf("results: %q", got)
	}
	if len(a.questions) != 1 || a.questions[0].Tool.Name != "Far" || string(a.questions[0].Input) != `{"n":7}` {
		t.Errorf("asked about: %+v", a.questions)
	}
	if !slices.Equal(a.before, []string{`Far {"n":3}`}) || !slices.Equal(a.after, []string{`Far {"n":7}`}) {
		t.Errorf("hooks: before %q, after %q", a.before, a.after)
	}
	for _, e := range tr.events {
		switch b := e.Body.(type) {
		case *protocol.ToolExecutionStart:
			if b.ToolName != "Far" || string(b.Args) != `{"n":7}` {
				t.Errorf("people are shown %s %s", b.ToolName, b.Args)
			}
		case *protocol.MessageBody:
			if b.Message.Role == protocol.RoleToolResult && b.Message.ToolName != "Detour" {
				t.Errorf("the result is one of %s: a vendor could not pair it with its call", b.Message.ToolName)
			}
		}
	}
}

func TestCallsThatAreRedirectedRunSideBySideAsTheirTargetsDo(t *testing.T) {
	met := make(chan struct{})
	meet := func(ctx context.Context, _ json.RawMessage, _ func(string)) (tool.Result, error) {
		select {
		case met <- struct{}{}:
		case <-met:
		case <-ctx.Done():
		}
		return tool.Result{Content: []protocol.Block{protocol.Text("met")}}, ctx.Err()
	}
	reader := newGadget("Reader", meet)
	reader.spec.Parallel = true
	tr := newTrial(t, []tool.Tool{newDetour(reader), reader},
		`{"do":[{"call":"Detour","id":"c1","input":{"tool_name":"Reader","params":{}}},{"call":"Reader","id":"c2","input":{}}]}`, done)
	tr.execute(t.Context())
	if got := tr.results(); !slices.Equal(got, []string{"c1 false met", "c2 false met"}) {
		t.Errorf("results: %q", got)
	}
}

func TestACallThatCannotBeRedirectedSaysWhy(t *testing.T) {
	far := newGadget("Far", answers("ran"))
	far.spec.Kind = permission.Exec
	for _, c := range []struct{ call, input, want string }{
		{"Detour", `{"tool_name":"Near","params":{}}`, "there is no such tool; search for it"},
		{"Detour", `{"tool_name":"Far"}`, "does not fit the schema of Detour"},
		{"Detour", `{"tool_name":"Far","params":{"n":"three"}}`, `Its schema is: {"type":"object","properties":{"n"`},
		{"Far", `{}`, "ran"}, // by its own name
		{"Near", `{}`, `There is no tool named "Near"`},
	} {
		tr := newTrial(t, []tool.Tool{newDetour(far)}, `{"do":[{"call":"`+c.call+`","id":"c1","input":`+c.input+`}]}`, done)
		tr.execute(t.Context())
		if got := tr.results(); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s %s: %q, want %q", c.call, c.input, got, c.want)
		}
	}
	tr := newTrial(t, []tool.Tool{newDetour(far)}, `{"do":[{"call":"Detour","id":"c1","input":{"tool_name":"Far","params":{}}}]}`, done)
	tr.desk.deny = "A rule denies this."
	tr.execute(t.Context())
	if got := tr.results(); !slices.Equal(got, []string{"c1 true A rule denies this."}) {
		t.Errorf("a denied call: %q", got)
	}
}

// strict is a gadget that checks its inputs itself.
type strict struct{ *gadget }

func (strict) Check(input json.RawMessage) error {
	if string(input) == `{"bad":1}` {
		return errors.New("bad is not wanted")
	}
	return nil
}

func TestAToolThatChecksItsInputsIsNotCheckedByItsSchema(t *testing.T) {
	own := strict{newGadget("Own", answers("ran"))} // whose schema takes neither of these
	for input, want := range map[string]string{`{"bad":1}`: "The input does not fit the schema of Own: bad is not wanted", `{"good":1}`: "ran"} {
		tr := newTrial(t, []tool.Tool{own}, `{"do":[{"call":"Own","id":"c1","input":`+input+`}]}`, done)
		tr.execute(t.Context())
		if got := tr.results(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// TestWhatIsWrongWithALongInputIsToldShort: the model has the value, in its call.
func TestWhatIsWrongWithALongInputIsToldShort(t *testing.T) {
	long := newGadget("Long", answers("ran"))
	long.spec.Schema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","maxLength":64}}}`)
	tr := newTrial(t, []tool.Tool{long}, `{"do":[{"call":"Long","id":"c1","input":{"name":"`+strings.Repeat("ü", 100_000)+`"}}]}`, done)
	tr.execute(t.Context())
	got := tr.results()
	if len(got) != 1 || len(got[0]) > 1500 || !strings.Contains(got[0], "does not fit the schema of Long: ") || !strings.Contains(got[0], "bytes left out") || !strings.Contains(got[0], "more than 64") {
		t.Errorf("%d bytes: %.300q", len(got[0]), got)
	}
}
