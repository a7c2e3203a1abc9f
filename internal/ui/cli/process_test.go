package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/ui/line"
	"scorel/protocol"
)

func TestTheTimelineIsShownToSomebodyWhoComesLaterAndInACopy(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"build"},"do":[{"call":"Bash","id":"c1","input":{"command":"until [ -e go ]; do sleep 0.02; done; exit 3","run_in_background":true}}]}`, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach")
	one := s.start("attach", id)
	one.types("/process")
	one.sees("no call has reported progress")
	one.types("build it")
	one.sees("? Bash until")
	one.types("1")
	one.sees("── done")
	one.types("/process c1")
	one.sees("was started in the background\n")
	s.file("project/go", "")
	one.sees("ended after")
	one.types("and now")
	one.sees("user: and now\nassistant: An answer.\n── done")
	two := s.start("attach", id)
	two.sees("user: and now")
	two.types("/process")
	two.sees("was started in the background\n")
	two.sees("(exit code 3) (failed)\n")
	two.types("/process nobody")
	two.sees("call nobody has reported no progress")
	for _, seat := range []*seat{one, two} {
		seat.types("/quit")
		if code := seat.ends(); code != 0 {
			t.Errorf("the end: %d\n%s", code, seat.printed())
		}
	}
	out := s.ok("sessions", "clone", "--json", id)
	var sum protocol.SessionSummary
	if err := json.Unmarshal([]byte(out), &sum); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	shows := func(what string) {
		t.Helper()
		copied := s.start("attach", string(sum.SessionID))
		copied.sees("user: and now")
		copied.types("/process")
		copied.sees("was started in the background\n")
		copied.sees("(exit code 3) (failed)\n")
		copied.types("/quit")
		if code := copied.ends(); code != 0 {
			t.Errorf("%s: %d\n%s", what, code, copied.printed())
		}
	}
	shows("from the log of the other")
	s.ok("sessions", "delete", "--yes", id)
	shows("from the summary")
}

// TestProcessTypedAtOnceFindsACallFromBeforeWhatIsShown: of a session whose newest events
// are not about the call.
func TestProcessTypedAtOnceFindsACallFromBeforeWhatIsShown(t *testing.T) {
	s := newStation(t, `{"again":true,"if":{"user":"build"},"do":[{"call":"Bash","id":"c1","input":{"command":"echo built","run_in_background":true}}]}`, answersAnything)
	s.file(".scorel/config.toml", s.read(".scorel/config.toml")+"[permissions]\nallow = ['Bash']\n")
	id := s.session()
	s.ok("send", "--wait", id, "build it")
	for range line.Tail/2 + 1 {
		s.ok("send", "--wait", id, "and now")
	}
	late := s.start("attach", id)
	late.types("/process")
	late.sees("was started in the background\n")
	if strings.Contains(late.printed(), "build it") {
		t.Error("the message before the call is among those that are shown")
	}
	late.types("/quit")
	if code := late.ends(); code != 0 {
		t.Errorf("the end: %d\n%s", code, late.printed())
	}
}
