// Package harness is what tests share: a model that plays a script, how to wait for what no
// event tells of, and how long a test waits before it gives up.
package harness

import (
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
)

// A test holds little and makes much: under the race detector a quarter of its time would be for
// collecting. Processes that it starts collect as they do for everybody.
func init() { debug.SetGCPercent(400) }

// Timeout is when a test gives up what it waits for. Only a test that fails waits so long,
// and a machine that has much else to do may need a part of it.
const Timeout = 2 * time.Minute

// Scripted returns a model that plays the lines of a script, which ref names.
func Scripted(t testing.TB, ref string, lines ...string) model.Model {
	t.Helper()
	s, err := script.Parse(strings.NewReader("{\"script\":1}\n"+strings.Join(lines, "\n")+"\n"), ref)
	if err != nil {
		t.Fatal(err)
	}
	return script.New(script.Config{Script: s, Ref: ref})
}

// pollEvery is how often [Until] looks.
const pollEvery = 2 * time.Millisecond

// Until waits until something holds that nothing tells of, such as a file of another process.
// The test fails after [Timeout], with what it has waited for.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	late := time.After(Timeout)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited for %v: %s", Timeout, what)
		}
	}
}
