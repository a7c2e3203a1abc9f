package automation_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/schedule"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// world is a serving host in a bubble, whose clock is the bubble's and whose model is a script
// that runs in the process.
type world struct {
	*hosttest.World
	t *testing.T
	c *hosttest.Wire
}

// within runs a test in such a world. Lines are the script.
func within(t *testing.T, test func(w *world), lines ...string) {
	t.Helper()
	outside := hosttest.New(t, hosttest.Setting{})
	if err := outside.Host.Close(); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(outside.Home, "script")
	outside.Write(script, "{\"script\":1}\n"+strings.Join(lines, "\n")+"\n"+`{"again":true,"do":[{"text":"Understood."}],"usage":{"inputTokens":100,"outputTokens":10}}`)
	outside.Write(filepath.Join(outside.Home, ".scorel", "config.toml"), fmt.Sprintf("[model]\nname = %q\n", "script:"+script))
	synctest.Test(t, func(t *testing.T) {
		inside := *outside
		inside.T, inside.Config.Serving, inside.Config.Sleep = t, true, nil
		w := &world{World: &inside, t: t}
		w.start()
		test(w)
		w.stop()
	})
}

func (w *world) start() {
	w.t.Helper()
	h, err := host.New(w.Config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Host = h
	w.c = w.Plug("c", false, protocol.GrantControl)
}

func (w *world) stop() {
	w.t.Helper()
	if err := w.Host.Close(); err != nil {
		w.t.Error(err)
	}
}

// add makes a schedule in a session, or with sessions of its own.
func (w *world) add(in protocol.SessionID, r protocol.CreateSchedule) *protocol.Schedule {
	w.t.Helper()
	if in == "" && r.WorkDir == "" {
		r.WorkDir = w.Project
		if r.Target == "" {
			r.Target = "fresh"
		}
	}
	return w.c.Do(in, &r).(*protocol.Schedule)
}

func (w *world) get(id protocol.ScheduleID) *protocol.ScheduleDetails {
	w.t.Helper()
	return w.c.Do("", &protocol.GetSchedule{ScheduleID: id}).(*protocol.ScheduleDetails)
}

// states are how the runs of a schedule are, oldest first.
func (w *world) states(id protocol.ScheduleID) string {
	w.t.Helper()
	var out []string
	for _, r := range w.c.Do("", &protocol.ListRuns{ScheduleID: id, Limit: 200}).(*protocol.RunList).Runs {
		out = append([]string{string(r.State)}, out...)
	}
	return strings.Join(out, " ")
}

// expect fails unless the runs of a schedule are so.
func (w *world) expect(id protocol.ScheduleID, want string) {
	w.t.Helper()
	synctest.Wait()
	if got := w.states(id); got != want {
		w.t.Errorf("the runs are %q, not %q", got, want)
	}
}

// pass lets time pass, and what it wakes come to rest.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// said returns the messages of users in a session, each with who sent it.
func (w *world) said(id protocol.SessionID) (out []string) {
	w.t.Helper()
	for _, e := range w.Log(id) {
		b, ok := e.Body.(*protocol.MessageBody)
		if !ok || b.Message.Role != protocol.RoleUser {
			continue
		}
		by := "person"
		if m := b.Message.Meta; m != nil && m.Source != "" {
			by = string(m.Source)
		}
		out = append(out, by+": "+b.Message.PlainText())
	}
	return out
}

func TestANameIsOfOneScheduleThatMayBeDue(t *testing.T) {
	within(t, func(w *world) {
		first := w.add("", protocol.CreateSchedule{When: "in 1m", Prompt: "look", Name: "n1"})
		for _, r := range []protocol.Request{&protocol.CreateSchedule{When: "every 1h", Prompt: "look again", Name: "n1", Target: "fresh", WorkDir: w.Project},
			&protocol.PlanSchedule{When: "every 1h", Prompt: "look again", Name: "n1", Target: "fresh", WorkDir: w.Project}} {
			_, err := w.c.Try("", r)
			if err == nil || err.Code != protocol.CodeInvalidRequest || protocol.AboutOf(err).Field != "name" || !strings.Contains(err.Message, string(first.ScheduleID)) {
				t.Errorf("%s: %v", r.Spec().Name, err)
			}
		}
		w.add("", protocol.CreateSchedule{When: "every 1h", Prompt: "without a name"})
		w.add("", protocol.CreateSchedule{When: "every 1h", Prompt: "without a name, too"})
		w.pass(2 * time.Minute) // it is done
		w.add("", protocol.CreateSchedule{When: "every 1h", Prompt: "look again", Name: "n1"})
	})
}

func TestAScheduleSendsItsPromptAgainAndAgain(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "every 1m", Prompt: "look", Name: "watch"})
		if x.State != protocol.ScheduleArmed || x.Words != "every minute" || x.NextAt != time.Now().Add(time.Minute).UnixMilli() {
			t.Errorf("it was made as %+v", x)
		}
		w.pass(3*time.Minute + time.Second)
		w.expect(x.ScheduleID, "completed completed completed")
		d := w.get(x.ScheduleID)
		sessions := map[protocol.SessionID]bool{}
		for _, r := range d.Runs {
			sessions[r.SessionID] = true
			e := w.Log(r.SessionID)
			found := 0
			for _, e := range e {
				b, ok := e.Body.(*protocol.MessageBody)
				if !ok || b.Message.Role != protocol.RoleUser {
					continue
				}
				found++
				if m := b.Message.Meta; e.ID != r.EventID || m == nil || m.Source != protocol.SourceSchedule || m.ScheduleID != x.ScheduleID || m.RunID != r.RunID ||
					e.ClientID != protocol.HostClient || e.Cause == nil || e.Cause.RequestID != protocol.RequestIDOf(r.RunID) {
					t.Errorf("the message of %s is %+v by %s", r.RunID, m, e.ClientID)
				}
			}
			if found != 1 {
				t.Errorf("the run %s has %d messages", r.RunID, found)
			}
		}
		if len(sessions) != 3 {
			t.Errorf("three runs worked in %d sessions", len(sessions))
		}
		if len(d.Next) != 3 || d.Next[0] != x.NextAt+3*time.Minute.Milliseconds() {
			t.Errorf("it is due next at %v", d.Next)
		}
	})
}

func TestARunOfASessionWaitsForThePerson(t *testing.T) {
	within(t, func(w *world) {
		id := w.c.NewSession()
		x := w.add(id, protocol.CreateSchedule{When: "in 10s", Prompt: "by itself"})
		w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("slow one")})
		w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("queued")})
		w.pass(15 * time.Second)
		w.expect(x.ScheduleID, "queued")
		if why := w.get(x.ScheduleID).Runs[0].Why; why != "its session is busy" {
			t.Errorf("it waits because %q", why)
		}
		w.pass(time.Minute)
		w.expect(x.ScheduleID, "completed")
		if got := strings.Join(w.said(id), ", "); got != "person: slow one, followUp: queued, schedule: by itself" {
			t.Errorf("the session was told: %s", got)
		}
		if x := w.get(x.ScheduleID).Schedule; x.State != protocol.ScheduleDone {
			t.Errorf("a one-shot that was is %s", x.State)
		}
	}, `{"if":{"user":"slow"},"do":[{"wait":30000},{"text":"done"}]}`)
}

func TestLoopSchedulesNothingForATimeThatItDoesNotTake(t *testing.T) {
	within(t, func(w *world) {
		id := w.c.NewSession()
		for _, args := range []string{"1.5h hello", "at 09:00 hello", "0 9 * * * hello", "hello every 20m"} {
			if _, err := w.c.Try(id, &protocol.RunCommand{Name: "loop", Args: args}); err == nil || !strings.Contains(err.Message, "is not an interval that /loop can take") {
				t.Errorf("/loop %s: %v", args, err)
			}
		}
		if n := w.list(); n != "" {
			t.Errorf("it made %q", n)
		}
		w.c.Do(id, &protocol.RunCommand{Name: "loop", Args: "every 2 hours 30 minutes hello"})
		w.pass(time.Second)
		list := w.c.Do("", &protocol.ListSchedules{}).(*protocol.ScheduleList).Schedules
		if len(list) != 1 || list[0].When.EverySeconds != 9000 || list[0].Prompt != "hello" {
			t.Errorf("it made %+v", list)
		}
		if got := strings.Join(w.said(id), ", "); got != "schedule: hello" {
			t.Errorf("the session was told: %s", got)
		}
	})
}

func TestARunWaitsForAPausedQueue(t *testing.T) {
	within(t, func(w *world) {
		id := w.c.NewSession()
		sent := w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("slow one")}).(*protocol.Sent)
		w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("waits")})
		w.c.Do(id, &protocol.Cancel{TurnID: sent.TurnID})
		w.pass(time.Second)
		x := w.add(id, protocol.CreateSchedule{When: "in 10s", Prompt: "by itself"})
		w.pass(time.Minute)
		w.expect(x.ScheduleID, "queued")
		if why := w.get(x.ScheduleID).Runs[0].Why; why != "the queue of its session is paused, and messages wait there" {
			t.Errorf("it waits because %q", why)
		}
		w.c.Do(id, &protocol.ResumeQueue{})
		w.pass(time.Minute)
		w.expect(x.ScheduleID, "completed")
		if got := strings.Join(w.said(id), ", "); got != "person: slow one, followUp: waits, schedule: by itself" {
			t.Errorf("the session was told: %s", got)
		}
	}, `{"if":{"user":"slow"},"do":[{"wait":30000},{"text":"done"}]}`)
}

func TestASlowRunIsNeverStacked(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "every 10s", Prompt: "slow"})
		for range 60 {
			w.pass(10 * time.Second)
			if got := w.c.Do("", &protocol.ListRuns{Active: true}).(*protocol.RunList).Runs; len(got) > 1 {
				t.Fatalf("%d runs are active", len(got))
			}
		}
		d := w.get(x.ScheduleID)
		if d.Schedule.LastSkip == nil || !strings.Contains(d.Schedule.LastSkip.Why, "the run before is still running") {
			t.Errorf("what was left out: %+v", d.Schedule.LastSkip)
		}
		runs := len(w.c.Do("", &protocol.ListRuns{Limit: 200}).(*protocol.RunList).Runs)
		if runs+d.Schedule.Skipped != 60 || runs < 15 {
			t.Errorf("of 60 instants %d had a run and %d were left out", runs, d.Schedule.Skipped)
		}
	}, `{"if":{"user":"slow"},"again":true,"do":[{"wait":25000},{"text":"done"}]}`)
}

func TestOnlySoManyRunsWorkAtOnce(t *testing.T) {
	within(t, func(w *world) {
		var ids []protocol.ScheduleID
		for range 5 {
			ids = append(ids, w.add("", protocol.CreateSchedule{When: "in 10s", Prompt: "slow"}).ScheduleID)
		}
		most := 0
		for range 60 {
			w.pass(5 * time.Second)
			running := 0
			for _, r := range w.c.Do("", &protocol.ListRuns{Active: true}).(*protocol.RunList).Runs {
				if r.State == protocol.RunRunning {
					running++
				}
			}
			most = max(most, running)
		}
		if most != 2 {
			t.Errorf("%d runs worked at once", most)
		}
		for _, id := range ids {
			w.expect(id, "completed")
		}
	}, `{"if":{"user":"slow"},"again":true,"do":[{"wait":25000},{"text":"done"}]}`)
}

func TestDowntimeIsMadeUpForOnce(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "every 1m", Prompt: "look"})
		once := w.add("", protocol.CreateSchedule{When: "in 30m", Prompt: "once"})
		w.pass(90 * time.Second)
		w.expect(x.ScheduleID, "completed")
		w.stop()
		w.pass(time.Hour)
		w.start()
		w.pass(5 * time.Second)
		w.expect(x.ScheduleID, "completed completed")
		w.expect(once.ScheduleID, "completed")
		if n := w.get(x.ScheduleID).Schedule.Skipped; n != 59 {
			t.Errorf("%d were left out", n)
		}
		w.pass(time.Minute)
		w.expect(x.ScheduleID, "completed completed completed")
	})
}

func TestARunThatIsCancelledBeforeItBeginsNeverReachesTheModel(t *testing.T) {
	within(t, func(w *world) {
		id := w.c.NewSession()
		w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("slow one")})
		x := w.add(id, protocol.CreateSchedule{When: "in 10s", Prompt: "by itself"})
		w.pass(15 * time.Second)
		run := w.get(x.ScheduleID).Runs[0]
		if r := w.c.Do("", &protocol.CancelRun{RunID: run.RunID}).(*protocol.ScheduleRun); r.State != protocol.RunCancelled {
			t.Errorf("it is %s", r.State)
		}
		if _, err := w.c.Try("", &protocol.CancelRun{RunID: run.RunID}); err == nil || err.Code != protocol.CodeConflict {
			t.Errorf("a second time: %v", err)
		}
		w.pass(time.Minute)
		w.expect(x.ScheduleID, "cancelled")
		if got := strings.Join(w.said(id), ", "); got != "person: slow one" {
			t.Errorf("the session was told: %s", got)
		}
	}, `{"if":{"user":"slow"},"do":[{"wait":30000},{"text":"done"}]}`)
}

func TestARunThatWorksIsCancelledWithItsTurn(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "in 10s", Prompt: "slow"})
		w.pass(15 * time.Second)
		w.expect(x.ScheduleID, "running")
		run := w.get(x.ScheduleID).Runs[0]
		w.c.Do("", &protocol.CancelRun{RunID: run.RunID})
		w.expect(x.ScheduleID, "cancelled")
		st := w.c.Do("", &protocol.GetStatus{}).(*protocol.Status)
		for _, s := range st.Sessions {
			if s.Running {
				t.Errorf("%s works on", s.SessionID)
			}
		}
	}, `{"if":{"user":"slow"},"do":[{"wait":30000},{"text":"done"}]}`)
}

func TestTheEndOfARunIsThatOfItsTurn(t *testing.T) {
	within(t, func(w *world) {
		failing := w.add("", protocol.CreateSchedule{When: "in 10s", Prompt: "fail"})
		limited := w.add("", protocol.CreateSchedule{When: "in 20s", Prompt: "steps", Options: &protocol.TurnOptions{MaxSteps: 1, Allow: []string{"Bash"}}})
		cancelled := w.add("", protocol.CreateSchedule{When: "in 30s", Prompt: "slow"})
		w.pass(35 * time.Second)
		run := w.get(cancelled.ScheduleID).Runs[0]
		for _, s := range w.c.Do("", &protocol.GetStatus{}).(*protocol.Status).Sessions {
			if s.SessionID == run.SessionID {
				live := w.c.Open(s.SessionID, nil, 10).Live
				w.c.Do(s.SessionID, &protocol.Cancel{TurnID: live.TurnID})
			}
		}
		w.pass(time.Minute)
		w.expect(failing.ScheduleID, "failed")
		w.expect(cancelled.ScheduleID, "cancelled")
		w.expect(limited.ScheduleID, "failed")
		if why := w.get(failing.ScheduleID).Runs[0].Why; !strings.Contains(why, "no such model") {
			t.Errorf("it failed because %q", why)
		}
	}, `{"if":{"user":"fail"},"do":[{"error":{"status":404,"message":"no such model"}}]}`, `{"if":{"user":"slow"},"do":[{"wait":90000},{"text":"done"}]}`,
		`{"if":{"user":"steps"},"do":[{"call":"Bash","input":{"command":"true"}}]}`)
}

func TestWhatRunsByItselfAsksNobodyAndIsNeverAllowedAll(t *testing.T) {
	within(t, func(w *world) {
		if _, err := w.c.Try("", &protocol.CreateSchedule{When: "every 1h", Prompt: "x", Target: "fresh", WorkDir: w.Project, Options: &protocol.TurnOptions{Mode: "bypassPermissions"}}); err == nil || protocol.AboutOf(err).Field != "options.mode" {
			t.Errorf("bypassPermissions: %v", err)
		}
		w.add("", protocol.CreateSchedule{When: "in 10s", Prompt: "write"})
		w.pass(30 * time.Second)
		if _, err := os.Stat(filepath.Join(w.Project, "out")); err == nil {
			t.Error("it wrote a file unasked")
		}
		x := w.add("", protocol.CreateSchedule{When: "in 10s", Prompt: "write", Options: &protocol.TurnOptions{Mode: "acceptEdits"}})
		w.pass(30 * time.Second)
		w.expect(x.ScheduleID, "completed")
		if _, err := os.Stat(filepath.Join(w.Project, "out")); err != nil {
			t.Errorf("with acceptEdits: %v", err)
		}
	}, `{"if":{"user":"write"},"again":true,"do":[{"call":"Write","input":{"path":"out","content":"x"}}]}`)
}

func TestAPlanSaysWhatAScheduleWouldBeAndArmsNothing(t *testing.T) {
	within(t, func(w *world) {
		plan := w.c.Do("", &protocol.PlanSchedule{When: "every 1h", Prompt: "look", Target: "fresh", WorkDir: w.Project}).(*protocol.ScheduleDetails)
		if got := len(plan.Next); got != 3 || plan.Schedule.Words != "every hour" || plan.Next[1]-plan.Next[0] != time.Hour.Milliseconds() {
			t.Errorf("it plans %q, due at %v", plan.Schedule.Words, plan.Next)
		}
		if n := len(w.c.Do("", &protocol.ListSchedules{}).(*protocol.ScheduleList).Schedules); n != 0 {
			t.Errorf("%d schedules are armed", n)
		}
		if _, err := w.c.Try("", &protocol.PlanSchedule{When: "0 0 30 2 *", Prompt: "look", Target: "fresh", WorkDir: w.Project}); err == nil || err.Code != protocol.CodeInvalidRequest {
			t.Errorf("a time that never comes: %v", err)
		}
	})
}

func TestAPausedScheduleMakesUpForNothing(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "every 1m", Prompt: "look"})
		w.c.Do("", &protocol.SetSchedule{ScheduleID: x.ScheduleID, Paused: true})
		w.pass(10 * time.Minute)
		w.expect(x.ScheduleID, "")
		if n := w.get(x.ScheduleID).Schedule.NextAt; n != 0 {
			t.Errorf("it is due at %d", n)
		}
		run := w.c.Do("", &protocol.RunSchedule{ScheduleID: x.ScheduleID}).(*protocol.ScheduleRun)
		w.pass(time.Second)
		w.expect(x.ScheduleID, "completed")
		if got := strings.Join(w.said(run.SessionID), ", "); got != "schedule: look" {
			t.Errorf("by hand: %s", got)
		}
		w.c.Do("", &protocol.SetSchedule{ScheduleID: x.ScheduleID})
		w.pass(30 * time.Second)
		w.expect(x.ScheduleID, "completed")
		w.pass(time.Minute)
		w.expect(x.ScheduleID, "completed completed")
	})
}

func TestADeletedScheduleTakesItsWaitingRunAlong(t *testing.T) {
	within(t, func(w *world) {
		id := w.c.NewSession()
		w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("slow one")})
		x := w.add(id, protocol.CreateSchedule{When: "every 10s", Prompt: "by itself"})
		w.pass(15 * time.Second)
		w.c.Do("", &protocol.DeleteSchedule{ScheduleID: x.ScheduleID})
		w.pass(time.Minute)
		w.expect(x.ScheduleID, "cancelled")
		if got := strings.Join(w.said(id), ", "); got != "person: slow one" {
			t.Errorf("the session was told: %s", got)
		}
		if _, err := w.c.Try("", &protocol.GetSchedule{ScheduleID: x.ScheduleID}); err == nil {
			t.Error("it is there")
		}
	}, `{"if":{"user":"slow"},"do":[{"wait":30000},{"text":"done"}]}`)
}

func TestAScheduleOfADeletedSessionPauses(t *testing.T) {
	within(t, func(w *world) {
		id := w.c.NewSession()
		x := w.add(id, protocol.CreateSchedule{When: "every 10s", Prompt: "by itself"})
		w.c.Do(id, &protocol.DeleteSession{})
		w.pass(15 * time.Second)
		w.expect(x.ScheduleID, "failed")
		if s := w.get(x.ScheduleID).Schedule; s.State != protocol.SchedulePaused || s.Why != "its session is gone" {
			t.Errorf("it is %s: %s", s.State, s.Why)
		}
	})
}

func TestAKeptSessionIsOneForAllRuns(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "every 10s", Prompt: "look", Target: "kept"})
		w.pass(35 * time.Second)
		w.expect(x.ScheduleID, "completed completed completed")
		d := w.get(x.ScheduleID)
		if got := len(w.said(d.Schedule.SessionID)); got != 3 {
			t.Errorf("its session has %d messages", got)
		}
	})
}

func TestAHostThatWasKilledWhileARunWorkedKnowsHowItEnded(t *testing.T) {
	within(t, func(w *world) {
		lost := w.add("", protocol.CreateSchedule{When: "in 10s", Prompt: "slow"})
		w.pass(15 * time.Second)
		w.expect(lost.ScheduleID, "running")
		before := w.World
		defer func() {
			if err := before.Host.Close(); err != nil {
				w.t.Error(err)
			}
		}()
		w.World = w.Killed()
		w.c = w.Plug("c", false, protocol.GrantControl)
		w.pass(time.Minute)
		w.expect(lost.ScheduleID, "failed")
		if why := w.get(lost.ScheduleID).Runs[0].Why; !strings.HasPrefix(why, "lost: ") {
			t.Errorf("it failed because %q", why)
		}
	}, `{"if":{"user":"slow"},"do":[{"wait":600000},{"text":"done"}]}`)
}

func TestARepeatedRequestMakesOneSchedule(t *testing.T) {
	within(t, func(w *world) {
		call := hosttest.NewCall("", &protocol.CreateSchedule{When: "every 1h", Prompt: "x", Target: "fresh", WorkDir: w.Project})
		first, err := w.c.Conn.Call(w.t.Context(), call)
		if err != nil || first.Err != nil {
			t.Fatal(err, first.Err)
		}
		w.stop()
		w.World.Start()
		w.c = w.PlugAs(w.c.Id, "c", false, protocol.GrantControl)
		call.Repeat = true
		again, err := w.c.Conn.Call(w.t.Context(), call)
		if err != nil || again.Err != nil {
			t.Fatal(err, again.Err)
		}
		if a, b := first.Data.(*protocol.Schedule).ScheduleID, again.Data.(*protocol.Schedule).ScheduleID; a != b {
			t.Errorf("%s and %s were made", a, b)
		}
		if n := len(w.c.Do("", &protocol.ListSchedules{}).(*protocol.ScheduleList).Schedules); n != 1 {
			t.Errorf("there are %d", n)
		}
	})
}

// configure writes the table [automation] beside the model.
func (w *world) configure(lines ...string) {
	w.t.Helper()
	name := filepath.Join(w.Home, ".scorel", "config.toml")
	data, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	model, _, _ := strings.Cut(string(data), "[automation]")
	w.Write(name, model+"[automation]\n"+strings.Join(lines, "\n")+"\n")
}

func (w *world) status() *protocol.AutomationStatus {
	w.t.Helper()
	return w.c.Do("", &protocol.GetAutomation{}).(*protocol.AutomationStatus)
}

// stepping is a script whose turn takes steps for ever.
const stepping = `{"if":{"user":"work"},"do":[{"call":"Glob","input":{"pattern":"a"}}],"usage":{"inputTokens":90,"outputTokens":10}}` + "\n" +
	`{"if":{"result":"."},"again":true,"do":[{"call":"Glob","input":{"pattern":"a"}}],"usage":{"inputTokens":90,"outputTokens":10}}`

func TestALimitOfARunEndsItAndPausesItsScheduleUntilTheNextDay(t *testing.T) {
	within(t, func(w *world) {
		w.configure("maxRunTokens = 350")
		x := w.add("", protocol.CreateSchedule{When: "every 1m", Prompt: "work"})
		w.pass(61 * time.Second)
		w.expect(x.ScheduleID, "budget")
		d := w.get(x.ScheduleID)
		if r := d.Runs[0]; r.Tokens != 400 || !strings.Contains(r.Why, "tokens") {
			t.Errorf("the run used %d tokens: %s", r.Tokens, r.Why)
		}
		now := time.Now()
		midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
		if s := d.Schedule; s.State != protocol.SchedulePaused || s.PausedUntil != midnight.UnixMilli() {
			t.Errorf("it is %s until %v", s.State, time.UnixMilli(s.PausedUntil))
		}
		w.pass(time.Until(midnight) + 30*time.Second)
		w.expect(x.ScheduleID, "budget")
		w.pass(time.Minute)
		w.expect(x.ScheduleID, "budget budget")
	}, stepping)
}

func TestTheLimitOfADayHoldsOverRestarts(t *testing.T) {
	within(t, func(w *world) {
		w.configure("maxDayTokens = 1000")
		x := w.add("", protocol.CreateSchedule{When: "every 1m", Prompt: "look"})
		for range 12 {
			w.pass(time.Minute)
			if now := w.status(); now.DayTokens > 1110 {
				t.Fatalf("%d tokens were used", now.DayTokens)
			}
			w.stop()
			w.start()
		}
		if now := w.status(); now.DayTokens < 1000 || now.MaxDayTokens != 1000 {
			t.Errorf("%d tokens of %d were used", now.DayTokens, now.MaxDayTokens)
		}
		if s := w.get(x.ScheduleID).Schedule; s.State != protocol.SchedulePaused || !strings.Contains(s.Why, "automation.maxDayTokens") {
			t.Errorf("it is %s: %s", s.State, s.Why)
		}
		w.pass(24 * time.Hour)
		if now := w.status(); now.DayTokens == 0 || now.DayTokens > 1110 {
			t.Errorf("%d tokens of the next day were used", now.DayTokens)
		}
	})
}

func TestQuietHoursDelayOneRunAndLeaveOutIntervals(t *testing.T) {
	within(t, func(w *world) {
		now := time.Now()
		span := func(from, to time.Duration) string {
			return now.Add(from).Format("15:04") + "-" + now.Add(to).Format("15:04")
		}
		w.configure(fmt.Sprintf("quietHours = %q", span(5*time.Minute, 65*time.Minute)))
		cron := w.add("", protocol.CreateSchedule{When: "*/10 * * * *", Prompt: "look"})
		every := w.add("", protocol.CreateSchedule{When: "every 10m", Prompt: "look"})
		once := w.add("", protocol.CreateSchedule{When: "in 30m", Prompt: "look"})
		w.pass(60 * time.Minute)
		w.expect(cron.ScheduleID, "queued")
		w.expect(every.ScheduleID, "")
		w.expect(once.ScheduleID, "queued")
		if r := w.get(once.ScheduleID).Runs[0]; r.Why != "quiet hours" || r.NotBefore != now.Add(65*time.Minute).Truncate(time.Minute).UnixMilli() {
			t.Errorf("it waits because %q until %v", r.Why, time.UnixMilli(r.NotBefore))
		}
		if s := w.get(every.ScheduleID).Schedule; s.LastSkip == nil || s.LastSkip.Why != "quiet hours" {
			t.Errorf("left out: %+v", s.LastSkip)
		}
		if s := w.status(); s.QuietUntil == 0 {
			t.Error("the status says nothing of quiet hours")
		}
		w.pass(6 * time.Minute)
		w.expect(cron.ScheduleID, "completed")
		w.expect(once.ScheduleID, "completed")
		w.pass(10 * time.Minute)
		w.expect(every.ScheduleID, "completed")
	})
}

func TestALimitInDollarsWantsAModelWithAPrice(t *testing.T) {
	within(t, func(w *world) {
		w.Write(filepath.Join(w.Home, ".scorel", "config.toml"), `[model]
name = "own"
[models.own]
type = "custom"
api = "anthropic-messages"
baseUrl = "http://127.0.0.1:1"
id = "own-1"
apiKeyEnv = "MOCK_KEY"
contextWindow = 200000
maxTokens = 32000
`)
		r := protocol.CreateSchedule{When: "every 1h", Prompt: "x", Target: "fresh", WorkDir: w.Project, Options: &protocol.TurnOptions{MaxBudgetUSD: 1}}
		if _, err := w.c.Try("", &r); err == nil || !strings.Contains(err.Message, "price") {
			t.Errorf("with a limit of its own: %v", err)
		}
		w.configure("maxDayUSD = 2")
		r.Options = nil
		if _, err := w.c.Try("", &r); err == nil || !strings.Contains(err.Message, "price") {
			t.Errorf("with a limit of the day: %v", err)
		}
	})
}

func TestNothingIsDueWhileAutomationIsOff(t *testing.T) {
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "every 1m", Prompt: "look"})
		w.configure("enabled = false")
		w.pass(10 * time.Minute)
		w.expect(x.ScheduleID, "")
		if s := w.status(); s.Enabled || !strings.Contains(s.Problem, "automation.enabled") {
			t.Errorf("the status is %+v", s)
		}
		w.configure("enabled = true")
		w.pass(2 * time.Minute)
		if got := w.states(x.ScheduleID); !strings.HasPrefix(got, "completed") {
			t.Errorf("on again: %q", got)
		}
	})
}

func TestWhatProactiveModeSpendsCountsInTheDay(t *testing.T) {
	within(t, func(w *world) {
		w.configure("maxDayTokens = 1000")
		id := w.c.NewSession()
		w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("begin")})
		w.pass(time.Second)
		w.c.Do(id, &protocol.SetProactive{On: true})
		w.pass(30 * time.Minute)
		if now := w.status(); now.DayTokens < 1000 || now.DayTokens > 1110 {
			t.Errorf("%d tokens were used in the day", now.DayTokens)
		}
	})
}

func TestWhatARunWakesCountsInTheDay(t *testing.T) {
	const usage = `,"usage":{"inputTokens":90,"outputTokens":10}}`
	within(t, func(w *world) {
		x := w.add("", protocol.CreateSchedule{When: "in 10s", Prompt: "delegate"})
		w.pass(5 * time.Minute)
		w.expect(x.ScheduleID, "completed")
		turns := 0
		for _, e := range w.Log(w.get(x.ScheduleID).Runs[0].SessionID) {
			if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.Role == protocol.RoleAssistant && b.Message.StopReason == protocol.StopEndTurn {
				turns++
			}
		}
		// The run takes two steps, the agent one, and what its end begins another one.
		if now := w.status(); turns != 2 || now.DayTokens != 400 {
			t.Errorf("%d turns used %d tokens of the day", turns, now.DayTokens)
		}
	}, `{"if":{"user":"delegate"},"do":[{"call":"Task","input":{"description":"d","prompt":"AGENT","background":true}}]`+usage,
		`{"if":{"user":"AGENT"},"do":[{"wait":20000},{"text":"found"}]`+usage,
		`{"if":{"result":"."},"do":[{"text":"it works"}]`+usage, `{"again":true,"do":[{"text":"read"}]`+usage)
}

func TestAModelArmsNothingWithoutAPerson(t *testing.T) {
	const propose = `{"if":{"user":"propose"},"again":true,"do":[{"call":"ScheduleCreate","input":{"when":"every 2m","prompt":"look at the build","target":"fresh"}}]}`
	within(t, func(w *world) {
		id := w.c.NewSession()
		list := func() []protocol.Schedule {
			return w.c.Do("", &protocol.ListSchedules{}).(*protocol.ScheduleList).Schedules
		}
		w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("propose"), WhenBusy: "reject", Options: &protocol.TurnOptions{Unattended: true}})
		w.pass(time.Minute)
		if len(list()) != 0 {
			t.Fatal("a schedule was armed with nobody there")
		}
		person := w.Plug("person", true, protocol.GrantControl)
		person.Open(id, nil, 0)
		for _, yes := range []bool{false, true} {
			w.c.Do(id, &protocol.SendMessage{Content: hosttest.Text("propose"), WhenBusy: "reject", Options: &protocol.TurnOptions{Deny: []string{"Bash"}, MaxSteps: 7}})
			asked := person.Until(hosttest.OfType(protocol.TypeUIRequest))
			q := asked[len(asked)-1].Body.(*protocol.UIRequest)
			if d := q.Data; !strings.Contains(d.Message, "look at the build") || !strings.Contains(d.Message, "next: ") || !strings.Contains(d.Message, "mode dontAsk") {
				t.Errorf("asked is %+v", q.Data)
			}
			w.Host.SetGrantOf(person.Id, protocol.GrantAnswer)
			if _, err := person.Try(id, &protocol.AnswerUI{UIID: q.UIID, Value: []byte("true")}); err == nil || err.Code != protocol.CodeForbidden {
				t.Errorf("an entry with the grant answer arms a schedule: %v", err)
			}
			if w.pass(time.Second); yes { // what it says no to is refused
				w.Host.SetGrantOf(person.Id, protocol.GrantControl)
			}
			person.Do(id, &protocol.AnswerUI{UIID: q.UIID, Value: fmt.Append(nil, yes)})
			w.pass(time.Second)
			if n := len(list()); n != map[bool]int{true: 1}[yes] {
				t.Fatalf("after %v there are %d schedules", yes, n)
			}
		}
		x := list()[0]
		if o := x.Options; x.Source != protocol.ScheduleModel || x.ClientID != person.Id || x.OnQuestion != "deny" || o == nil || o.Mode != "dontAsk" || len(o.Deny) != 1 || o.MaxSteps != 7 || len(o.Allow) != 0 {
			t.Errorf("armed is %+v with %+v", x, x.Options)
		}
	}, propose, `{"if":{"result":"."},"again":true,"do":[{"text":"Done."}]}`)
}

// jumping is a clock that is set.
type jumping struct {
	schedule.SystemClock
	by atomic.Int64 // nanoseconds
}

// Now implements [schedule.Clock].
func (c *jumping) Now() time.Time { return c.SystemClock.Now().Add(time.Duration(c.by.Load())) }

func TestADayOfAClockThatWasYearsAheadCountsAsToday(t *testing.T) {
	within(t, func(w *world) {
		w.stop()
		day := time.Now().AddDate(5, 0, 0).Format(time.DateOnly)
		dir := filepath.Join(w.Home, ".scorel", "automation")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "day.json"), []byte(`{"day":"`+day+`","usd":0.5,"tokens":7}`), 0o600)); err != nil {
			t.Fatal(err)
		}
		w.start()
		if st := w.status(); st.DayTokens != 7 {
			t.Errorf("today: %+v", st)
		}
		w.pass(25 * time.Hour)
		if st := w.status(); st.DayTokens != 0 {
			t.Errorf("tomorrow: %+v", st)
		}
	})
}

func TestAClockThatIsSetMakesNothingDueTwice(t *testing.T) {
	within(t, func(w *world) {
		clock := &jumping{}
		w.stop()
		w.Config.Clock = clock
		w.start()
		x := w.add("", protocol.CreateSchedule{When: "every 10m", Prompt: "look"})
		w.pass(11 * time.Minute)
		w.expect(x.ScheduleID, "completed")
		clock.by.Store(int64(5 * time.Hour))
		w.pass(time.Minute) // the clock is read again in half of that
		w.expect(x.ScheduleID, "completed completed")
		if n := w.get(x.ScheduleID).Schedule.Skipped; n != 29 {
			t.Errorf("%d were left out", n)
		}
		clock.by.Store(0)
		w.pass(2 * time.Hour)
		w.expect(x.ScheduleID, "completed completed")
		if s := w.get(x.ScheduleID).Schedule; !strings.Contains(s.Why, "the clock was set back") {
			t.Errorf("it says %q", s.Why)
		}
		w.c.Do("", &protocol.SetSchedule{ScheduleID: x.ScheduleID, Paused: true})
		w.c.Do("", &protocol.SetSchedule{ScheduleID: x.ScheduleID})
		w.pass(11 * time.Minute)
		w.expect(x.ScheduleID, "completed completed completed")
	})
}
