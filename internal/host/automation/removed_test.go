package automation_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// meanwhile is a disk that calls do when the next log of a session is made.
type meanwhile struct {
	disk.FS
	do atomic.Pointer[func()]
}

func (m *meanwhile) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	if strings.Contains(name, "/sessions/ses_") {
		if do := m.do.Swap(nil); do != nil {
			(*do)()
		}
	}
	return m.FS.Open(name, flag)
}

func TestARunWhoseScheduleIsDeletedWhileItBeginsDoesNotWork(t *testing.T) {
	m := &meanwhile{FS: disk.OS()}
	within(t, func(w *world) {
		w.stop()
		w.Config.FS = m
		w.start()
		x := w.add("", protocol.CreateSchedule{When: "every 1h", Prompt: "slow"})
		do := func() { w.c.Do("", &protocol.DeleteSchedule{ScheduleID: x.ScheduleID}) }
		m.do.Store(&do)
		run := w.c.Do("", &protocol.RunSchedule{ScheduleID: x.ScheduleID}).(*protocol.ScheduleRun)
		w.pass(time.Minute)
		if m.do.Load() != nil {
			t.Fatal("no session was made")
		}
		w.expect(x.ScheduleID, "cancelled")
		for _, e := range w.Log(run.SessionID) {
			if msg, ok := e.Message(); ok && msg.Role == protocol.RoleAssistant && msg.StopReason == protocol.StopEndTurn {
				t.Errorf("it has worked: %s", msg.PlainText())
			}
		}
	}, `{"if":{"user":"slow"},"do":[{"wait":20000},{"text":"Worked."}]}`)
}

func TestAScheduleThatIsDeletedWhileItIsPausedIsNoFault(t *testing.T) {
	within(t, func(w *world) {
		for range 300 {
			x := w.add("", protocol.CreateSchedule{When: "every 1h", Prompt: "look"})
			done := make(chan *protocol.Error, 1)
			go func() {
				_, err := w.c.Try("", &protocol.SetSchedule{ScheduleID: x.ScheduleID, Paused: true})
				done <- err
			}()
			w.c.Do("", &protocol.DeleteSchedule{ScheduleID: x.ScheduleID})
			if err := <-done; err != nil && err.Code == protocol.CodeInternalError {
				t.Fatalf("pausing it: %v", err)
			}
		}
	})
}
