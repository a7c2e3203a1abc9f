package tasks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

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
	text := strings.Repeat(unit, hosttest.LongAnswer/3/len(unit))
	thinking := "Hm: " + text
	input := quoted(t, map[string]string{"command": text})
	answer := `{"if":{"user":"^begin"},"do":[{"thinking":` + quoted(t, thinking) + `},{"text":` + quoted(t, text) + `},{"call":"Bash","id":"c1","input":` + input + `}]}`
	for i, api := range hosttest.APIs() {
		for k, chunk := range []int{0, 4 << 10} {
			if !hosttest.EveryPair && i%2 != k {
				continue
			}
			t.Run(fmt.Sprintf("%s in chunks of %d", api, chunk), func(t *testing.T) {
				t.Parallel() // it takes only processor time
				w := hosttest.New(t, hosttest.Setting{API: api, Chunk: chunk}, answer,
					`{"if":{"result":"."},"do":[{"text":"I see."}]}`, `{"if":{"user":"^again"},"do":[{"text":"Here."}]}`)
				e := w.Begin(false)
				e.Ask("begin")
				w.Restart()
				e = w.Open(w.Connect(false), e.ID)
				e.Ask("again")
				w.Judged()
				messages := e.Messages()
				hosttest.Paired(t, messages)
				var kept []string
				for _, b := range messages[1].Content {
					if b.Blob == "" || len(b.Text+b.Thinking) > 65<<10 {
						t.Errorf("a %s block is not cut", b.Type)
					}
					kept = append(kept, e.WholeOf(b))
				}
				if !slices.Equal(kept, []string{thinking, text, input}) {
					t.Errorf("%d blocks are kept, not what the model sent", len(kept))
				}
				if last := messages[len(messages)-1]; last.PlainText() != "Here." {
					t.Errorf("the last answer is %q", last.PlainText())
				}
				requests := w.Server.Requests()
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
	w := hosttest.New(t, hosttest.Setting{}, hosttest.AgentCall("^start$", "", "CHILD"), `{"if":{"user":"CHILD"},"do":[{"text":"0123456789abcde\n","times":262144}]}`,
		hosttest.Answer(".", "done"))
	e := w.Begin(false)
	e.Ask("start")
	result := e.Messages()[2]
	var d protocol.ToolDetails
	if err := json.Unmarshal(result.Details, &d); err != nil {
		t.Fatal(err)
	}
	if got := e.WholeOf(protocol.Block{Blob: d.FullBlob}); strings.Count(got, "0123456789abcde\n") < 262143 || len(result.PlainText()) > 64<<10 {
		t.Errorf("%d bytes are kept; the model is told %d", len(got), len(result.PlainText()))
	}
}
