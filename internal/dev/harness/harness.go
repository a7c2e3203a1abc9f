// Package harness is what the tests of the engine and of a lane share: a model that plays a
// script, and how long a test waits before it gives up.
package harness

import (
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
)

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
