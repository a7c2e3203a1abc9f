package lane

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"scorel/internal/engine/runtime"
	"scorel/protocol"
)

func TestTheBudgetOfADayIsAboveTheTurnOfItsMessage(t *testing.T) {
	var recorded runtime.Spend
	day := runtime.NewDay(runtime.Spend{Tokens: 10}, runtime.Spend{Tokens: 4}, func(s runtime.Spend) error {
		recorded = recorded.Plus(s)
		return nil
	})
	tr := newTrial(t, `{"again":true,"do":[{"call":"Do","input":{}}],"usage":{"inputTokens":5,"outputTokens":2,"costUSD":0.5}}`)
	goOn := make(chan struct{})
	var used []protocol.LimitUse // before the first answer
	tr.model.before = func(_ context.Context, n int) {
		if n == 1 {
			used = tr.lane.Limits()
			<-goOn
		}
	}
	tr.open()
	defer tr.close()
	message := Message{Content: []protocol.Block{protocol.Text("work")}, Day: day}
	if _, err := tr.lane.Send(t.Context(), tr.caller(), message); protocol.AsError(err).Code != protocol.CodeInvalidRequest {
		t.Errorf("it may join a turn: %v", err)
	}
	message.Busy = BusyReject
	if _, err := tr.lane.Send(t.Context(), tr.caller(), message); err != nil {
		t.Fatal(err)
	}
	end := tr.ended(func() { close(goOn) })
	if want := (protocol.LimitUse{Kind: protocol.LimitTokens, Where: protocol.LimitOfDay, Used: 11, Limit: 10}); end.Limit == nil || *end.Limit != want {
		t.Errorf("the end: %+v %v, limit %+v", end, end.Error, end.Limit)
	}
	if recorded.Tokens != 7 || recorded.USD != 0.5 {
		t.Errorf("recorded %+v", recorded)
	}
	if len(used) != 1 || used[0].Where != protocol.LimitOfDay || used[0].Used != 4 || tr.lane.Limits() != nil {
		t.Errorf("while it ran %+v, then %+v", used, tr.lane.Limits())
	}
	// The next message of a person is of no day.
	tr.host.config = tr.limited(runtime.Spend{Tokens: 1})
	tr.say("hello")
	if recorded.Tokens != 7 {
		t.Errorf("a person's turn is recorded: %+v", recorded)
	}
}

// limited makes turns ready that have limits.
func (tr *trial) limited(limit runtime.Spend) func(context.Context, protocol.Meta, *protocol.TurnOptions) (*TurnConfig, error) {
	config := tr.host.config
	return func(ctx context.Context, m protocol.Meta, o *protocol.TurnOptions) (*TurnConfig, error) {
		c, err := config(ctx, m, o)
		if err == nil {
			c.Limits.Spend = limit
		}
		return c, err
	}
}

// ended calls during while the turn runs, and returns how it ended.
func (tr *trial) ended(during func()) *protocol.RuntimeEnd {
	tr.t.Helper()
	turn := tr.lane.course.running.Load()
	if turn == nil {
		tr.t.Fatal("no turn runs")
	}
	during()
	tr.rest()
	return turn.end
}

func TestTheTimeInWhichAPersonIsAskedIsNoTimeOfTheTurn(t *testing.T) {
	var now atomic.Int64 // seconds
	tr := newTrial(t, `{"do":[{"call":"Do","input":{}}]}`, `{"do":[{"text":"Done."}]}`)
	tr.now = func() time.Time { return time.Unix(1e9+now.Load(), 0) }
	tr.do = func(ctx context.Context) {
		now.Add(60)
		tr.lane.Questions().Dialog(ctx, protocol.Dialog{Kind: protocol.DialogConfirm, Title: "Sure?"}, 0)
	}
	tr.open()
	defer tr.close()
	tr.host.config = tr.limited(runtime.Spend{Time: 2 * time.Minute})
	defer tr.lane.Questions().Attach(true)()
	if _, err := tr.send("do it"); err != nil {
		t.Fatal(err)
	}
	var asked []string
	tr.wait(func() bool {
		asked = tr.shown()
		return len(asked) > 0
	})
	now.Add(3600)
	end := tr.ended(func() {
		if err := tr.lane.Questions().AnswerUI(tr.caller(), asked[0], []byte("true")); err != nil {
			t.Error(err)
		}
	})
	if end.Terminal != protocol.TerminalCompleted || end.Error != nil {
		t.Errorf("the end: %+v %v", end, end.Error)
	}
}

func TestPeopleAreToldOnceOfAModelWithoutAPrice(t *testing.T) {
	tr := newTrial(t, again)
	tr.open()
	defer tr.close()
	var told []string
	stop := tr.lane.Listeners().Watch(func(e protocol.Event) {
		if b, ok := e.Body.(*protocol.Notice); ok {
			told = append(told, b.Text)
		}
	})
	h := &turnHost{tr.lane, &turn{config: &TurnConfig{}}}
	for range 3 {
		h.unpriced("local/new", "The price is not known.")
	}
	h.unpriced("local/other", "That one's neither.")
	if err := tr.lane.Publisher().Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	if len(told) != 2 || told[0] != "The price is not known." {
		t.Errorf("told %q", told)
	}
}
