package agents

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

const main = protocol.SessionID("ses_main")

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// agent returns a task of an agent that began some seconds after start.
func agent(name string, after int) protocol.TaskInfo {
	return protocol.TaskInfo{TaskID: "task_" + name, SessionID: protocol.SessionID("ses_" + name), Agent: "general", Command: "general: " + name,
		State: protocol.TaskRunning, StartedAt: start.Add(time.Duration(after) * time.Second).UnixMilli()}
}

// ended returns a task as it is after its end.
func ended(t protocol.TaskInfo, at time.Time, code int) protocol.TaskInfo {
	t.State, t.EndedAt, t.ExitCode = protocol.TaskExited, at.UnixMilli(), &code
	return t
}

func command(name string) protocol.TaskInfo {
	return protocol.TaskInfo{TaskID: "task_" + name, Command: name, State: protocol.TaskRunning, StartedAt: start.UnixMilli()}
}

// listed names the agents of the rows.
func listed(s *Strip, now time.Time) string {
	var names []string
	for _, t := range s.Rows(now) {
		names = append(names, Description(t))
	}
	return strings.Join(names, " ")
}

func synced(now time.Time, tasks ...protocol.TaskInfo) *Strip {
	s := &Strip{}
	s.Sync(main, tasks, main, now)
	return s
}

func TestAgentsAreListedByTheirStartAndCommandsAreNot(t *testing.T) {
	now := start.Add(time.Minute)
	resumed := agent("b", 30)
	resumed.TaskID = "task_b2"
	s := synced(now, agent("c", 20), command("make"), ended(agent("b", 10), now, 0), agent("a", 5), resumed)
	if got := listed(s, now); got != "a c b" {
		t.Errorf("listed: %q", got)
	}
}

func TestNothingIsDrawnAndNothingTakesKeysWithoutAgents(t *testing.T) {
	s := synced(start, command("make"))
	if lines := s.Render(golden.Dark(), 80, 9, Main{}, Keys{}, start); len(lines) > 0 {
		t.Errorf("drawn: %q", lines)
	}
	if s.Focus(start) || s.Focused(start) || s.Pick(start) != "" || s.Click(0, start) != "" || s.End(start) != (Ending{}) || s.Next(start) != 0 {
		t.Error("it does something")
	}
}

func TestKeysMoveTheCursorAndStopAtBothEnds(t *testing.T) {
	now := start
	s := synced(now, agent("a", 1), agent("b", 2))
	for _, step := range []struct {
		key     func()
		cursor  protocol.SessionID
		focused bool
	}{
		{func() { s.Focus(now) }, "", true},
		{func() { s.Down(now) }, "ses_a", true},
		{func() { s.Down(now) }, "ses_b", true},
		{func() { s.Down(now) }, "ses_b", true}, // the last one
		{func() { s.Pick(now) }, "ses_b", true}, // Enter keeps the focus
		{func() { s.Up(now) }, "ses_a", true},
		{func() { s.Up(now) }, "", true},
		{func() { s.Up(now) }, "", false}, // from main to the editor
		{func() { s.Focus(now); s.Down(now); s.Blur() }, "ses_a", false},
		{func() { s.Focus(now) }, "", true}, // it begins on main
	} {
		if step.key(); s.cursor != step.cursor || s.Focused(now) != step.focused {
			t.Fatalf("the cursor is on %q, focused: %t; want %+v", s.cursor, s.Focused(now), step)
		}
	}
	if got := s.Pick(now); got != main {
		t.Errorf("main is %q", got)
	}
}

func TestTheRowThatIsShownIsMarkedWhileTheStripHasNotTheKeys(t *testing.T) {
	now := start
	tasks := []protocol.TaskInfo{agent("a", 1), agent("b", 2)}
	s := synced(now, tasks...)
	s.Sync(main, tasks, "ses_b", now)
	if s.highlighted() != "ses_b" {
		t.Errorf("marked: %q", s.highlighted())
	}
	if s.Focus(now); s.highlighted() != "" {
		t.Errorf("with the keys, marked: %q", s.highlighted())
	}
	s.Blur()
	if s.Sync(main, tasks, main, now); s.highlighted() != "" {
		t.Errorf("after it was left, marked: %q", s.highlighted())
	}
}

func TestAnAgentThatHasEndedIsListedForThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		a, b := agent("a", 0), agent("b", 0)
		a.StartedAt, b.StartedAt = began.UnixMilli(), began.UnixMilli()
		s := synced(began, a, b)
		time.Sleep(time.Second)
		a = ended(a, time.Now(), 0)
		s.Sync(main, []protocol.TaskInfo{a, b}, main, time.Now())
		time.Sleep(10 * time.Second)
		b = ended(b, time.Now(), 0)
		s.Sync(main, []protocol.TaskInfo{a, b}, main, time.Now())
		for _, want := range []struct {
			next time.Duration // one timer, for the first that goes
			left string
		}{{20 * time.Second, "b"}, {10 * time.Second, ""}} {
			if d := s.Next(time.Now()); d != want.next {
				t.Fatalf("the next change is in %s, want %s", d, want.next)
			}
			time.Sleep(s.Next(time.Now()))
			if got := listed(s, time.Now()); got != want.left {
				t.Fatalf("listed: %q, want %q", got, want.left)
			}
		}
		if s.Next(time.Now()) != 0 {
			t.Error("a timer runs for nobody")
		}
		if late := synced(time.Now().Add(time.Hour), a); listed(late, time.Now().Add(time.Hour)) != "" {
			t.Error("one that ended an hour ago is listed to who comes now")
		}
	})
}

func TestAnAgentThatIsShownStaysAndHasItsGraceWhenItIsLeft(t *testing.T) {
	now := start
	a := agent("a", 0)
	s := synced(now, a)
	s.Sync(main, []protocol.TaskInfo{a}, "ses_a", now)
	a = ended(a, now, 0)
	s.Sync(main, []protocol.TaskInfo{a}, "ses_a", now)
	now = now.Add(time.Hour)
	if listed(s, now) != "a" || s.Next(now) != 0 {
		t.Fatalf("while it is shown: %q", listed(s, now))
	}
	s.Sync(main, []protocol.TaskInfo{a}, main, now)
	if s.Next(now) != grace || listed(s, now.Add(grace)) != "" {
		t.Errorf("left at %s, the next change is in %s, listed then: %q", now, s.Next(now), listed(s, now.Add(grace)))
	}
}

func TestAnAgentThatItsHostHasForgottenStaysWhileItIsShown(t *testing.T) {
	s := synced(start, agent("a", 0))
	s.Sync(main, []protocol.TaskInfo{agent("a", 0)}, "ses_a", start)
	s.Sync(main, nil, "ses_a", start)
	if rows := s.Rows(start); len(rows) != 1 || rows[0].State != protocol.TaskLost {
		t.Errorf("rows: %+v", rows)
	}
	if s.Sync(main, nil, main, start); listed(s, start) != "" {
		t.Errorf("after it was left: %q", listed(s, start))
	}
}

func TestTheCursorGoesToTheRowBeforeWhenItsAgentGoes(t *testing.T) {
	now := start
	a, b, c := agent("a", 1), agent("b", 2), agent("c", 3)
	s := synced(now, a, b, c)
	s.Focus(now)
	s.Down(now)
	s.Down(now)
	b = ended(b, now, 0)
	s.Sync(main, []protocol.TaskInfo{a, b, c}, main, now)
	if late := now.Add(grace); s.Pick(late) != "" || s.cursor != "ses_a" {
		t.Errorf("Enter on a row that went picks something, or the cursor is on %q", s.cursor)
	}
	s.Sync(main, nil, main, now)
	if s.Focused(now) || s.cursor != "" {
		t.Errorf("without rows it has the keys, with the cursor on %q", s.cursor)
	}
}

func TestTwoPressesStopAnAgentAndOneClearsItAfterItsEnd(t *testing.T) {
	now := start
	a, b := agent("a", 1), agent("b", 2)
	s := synced(now, a, b)
	s.Focus(now)
	if s.End(now) != (Ending{}) {
		t.Error("the main conversation is no agent to stop")
	}
	s.Down(now)
	if e := s.End(now); e != (Ending{}) || !s.Armed(now) || s.Next(now) != again {
		t.Errorf("the first press: %+v", e)
	}
	if e := s.End(now.Add(again)); e != (Ending{}) {
		t.Errorf("a second one too late: %+v", e)
	}
	if e := s.End(now.Add(again + time.Second)); e.Stop != "task_a" {
		t.Errorf("the second one in time: %+v", e)
	}
	a = ended(a, now, 1)
	s.Sync(main, []protocol.TaskInfo{a, b}, main, now)
	if got := listed(s, now); got != "b" {
		t.Errorf("one that was stopped has a grace: %q", got)
	}
	b = ended(b, now, 0)
	s.Sync(main, []protocol.TaskInfo{a, b}, main, now)
	s.Focus(now)
	s.Down(now)
	if e := s.End(now); e.Cleared != "ses_b" || listed(s, now) != "" {
		t.Errorf("cleared: %+v, listed: %q", e, listed(s, now))
	}
}

func TestALetterThatWasNoKeyIsFound(t *testing.T) {
	s := synced(start, agent("a", 1))
	s.Sync(main, []protocol.TaskInfo{agent("a", 1)}, "ses_a", start)
	s.End(start)
	if !s.Disarm(start) || s.Disarm(start) || s.End(start) != (Ending{}) {
		t.Error("the first press counts after another key")
	}
}

var keys = Keys{Up: "up", Down: "down", View: "enter", Leave: "esc", End: "x", Focus: "down", Manage: "alt+j"}

// scenes are strips as they are drawn.
func scenes() map[string]func() (*Strip, Main) {
	now := start.Add(90 * time.Second)
	a, b := agent("look around", 1), agent("count the stars that are seen from here in a clear night", 20)
	a.Tokens, b.Tokens = 10_940, 87
	bad := ended(agent("give up", 30), now, 1)
	all := []protocol.TaskInfo{a, b, bad}
	with := func(shown protocol.SessionID, do func(s *Strip)) func() (*Strip, Main) {
		return func() (*Strip, Main) {
			s := synced(now, all...)
			s.Sync(main, all, shown, now)
			do(s)
			return s, Main{Running: true, Asking: shown != main}
		}
	}
	return map[string]func() (*Strip, Main){
		"idle":    with(main, func(*Strip) {}),
		"focused": with(main, func(s *Strip) { s.Focus(now); s.Down(now); s.Down(now) }),
		"viewed":  with(a.SessionID, func(*Strip) {}),
		"armed":   with(a.SessionID, func(s *Strip) { s.End(now) }),
		"clear":   with(bad.SessionID, func(*Strip) {}),
		"many": func() (*Strip, Main) {
			var many []protocol.TaskInfo
			for i := range 12 {
				many = append(many, agent(fmt.Sprint("number ", i), i))
			}
			s := synced(now, many...)
			s.Focus(now)
			for range 9 {
				s.Down(now)
			}
			return s, Main{}
		},
	}
}

func TestTheStripIsDrawn(t *testing.T) {
	now := start.Add(90 * time.Second)
	for name, scene := range scenes() {
		golden.Check(t, name, func(th *theme.Theme, width int) []string {
			s, m := scene()
			return s.Render(th, width, 20, m, keys, now)
		})
	}
}

func TestTheStripKeepsToItsWidthAndHeight(t *testing.T) {
	now := start.Add(90 * time.Second)
	for name, scene := range scenes() {
		for _, th := range []*theme.Theme{golden.Dark(), golden.Plain()} {
			for width := 20; width <= 200; width++ {
				for _, height := range []int{0, 1, 2, 3, 5, 9, 20} {
					s, m := scene()
					lines := s.Render(th, width, height, m, keys, now)
					if len(lines) > min(height, MaxRows+1) || slices.ContainsFunc(lines, func(l string) bool { return cell.Width(l) > width }) {
						t.Fatalf("%s at %d by %d: %q", name, width, height, lines)
					}
				}
			}
		}
	}
}
