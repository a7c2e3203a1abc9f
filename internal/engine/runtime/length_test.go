package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	"scorel/internal/engine/tool"
	"scorel/protocol"
	"scorel/protocol/fold"
)

// shelf keeps payloads by a name of its own.
type shelf map[string]string

func (k shelf) PutBlob(_ context.Context, r io.Reader) (string, error) {
	all, err := io.ReadAll(r)
	name := strings.Repeat(fmt.Sprint(len(k)+1), 64)
	k[name] = string(all)
	return name, err
}

// steps plays an answer whose texts come in pieces of so many characters; 0: whole.
func steps(t *testing.T, tr *trial, chunk int, steps ...script.Step) {
	t.Helper()
	stop := protocol.StopEndTurn
	for _, s := range steps {
		if s.Op == script.OpCall {
			stop = protocol.StopToolUse
		}
	}
	s := &script.Script{Name: "long", Window: 200_000, Chunk: chunk, Lines: []*script.Line{
		{Number: 2, If: script.Cond{Kind: model.KindStep}, Steps: steps, Stop: stop},
		{Number: 3, If: script.Cond{Kind: model.KindStep}, Steps: []script.Step{{Op: script.OpText, Text: "done"}}, Stop: protocol.StopEndTurn}}}
	tr.run.Model = script.New(script.Config{Script: s, Ref: "script:long"})
}

// told folds what a run yields as host and clients do, and checks that each event has room
// in a frame. It returns the longest text of each block.
func told(t *testing.T, events []RawEvent) map[int]string {
	t.Helper()
	live, seq, texts := protocol.Live{}, protocol.Seq(0), map[int]string{}
	for _, raw := range events {
		e := protocol.NewEvent(raw.Body)
		seq++
		e.Seq, e.SessionID, e.ClientID = seq, "ses_x", protocol.HostClient
		most := 512 << 10
		if !e.IsTransient() {
			e.ID, most = raw.ID, protocol.MaxLine
		}
		if e.ID == "" && !e.IsTransient() {
			e.ID = "evt_0123456789abcdef"
		}
		if line, err := e.AppendLine(nil); err != nil || len(line) > most {
			t.Fatalf("a %s event of %d bytes: %v", e.Type, len(line), err)
		}
		fold.Apply(&live, e)
		for _, m := range live.Messages {
			for i, b := range m.Blocks {
				if len(b.Text) > len(texts[i]) {
					texts[i] = string(b.Text)
				}
			}
		}
	}
	return texts
}

func TestWhatAModelSendsAtOnceIsToldInPiecesAndKeptWhole(t *testing.T) {
	const size = longAnswer
	whole := "\u2028a\n" + strings.Repeat("aé😀x", size/8)
	input := `{"s":"` + strings.Repeat("é", size/2) + `"}`
	for _, chunk := range []int{0, size / 8} {
		for name, c := range map[string]struct {
			step script.Step
			text string
		}{
			"text":     {script.Step{Op: script.OpText, Text: whole}, whole},
			"thinking": {script.Step{Op: script.OpThinking, Text: whole}, whole},
			"input":    {script.Step{Op: script.OpCall, Text: "Look", ID: "c1", Input: input}, input},
		} {
			t.Run(fmt.Sprintf("%s in chunks of %d", name, chunk), func(t *testing.T) {
				kept := shelf{}
				tr := newTrial(t, []tool.Tool{newGadget("Look", answers("seen"))})
				tr.run.Blobs = kept
				steps(t, tr, chunk, c.step)
				if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted || end.Error != nil {
					t.Fatalf("end: %+v", end)
				}
				if got := told(t, tr.events)[0]; got != c.text {
					t.Errorf("%d bytes are told of %d", len(got), len(c.text))
				}
				b := tr.desk.messages[1].Content[0]
				if kept[b.Blob] != c.text {
					t.Errorf("the blob %q has %d bytes of %d", b.Blob, len(kept[b.Blob]), len(c.text))
				}
				if b.Type == protocol.BlockToolUse {
					if r := tr.results(); len(r) != 1 || !strings.Contains(r[0], "true The input of this call has ") || string(b.Input) != "{}" {
						t.Errorf("results %q of the input %.40s", r, b.Input)
					}
					return
				}
				if got := b.Text + b.Thinking; !strings.HasPrefix(got, c.text[:60_000]) || !strings.Contains(got, "[cut here: the first 6") {
					t.Errorf("the message has %d bytes and ends in %q", len(got), got[max(0, len(got)-100):])
				}
			})
		}
	}
}

func TestAnAnswerThatDoesNotStopIsEndedAndWhatCameIsKept(t *testing.T) {
	kept := shelf{}
	tr := newTrial(t, nil)
	tr.run.Blobs = kept
	steps(t, tr, 0, script.Step{Op: script.OpText, Text: strings.Repeat("0123456789abcdef", 1<<20)})
	end := tr.execute(t.Context())
	if end.Terminal != protocol.TerminalModelError || end.Error == nil || !strings.Contains(end.Error.Message, "longer than 11 MiB") {
		t.Fatalf("end: %+v", end)
	}
	const least = maxAnswer - 2*maxPiece
	m := tr.desk.messages[len(tr.desk.messages)-1]
	if !m.Partial || m.StopReason != protocol.StopError || m.ErrorMessage != end.Error.Message || len(kept[m.Content[0].Blob]) < least {
		t.Errorf("partial %v, %s, %q, %d bytes are kept", m.Partial, m.StopReason, m.ErrorMessage, len(kept[m.Content[0].Blob]))
	}
	if got := told(t, tr.events)[0]; len(got) != len(kept[m.Content[0].Blob]) {
		t.Errorf("%d bytes are told", len(got))
	}
}

func TestManyTextsThatHaveNoRoomTogetherAreKeptAsOne(t *testing.T) {
	kept := shelf{}
	tr := newTrial(t, nil)
	tr.run.Blobs = kept
	var all []script.Step
	sum := 0
	for i := range 160 {
		op := []script.Op{script.OpText, script.OpThinking}[i%2]
		all = append(all, script.Step{Op: op, Text: strings.Repeat("0123456789abcdef", 3<<10)})
		sum += 48 << 10
	}
	steps(t, tr, 0, all...)
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	told(t, tr.events)
	m := tr.desk.messages[1]
	for _, b := range m.Content[1:] {
		sum -= len(b.Text + b.Thinking)
	}
	if len(kept[m.Content[0].Blob]) != sum || sum == 0 {
		t.Errorf("%d blocks, %d bytes are kept of %d", len(m.Content), len(kept[m.Content[0].Blob]), sum)
	}
}

func TestOfMoreLongTextsThanHaveRoomNothingIsLost(t *testing.T) {
	kept := shelf{}
	tr := newTrial(t, nil)
	tr.run.Blobs = kept
	var all []script.Step
	sum := 0
	for i := range 100 {
		op := []script.Op{script.OpText, script.OpThinking}[i%2]
		all = append(all, script.Step{Op: op, Text: strings.Repeat("0123456789abcdef", 6<<10)})
		sum += 96 << 10
	}
	steps(t, tr, 0, all...)
	if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	told(t, tr.events)
	for _, b := range tr.desk.messages[1].Content {
		sum -= len(kept[b.Blob])
	}
	if sum != 0 {
		t.Errorf("%d bytes are lost", sum)
	}
}

// TestAResultThatHasNoRoomInALineIsCutAndKept has a tool, as one of an extension may be,
// and a hook in the place of one give too much.
func TestAResultThatHasNoRoomInALineIsCutAndKept(t *testing.T) {
	whole := strings.Repeat("é", 3<<20)
	big := protocol.Message{Role: protocol.RoleToolResult, Content: []protocol.Block{protocol.Text(whole), protocol.Text("the end")}, Details: []byte(`"` + whole + `"`)}
	for name, c := range map[string]struct{ tools, hook []protocol.Block }{
		"of a tool": {tools: big.Content},
		"of a hook": {tools: []protocol.Block{protocol.Text("short")}, hook: big.Content},
	} {
		t.Run(name, func(t *testing.T) {
			kept := shelf{}
			tr := newTrial(t, []tool.Tool{newGadget("Look", func(context.Context, json.RawMessage, func(string)) (tool.Result, error) {
				return tool.Result{Content: c.tools, Details: json.RawMessage(big.Details)}, nil
			})})
			tr.run.Blobs = kept
			if c.hook != nil {
				tr.run.Hooks = instead{big}
			}
			steps(t, tr, 0, script.Step{Op: script.OpCall, Text: "Look", ID: "c1", Input: "{}"})
			if end := tr.execute(t.Context()); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v", end)
			}
			told(t, tr.events)
			m := tr.desk.messages[2]
			if kept[m.Content[0].Blob] != whole || !utf8.ValidString(m.Content[0].Text) || m.Content[1].Text != "the end" || m.Details != nil {
				t.Errorf("%d bytes are kept of %d; %.200q", len(kept[m.Content[0].Blob]), len(whole), m.PlainText())
			}
			if len(tr.reports) != 1 || !strings.Contains(tr.reports[0], "details of Look") {
				t.Errorf("reports %q", tr.reports)
			}
		})
	}
}

// instead answers each call in the place of its tool.
type instead struct{ result protocol.Message }

func (i instead) BeforeTool(context.Context, tool.Call, tool.Spec) (BeforeTool, error) {
	return BeforeTool{Result: &i.result}, nil
}
func (i instead) AfterTool(_ context.Context, _ tool.Call, _ tool.Spec, m protocol.Message) (protocol.Message, error) {
	return m, nil
}
func (i instead) Stop(context.Context, Ending) (string, error) { return "", nil }

func TestAnAnswerWhoseWholeCannotBeStoredEndsTheRun(t *testing.T) {
	tr := newTrial(t, nil)
	tr.run.Blobs = fullDisk{}
	steps(t, tr, 0, script.Step{Op: script.OpText, Text: strings.Repeat("0123456789abcdef", 1<<18)})
	end := tr.execute(t.Context())
	if end.Terminal != protocol.TerminalStorageError || end.Reason != protocol.EndError {
		t.Fatalf("end: %+v", end)
	}
	if m := tr.desk.messages[len(tr.desk.messages)-1]; !strings.HasPrefix(m.PlainText(), "0123") || m.Content[0].Blob != "" {
		t.Errorf("%d bytes are stored", len(m.PlainText()))
	}
	told(t, tr.events)
}

func TestARunOfWhichTheLastEventIsNotStoredHasNotCompleted(t *testing.T) {
	tr := newTrial(t, nil, `{"do":[{"text":"done"}]}`)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var end *protocol.RuntimeEnd
	for raw := range Execute(ctx, tr.run) {
		if _, ok := raw.Body.(*protocol.MessageBody); ok {
			cancel(protocol.Errorf(protocol.CodeStorageError, "It cannot be stored."))
		}
		end, _ = raw.Body.(*protocol.RuntimeEnd)
	}
	if end == nil || end.Terminal != protocol.TerminalStorageError || end.Reason != protocol.EndError || end.Error.Message != "It cannot be stored." {
		t.Errorf("end: %+v", end)
	}
}

// fullDisk keeps nothing.
type fullDisk struct{}

func (fullDisk) PutBlob(context.Context, io.Reader) (string, error) {
	return "", errors.New("the disk is full")
}
