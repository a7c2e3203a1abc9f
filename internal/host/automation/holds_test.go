package automation_test

import (
	"strings"
	"testing"
	"time"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
	"scorel/protocol/display"
)

func TestWhoOpensASessionIsToldOfSchedulesThatPauseAtALimit(t *testing.T) {
	within(t, func(w *world) {
		w.configure("maxRunTokens = 350")
		id := w.c.NewSession()
		w.add(id, protocol.CreateSchedule{When: "every 1m", Prompt: "work", Name: "watch"})
		opened := func() []string {
			c := w.Plug("other", false, protocol.GrantControl)
			return c.Do(id, &protocol.OpenSession{}).(*protocol.SessionOpened).Holds
		}
		if got := opened(); len(got) > 0 {
			t.Errorf("before, it says %q", got)
		}
		w.pass(61 * time.Second)
		got := opened()
		if len(got) != 1 || !strings.HasPrefix(got[0], "The schedule watch pauses until ") || strings.HasSuffix(got[0], "..") {
			t.Errorf("it says %q", got)
		}
		w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("hello")})
		w.pass(time.Second)
	}, stepping)
}

func TestARunSaysHowManyCallsWereDenied(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "every 1m", Prompt: "write"})
		w.pass(61 * time.Second)
		w.expect(x.ScheduleID, "completed")
		r := w.get(x.ScheduleID).Runs[0]
		if row := display.RunRow(&r, time.Now()); r.Denied != 2 || row[len(row)-1] != "2 calls were denied" {
			t.Errorf("%d were denied; it is shown as %q", r.Denied, row)
		}
	}, `{"if":{"user":"write"},"do":[{"call":"Bash","id":"c1","input":{"command":"touch a"}},{"call":"Bash","id":"c2","input":{"command":"touch b"}}]}`)
}

func TestARunOfAScheduleWithoutANameIsShownWithItsID(t *testing.T) {
	row := strings.Join(display.RunRow(&protocol.ScheduleRun{ScheduleID: "sch_aaaaaaaaaaaaaaa1"}, time.Now()), "|")
	if !strings.Contains(row, "sch_aaaaaaaaaaaaaaa1") {
		t.Errorf("it is shown as %s", row)
	}
}

func TestAScheduleWithARuleThatIsNoneIsRefused(t *testing.T) {
	within(t, func(w *world) {
		id := w.c.NewSession()
		for _, o := range []protocol.TurnOptions{{Allow: []string{"Bash(("}}, {Deny: []string{"Bash(("}}} {
			for what, r := range map[string]protocol.Request{
				"create":  &protocol.CreateSchedule{When: "every 1m", Prompt: "look", Options: &o},
				"plan":    &protocol.PlanSchedule{When: "every 1m", Prompt: "look", Options: &o},
				"command": &protocol.RunCommand{Name: "schedule", Args: "add --allowed-tools 'Bash((' 5m look"},
			} {
				if _, err := w.c.Try(id, r); err == nil || !strings.Contains(err.Message, "Bash((") {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
		w.listed("after that", "")
		w.add(id, protocol.CreateSchedule{When: "every 1m", Prompt: "look", Options: &protocol.TurnOptions{Allow: []string{"Bash(ls:*)"}}})
	})
}

func TestAOneShotThatCameTooLateIsShownAsMissed(t *testing.T) {
	within(t, func(w *world) {
		w.configure(`catchUp = "none"`)
		once := w.add("", protocol.CreateSchedule{When: "in 5m", Prompt: "once"})
		done := w.add("", protocol.CreateSchedule{When: "in 10s", Prompt: "once"})
		w.pass(15 * time.Second)
		w.stop()
		w.pass(time.Hour)
		w.start()
		w.pass(time.Second)
		for id, want := range map[protocol.ScheduleID]string{once.ScheduleID: "missed", done.ScheduleID: "done"} {
			d := w.get(id)
			if row := display.ScheduleRow(&d.Schedule, time.Now()); row[1] != want {
				t.Errorf("the list has %q, not %s", row, want)
			}
			if text := strings.Join(display.ScheduleText(d, time.Now()), "\n"); !strings.Contains(text, "state: "+want) {
				t.Errorf("it is shown as %s", text)
			}
		}
	})
}
