package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(disk.OS(), dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// do changes the state, which must succeed.
func do(t *testing.T, s *Store, change func(*State) error) {
	t.Helper()
	if err := s.Update(change); err != nil {
		t.Fatal(err)
	}
}

func scheduleOf(n int) *Schedule {
	return &Schedule{Schedule: protocol.Schedule{ScheduleID: protocol.ScheduleIDOf("cli", protocol.RequestID(fmt.Sprint(n))), Prompt: "look", State: protocol.ScheduleArmed}}
}

func runOf(x *Schedule, due int64) *Run {
	return &Run{ScheduleRun: protocol.ScheduleRun{RunID: protocol.RunIDOf(x.ScheduleID, due), ScheduleID: x.ScheduleID, Due: due, State: protocol.RunQueued,
		SessionID: "ses_00000000000000000000000000"}}
}

func TestAScheduleHasOneRunThatHasNotEnded(t *testing.T) {
	s, x := open(t, t.TempDir()), scheduleOf(1)
	first, second, third := runOf(x, 10), runOf(x, 20), runOf(x, 30)
	do(t, s, func(st *State) error { return st.Add(x) })
	claim := func(r *Run) (claimed bool) {
		do(t, s, func(st *State) error { claimed = st.Claim(r, r.Due); return nil })
		return claimed
	}
	if !claim(first) || claim(first) || claim(second) {
		t.Fatal("not the first run alone was claimed")
	}
	now := s.State().Schedule(x.ScheduleID)
	if now.Settled != 20 || now.Skipped != 1 || now.LastSkip == nil || now.LastSkip.At != 20 || !strings.Contains(now.LastSkip.Why, "queued") {
		t.Errorf("what was left out is recorded as %+v, settled %d", now.LastSkip, now.Settled)
	}
	do(t, s, func(st *State) error { return st.Began(first.RunID, "evt_0000000000000000", 21) })
	do(t, s, func(st *State) error { return st.End(first.RunID, protocol.RunCompleted, "", 22) })
	if !claim(third) {
		t.Error("after the end of the run before no other is claimed")
	}
}

func TestARunThatHasEndedStaysAsItIs(t *testing.T) {
	for _, end := range []protocol.RunState{protocol.RunCompleted, protocol.RunFailed, protocol.RunCancelled, protocol.RunBudget} {
		s, x := open(t, t.TempDir()), scheduleOf(1)
		r := runOf(x, 10)
		do(t, s, func(st *State) error { st.Claim(r, 10); return st.Add(x) })
		do(t, s, func(st *State) error { st.Claim(r, 10); return nil })
		do(t, s, func(st *State) error { return st.End(r.RunID, end, "so", 11) })
		for name, change := range map[string]func(*State) error{
			"begin": func(st *State) error { return st.Begin(r.RunID, "epo") },
			"began": func(st *State) error { return st.Began(r.RunID, "evt", 12) },
			"end":   func(st *State) error { return st.End(r.RunID, protocol.RunFailed, "other", 12) },
		} {
			if err := s.Update(change); protocol.AsError(err).Code != protocol.CodeConflict {
				t.Errorf("%s after %s: %v", name, end, err)
			}
		}
		if now := s.State().Run(r.RunID); now.State != end || now.Why != "so" || now.EndedAt != 11 {
			t.Errorf("%s: it is %+v", end, now)
		}
	}
	s := open(t, t.TempDir())
	if err := s.Update(func(st *State) error { return st.End("run_none", protocol.RunFailed, "", 1) }); err == nil {
		t.Error("a run that is not there ends")
	}
}

func TestRunsThatHaveEndedLeaveBeforeThoseThatHaveNot(t *testing.T) {
	s := open(t, t.TempDir())
	active := map[protocol.RunID]bool{}
	do(t, s, func(st *State) error {
		for i := range MaxRuns + 100 {
			x := scheduleOf(i)
			if err := st.Add(x); err != nil {
				return err
			}
			r := runOf(x, int64(i))
			st.Claim(r, int64(i))
			if i%5 == 0 { // also the oldest
				active[r.RunID] = true
				continue
			}
			if err := st.End(r.RunID, protocol.RunCompleted, "", int64(i)); err != nil {
				return err
			}
		}
		return nil
	})
	st := s.State()
	if len(st.Runs) != MaxRuns+len(active) {
		t.Errorf("%d runs are kept", len(st.Runs))
	}
	for id := range active {
		if st.Run(id) == nil {
			t.Errorf("the run %s is gone and has not ended", id)
		}
	}
	if last := st.Runs[len(st.Runs)-1]; last.Due != MaxRuns+99 {
		t.Errorf("the newest run is of %d", last.Due)
	}
}

func TestSchedulesHaveABound(t *testing.T) {
	s := open(t, t.TempDir())
	do(t, s, func(st *State) error {
		for i := range MaxSchedules {
			x := scheduleOf(i)
			if i == 3 {
				x.State = protocol.ScheduleDone
			}
			if err := st.Add(x); err != nil {
				return err
			}
		}
		return nil
	})
	do(t, s, func(st *State) error { return st.Add(scheduleOf(MaxSchedules)) }) // in the place of one that is done
	err := s.Update(func(st *State) error { return st.Add(scheduleOf(MaxSchedules + 1)) })
	if protocol.AsError(err).Code != protocol.CodeRateLimited {
		t.Errorf("one too many: %v", err)
	}
	if n := len(s.State().Schedules); n != MaxSchedules || s.State().Schedule(scheduleOf(3).ScheduleID) != nil {
		t.Errorf("there are %d schedules", n)
	}
}

func TestWhatIsStoredIsThereAfterARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "automation")
	s, x := open(t, dir), scheduleOf(1)
	if _, err := os.Stat(dir); err == nil {
		t.Error("opening makes files")
	}
	do(t, s, func(st *State) error { return st.Add(x) })
	do(t, s, func(st *State) error { st.Claim(runOf(x, 5), 5); return nil })
	failed := errors.New("no")
	if err := s.Update(func(st *State) error { st.Claim(runOf(x, 6), 6); return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	again := open(t, dir).State()
	if len(again.Schedules) != 1 || len(again.Runs) != 1 || again.Schedules[0].Settled != 5 || s.State().Schedules[0].Settled != 5 {
		t.Errorf("after a restart: %+v", again)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "state.json": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v %v", name, info.Mode(), err)
		}
	}
}

func TestTwoProcessesChangeOneFile(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	do(t, a, func(st *State) error { return st.Add(scheduleOf(1)) })
	do(t, b, func(st *State) error { return st.Add(scheduleOf(2)) })
	do(t, a, func(st *State) error { return st.Add(scheduleOf(3)) })
	if n := len(open(t, dir).State().Schedules); n != 3 {
		t.Errorf("%d schedules are stored", n)
	}
}

func TestADamagedFileIsSetAside(t *testing.T) {
	for name, text := range map[string]string{"cut": `{"version":1,"schedules":[{"sch`, "zeros": "\x00\x00\x00", "array": `[]`, "null": `{"version":1,"schedules":[null]}`, "id": `{"version":1,"runs":[{"runId":"../x"}]}`, "empty": "", "nothing": "null\n", "no version": "{}"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		kept, _ := filepath.Glob(filepath.Join(dir, "state.json.damaged-*"))
		if len(s.State().Schedules) != 0 || len(kept) != 1 || Look(disk.OS(), dir) != nil {
			t.Errorf("%s: kept as %q", name, kept)
			continue
		}
		if data, err := os.ReadFile(kept[0]); err != nil || string(data) != text {
			t.Errorf("%s: the file that is kept has %q", name, data)
		}
		do(t, s, func(st *State) error { return st.Add(scheduleOf(1)) })
	}
}

func TestAFileThatIsDamagedMeanwhileLosesNothing(t *testing.T) {
	for _, text := range []string{"{", "", "null"} {
		dir := t.TempDir()
		s := open(t, dir)
		do(t, s, func(st *State) error { return st.Add(scheduleOf(1)) })
		if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if Look(disk.OS(), dir) == nil {
			t.Errorf("%q counts as whole", text)
		}
		do(t, s, func(st *State) error { return st.Add(scheduleOf(2)) })
		if n := len(open(t, dir).State().Schedules); n != 2 {
			t.Errorf("%q: %d schedules are left", text, n)
		}
		if kept, _ := filepath.Glob(filepath.Join(dir, "state.json.damaged-*")); len(kept) != 1 {
			t.Errorf("%q is kept as %q", text, kept)
		}
	}
}

func TestAnEmptyFileBesideAHostWithoutSchedulesIsSetAside(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "state.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, s, func(st *State) error { return st.Add(scheduleOf(1)) })
	if kept, _ := filepath.Glob(filepath.Join(dir, "state.json.damaged-*")); len(kept) != 1 {
		t.Errorf("it is kept as %q", kept)
	}
}

func TestTheFileOfANewerVersionIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "state.json")
	if err := os.WriteFile(file, []byte(`{"version":9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(disk.OS(), dir, time.Now); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("opening it: %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != `{"version":9}` {
		t.Errorf("it is %s now", data)
	}
}

func TestAHostThatEndsAsItShouldStartedNothing(t *testing.T) {
	s, x := open(t, t.TempDir()), scheduleOf(1)
	r := runOf(x, 5)
	do(t, s, func(st *State) error { return st.Add(x) })
	do(t, s, func(st *State) error { st.Claim(r, 5); return nil })
	for i, epoch := range []protocol.Epoch{"epo_a", "epo_a", "epo_b"} {
		do(t, s, func(st *State) error { return st.Begin(r.RunID, epoch) })
		if got, want := s.State().Run(r.RunID).Starts, []int{1, 1, 2}[i]; got != want {
			t.Errorf("%d: it was started %d times, not %d", i, got, want)
		}
	}
	do(t, s, func(st *State) error { st.Rest("epo_b"); return nil })
	if got := s.State().Run(r.RunID).Starts; got != 1 {
		t.Errorf("after a rest: %d", got)
	}
}
