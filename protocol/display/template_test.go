package display

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"scorel/protocol"
)

// casesFile holds events whose display is data with the items that are made of them. The
// twin in TypeScript is held against it, too (internal/dev/tsgen).
const casesFile = "../../web/src/display/cases.json"

type displayCase struct {
	Event protocol.Event `json:"event"`
	Item  Item           `json:"item"`
}

// dataBodies are bodies of every type whose display is data: those of the golden files, some
// at the edges, and of each type an empty one and one with something in every field.
func dataBodies() []protocol.Body {
	var all []protocol.Body
	for _, b := range append(bodies(),
		&protocol.Compact{Summary: "a\r\nb\u202e\x1b[2J", TokensBefore: 1_234_567, TokensAfter: 999},
		&protocol.SessionInfo{Changes: protocol.MetaChanges{Name: ptr(""), WorkDir: ptr("/p\n/q")}, Mode: "plan"},
		&protocol.SessionInfo{Changes: protocol.MetaChanges{ThinkingLevel: ptr("high")}},
		&protocol.InstructionSnapshot{Snapshot: protocol.Instructions{Text: "x", Cut: []string{"a\tb", "c"}}},
		&protocol.PermissionDecision{Decision: protocol.DecisionDeny, Rule: "Bash", Scope: "rule", Reason: "a\nb"},
		&protocol.PermissionDecision{Decision: protocol.DecisionAllow, Rule: "Bash"},
		&protocol.PermissionDecision{Decision: protocol.DecisionAllow, Scope: "rule"},
		&protocol.PermissionDecision{Decision: protocol.DecisionDeny, Scope: "hook", By: "hook 1 of a", Reason: "no"},
		&protocol.Repair{Gaps: make([]protocol.RepairGap, 1)}, &protocol.Repair{Gaps: make([]protocol.RepairGap, 1000)},
		&protocol.Label{Label: ptr("\u200b x \u2028y\u0085z\U000e0041")},
		&protocol.Branch{LeafEventID: "evt_\u202e"},
		&protocol.ToolExecutionEnd{DurationMS: 999}, &protocol.ToolExecutionEnd{DurationMS: 1000}, &protocol.ToolExecutionEnd{DurationMS: 1949},
		&protocol.ToolExecutionEnd{DurationMS: 59_950}, &protocol.ToolExecutionEnd{DurationMS: 3_600_000}, &protocol.ToolExecutionEnd{DurationMS: 90_061_234},
		&protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalCompleted}, &protocol.RuntimeEnd{Reason: protocol.EndCancelled},
		&protocol.Notice{Level: "info", Text: "\x1b]0;never closed\nnext \x1b(Bx\x1bcx\x1b \u009b31mx\u009dt\u009cy"},
		&protocol.Notice{Text: "cat a \x1b[1|sh \x1b[;mv \x1b[1;mv \x1b[1;31mred\x1b[m \x1b[38:2::1:2:3mx\x1b[?25l\u2063\u3164\U000e0100"},
		&protocol.Notice{Source: "a\x07b", Text: "\x1b]8;;http://x\x07a\x1bPq\x1b\\b\r\n\rc"},
		&protocol.PermissionResolved{Decision: protocol.DecisionAllow}, &protocol.PermissionResolved{Decision: protocol.DecisionCancelled}, &protocol.PermissionResolved{Decision: protocol.DecisionDeny},
		&protocol.UIResolved{UIID: "u\x00", Decision: protocol.DecisionDeny}, &protocol.UIResolved{Decision: protocol.DecisionAllow},
	) {
		if b.EventSpec().Display.View == "" {
			all = append(all, b)
		}
	}
	for _, s := range protocol.EventSpecs() {
		if s.Display.View == "" {
			full := s.New()
			fill(reflect.ValueOf(full).Elem())
			all = append(all, s.New(), full)
		}
	}
	return all
}

// fill sets every field below v to something that is not its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("some text\nof two lines")
	case reflect.Int, reflect.Int64:
		v.SetInt(12_345)
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
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"k":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[protocol.Block]() {
			v.Set(reflect.ValueOf(protocol.Text("some text")))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	}
}

// TestEventsAreShownAsTheSharedCasesSay holds the items of data against the file that the
// TypeScript twin is held against, too, as they are made of what is read from the wire.
func TestEventsAreShownAsTheSharedCasesSay(t *testing.T) {
	var out bytes.Buffer
	for i, b := range dataBodies() {
		e := protocol.NewEvent(b)
		e.Seq, e.SessionID, e.ClientID, e.TS = protocol.Seq(i+1), "ses_00000000000000000000000000", protocol.HostClient, 1
		if !isTransient(b) {
			e.ID = eventID(i + 1)
		}
		line, err := e.AppendLine(nil)
		if err != nil {
			t.Fatalf("%s: %v", e.Type, err)
		}
		read, err := protocol.ParseEvent(line)
		if err != nil {
			t.Fatalf("%s: %v", e.Type, err)
		}
		item := Of(read)
		if made := Of(e); !reflect.DeepEqual(made, item) {
			t.Errorf("%s is shown as %+v, and after it was read as %+v", line, made, item)
		}
		out.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(displayCase{read, item}); err != nil {
			t.Fatal(err)
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteString("\n]\n")
	golden(t, "../"+casesFile, out.Bytes())
}

// TestEveryEventHasADisplay: it has a kind of the closed set or a view that is carried out,
// and its templates are whole.
func TestEveryEventHasADisplay(t *testing.T) {
	kinds := []Kind{Bubble, Thinking, Tool, Note, Notice, Folded, Marker, Badge, Label, Queue, Audit, Checkpoint, Detail, Custom, Shell, Stream, State, Question, Hidden}
	for _, s := range protocol.EventSpecs() {
		d := &s.Display
		switch item := of(protocol.NewEvent(s.New())); {
		case d.View != "" && item.Kind == "":
			t.Errorf("%s: the view %q is not carried out", s.Type, d.View)
		case d.View == "" && !reflect.DeepEqual(item, data(s.New(), d)):
			t.Errorf("%s is shown by code, and its display is data", s.Type)
		}
		if d.View == "" && !slices.Contains(kinds, d.Kind) {
			t.Errorf("%s has the kind %q", s.Type, d.Kind)
		}
		if shows := d.Title != "" || d.Text != "" || len(d.Lines) > 0 || len(d.Status) > 0; d.View == "" && shows == (d.Kind == Hidden) {
			t.Errorf("%s is %s and shows something: %t", s.Type, d.Kind, shows)
		}
		if d.Place == protocol.PlaceCall && d.ToolCallID == "" {
			t.Errorf("%s is shown with a call that it does not name", s.Type)
		}
		for _, text := range append([]string{d.Title, d.Text}, d.Lines...) {
			if why := fault(text); why != "" {
				t.Errorf("%s: the template %q: %s", s.Type, text, why)
			}
		}
		for _, c := range d.Status {
			if c.If != "" && !condition.MatchString(c.If) {
				t.Errorf("%s: the condition %q", s.Type, c.If)
			}
		}
	}
}

var (
	condition   = regexp.MustCompile(`^[?!+][A-Za-z.]+(=\w+)?$`)
	placeholder = regexp.MustCompile(`^[A-Za-z.]+(\|(count|duration|plural:\w+))?$`)
)

// fault returns what is wrong with a template, "" when nothing is.
func fault(text string) string {
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			if strings.Contains(text, "}") {
				return "a brace is closed that is not open"
			}
			return ""
		}
		end := closing(text, open)
		if end < 0 {
			return "a brace is not closed"
		}
		part := text[open+1 : end]
		if head, then, ok := strings.Cut(part, ":"); ok && condition.MatchString(head) {
			if why := fault(then); why != "" {
				return why
			}
		} else if !placeholder.MatchString(part) {
			return "{" + part + "} is neither a member nor a condition"
		}
		text = text[:open] + text[end+1:]
	}
}

func TestFaultsOfTemplatesAreFound(t *testing.T) {
	for _, bad := range []string{"{a", "a}", "{a|b}", "{?a}", "{?:x}", "{?a:{b}", "{a b}", "{}"} {
		if fault(bad) == "" {
			t.Errorf("%q is taken for a template", bad)
		}
	}
	for _, good := range []string{"", "x", "{a}", "{a.b|count} x {?a=b:{c}{!d: y}}"} {
		if why := fault(good); why != "" {
			t.Errorf("%q: %s", good, why)
		}
	}
}

func TestViewsTakeNoTemplates(t *testing.T) {
	for _, s := range protocol.EventSpecs() {
		d := s.Display
		if d.View == "" {
			continue
		}
		if d.View, d.Place = "", ""; !reflect.DeepEqual(d, protocol.Display{}) {
			t.Errorf("%s has a view, and %+v that nobody reads", s.Type, d)
		}
	}
}

// BenchmarkOf shows how long the events take that come most often, and one that is data.
func BenchmarkOf(b *testing.B) {
	for name, body := range map[string]protocol.Body{
		"delta":   &protocol.TextDelta{EventID: eventID(1), Delta: "some words of an answer"},
		"message": &protocol.MessageBody{Message: protocol.UserText("Fix the test.")},
		"compact": &protocol.Compact{Summary: "Goal: fix.", TokensBefore: 123456, TokensAfter: 7890},
		"hidden":  &protocol.TurnStart{},
	} {
		e := protocol.NewEvent(body)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if Of(e).Kind == "" {
					b.Fatal("no kind")
				}
			}
		})
	}
}

func TestTheSharedCasesHoldEveryKindOfData(t *testing.T) {
	text, err := os.ReadFile(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range protocol.EventSpecs() {
		if has := bytes.Contains(text, []byte(`{"event":{"type":"`+string(s.Type)+`"`)); has != (s.Display.View == "") {
			t.Errorf("the shared cases hold %s: %t (run with -update)", s.Type, has)
		}
	}
}
