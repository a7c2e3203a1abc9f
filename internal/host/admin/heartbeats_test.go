package admin_test

import (
	"testing"

	"scorel/internal/engine/heartbeat"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestTheDoctorNamesWhatIsWrongWithTrustedHeartbeats(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	c := w.Connect(false)
	write := func(tasks string) {
		t.Helper()
		w.File(heartbeat.File, "tasks:\n- name: good\n  interval: 1m\n  prompt: x\n"+tasks)
	}
	write("- name: bad\n  interval: 1s\n  prompt: x\n- name: worse\n")
	w.Finds("untrusted", "project", "warn", "is not trusted; these files are ignored: "+heartbeat.File, "scorel trust")
	for _, check := range hosttest.Call[*protocol.DoctorReport](t, c, "", &protocol.Doctor{WorkDir: w.Project}).Checks {
		if check.ID == "heartbeats" {
			t.Errorf("of heartbeats that are not trusted it says %+v", check)
		}
	}
	w.Trust(c)
	w.Finds("wrong tasks", "heartbeats", "warn", `The task "bad" on line 5 is left out: its interval 1s is too short; the shortest is 10 seconds. And 1 more.`, "scorel trust shows all")
	write("")
	w.Trust(c)
	w.Finds("right", "heartbeats", "ok", "armed from "+heartbeat.File+": 1;", "")
}
