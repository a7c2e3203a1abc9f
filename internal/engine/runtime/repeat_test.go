package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// counting answers with the n that it is given, or, without one, with a new number each
// time.
func counting(name string) *gadget {
	calls := 0
	return newGadget(name, func(_ context.Context, input json.RawMessage, _ func(string)) (tool.Result, error) {
		calls++
		var in struct{ N *int }
		if json.Unmarshal(input, &in) != nil || in.N == nil {
			return tool.Result{Content: []protocol.Block{protocol.Text(fmt.Sprint("new ", calls))}}, nil
		}
		return tool.Result{Content: []protocol.Block{protocol.Text(fmt.Sprint("same ", *in.N))}}, nil
	})
}

// step is a line of a script: one call of a tool.
func step(tool string, n int) string {
	return fmt.Sprintf(`{"do":[{"call":%q,"input":{"n":%d}}]}`, tool, n)
}

func cycle(times int, lines ...string) []string { return slices.Repeat(lines, times) }

func TestAModelThatRepeatsItselfIsToldAfterThreeTimesAndEndsAfterFive(t *testing.T) {
	a, b, c, d := step("Look", 1), step("Seek", 2), step("Look", 3), step("Seek", 4)
	for length, lines := range map[int][]string{1: {a}, 2: {a, b}, 3: {a, b, c}, 4: {a, b, c, d}} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			tr := newTrial(t, []tool.Tool{counting("Look"), counting("Seek")}, cycle(10, lines...)...)
			end := tr.execute(t.Context())
			if end.Terminal != protocol.TerminalLoop || end.Reason != protocol.EndCompleted || end.Error == nil || end.Error.Code != protocol.CodeLoop ||
				!strings.Contains(end.Error.Message, "5 times in a row (Look") {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			if n := len(tr.results()); n != 5*length {
				t.Errorf("it ended after %d steps", n)
			}
			if len(tr.desk.notices) != 1 || !strings.Contains(tr.desk.notices[0], "3 times in a row") {
				t.Errorf("notices: %q", tr.desk.notices)
			}
			i := slices.IndexFunc(tr.desk.messages, func(m protocol.Message) bool {
				return m.Role == protocol.RoleUser && strings.Contains(m.PlainText(), "3 times")
			})
			if i != 1+2*3*length {
				t.Errorf("the model was told at message %d", i)
			}
		})
	}
}

func TestAPersonMayLetAModelThatRepeatsItselfGoOn(t *testing.T) {
	tr := newTrial(t, []tool.Tool{counting("Look")}, cycle(12, step("Look", 1))...)
	tr.desk.resume = []bool{true, false}
	end := tr.execute(t.Context())
	if end.Terminal != protocol.TerminalLoop || len(tr.results()) != 10 || len(tr.desk.repeated) != 2 || strings.Contains(end.Error.Message, "nobody") {
		t.Errorf("end: %+v after %d steps and %v", end.Error, len(tr.results()), tr.desk.repeated)
	}
	if len(tr.desk.notices) != 2 {
		t.Errorf("notices: %q", tr.desk.notices)
	}
}

func TestWhatChangesOrWaitsIsNoRepetition(t *testing.T) {
	waiting := newGadget("Wait", answers("still nothing"))
	waiting.spec.Waits = true
	changing := newGadget("Poll", counting("Poll").run)
	for name, lines := range map[string][]string{
		"changing results":                     cycle(50, `{"do":[{"call":"Poll","input":{}}]}`),
		"other arguments":                      {step("Look", 1), step("Look", 2), step("Look", 3), step("Look", 4), step("Look", 5), step("Look", 6), step("Look", 7)},
		"tools that wait":                      cycle(50, `{"do":[{"call":"Wait","input":{}}]}`),
		"a wait and what changes":              cycle(25, `{"do":[{"call":"Wait","input":{}}]}`, `{"do":[{"call":"Poll","input":{}}]}`),
		"four times, but never three in a row": {step("Look", 1), step("Look", 1), step("Look", 2), step("Look", 1), step("Look", 1), step("Look", 3)},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, []tool.Tool{counting("Look"), changing, waiting}, append(lines, `{"do":[{"text":"done"}]}`)...)
			if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted || len(tr.desk.notices) > 0 {
				t.Errorf("end: %+v, notices %q", end.Error, tr.desk.notices)
			}
		})
	}
}

func TestIdsOfCallsAndTheOrderOfKeysMakeNoStepNew(t *testing.T) {
	cut := newGadget("Cut", func(context.Context, json.RawMessage, func(string)) (tool.Result, error) { return tool.Result{}, nil })
	cut.spec.Schema = json.RawMessage(`{"type":"object"}`)
	calls := 0
	echo := &naming{cut}
	var lines []string
	for range 5 {
		calls++
		input := `{"a":1,"b":2}`
		if calls%2 == 0 {
			input = `{"b":2, "a":1}`
		}
		lines = append(lines, fmt.Sprintf(`{"do":[{"call":"Cut","id":"call_%d","input":%s}]}`, calls, input))
	}
	tr := newTrial(t, []tool.Tool{echo}, lines...)
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalLoop {
		t.Errorf("end: %+v", end)
	}
}

// naming is a tool whose results name their call, as cut ones do.
type naming struct{ *gadget }

func (n *naming) Prepare(ctx context.Context, call tool.Call) (tool.Prepared, error) {
	g := *newGadget("Cut", answers("the rest is in result:"+call.ID))
	return &prepared{&g, call.Input}, nil
}

func TestSteeringBeginsTheCountAnew(t *testing.T) {
	tr := newTrial(t, []tool.Tool{counting("Look")}, append(cycle(4, step("Look", 1)), `{"do":[{"text":"done"}]}`)...)
	tr.desk.steer = []string{"do look"} // after the first step
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted || len(tr.desk.notices) != 1 {
		t.Errorf("end: %+v, notices %q", end, tr.desk.notices)
	}
	notice := slices.IndexFunc(tr.desk.messages, func(m protocol.Message) bool { return strings.Contains(m.PlainText(), "3 times") })
	if results := len(tr.results()); notice < 0 || results != 4 {
		t.Errorf("told at %d of %d messages", notice, len(tr.desk.messages))
	}
}

func TestTheStepLimitHasACodeOfItsOwn(t *testing.T) {
	tr := newTrial(t, []tool.Tool{counting("Look")}, cycle(3, step("Look", 1))...)
	tr.run.Limits.MaxSteps = 2
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalMaxSteps || end.Error.Code != protocol.CodeStepLimit {
		t.Errorf("end: %+v %v", end, end.Error)
	}
}
