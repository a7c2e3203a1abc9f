package doctor

import (
	"strings"
	"testing"

	"scorel/internal/platform/sandbox"
)

func TestSandboxSaysWhetherAndHowCommandsAreConfined(t *testing.T) {
	holds := sandbox.Ability{Name: "user namespaces", Holds: true, Text: "Keys can be hidden."}
	lacks := sandbox.Ability{Name: "Landlock scopes", Text: "Signals reach others.", Advice: "Use a newer kernel."}
	full := sandbox.Status{Level: sandbox.Full, Abilities: []sandbox.Ability{holds}}
	part := sandbox.Status{Level: sandbox.Partly, Missing: "Signals reach others.", Abilities: []sandbox.Ability{holds, lacks}}
	none := sandbox.Status{Missing: "Commands are not confined."}

	expect(t, "full", Sandbox(sandbox.WorkspaceWrite, true, full)[0], ok, "workspace-write: all holds", "")
	expect(t, "no network", Sandbox(sandbox.ReadOnly, false, full)[0], ok, "read-only, without the network", "")
	expect(t, "off", Sandbox(sandbox.Off, true, full)[0], warn, "all that you can", "[sandbox]")
	expect(t, "partly", Sandbox(sandbox.WorkspaceWrite, true, part)[0], warn, "Signals reach others.", "docs/sandbox.md")
	expect(t, "none", Sandbox(sandbox.WorkspaceWrite, true, none)[0], fail, "not confined", "docs/sandbox.md")
	expect(t, "none, but wanted", Sandbox(sandbox.WorkspaceWrite, false, none)[0], fail, "do not start", "docs/sandbox.md")

	lines := Sandbox(sandbox.WorkspaceWrite, true, part)[1:]
	expect(t, "what holds", lines[0], ok, "Keys can be hidden.", "")
	expect(t, "what is missing", lines[1], warn, "Signals reach others.", "Use a newer kernel.")
	var ids []string
	for _, c := range lines {
		ids = append(ids, c.ID)
	}
	if got := strings.Join(ids, " "); got != "user-namespaces landlock-scopes" {
		t.Errorf("the checks are %s", got)
	}
}
