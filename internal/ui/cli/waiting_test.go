package cli

import (
	"strings"
	"testing"

	"scorel/internal/ui/exit"
)

// asking is an extension that asks a person at each place where an extension may.
const asking = `export default function (pi) {
	const ask = (title, ctx) => ctx.ui.confirm(title, "Is that so?");
	pi.registerCommand("gate", { description: "asks", handler: async (args, ctx) => { ctx.ui.notify(await ask("a command", ctx) ? "yes to it" : "no to it", "info"); } });
	pi.on("input", async (event, ctx) => {
		if (!event.text.includes("guarded")) return { action: "continue" };
		if (await ask("an input", ctx)) return { action: "continue" };
		return { action: "handled" };
	});
	pi.on("session_before_tree", async (event, ctx) => await ask("a move", ctx) ? undefined : { cancel: true });
}
`

// waits says that a run waits in a dialog that a request has opened, and that others are
// answered meanwhile; then it answers the dialog.
func (w *talking) waits(title string) {
	w.t.Helper()
	q := w.until(`"type":"ui_request"`, title)
	w.say(`{"type":"get_path","requestId":"req_0000000000000000000000beef","limit":1}`)
	w.until(`"type":"response"`, "req_0000000000000000000000beef", `"events":`)
	w.say(`{"type":"update_info","requestId":"req_0000000000000000000000cafe","changes":{"name":"while it waits"}}`)
	w.until(`"type":"response"`, "req_0000000000000000000000cafe")
	w.say(`{"type":"answer_ui","requestId":"req_0000000000000000000000face","uiId":"` + q["uiId"].(string) + `","value":true}`)
	w.answered("req_0000000000000000000000face")
}

// answered waits for the response to a request, which may have come before: requests that
// wait for one another are answered in no order.
func (w *talking) answered(request string) {
	w.t.Helper()
	response := `"type":"response","requestId":"` + request + `"`
	for _, line := range w.printed {
		if strings.Contains(line, response) {
			return
		}
	}
	w.until(response)
}

// guarded starts a run with the extension that asks.
func guarded(t *testing.T, script ...string) *talking {
	t.Helper()
	w := talkIn(t, map[string]string{".scorel/extensions/asking.js": asking}, script)
	return w
}

func TestInputAnswersADialogOfACommand(t *testing.T) {
	w := guarded(t, `{"do":[{"text":"done"}]}`)
	w.say(`{"type":"run_command","requestId":"req_00000000000000000000000001","name":"gate"}`)
	w.waits("a command")
	w.answered("req_00000000000000000000000001")
	if res, code := w.end(); code != exit.OK || res["terminal"] != "completed" {
		t.Errorf("exit %d, %v", code, res)
	}
	if all := strings.Join(w.printed, "\n"); !strings.Contains(all, "yes to it") {
		t.Errorf("the command has no answer:\n%s", all)
	}
}

func TestInputAnswersADialogOfAnInputHandler(t *testing.T) {
	w := guarded(t, `{"again":true,"do":[{"text":"done"}]}`)
	w.say(`{"type":"send_message","requestId":"req_00000000000000000000000001","content":[{"type":"text","text":"guarded"}]}`)
	w.waits("an input")
	w.answered("req_00000000000000000000000001")
	w.until(`"type":"runtime_end"`)
	if res, code := w.end(); code != exit.OK || res["result"] != "done" {
		t.Errorf("exit %d, %v", code, res)
	}
}

// TestInputAnswersADialogOfTheFirstPrompt has the prompt of the command line wait.
func TestInputAnswersADialogOfTheFirstPrompt(t *testing.T) {
	w := talkIn(t, map[string]string{".scorel/extensions/asking.js": asking}, []string{`{"do":[{"text":"done"}]}`}, "a guarded prompt")
	w.waits("an input")
	w.until(`"type":"runtime_end"`)
	if res, code := w.end(); code != exit.OK || res["result"] != "done" {
		t.Errorf("exit %d, %v", code, res)
	}
}

func TestInputAnswersADialogOfAMove(t *testing.T) {
	w := guarded(t, `{"again":true,"do":[{"text":"done"}]}`)
	w.send("one")
	w.until(`"type":"runtime_end"`)
	w.say(`{"type":"rewind_to","requestId":"req_00000000000000000000000001","targetEventId":null}`)
	w.waits("a move")
	w.answered("req_00000000000000000000000001")
	if res, code := w.end(); code != exit.OK {
		t.Errorf("exit %d, %v", code, res)
	}
}

func TestInputCancelsATurnWhileAMessageWaitsForAnInputHandler(t *testing.T) {
	w := guarded(t, `{"do":[{"call":"Bash","id":"c1","input":{"command":"sleep 300"}}],"stop":"tool_use"}`, `{"do":[{"text":"done"}]}`)
	w.send("wait")
	turn := w.until(`"type":"permission_request"`)["turnId"].(string)
	w.say(`{"type":"follow_up","requestId":"req_00000000000000000000000001","content":[{"type":"text","text":"guarded"}]}`)
	w.until(`"type":"ui_request"`, "an input")
	w.say(`{"type":"cancel","requestId":"req_00000000000000000000000002","turnId":"` + turn + `"}`)
	w.answered("req_00000000000000000000000002")
	if res, code := w.end(); code != exit.Cancelled || res["terminal"] != "cancelled" {
		t.Errorf("exit %d, %v", code, res)
	}
	// The dialog belongs to the turn, and the message is answered when it is closed.
	if all := strings.Join(w.printed, "\n"); !strings.Contains(all, `"type":"response","requestId":"req_00000000000000000000000001"`) {
		t.Errorf("the message that waited is not answered:\n%s", all)
	}
}

// TestEndOfInputRefusesADialogOfACommand: nobody can answer it any more.
func TestEndOfInputRefusesADialogOfACommand(t *testing.T) {
	w := guarded(t)
	w.say(`{"type":"run_command","requestId":"req_00000000000000000000000001","name":"gate"}`)
	w.until(`"type":"ui_request"`, "a command")
	if _, code := w.end(); code != exit.OK {
		t.Errorf("exit %d", code)
	}
	if all := strings.Join(w.printed, "\n"); !strings.Contains(all, "no to it") || !strings.Contains(all, `"type":"response","requestId":"req_00000000000000000000000001"`) {
		t.Errorf("the command was not refused, or its request not answered:\n%s", all)
	}
}
