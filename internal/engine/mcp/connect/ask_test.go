package connect

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// asksOf opens a connection whose server may ask, in the newest version or an older one.
func asksOf(t *testing.T, older bool, crowded func()) *Server {
	t.Helper()
	to := target(t, "asking")
	to.Older = older
	s, err := Open(t.Context(), to, Options{Version: "1", Asks: true, Crowded: crowded})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestAServerAsksThePeopleOfTheCall(t *testing.T) {
	for _, older := range []bool{false, true} {
		t.Run(fmt.Sprint("older ", older), func(t *testing.T) {
			s := asksOf(t, older, nil)
			for name, c := range map[string]struct {
				ask  func(context.Context, Question) Reply
				want []string
			}{
				"answered": {func(_ context.Context, q Question) Reply {
					if q.URL != "" {
						if q.URL != "https://pay.example/x" || q.Message != "Pay here" || q.Schema != nil {
							t.Errorf("%+v", q)
						}
						return Reply{Action: Accept}
					}
					if q.Message != "Which color?[31m" || !strings.Contains(string(q.Schema), `"properties":{"color":{"type":"string","enum":["red","green"]},"area":{`) {
						t.Errorf("%+v", q)
					}
					return Reply{Action: Accept, Values: json.RawMessage(`{"color":"green"}`)}
				}, []string{`"green"`}},
				"declined":        {func(context.Context, Question) Reply { return Reply{Action: Decline} }, []string{`"decline"`}},
				"nobody is there": {nil, []string{`"decline"`}},
			} {
				a, err := s.Call(t.Context(), Call{Tool: "ask", Session: "s", Ask: c.ask})
				got := text(t, a, err)
				for _, want := range c.want {
					if !strings.Contains(got, want) || a.IsError {
						t.Errorf("%s: the server is told %s", name, got)
					}
				}
			}
		})
	}
}

func TestAWrongAnswerIsNotSent(t *testing.T) {
	s := asksOf(t, false, nil)
	a, err := s.Call(t.Context(), Call{Tool: "ask", Ask: func(context.Context, Question) Reply {
		return Reply{Action: Accept, Values: json.RawMessage(`{"color":"blue"}`)}
	}})
	if err == nil && !a.IsError {
		t.Errorf("%q", text(t, a, err))
	}
}

// TestNobodyIsAskedForAnotherSession: a server of an older version does not say for which
// call it asks. While two sessions call it, nobody is asked.
func TestNobodyIsAskedForAnotherSession(t *testing.T) {
	crowded := make(chan bool, 10)
	s := asksOf(t, true, func() { crowded <- true })
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = s.Call(ctx, Call{Tool: "wait", Session: "other", Ask: func(context.Context, Question) Reply {
			t.Error("the people of the other session are asked")
			return Reply{Action: Decline}
		}}) // it is cancelled
	})
	for !strings.Contains(s.Log(), "it waits") {
		time.Sleep(time.Millisecond)
	}
	a, err := s.Call(t.Context(), Call{Tool: "ask", Session: "s", Ask: func(context.Context, Question) Reply {
		t.Error("people are asked for what may be another session's")
		return Reply{Action: Decline}
	}})
	if got := text(t, a, err); strings.Count(got, `"decline"`) != 2 {
		t.Errorf("the server is told %s", got)
	}
	<-crowded
	cancel()
	wg.Wait()
}

func TestAQuestionEndsWithItsCall(t *testing.T) {
	for _, older := range []bool{false, true} {
		s := asksOf(t, older, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool, 2)
		if _, err := s.Call(ctx, Call{Tool: "ask", Ask: func(ctx context.Context, _ Question) Reply {
			cancel()
			<-ctx.Done()
			ended <- true
			return Reply{Action: Decline}
		}}); err == nil {
			t.Error("a cancelled call has an answer")
		}
		<-ended
	}
}

// TestTheTimeOfACallStandsStillWhilePeopleAreAsked is of the clock alone.
func TestTheTimeOfACallStandsStillWhilePeopleAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var over []string
		begin := time.Now()
		a := allow(10*time.Second, time.Minute, func(err error) { over = append(over, fmt.Sprint(err, " ", time.Since(begin))) })
		for range 3 { // half a minute, with questions of an hour
			a.stop()
			a.stop()
			time.Sleep(time.Hour)
			a.start()
			time.Sleep(time.Hour)
			a.heard()
			a.start()
			time.Sleep(9 * time.Second)
			a.heard()
		}
		for range 5 {
			time.Sleep(8 * time.Second)
			a.heard()
		}
		synctest.Wait()
		if want := "[long 6h1m0s]"; fmt.Sprint(over) != want {
			t.Errorf("%v, want %s", over, want)
		}
		a.end()
		over, begin = nil, time.Now()
		b := allow(10*time.Second, time.Minute, func(err error) { over = append(over, fmt.Sprint(err, " ", time.Since(begin))) })
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if want := "[quiet 10s]"; fmt.Sprint(over) != want {
			t.Errorf("%v, want %s", over, want)
		}
		b.end()
		b.stop()
		b.start()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(over) != 1 {
			t.Errorf("%v", over)
		}
	})
}
