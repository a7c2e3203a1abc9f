package prelude

import (
	"regexp"
	"strings"
	"testing"

	"scorel/internal/extension/rpc"
)

func TestSectionsOfHandlersFollowTheSystemPromptInTagsOfTheirNames(t *testing.T) {
	d := newDouble(t)
	e := d.loadSource(`export default (pi: any) => {
  pi.on("before_agent_start", (event: any) => { event.systemPromptOptions.sections.tools = "Use read."; event.systemPromptOptions.sections.none = ""; });
  pi.on("before_agent_start", (event: any) => { event.systemPromptOptions.sections.tools += " " + event.systemPromptOptions.selectedTools.join(" "); });
};`)
	var answer *rpc.AgentStartAnswer
	e.hook("before_agent_start", rpc.AgentStartData{Prompt: "x", SystemPrompt: "Be good."}, &answer)
	if answer == nil || answer.SystemPrompt == nil || *answer.SystemPrompt != "Be good.\n\n<tools>\nUse read. bash read\n</tools>" {
		t.Errorf("the answer is %+v", answer)
	}
}

func TestSmallHelpersOfPiGiveWhatTheirNamesSay(t *testing.T) {
	d := newDouble(t)
	e := d.loadSource(`import { uuidv7 } from "@earendil-works/pi-ai";
import { formatReadLineRange as range } from "@earendil-works/pi-coding-agent";
import { renderFakeCursor } from "@earendil-works/pi-tui";
export default (pi: any) => pi.registerCommand("all", { description: "x", handler: async () =>
  JSON.stringify([uuidv7(), uuidv7(), [range(), range(null, null), range(5), range(5, 10), range(undefined, 3), range("7", "2"), range("x"), range(1, "x")].join(" "), renderFakeCursor("a"), renderFakeCursor("")]) });`)
	var got [5]string
	mustUnmarshal(t, []byte(e.run("all")), &got)
	for _, id := range got[:2] {
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
			t.Errorf("the id is %q", id)
		}
	}
	if got[0] == got[1] {
		t.Error("two ids are the same")
	}
	if got[2] != "  :5 :5-14 :1-3 :7-8  " || got[3] != "\x1b[7ma\x1b[27m" || got[4] != "\x1b[7m \x1b[27m" {
		t.Errorf("%q", got[2:])
	}
}

func TestExtensionThatCallsWhatDoesNotExistSaysWhichItWas(t *testing.T) {
	d := newDouble(t)
	_, err := d.tryLoad(`export default (pi: any) => { pi.registerSomethingNew({}); };`)
	if err == nil || !strings.Contains(err.Error(), "pi.registerSomethingNew is not provided by Scorel") {
		t.Errorf("%v", err)
	}
}
