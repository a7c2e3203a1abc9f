package client

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"scorel/protocol"
)

var update = flag.Bool("update", false, "write the traces of testdata anew")

// traceComment is at the head of every trace: its twin in another language
// reads the same files.
const traceComment = `%s

What one client of a session says and hears, in order. A line is a mark, a space
and JSON:
> is a message of the client, with req_x for every requestId: open_session with
  its anchors, or the get_path that its projection misses (window %d)
< is a message of the host
x says that the connection breaks
= is what the projection shows then
`

// scenario is a session whose trace is recorded.
type scenario struct {
	name, about  string
	window, tail int
	play         func(s *sim, v *viewer, r *recorder)
}

// recorder writes a trace.
type recorder struct{ out bytes.Buffer }

func (r *recorder) line(mark string, data []byte) { fmt.Fprintf(&r.out, "%s %s\n", mark, data) }

// screen reads all that is on its way and records what is shown.
func (r *recorder) screen(v *viewer) {
	v.settle()
	r.line("=", compact(v.screen.Screen()))
}

// close breaks the connection: what is on its way is lost.
func (r *recorder) close(v *viewer) {
	v.open, v.frames = false, nil
	r.out.WriteString("x\n")
}

func compact(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return bytes.TrimSpace(b.Bytes())
}

// turn plays the first half of a turn: a thought, a text and a tool that runs.
func (s *sim) begin(prompt string) {
	s.user(prompt)
	s.turn = protocol.TurnID(s.id("trn"))
	s.put(&protocol.RuntimeStart{})
	s.put(&protocol.TurnStart{})
	m := protocol.EventID(s.id("evt"))
	s.put(&protocol.MessageStart{EventID: m, ParentID: s.live.LeafID, Role: protocol.RoleAssistant, Model: "anthropic/claude-x"})
	s.put(&protocol.ThinkingDelta{EventID: m, Delta: "Let me "})
	s.put(&protocol.ThinkingDelta{EventID: m, Delta: "look."})
	s.put(&protocol.TextDelta{EventID: m, BlockIndex: 1, Delta: "I look at <a&b>\u2028 "})
	s.put(&protocol.TextDelta{EventID: m, BlockIndex: 1, Delta: "\U0001F4C4."})
	s.put(&protocol.ToolCallDelta{EventID: m, BlockIndex: 2, ToolCallID: "call_1", ToolName: "Bash", Delta: `{"command":`})
	s.put(&protocol.ToolCallDelta{EventID: m, BlockIndex: 2, ToolCallID: "call_1", Delta: `"ls"}`})
	s.putAs(m, s.live.LeafID, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, StopReason: protocol.StopToolUse,
		Content: []protocol.Block{{Type: protocol.BlockThinking, Thinking: "Let me look."}, protocol.Text("I look at <a&b>\u2028 \U0001F4C4."), protocol.ToolUse("call_1", "Bash", json.RawMessage(`{"command":"ls"}`))},
		Usage:   &protocol.Usage{InputTokens: 12, OutputTokens: 34, CacheReadTokens: 5, CostUSD: 0.25}}})
	s.call, s.result = "call_1", protocol.EventID(s.id("evt"))
	s.put(&protocol.PermissionRequest{PermissionID: "prm_0000000000000001", ToolCallID: s.call, ToolName: "Bash", Args: json.RawMessage(`{"command":"ls"}`)})
}

// end plays the second half.
func (s *sim) end() {
	s.put(&protocol.PermissionResolved{PermissionID: "prm_0000000000000001", Decision: "allow"})
	s.put(&protocol.ToolExecutionStart{EventID: s.result, ParentID: s.live.LeafID, ToolCallID: s.call, ToolName: "Bash", Args: json.RawMessage(`{"command":"ls"}`)})
	s.put(&protocol.ToolExecutionUpdate{EventID: s.result, ToolCallID: s.call, Partial: "a.txt\n"})
	s.put(&protocol.ToolExecutionEnd{EventID: s.result, ToolCallID: s.call, ToolName: "Bash", DurationMS: 7})
	s.putAs(s.result, s.live.LeafID, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: s.call, ToolName: "Bash", Content: []protocol.Block{protocol.Text("a.txt\n")}}})
	s.put(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "call_2", ToolName: "TodoWrite",
		Content: []protocol.Block{protocol.Text("ok")}, Details: json.RawMessage(`{"todos":[{"content":"read","status":"completed"},{"content":"write","status":"in_progress"}]}`)}})
	s.put(&protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalCompleted})
	s.turn, s.call = "", ""
}

func scenarios() []scenario {
	return []scenario{
		{"turn", "A client that is there from the beginning sees a turn.", 200, 50, func(s *sim, v *viewer, r *recorder) {
			v.join()
			r.screen(v)
			s.begin("look")
			r.screen(v)
			s.put(&protocol.QueueUpdate{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{{ID: "itm_0000000000000001", Content: []protocol.Block{protocol.Text("and then")}, ClientID: "cli_sim", TS: 5}}})
			s.put(&protocol.Retry{Attempt: 1, MaxAttempts: 8, DelayMS: 500})
			r.screen(v)
			s.end()
			r.screen(v)
		}},
		{"join", "A client that joins in the middle of a turn shows what one shows that was there.", 200, 50, func(s *sim, v *viewer, r *recorder) {
			s.begin("look")
			v.join()
			r.screen(v)
			s.end()
			r.screen(v)
		}},
		{"resume", "A connection that breaks in the middle of a message goes on where it broke.", 200, 50, func(s *sim, v *viewer, r *recorder) {
			v.join()
			r.screen(v)
			s.begin("look")
			v.read(6)
			r.line("=", compact(v.screen.Screen()))
			r.close(v)
			v.join()
			v.read(3)
			r.close(v)
			s.end()
			r.screen(v)
		}},
		{"restart", "The host dies in a turn and comes back: what ran is void, and numbers come again.", 200, 50, func(s *sim, v *viewer, r *recorder) {
			v.join()
			s.begin("look")
			r.screen(v)
			r.close(v)
			s.epoch()
			s.user("and again")
			r.screen(v)
			s.epoch()
			s.user("and once more")
			r.screen(v)
		}},
		{"reload", "What the client holds is of another log: it drops all and asks for what its screen lacks.", 6, 2, func(s *sim, v *viewer, r *recorder) {
			for i := range 4 {
				s.user(fmt.Sprint("old ", i))
			}
			v.join()
			r.screen(v)
			r.close(v)
			s.log, s.live.LeafID = nil, ""
			s.epoch()
			for i := range 12 {
				s.user(fmt.Sprint("new ", i))
			}
			r.screen(v)
		}},
		{"tree", "Rewinds, branches and a compaction, also to what the client no longer holds.", 4, 4, func(s *sim, v *viewer, r *recorder) {
			for i := range 6 {
				s.user(fmt.Sprint("message ", i))
			}
			v.join()
			r.screen(v)
			first := s.log[1].ID
			last := s.live.LeafID
			s.put(&protocol.Rewind{TargetEventID: &first})
			r.screen(v)
			s.user("another way")
			s.put(&protocol.Compact{Summary: "They talked.", CompactedThrough: first, TokensBefore: 100, TokensAfter: 10, Usage: &protocol.Usage{InputTokens: 90, OutputTokens: 9}})
			label := "here"
			s.put(&protocol.Label{TargetEventID: s.live.LeafID, Label: &label})
			r.screen(v)
			s.put(&protocol.Branch{LeafEventID: last})
			r.screen(v)
			s.put(&protocol.Rewind{})
			r.screen(v)
		}},
	}
}

func TestRecordedTracesShowWhatTheyShowed(t *testing.T) {
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			path := filepath.Join("testdata", sc.name+".txtar")
			s, r := newSim(t), &recorder{}
			v := s.viewer("the client", sc.window, sc.tail)
			v.record = r.line
			sc.play(s, v, r)
			a := &txtar.Archive{Comment: fmt.Appendf(nil, traceComment, sc.about, sc.window), Files: []txtar.File{{Name: "trace", Data: r.out.Bytes()}}}
			if *update {
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatalf("%v; write it with -update", err)
			}
			if len(want.Files) != 1 || !bytes.Equal(want.Files[0].Data, r.out.Bytes()) {
				t.Error("the trace is no longer the recorded one; look at what -update changes")
			}
			replayTrace(t, want, sc.window)
		})
	}
}

// replayTrace plays a recorded trace to a client that knows nothing else.
func replayTrace(t *testing.T, a *txtar.Archive, window int) {
	s, p := &Session{}, NewProjection()
	p.want = window
	s.begin("dev_sim")
	var asked *protocol.GetPath
	screens := 0
	for i, line := range strings.Split(strings.TrimSpace(string(a.Files[0].Data)), "\n") {
		mark, data, _ := strings.Cut(line, " ")
		at := fmt.Sprintf("line %d", i+1)
		switch {
		case mark == "x":
			s.begin("dev_sim")
		case mark == "=":
			screens++
			if got := compact(p.Screen()); string(got) != data {
				t.Errorf("%s: it shows\n%s\nnot\n%s", at, got, data)
			}
		case mark == ">":
			c, err := protocol.ParseCall([]byte(strings.Replace(data, "req_x", "req_00000000000000000000000000", 1)))
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			switch r := c.Request.(type) {
			case *protocol.OpenSession:
				if got, want := compact(s.anchors()), compact(r.Anchors); !bytes.Equal(got, want) {
					t.Errorf("%s: it stands at %s, not at %s", at, got, want)
				}
			case *protocol.GetPath:
				asked = p.Missing()
				if got, want := compact(asked), compact(r); !bytes.Equal(got, want) {
					t.Fatalf("%s: it misses %s, not %s", at, got, want)
				}
			}
		case strings.HasPrefix(data, `{"type":"response"`):
			r, err := protocol.ParseReply([]byte(data), "get_path")
			if err != nil || asked == nil {
				t.Fatalf("%s: %v", at, err)
			}
			p.Fill(asked, r.Data.(*protocol.Events))
		default:
			f, err := protocol.ParseFrame([]byte(data))
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			if u, ok, gap := s.take(f); gap {
				t.Fatalf("%s: a gap", at)
			} else if ok {
				p.Apply(u, &s.Live)
			}
		}
	}
	if screens == 0 {
		t.Error("the trace says nothing of what is shown")
	}
}
