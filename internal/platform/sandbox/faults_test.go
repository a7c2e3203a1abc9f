package sandbox

import (
	"strings"
	"testing"

	"scorel/internal/platform/fault"
)

// broken panics at the first use.
type broken struct{}

func (broken) Write([]byte) (int, error) { panic("the writer broke") }

func (broken) Read([]byte) (int, error) { panic("the reader broke") }

// met returns the panic of a function.
func met(f func()) (p *fault.Panic) {
	defer func() {
		if r := recover(); r != nil {
			p = fault.Caught(r)
		}
	}()
	f()
	return nil
}

func TestPanicBesideAChildKillsItAndReachesWhoWaits(t *testing.T) {
	for name, cmd := range map[string]Cmd{
		"the writer broke": bash("echo hi; exec sleep 1000", broken{}),
		"the reader broke": func() Cmd { c := bash("exec sleep 1000", nil); c.Stdin = broken{}; return c }(),
	} {
		t.Run(name, func(t *testing.T) {
			child, err := New(Config{}).Start(t.Context(), cmd)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if p := met(func() { child.Wait() }); p == nil || p.Value != name {
					t.Fatalf("Wait panics with %v", p)
				} else if !strings.Contains(string(p.Stack), "broken") {
					t.Errorf("the stack does not show where: %s", p.Stack)
				}
			}
			waitDead(t, child.PID())
		})
	}
}
