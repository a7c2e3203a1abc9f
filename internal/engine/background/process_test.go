package background

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/progress"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

func TestPeopleAreToldHowACommandBeganAndEnded(t *testing.T) {
	for _, c := range []struct {
		name   string
		end    func(b *bench, id string, child *puppetChild)
		status protocol.ProcessStatus
		level  protocol.ProcessLevel
		words  string
	}{
		{"by itself", func(_ *bench, _ string, c *puppetChild) { c.end <- sandbox.Exit{} }, "completed", "info", "make all ended after 2s (exit code 0)"},
		{"with a failure", func(_ *bench, _ string, c *puppetChild) { c.end <- sandbox.Exit{Code: 3} }, "failed", "error", "(exit code 3)"},
		{"of which nothing is known", func(_ *bench, _ string, c *puppetChild) { c.end <- sandbox.Exit{Err: errors.New("lost")} }, "failed", "error", "not known: lost"},
		{"at its limit", func(*bench, string, *puppetChild) { time.Sleep(time.Hour) }, "failed", "error", "at its time limit of 60 s"},
		{"stopped by the model", func(b *bench, id string, _ *puppetChild) {
			stopped, err := b.set.Stop(context.Background(), id, ToModel)
			if err != nil || stopped.Process == nil || stopped.Process.Latest.Status != "cancelled" {
				b.t.Errorf("%+v, %v", stopped, err)
			}
		}, "cancelled", "info", "was stopped after 2s"},
		{"with its session", func(b *bench, _ string, _ *puppetChild) { b.set.Close() }, "cancelled", "info", "because its session was closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				var mu sync.Mutex
				var told []protocol.ToolProcess
				b.set.cfg.Processes = progress.New(progress.Config{Session: "ses_1", Now: time.Now})
				b.set.cfg.Tell = func(p protocol.ToolProcess) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, p)
				}
				id, err := b.set.Start(b.spawn, Spec{Command: "make all", Tool: "Bash", CallID: "c1", Limit: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				mu.Lock()
				if len(told) != 1 {
					t.Errorf("%d events at the start", len(told))
				}
				mu.Unlock()
				time.Sleep(2 * time.Second)
				c.end(b, id, b.last())
				r, err := b.set.Read(t.Context(), id, Query{Wait: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // people may be told a moment after who waits
				mu.Lock()
				defer mu.Unlock()
				if len(told) != 2 {
					t.Fatalf("%d events", len(told))
				}
				begun, ended := told[0], told[1]
				if begun.ToolCallID != "c1" || begun.ToolName != "Bash" || begun.Event.Status != "started" || !strings.Contains(begun.Event.Message, "make all was started") {
					t.Errorf("the start is told as %+v", begun)
				}
				if ended.ToolCallID != "" || ended.Event.Status != c.status || ended.Event.Level != c.level || !strings.Contains(ended.Event.Message, c.words) {
					t.Errorf("the end is told as %+v", ended)
				}
				for _, p := range told {
					if p.Event.OperationID != id || p.Event.TaskID != id || p.Event.TargetType != "task" {
						t.Errorf("an event names %+v", p.Event)
					}
				}
				s := r.Process
				if s == nil || len(s.Events) != 2 || s.Latest.Status != c.status || s.LogRef.OperationID != id || s.LogRef.ToolCallID != "c1" {
					t.Errorf("the summary is %+v", s)
				}
			})
		})
	}
}

func TestTheNoticeOfAnEndCarriesTheSummaryForPeopleOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.set.cfg.Processes = progress.New(progress.Config{Session: "ses_1"})
		id, err := b.set.Start(b.spawn, Spec{Command: "make", CallID: "c1"})
		if err != nil {
			t.Fatal(err)
		}
		b.last().end <- sandbox.Exit{}
		synctest.Wait()
		notices := b.set.Take()
		if len(notices) != 1 {
			t.Fatalf("%d notices", len(notices))
		}
		item := notices[0].Item()
		if want := fmt.Sprintf(`"operationId":"%s"`, id); !strings.Contains(string(item.Data), want) || strings.Contains(item.Content, "operationId") {
			t.Errorf("the item is %s with %s", item.Content, item.Data)
		}
	})
}

func TestWhatACommandReportsIsToldWithoutWaitingForItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var mu sync.Mutex
		var told []string
		b.set.cfg.Processes = progress.New(progress.Config{Session: "ses_1"})
		b.set.cfg.Tell = func(p protocol.ToolProcess) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("%d %s", p.Event.Sequence, p.Event.Status))
		}
		id, err := b.set.Start(b.spawn, Spec{Command: "agent", CallID: "c1"})
		if err != nil {
			t.Fatal(err)
		}
		running, err := b.set.find(id)
		if err != nil {
			t.Fatal(err)
		}
		running.process.Update(protocol.ProcessUpdate{Message: "half"})
		time.Sleep(time.Second)
		synctest.Wait()
		mu.Lock()
		if got := strings.Join(told, ","); got != "1 started,2 running" {
			t.Errorf("while it runs is told %s", got)
		}
		mu.Unlock()
		running.process.Update(protocol.ProcessUpdate{Message: "nearly"})
		b.last().end <- sandbox.Exit{}
		<-running.done
		if got := strings.Join(told, ","); got != "1 started,2 running,3 running,4 completed" {
			t.Errorf("at the end is told %s", got)
		}
	})
}
