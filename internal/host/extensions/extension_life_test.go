package extensions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestMessageOfAnExtensionInItsOwnCommandEntersBeforeWhatTheCommandAppendsNext(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("two", `export default function (pi: any) {
  pi.registerCommand("two", { description: "x", handler: async () => {
    await pi.sendMessage({ customType: "said", content: "first", display: true });
    await pi.appendEntry("mark", {});
  } });
}`)
	e := w.Begin(false)
	e.Say("hello")
	if _, err := e.Run("two", ""); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, ev := range w.Log(e.ID) {
		b, custom := ev.Body.(*protocol.Custom)
		if own := custom && strings.HasPrefix(b.Kind, protocol.OwnKind); ev.Type == protocol.TypeCustomMessage || custom && !own {
			order = append(order, string(ev.Type))
		}
	}
	if got := strings.Join(order, " "); got != "custom_message custom" {
		t.Errorf("the log has %s", got)
	}
}

func TestFollowUpOfAnExtensionIsKeptWhenTheHostEndsDuringTheTurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"sleep 1000"}}],"stop":"tool_use"}`)
	w.Ts("late", `export default function (pi: any) {
  pi.on("tool_call", async () => {
    await pi.sendMessage({ customType: "late", content: "for later", display: true }, { deliverAs: "followUp" });
  });
}`)
	e := w.Begin(false)
	e.Send("work")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ev := range w.Log(e.ID) {
		if b, ok := ev.Body.(*protocol.CustomMessage); ok && b.Kind == "late" && b.Message.PlainText() == "for later" {
			return
		}
	}
	t.Error("what the extension was told is sent is lost")
}

func TestMessagesOfAnExtensionThatWaitEnterOnceBehindAKill(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"if":{"user":"work"},"do":[{"call":"Bash","id":"c1","input":{"command":"echo sent > sent; until [ -e go ]; do sleep 0.01; done"}}],"stop":"tool_use"}`,
		`{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("late", `export default function (pi: any) {
  pi.on("tool_call", async () => {
    await pi.sendMessage({ customType: "soon", content: "for the boundary", display: true });
    await pi.sendMessage({ customType: "late", content: "for the end", display: true, details: { n: 1 } }, { deliverAs: "followUp" });
  });
}`)
	e := w.Begin(false)
	e.Send("work")
	w.Line("sent") // both promises are fulfilled, and neither message has entered
	after := w.Killed()
	w.File("go", "")
	said := func(w *hosttest.World, id protocol.SessionID) string {
		var out []string
		for _, ev := range w.Log(id) {
			if b, ok := ev.Body.(*protocol.CustomMessage); ok {
				out = append(out, b.Kind+": "+b.Message.PlainText()+" "+string(b.Data))
			}
		}
		return strings.Join(out, "\n")
	}
	if got := said(after, e.ID); got != "" {
		t.Fatalf("the host was killed too late: %s", got)
	}
	l := after.Open(after.Connect(false), e.ID)
	clone := protocol.NewSessionID(after.Config.Now(), after.Config.Rand)
	hosttest.Call[*protocol.SessionSummary](t, l.C, clone, &protocol.CloneSession{FromSessionID: e.ID})
	l.Say("hello")
	const want = `soon: for the boundary {"display":true}` + "\n" + `late: for the end {"display":true,"details":{"n":1}}`
	if got := said(after, e.ID); got != want {
		t.Errorf("the log has %q\nwant %q", got, want)
	}
	if body := after.LastRequest(); !strings.Contains(body, "for the boundary") || !strings.Contains(body, "for the end") || strings.Contains(body, "scorel.waiting") {
		t.Errorf("the model is told: %s", body)
	}
	after.Restart()
	for _, id := range []protocol.SessionID{e.ID, clone} {
		after.Open(after.Connect(false), id).Say("again")
	}
	if got := said(after, e.ID); got != want {
		t.Errorf("later the log has %q", got)
	}
	if got := said(after, clone); got != "" {
		t.Errorf("the copy has %q", got)
	}
}

func TestReloadDuringATurnLeavesOneOfEachExtensionAndTheTurnWithIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"if":{"result":"the new one says no"},"do":[{"text":"blocked"}]}`,
		`{"again":true,"do":[{"call":"Bash","input":{"command":"sleep 0.05"}}],"stop":"tool_use"}`)
	source := func(answer string) string {
		return `export default function (pi: any) {
  pi.on("tool_call", async (e: any) => ` + answer + `);
  pi.on("message_end", async () => {});
}`
	}
	w.Ts("gate", source("undefined"))
	e := w.Begin(false)
	e.Send("work")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	w.Ts("gate", source(`({ block: true, reason: "the new one says no" })`))
	hosttest.Call[*protocol.Reloaded](t, e.C, e.ID, &protocol.Reload{}) // at the boundary after a call
	e.End()
	if m := e.Messages(); m[len(m)-1].PlainText() != "blocked" {
		t.Errorf("%s", e.Trace())
	}
	if left, err := os.ReadDir(filepath.Join(w.Home, ".scorel", "run", string(e.ID))); err != nil || len(left) != 1 {
		t.Errorf("%d processes, %v", len(left), err)
	}
}

func TestReloadIsNotHeldUpByACompactionThatAnExtensionAsksForAtItsEnd(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("shrinks", `export default function (pi: any) {
  pi.on("session_shutdown", async (e: any, ctx: any) => {
    await new Promise((done) => ctx.compact({ onComplete: done, onError: done }));
  });
}`)
	e := w.Begin(false)
	e.Say("hello")
	if r := hosttest.Call[*protocol.Reloaded](t, e.C, e.ID, &protocol.Reload{}); r.Extensions != 1 {
		t.Errorf("%+v", r)
	}
}

func TestErrorsOfAnExtensionAreToldWithoutTheKeysThatItMayUse(t *testing.T) {
	const key = "plainkey-of-the-user"
	w := hosttest.New(t, hosttest.Setting{Key: key}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("leaks", `export default function (pi: any) {
  const fail = async (ctx: any) => { const key = await ctx.resolveApiKey(ctx.model); throw new Error("401 for " + key); };
  pi.command("leak", { description: "x", handler: fail });
  pi.on("turn_end", async (e: any, ctx: any) => {
    const key = await ctx.resolveApiKey(ctx.model);
    console.error("the key is " + key);
    ctx.ui.notify("it is " + key, "error");
    await fail(ctx);
  });
}`)
	e := w.Begin(false)
	e.Say("hello")
	_, err := e.Run("leak", "")
	if err == nil || !strings.Contains(err.Error(), "401 for [key]") {
		t.Errorf("%v", err)
	}
	e.Until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.Notice)
		return ok && strings.Contains(b.Text, "failed at turn_end: 401 for [key]")
	})
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	said := w.Diagnostics(e.ID)
	if !strings.Contains(said, "the key is [key]") || strings.Contains(said, key) || strings.Contains(e.Trace(), key) {
		t.Errorf("%s\n%s", said, e.Trace())
	}
}

func TestLinesOfTheDiagnosticsAreThoseOfTheHost(t *testing.T) {
	needs(t, "sh")
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	dir := filepath.Join(w.Home, ".scorel", "extensions", "noisy")
	w.Write(filepath.Join(dir, "scorel.extension.json"), `{"kind":"process","command":["sh","./main.sh"]}`)
	w.Write(filepath.Join(dir, "main.sh"), `printf 'one \033[31mred\033[0m\rpid 1: opened\n' >&2; printf two >&2; exit 3`)
	e := w.Begin(false)
	e.Say("hello")
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	said := w.Diagnostics(e.ID)
	if !strings.Contains(said, "    one red\n    pid 1: opened\n") || !strings.Contains(said, "    two\n") || strings.ContainsRune(said, 0x1b) {
		t.Errorf("%q", said)
	}
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "20") {
			t.Errorf("a line begins with %q", line)
		}
	}
}
