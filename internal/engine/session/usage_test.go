package session

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"scorel/protocol"
	"scorel/protocol/fold"
)

func TestUsageIsTheFoldOfTheLogBeforeAndAfterAReopen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		log := w.create(t)
		number := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 1<<31))
		leaf := protocol.EventID("")
		for i := range rapid.IntRange(1, 12).Draw(rt, "events") {
			u := protocol.Usage{InputTokens: number.Draw(rt, "in"), OutputTokens: number.Draw(rt, "out"), CacheReadTokens: number.Draw(rt, "read"),
				CacheWriteTokens: number.Draw(rt, "write"), ReasoningTokens: number.Draw(rt, "reasoning"), CostUSD: float64(number.Draw(rt, "cost")) / 1024}
			var ev protocol.Event
			switch rapid.SampledFrom([]string{"answer", "partial", "failed", "user", "result", "task", "compact"}).Draw(rt, "kind") {
			case "answer":
				ev = w.answer(leaf, func(m *protocol.Message) { m.Usage = &u })
			case "partial":
				ev = w.answer(leaf, func(m *protocol.Message) { m.Usage, m.Partial = &u, true })
			case "failed":
				ev = w.answer(leaf, func(m *protocol.Message) { m.Usage, m.ErrorMessage = &u, `it said {"usage":{"inputTokens":7}}` })
			case "user":
				ev = w.user(leaf, `"usage":{"inputTokens":7}}}`)
			case "result":
				ev = w.event(leaf, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", ToolName: "Bash",
					Content: []protocol.Block{protocol.Text("x")}, Details: json.RawMessage(`{"usage":{"inputTokens":7,"outputTokens":1,"cacheReadTokens":1,"cacheWriteTokens":1}}`)}})
			case "task":
				ev = w.event(leaf, &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", ToolName: "Task",
					Content: []protocol.Block{protocol.Text("x")}, Details: json.RawMessage(`{"y":{"z":1}}`), Usage: &u}})
			case "compact":
				if i == 0 {
					continue
				}
				ev = w.event(leaf, &protocol.Compact{Summary: "s", CompactedThrough: leaf, Usage: &u})
			}
			if err := log.Commit(t.Context(), []protocol.Event{ev}); err != nil {
				rt.Fatal(err)
			}
			leaf = ev.ID
		}
		want := w.folded(rt, log)
		if got := log.Index().Usage(); got != want {
			rt.Errorf("of the log that wrote it: %+v, the fold is %+v", got, want)
		}
		if err := log.Close(); err != nil {
			rt.Fatal(err)
		}
		again, _, err := w.store.Open(t.Context(), w.id)
		if err != nil {
			rt.Fatal(err)
		}
		defer again.Close()
		if got := again.Index().Usage(); got != want {
			rt.Errorf("of the log that was opened again: %+v, the fold is %+v", got, want)
		}
	})
}

// answer makes an assistant message.
func (w *world) answer(parent protocol.EventID, set func(*protocol.Message)) protocol.Event {
	m := protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("yes")}, Provider: "p", Model: "m", StopReason: protocol.StopEndTurn}
	set(&m)
	return w.event(parent, &protocol.MessageBody{Message: m})
}

// folded folds the events of a log as a client does.
func (w *world) folded(rt *rapid.T, log *Log) protocol.Usage {
	var live protocol.Live
	for line, err := range log.Index().After(ctx(), 0) {
		if err != nil {
			rt.Fatal(err)
		}
		ev, err := protocol.ParseEvent(line.Bytes)
		if err != nil {
			rt.Fatal(err)
		}
		fold.Apply(&live, ev)
	}
	return live.Usage
}

func TestUsageOfALineThatAnotherProgramWroteCountsToo(t *testing.T) {
	for name, c := range map[string]struct {
		message string
		want    protocol.Usage
	}{
		"other order":       {`{"usage":{"outputTokens":2,"inputTokens":1},"role":"assistant","content":[]}`, protocol.Usage{InputTokens: 1, OutputTokens: 2}},
		"spaces":            {`{ "role": "assistant", "content": [], "usage": { "inputTokens": 1 } }`, protocol.Usage{InputTokens: 1}},
		"unknown fields":    {`{"role":"assistant","content":[],"usage":{"inputTokens":1,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0,"newTokens":5}}`, protocol.Usage{InputTokens: 1}},
		"behind it another": {`{"role":"assistant","usage":{"inputTokens":1},"content":[],"x":{"usage":{"inputTokens":9,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0}}}`, protocol.Usage{InputTokens: 1}},
		"of another field":  {`{"role":"assistant","content":[],"x":{"y":1,"usage":{"inputTokens":9,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0}}}`, protocol.Usage{}},
		"cost alone":        {`{"role":"assistant","content":[],"usage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4,"costUSD":0.5}}`, protocol.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostUSD: 0.5}},
		"a wrong number":    {`{"role":"assistant","content":[],"usage":{"inputTokens":"many"}}`, protocol.Usage{}},
		"a large number":    {`{"role":"assistant","content":[],"usage":{"inputTokens":1234567890123456,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0}}`, protocol.Usage{InputTokens: 1234567890123456}},
		"none":              {`{"role":"assistant","content":[]}`, protocol.Usage{}},
		"null":              {`{"role":"assistant","content":[],"usage":null}`, protocol.Usage{}},
		"no message at all": {`7`, protocol.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			line := fmt.Sprintf(`{"type":"message","id":"evt_0000000000000001","parentId":null,"seq":1,"sessionId":"s","clientId":"host","ts":1,"message":%s}`, c.message)
			var r record
			var used usages
			if err := parseRecord([]byte(line), 0, &r, &used); err != nil {
				t.Fatal(err)
			}
			if got := used.of(&r); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
