package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/protocol"
)

// blocks gives what the model of a request reads, in order: the system prompt,
// the tools, and each block of each message, without marks for the cache.
func blocks(t *testing.T, body []byte) []string {
	t.Helper()
	var r struct {
		System   json.RawMessage
		Tools    json.RawMessage
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCalls  json.RawMessage `json:"tool_calls"`
			ToolCallID string          `json:"tool_call_id"`
		}
		// The names of Responses.
		Instructions string
		Input        []map[string]any
		// Google's names.
		SystemInstruction json.RawMessage
		Contents          []struct {
			Role  string
			Parts json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	parts := func(raw json.RawMessage) []string {
		var list []map[string]any
		if json.Unmarshal(raw, &list) != nil {
			return []string{string(raw)}
		}
		var out []string
		for _, b := range list {
			delete(b, "cache_control")
			line, _ := json.Marshal(b)
			out = append(out, string(line))
		}
		return out
	}
	out := append(parts(r.System), parts(r.Tools)...)
	if len(r.SystemInstruction) > 0 {
		out = append(parts(r.SystemInstruction), parts(r.Tools)...)
	}
	if r.Instructions != "" {
		out = append([]string{r.Instructions}, parts(r.Tools)...)
	}
	for _, item := range r.Input {
		line, _ := json.Marshal(item)
		out = append(out, string(line))
	}
	for i, c := range r.Contents {
		for _, p := range parts(c.Parts) {
			out = append(out, fmt.Sprintf("%d %s: %s", i, c.Role, p))
		}
	}
	for _, m := range r.Messages {
		for _, p := range parts(m.Content) {
			out = append(out, m.Role+m.ToolCallID+": "+p)
		}
		if len(m.ToolCalls) > 0 {
			out = append(out, m.Role+": "+string(m.ToolCalls))
		}
	}
	return out
}

// extends fails when a request does not begin with all that another holds.
func extends(t *testing.T, what string, before, after []byte) {
	t.Helper()
	b, a := blocks(t, before), blocks(t, after)
	if len(a) <= len(b) {
		t.Errorf("%s: %d blocks follow %d", what, len(a), len(b))
		return
	}
	for i := range b {
		if a[i] != b[i] {
			t.Errorf("%s: block %d was\n%.300s\nand is\n%.300s", what, i, b[i], a[i])
			return
		}
	}
}

// bodies gives the bodies of the requests of steps.
func (w *world) bodies() [][]byte {
	var out [][]byte
	for _, r := range w.server.Requests() {
		if kindOf(r.Body) == "step" {
			out = append(out, r.Body)
		}
	}
	return out
}

func TestEachRequestOfAConversationBeginsWithTheOneBefore(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			w := newWorld(t, setting{api: api, overrides: host.Overrides{Mode: "acceptEdits", Allow: []string{"Bash"}}},
				`{"do":[{"thinking":"First I look."},{"text":"Looking."},{"call":"Read","id":"c1","input":{"path":"a.txt"}},{"call":"Glob","id":"c2","input":{"pattern":"*"}}]}`,
				`{"do":[{"call":"Write","id":"c3","input":{"path":"b.txt","content":"b"}},{"call":"Bash","id":"c4","input":{"command":"cd sub && pwd"}}]}`,
				`{"do":[{"call":"TodoWrite","id":"c5","input":{"todos":[{"content":"x","status":"pending"}]}},{"call":"Nothing","id":"c6","input":{}}]}`,
				`{"do":[{"text":"One is done."}]}`,
				`{"do":[{"call":"Grep","id":"c7","input":{"pattern":"hello"}}]}`,
				`{"do":[{"text":"Two is done."}]}`,
				`{"do":[{"text":"Three is done."}]}`)
			w.file("a.txt", "hello\n")
			w.file("sub/c.txt", "c")
			e := w.begin(false)
			for _, s := range []string{"one", "two"} {
				if end := e.say(s); end.Terminal != protocol.TerminalCompleted {
					t.Fatalf("end: %+v\n%s", end, e.trace())
				}
			}
			w.restart() // and the same from the log alone
			e = w.open(w.connect(false), e.id)
			e.say("three")
			all := w.bodies()
			if len(all) != 7 {
				t.Fatalf("%d requests", len(all))
			}
			for i := 1; i < len(all); i++ {
				extends(t, fmt.Sprintf("request %d", i+1), all[i-1], all[i])
			}
			w.judged()
		})
	}
}

// answers gives the ids of the answers of the path, oldest first.
func (e *entry) answers() []protocol.EventID {
	e.w.t.Helper()
	page := call[*protocol.Events](e.w.t, e.c, e.id, &protocol.GetPath{Limit: 2000})
	var out []protocol.EventID
	for i := len(page.Events) - 1; i >= 0; i-- {
		if m, ok := page.Events[i].Message(); ok && m.Role == protocol.RoleAssistant {
			out = append(out, page.Events[i].ID)
		}
	}
	return out
}

// compact compacts the conversation and takes updates to the end of that.
func (e *entry) compact() *protocol.Compacted {
	e.w.t.Helper()
	done := call[*protocol.Compacted](e.w.t, e.c, e.id, &protocol.CompactSession{})
	e.events = nil
	e.end()
	return done
}

func TestTheSamePathGivesTheSameBytes(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			w := newWorld(t, setting{api: api}, `{"if":{"kind":"compact"},"again":true,"do":[{"text":"They counted."}]}`,
				`{"if":{"user":"two$"},"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}]}`,
				`{"again":true,"do":[{"text":"Yes."}]}`)
			w.file("a.txt", "hello\n")
			e := w.begin(false)
			last := func() []byte {
				all := w.bodies()
				return all[len(all)-1]
			}
			e.say("one")
			e.say("two")
			ids := e.answers()
			second := ids[len(ids)-1]
			e.say("three")
			three := last()
			third := e.s.Live.LeafID
			call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{TargetEventID: &second})
			e.say("three")
			if !bytes.Equal(three, last()) {
				t.Errorf("after a rewind the same path gives\n%.2000s\nand gave\n%.2000s", last(), three)
			}
			call[*protocol.Moved](t, e.c, e.id, &protocol.BranchTo{LeafEventID: third})
			e.say("four")
			extends(t, "after a branch", three, last())
			done := e.compact()
			if done.EventID == "" {
				t.Fatal("nothing was compacted")
			}
			e.say("five")
			five := last()
			if !strings.Contains(string(five), "They counted.") || strings.Contains(string(five), `"one"`) {
				t.Errorf("behind the compaction: %s", five)
			}
			call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{TargetEventID: &done.EventID})
			e.say("five")
			if !bytes.Equal(five, last()) {
				t.Errorf("after a rewind to the compaction the same path gives\n%.3000s\nand gave\n%.3000s", last(), five)
			}
			w.judged()
		})
	}
}

func TestRewindPastACompactionSendsTheWholeContext(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			w := newWorld(t, setting{api: api}, `{"if":{"kind":"compact"},"do":[{"text":"They counted."}]}`, `{"again":true,"do":[{"text":"Yes."}]}`)
			e := w.begin(false)
			for _, s := range []string{"number one", "number two", "number three", "number four"} {
				e.say(s)
			}
			third := e.answers()[2]
			done := e.compact()
			if done.EventID == "" {
				t.Fatal("nothing was compacted")
			}
			e.say("number five")
			call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{TargetEventID: &third})
			e.say("number six")
			all := w.bodies()
			body := string(all[len(all)-1])
			for _, s := range []string{"number one", "number two", "number three", "number six"} {
				if !strings.Contains(body, s) {
					t.Errorf("%q is not sent: %s", s, body)
				}
			}
			for _, s := range []string{"They counted.", "number four", "number five"} {
				if strings.Contains(body, s) {
					t.Errorf("%q is sent", s)
				}
			}
			w.judged()
		})
	}
}

func TestManyCallsOfOnePromptPassThroughASmallWindow(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			lines := []string{`{"if":{"kind":"compact"},"again":true,"do":[{"text":"Files were read, one after the other.","times":20}]}`}
			for i := 0; i < manyCalls; i += 3 {
				lines = append(lines, fmt.Sprintf(`{"do":[{"text":"Step %d. ","times":60},{"call":"Read","id":"c%d","input":{"path":"f%d.txt"}},{"call":"Read","id":"c%d","input":{"path":"f%d.txt"}},{"call":"Read","id":"c%d","input":{"path":"f%d.txt"}}]}`,
					i, i, i, i+1, i+1, i+2, i+2))
			}
			lines = append(lines, `{"do":[{"text":"All were read."}]}`)
			w := newWorld(t, setting{api: api, window: 32_000}, lines...)
			for i := range manyCalls {
				w.file(fmt.Sprintf("f%d.txt", i), strings.Repeat(fmt.Sprintf("this is line of file %d\n", i), 40))
			}
			e := w.begin(false)
			if end := e.say("Read all files."); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %+v", end, end.Error)
			}
			compactions, results := 0, 0
			for _, ev := range e.events {
				switch b := ev.Body.(type) {
				case *protocol.Compact:
					compactions++
					if b.TokensAfter >= b.TokensBefore || b.TurnMessageID == "" {
						t.Errorf("a compaction: %d to %d tokens, turn message %q", b.TokensBefore, b.TokensAfter, b.TurnMessageID)
					}
				case *protocol.MessageBody:
					if b.Message.Role == protocol.RoleToolResult {
						results++
						if b.Message.IsError {
							t.Errorf("result: %s", b.Message.PlainText())
						}
					}
				}
			}
			if results != manyCalls || compactions < 3 || compactions > 30 {
				t.Errorf("%d results, %d compactions", results, compactions)
			}
			for i, r := range w.server.Requests() {
				if len(r.Body) > 32_000*4 {
					t.Errorf("request %d has %d bytes", i, len(r.Body))
				}
				if kindOf(r.Body) == "step" && !strings.Contains(string(r.Body), "Read all files.") {
					t.Errorf("request %d lacks the prompt", i)
				}
			}
			w.judged()
			t.Logf("%d requests, %d compactions", w.server.Count(), compactions)
		})
	}
}
