package webcmd

import (
	"bytes"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestTheListOfClientsShowsPushesWhereThereAreSome(t *testing.T) {
	list := func(all ...protocol.Entry) string {
		var out bytes.Buffer
		c := &commands{Config{Stdout: &out}}
		if err := c.showEntries(all); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	quiet := protocol.Entry{ClientID: "cli_1", Label: "laptop", Grant: protocol.GrantControl}
	if got := list(quiet); strings.Contains(got, "PUSH") {
		t.Errorf("without pushes:\n%s", got)
	}
	phone := quiet
	phone.Label, phone.Push = "phone", protocol.PushRefused
	got := list(quiet, phone)
	if !strings.Contains(got, "PUSH") || !strings.Contains(got, "refused") || !strings.Contains(got, "phone: its push service has refused the last push; switch") {
		t.Errorf("with pushes:\n%s", got)
	}
	for _, s := range []protocol.PushState{protocol.PushGone, protocol.PushUnreachable} {
		if pushProblem(s) == "" {
			t.Errorf("nothing is said of %s", s)
		}
	}
}
