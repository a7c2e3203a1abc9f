package conformance

import (
	"context"
	"errors"
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/protocol"
)

func testAnswer(t *testing.T, a Adapter) {
	m, _ := a.start(t, `{"do":[{"thinking":"hm, let me see"},{"text":"I look at both <files> äöü"},{"call":"Read","id":"c1","input":{"path":"a"}},{"call":"Read","id":"c2","input":{"path":"b"}}],"usage":{"inputTokens":1000,"outputTokens":200,"cacheReadTokens":5000,"cacheWriteTokens":0,"reasoningTokens":50}}`)
	got, err := collect(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Content) != 4 || got.Content[0].Thinking != "hm, let me see" || got.Content[1].Text != "I look at both <files> äöü" ||
		got.Content[2].ID != "c1" || got.Content[3].ID != "c2" || string(got.Content[3].Input) != `{"path":"b"}` {
		t.Fatalf("content %+v", got.Content)
	}
	want := protocol.Usage{InputTokens: 1000, OutputTokens: 200, CacheReadTokens: 5000, ReasoningTokens: 50}
	want.CostUSD = a.Info.Price.Cost(want)
	if got.Done.StopReason != protocol.StopToolUse || got.Done.Usage != want || want.CostUSD == 0 {
		t.Fatalf("done %+v, want usage %+v", got.Done, want)
	}
}

func testRefusal(t *testing.T, a Adapter) {
	m, _ := a.start(t, `{"do":[{"text":"I cannot"}],"stop":"refusal"}`)
	if got, err := collect(t.Context(), m); err != nil || got.Done.StopReason != protocol.StopRefusal {
		t.Fatalf("%+v %v", got, err)
	}
}

func testEstimate(t *testing.T, a Adapter) {
	m, _ := a.start(t, `{"do":[{"text":"some words"}],"usage":{}}`)
	got, err := collect(t.Context(), m)
	if err != nil || got.Done.Usage.InputTokens == 0 || got.Done.Usage.OutputTokens != 3 || got.Done.Usage.CostUSD == 0 {
		t.Fatalf("%+v %v", got.Done, err)
	}
}

func testCancel(t *testing.T, a Adapter) {
	m, _ := a.start(t, `{"do":[{"text":"one two three"},{"hang":true}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for d, err := range m.Stream(ctx, modeltest.Ask("hello")) {
		if _, ok := d.(model.TextDelta); ok {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Fatalf("got %v", last)
	}
}

// testStop stops after each of the deltas. The adapter's TestMain sees by goleak
// whether anything is left; the server's Close waits for its handler.
func testStop(t *testing.T, a Adapter) {
	m, _ := a.start(t, `{"again":true,"do":[{"thinking":"hm"},{"text":"one two three"},{"call":"Read","id":"c","input":{}},{"hang":true}]}`)
	for stop := 1; stop <= 8; stop++ {
		n := 0
		for range m.Stream(t.Context(), modeltest.Ask("hello")) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("%d deltas came, and then the stream ended", n)
		}
	}
}
