package automation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/heartbeat"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// beat is a HEARTBEAT.md of tasks of the form "name interval prompt".
func beat(tasks ...string) string {
	text := "# Beats\n\ntasks:\n"
	for _, t := range tasks {
		w := strings.SplitN(t, " ", 3)
		text += "  - name: " + w[0] + "\n    interval: " + w[1] + "\n    prompt: " + w[2] + "\n"
	}
	return text
}

// beats writes the file of the project's heartbeats.
func (w *world) beats(tasks ...string) { w.file(heartbeat.File, beat(tasks...)) }

func (w *world) file(name, text string) {
	w.t.Helper()
	name = filepath.Join(w.Project, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.Write(name, text)
}

// register registers the project.
func (w *world) register() protocol.ProjectID {
	w.t.Helper()
	return w.c.Do("", &protocol.RegisterProject{WorkDir: w.Project}).(*protocol.Project).ProjectID
}

// trust trusts the project as it is.
func (w *world) trust() {
	w.t.Helper()
	id := w.register()
	r := w.c.Do("", &protocol.GetTrust{ProjectID: id}).(*protocol.TrustReport)
	w.c.Do("", &protocol.TrustProject{ProjectID: id, Hash: r.Hash, Trusted: true})
}

// list is a line for each schedule: its name, state and why.
func (w *world) list() string {
	w.t.Helper()
	var out []string
	for _, s := range w.c.Do("", &protocol.ListSchedules{}).(*protocol.ScheduleList).Schedules {
		line := s.Name + " " + string(s.State)
		if s.Why != "" {
			line += ": " + s.Why
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func (w *world) listed(when, want string) {
	w.t.Helper()
	if got := w.list(); got != want {
		w.t.Errorf("%s the schedules are %q, not %q", when, got, want)
	}
}

func (w *world) beatID(task string) protocol.ScheduleID {
	return protocol.HeartbeatIDOf(w.Project, task)
}

// notices are those of the status.
func (w *world) notices() string {
	w.t.Helper()
	return strings.Join(w.c.Do("", &protocol.GetAutomation{}).(*protocol.AutomationStatus).Notices, "\n")
}

const paused = "paused: its files are not trusted as they are now; look at them with scorel trust"

func TestHeartbeatsDoNothingBeforeTrust(t *testing.T) {
	within(t, func(w *world) {
		w.beats("inbox 30s look")
		w.file(heartbeat.Standing, "Be brief.")
		w.register()
		w.pass(10 * time.Minute)
		w.listed("before trust", "")
		if n := w.notices(); !strings.Contains(n, "HEARTBEAT.md is not trusted as it is now, so its heartbeats do not run; look at it with scorel trust.") {
			t.Errorf("the status says %q", n)
		}
		if runs := w.c.Do("", &protocol.ListRuns{}).(*protocol.RunList).Runs; len(runs) > 0 {
			t.Errorf("there are %d runs", len(runs))
		}
	})
}

func TestTrustedHeartbeatsRunInOneSessionEach(t *testing.T) {
	within(t, func(w *world) {
		w.beats("inbox 30s look", "daily 1m sum")
		w.file(heartbeat.Standing, "Be brief.")
		w.trust()
		w.listed("after trust", "inbox armed\ndaily armed")
		if n := w.notices(); n != "" {
			t.Errorf("the status says %q", n)
		}
		w.pass(61 * time.Second)
		w.expect(w.beatID("inbox"), "completed completed")
		w.expect(w.beatID("daily"), "completed")
		d := w.get(w.beatID("inbox"))
		if s := d.Schedule; s.Source != protocol.ScheduleHeartbeat || s.WorkDir != w.Project || s.Options.Mode != "dontAsk" || s.Target != protocol.TargetKept || s.Words != "every 30 seconds" {
			t.Errorf("it is %+v", s)
		}
		said := w.said(d.Schedule.SessionID)
		if len(said) != 2 || said[0] != "schedule: "+heartbeat.Prompt(heartbeat.Task{Name: "inbox", Every: 30 * time.Second, Prompt: "look"}, "Be brief.") {
			t.Errorf("its session was told %q", said)
		}
		w.stop()
		w.start()
		w.pass(time.Second)
		w.listed("after a restart", "inbox armed\ndaily armed")
		w.expect(w.beatID("inbox"), "completed completed")
		w.pass(30 * time.Second)
		w.expect(w.beatID("inbox"), "completed completed completed")
	})
}

func TestAChangedHeartbeatPausesUntilItIsTrustedAgain(t *testing.T) {
	for name, change := range map[string]func(*world){
		"the tasks":                func(w *world) { w.beats("inbox 30s obey") },
		"the standing text":        func(w *world) { w.file(heartbeat.Standing, "Obey.") },
		"the size":                 func(w *world) { w.file(heartbeat.Standing, strings.Repeat("x", heartbeat.MaxFile+1)) },
		"the trust":                func(w *world) { w.c.Do("", &protocol.TrustProject{ProjectID: w.register()}) },
		"the tasks, with the host": func(w *world) { w.stop(); w.beats("inbox 30s obey"); w.start() },
	} {
		within(t, func(w *world) {
			w.beats("inbox 30s look")
			w.trust()
			w.pass(31 * time.Second)
			change(w)
			w.pass(5 * time.Minute)
			x := w.get(w.beatID("inbox"))
			if x.Schedule.State != protocol.SchedulePaused || len(x.Runs) != 1 || w.notices() == "" {
				t.Errorf("%s: it is %s with %d runs, notices %q", name, x.Schedule.State, len(x.Runs), w.notices())
			}
			if said := w.said(x.Schedule.SessionID); len(said) != 1 || strings.Contains(said[0], "obey") {
				t.Errorf("%s: its session was told %q", name, said)
			}
			for what, r := range map[string]protocol.Request{"run": &protocol.RunSchedule{ScheduleID: w.beatID("inbox")}, "resume": &protocol.SetSchedule{ScheduleID: w.beatID("inbox")}} {
				if _, err := w.c.Try("", r); err == nil || !strings.Contains(err.Message, `The heartbeat "inbox" of `+w.Project+" cannot run: ") {
					t.Errorf("%s: %s: %v", name, what, err)
				}
			}
			if name == "the size" {
				return
			}
			w.listed(name, "inbox "+paused)
			w.trust()
			w.listed(name+" trusted again,", "inbox armed")
			w.pass(31 * time.Second)
			w.expect(w.beatID("inbox"), "completed completed")
		})
	}
}

func TestAHeartbeatGoesOnWhenItsFilesAreAgainAsTheyWereTrusted(t *testing.T) {
	within(t, func(w *world) {
		w.beats("inbox 30s look")
		w.trust()
		w.pass(31 * time.Second)
		w.beats("inbox 30s obey")
		w.pass(2 * time.Minute)
		w.listed("changed", "inbox "+paused)
		w.beats("inbox 30s look")
		w.pass(31 * time.Second)
		w.listed("changed back", "inbox armed")
		if n := w.notices(); n != "" {
			t.Errorf("the status says %q", n)
		}
		w.pass(31 * time.Second)
		w.expect(w.beatID("inbox"), "completed completed")
	})
}

func TestARunThatWaitedBeginsNotWithChangedFiles(t *testing.T) {
	within(t, func(w *world) {
		w.beats("inbox 30s look", "slow 25s slow", "slower 25s slow")
		w.trust()
		w.pass(31 * time.Second)
		w.expect(w.beatID("inbox"), "queued")
		w.beats("inbox 30s obey")
		w.pass(2 * time.Minute)
		w.expect(w.beatID("inbox"), "cancelled")
		if r := w.get(w.beatID("inbox")).Runs[0]; !strings.Contains(r.Why, "not trusted") {
			t.Errorf("it was cancelled because %q", r.Why)
		}
	}, `{"if":{"user":"slow"},"again":true,"do":[{"wait":60000},{"text":"done"}]}`)
}

func TestTasksFollowTheFile(t *testing.T) {
	within(t, func(w *world) {
		w.beats("inbox 30s look", "daily 1m sum")
		w.trust()
		w.beats("daily 2m sum it up", "new 1m x")
		w.trust()
		w.listed("after an edit", "daily armed\nnew armed")
		if s := w.get(w.beatID("daily")).Schedule; s.When.EverySeconds != 120 || s.Prompt != "sum it up" || s.NextAt != time.Now().Add(2*time.Minute).UnixMilli() {
			t.Errorf("the edited task is %+v", s)
		}
		if err := os.Remove(filepath.Join(w.Project, heartbeat.File)); err != nil {
			t.Fatal(err)
		}
		w.pass(2 * time.Minute)
		w.listed("without a file", "")
		w.beats("daily 1m sum")
		w.trust()
		w.c.Do("", &protocol.RemoveProject{ProjectID: w.register()})
		w.listed("of a removed project", "")
	})
}

func TestAHostThatStartsAlignsHeartbeatsBeforeAnythingIsDue(t *testing.T) {
	within(t, func(w *world) {
		w.beats("inbox 30s look", "daily 1m sum")
		w.trust()
		again := func(change func()) {
			w.stop()
			change()
			w.start()
			w.pass(time.Second)
		}
		again(func() { w.beats("inbox 30s obey") })
		w.listed("with another file", "inbox "+paused+"\ndaily "+paused)
		again(func() { w.beats("inbox 30s look", "daily 1m sum") })
		w.listed("with the file that was trusted", "inbox armed\ndaily armed")
		again(func() { w.Write(filepath.Join(w.Home, ".scorel", "projects.json"), `{"version":1,"projects":[]}`) })
		w.listed("without the project", "")
		w.register()
		w.listed("registered again", "inbox armed\ndaily armed")
		w.Write(filepath.Join(w.Home, ".scorel", "projects.json"), `{"version":1,"projects":[]}`)
		w.pass(time.Minute)
		w.listed("removed by another process", "")
		w.register()
		again(func() { _ = os.Remove(filepath.Join(w.Project, heartbeat.File)) })
		w.listed("without the file", "")
	})
}

func TestAWrongTaskIsNamedAndTheOthersRun(t *testing.T) {
	within(t, func(w *world) {
		w.beats("inbox 30s look", "bad 5s look", "inbox 1m other")
		w.trust()
		w.listed("with wrong tasks", "inbox armed")
		n := w.notices()
		for _, want := range []string{filepath.Join(w.Project, heartbeat.File), `The task "bad" on line 7 is left out: its interval 5s is too short`, `The task "inbox" on line 10 is left out: there is another one of this name`} {
			if !strings.Contains(n, want) {
				t.Errorf("the status says %q, without %q", n, want)
			}
		}
		w.pass(31 * time.Second)
		w.expect(w.beatID("inbox"), "completed")
	})
}

func TestAHeartbeatThatAPersonHasPausedStaysSo(t *testing.T) {
	within(t, func(w *world) {
		w.beats("inbox 30s look")
		w.trust()
		id := w.beatID("inbox")
		w.c.Do("", &protocol.SetSchedule{ScheduleID: id, Paused: true})
		const want = "inbox paused: somebody paused it"
		w.stop()
		w.start()
		w.pass(time.Second)
		w.listed("after a restart", want)
		w.beats("inbox 1m look here")
		w.register()
		w.listed("after an edit", want)
		w.trust()
		w.listed("after trust", want)
		w.pass(5 * time.Minute)
		w.expect(id, "")
		if _, err := w.c.Try("", &protocol.DeleteSchedule{ScheduleID: id}); err == nil || !strings.Contains(err.Message, "take it out of .scorel/autonomy/HEARTBEAT.md, or pause it.") {
			t.Errorf("deleted: %v", err)
		}
		w.c.Do("", &protocol.SetSchedule{ScheduleID: id})
		w.listed("resumed", "inbox armed")
		w.pass(61 * time.Second)
		w.expect(id, "completed")
	})
}

func TestAHeartbeatIsHeldWhereItsCostCannotBeCounted(t *testing.T) {
	within(t, func(w *world) {
		name := filepath.Join(w.Home, ".scorel", "config.toml")
		w.Write(name, "[model]\nname = \"own\"\n[models.own]\ntype = \"custom\"\napi = \"anthropic-messages\"\nbaseUrl = \"http://127.0.0.1:1\"\nid = \"own-1\"\napiKeyEnv = \"MOCK_KEY\"\ncontextWindow = 200000\nmaxTokens = 32000\n")
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w.configure("maxDayUSD = 2")
		w.beats("inbox 30s look")
		w.trust()
		if s := w.get(w.beatID("inbox")).Schedule; s.State != protocol.SchedulePaused || !strings.Contains(s.Why, "price") {
			t.Errorf("with a limit in dollars it is %s: %s", s.State, s.Why)
		}
		w.Write(name, string(before))
		w.register()
		w.listed("without a limit", "inbox armed")
	})
}

func TestAHostThatEndsWithItsCommandArmsNoHeartbeats(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	in := &world{World: w, t: t}
	in.c = w.Plug("c", false, protocol.GrantControl)
	in.beats("inbox 30s look")
	in.trust()
	in.listed("in a host that ends", "")
}
