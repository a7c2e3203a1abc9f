package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/protocol"
)

// ask sends a message and waits for the end of its run, also when so much came at once
// that the entry had to look at the session anew.
func (e *entry) ask(text string) {
	e.w.t.Helper()
	e.events = nil
	e.send(text)
	for {
		u := e.next()
		for _, ev := range u.Events {
			if end, ok := ev.Body.(*protocol.RuntimeEnd); ok {
				if end.Terminal != protocol.TerminalCompleted {
					e.w.t.Fatalf("the run has ended: %+v", end)
				}
				return
			}
		}
		if u.Fresh && !e.s.Live.Running {
			return
		}
	}
}

// wholeOf gives what a block carries, from its payload where that has more.
func (e *entry) wholeOf(b protocol.Block) string {
	e.w.t.Helper()
	if b.Blob == "" {
		return b.Text + b.Thinking + string(b.Input)
	}
	part := call[*protocol.BlobPart](e.w.t, e.c, e.id, &protocol.GetBlob{SHA256: b.Blob})
	var out bytes.Buffer
	if err := e.c.Fetch(e.w.t.Context(), e.id, &protocol.BlobRef{SHA256: b.Blob, Size: part.Size}, &out); err != nil {
		e.w.t.Fatal(err)
	}
	return out.String()
}

func quoted(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestALongAnswerIsKeptWholeAndTheConversationGoesOn has each vendor send
// thinking, a text and a call of together megabytes, at once and in pieces, and asks
// again on the next host. The window of the model has room for what is sent of it.
func TestALongAnswerIsKeptWholeAndTheConversationGoesOn(t *testing.T) {
	const unit = "aé😀x, 世界 and so on\n"
	text := strings.Repeat(unit, longAnswer/3/len(unit))
	thinking := "Hm: " + text
	input := quoted(t, map[string]string{"command": text})
	answer := `{"if":{"user":"^begin"},"do":[{"thinking":` + quoted(t, thinking) + `},{"text":` + quoted(t, text) + `},{"call":"Bash","id":"c1","input":` + input + `}]}`
	for i, api := range apis() {
		for k, chunk := range []int{0, 4 << 10} {
			if !everyPair && i%2 != k {
				continue
			}
			t.Run(fmt.Sprintf("%s in chunks of %d", api, chunk), func(t *testing.T) {
				w := newWorld(t, setting{api: api, chunk: chunk}, answer,
					`{"if":{"result":"."},"do":[{"text":"I see."}]}`, `{"if":{"user":"^again"},"do":[{"text":"Here."}]}`)
				e := w.begin(false)
				e.ask("begin")
				w.restart()
				e = w.open(w.connect(false), e.id)
				e.ask("again")
				w.judged()
				messages := e.messages()
				paired(t, messages)
				var kept []string
				for _, b := range messages[1].Content {
					if b.Blob == "" || len(b.Text+b.Thinking) > 65<<10 {
						t.Errorf("a %s block is not cut", b.Type)
					}
					kept = append(kept, e.wholeOf(b))
				}
				if !slices.Equal(kept, []string{thinking, text, input}) {
					t.Errorf("%d blocks are kept, not what the model sent", len(kept))
				}
				if last := messages[len(messages)-1]; last.PlainText() != "Here." {
					t.Errorf("the last answer is %q", last.PlainText())
				}
				requests := w.server.Requests()
				body := requests[len(requests)-1].Body
				for _, told := range []string{"[cut here: the first 65", "The input of this call has "} {
					if len(body) > 256<<10 || !bytes.Contains(body, []byte(told)) {
						t.Errorf("the next request has %d bytes, or lacks %q", len(body), told)
					}
				}
			})
		}
	}
}

func TestTheWholeAnswerOfAnAgentIsKeptBesideItsResult(t *testing.T) {
	w := newWorld(t, setting{}, agentCall("^start$", "", "CHILD"), `{"if":{"user":"CHILD"},"do":[{"text":"0123456789abcde\n","times":262144}]}`,
		answer(".", "done"))
	e := w.begin(false)
	e.ask("start")
	result := e.messages()[2]
	var d protocol.ToolDetails
	if err := json.Unmarshal(result.Details, &d); err != nil {
		t.Fatal(err)
	}
	if got := e.wholeOf(protocol.Block{Blob: d.FullBlob}); strings.Count(got, "0123456789abcde\n") < 262143 || len(result.PlainText()) > 64<<10 {
		t.Errorf("%d bytes are kept; the model is told %d", len(got), len(result.PlainText()))
	}
}
