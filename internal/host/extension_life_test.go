package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/protocol"
)

func TestMessageOfAnExtensionInItsOwnCommandEntersBeforeWhatTheCommandAppendsNext(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("two", `export default function (pi: any) {
  pi.registerCommand("two", { description: "x", handler: async () => {
    await pi.sendMessage({ customType: "said", content: "first", display: true });
    await pi.appendEntry("mark", {});
  } });
}`)
	e := w.begin(false)
	e.say("hello")
	if _, err := e.run("two", ""); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, ev := range w.log(e.id) {
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
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"sleep 1000"}}],"stop":"tool_use"}`)
	w.ts("late", `export default function (pi: any) {
  pi.on("tool_call", async () => {
    await pi.sendMessage({ customType: "late", content: "for later", display: true }, { deliverAs: "followUp" });
  });
}`)
	e := w.begin(false)
	e.send("work")
	e.until(ofType(protocol.TypeToolExecutionStart))
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ev := range w.log(e.id) {
		if b, ok := ev.Body.(*protocol.CustomMessage); ok && b.Kind == "late" && b.Message.PlainText() == "for later" {
			return
		}
	}
	t.Error("what the extension was told is sent is lost")
}

func TestMessagesOfAnExtensionThatWaitEnterOnceBehindAKill(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"if":{"user":"work"},"do":[{"call":"Bash","id":"c1","input":{"command":"echo sent > sent; until [ -e go ]; do sleep 0.01; done"}}],"stop":"tool_use"}`,
		`{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("late", `export default function (pi: any) {
  pi.on("tool_call", async () => {
    await pi.sendMessage({ customType: "soon", content: "for the border", display: true });
    await pi.sendMessage({ customType: "late", content: "for the end", display: true, details: { n: 1 } }, { deliverAs: "followUp" });
  });
}`)
	e := w.begin(false)
	e.send("work")
	w.line("sent") // both promises are fulfilled, and neither message has entered
	after := w.killed()
	w.file("go", "")
	said := func(w *world, id protocol.SessionID) string {
		var out []string
		for _, ev := range w.log(id) {
			if b, ok := ev.Body.(*protocol.CustomMessage); ok {
				out = append(out, b.Kind+": "+b.Message.PlainText()+" "+string(b.Data))
			}
		}
		return strings.Join(out, "\n")
	}
	if got := said(after, e.id); got != "" {
		t.Fatalf("the host was killed too late: %s", got)
	}
	l := after.open(after.connect(false), e.id)
	clone := protocol.NewSessionID(after.config.Now(), after.config.Rand)
	call[*protocol.SessionSummary](t, l.c, clone, &protocol.CloneSession{FromSessionID: e.id})
	l.say("hello")
	const want = `soon: for the border {"display":true}` + "\n" + `late: for the end {"display":true,"details":{"n":1}}`
	if got := said(after, e.id); got != want {
		t.Errorf("the log has %q\nwant %q", got, want)
	}
	if body := after.lastRequest(); !strings.Contains(body, "for the border") || !strings.Contains(body, "for the end") || strings.Contains(body, "scorel.waiting") {
		t.Errorf("the model is told: %s", body)
	}
	after.restart()
	for _, id := range []protocol.SessionID{e.id, clone} {
		after.open(after.connect(false), id).say("again")
	}
	if got := said(after, e.id); got != want {
		t.Errorf("later the log has %q", got)
	}
	if got := said(after, clone); got != "" {
		t.Errorf("the copy has %q", got)
	}
}

func TestReloadDuringATurnLeavesOneOfEachExtensionAndTheTurnWithIt(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"if":{"result":"the new one says no"},"do":[{"text":"blocked"}]}`,
		`{"again":true,"do":[{"call":"Bash","input":{"command":"sleep 0.05"}}],"stop":"tool_use"}`)
	source := func(answer string) string {
		return `export default function (pi: any) {
  pi.on("tool_call", async (e: any) => ` + answer + `);
  pi.on("message_end", async () => {});
}`
	}
	w.ts("gate", source("undefined"))
	e := w.begin(false)
	e.send("work")
	e.until(ofType(protocol.TypeToolExecutionStart))
	w.ts("gate", source(`({ block: true, reason: "the new one says no" })`))
	call[*protocol.Reloaded](t, e.c, e.id, &protocol.Reload{}) // at the border behind a call
	e.end()
	if m := e.messages(); m[len(m)-1].PlainText() != "blocked" {
		t.Errorf("%s", e.trace())
	}
	if left, err := os.ReadDir(filepath.Join(w.home, ".scorel", "run", string(e.id))); err != nil || len(left) != 1 {
		t.Errorf("%d processes, %v", len(left), err)
	}
}

func TestReloadIsNotHeldUpByACompactionThatAnExtensionAsksForAtItsEnd(t *testing.T) {
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("shrinks", `export default function (pi: any) {
  pi.on("session_shutdown", async (e: any, ctx: any) => {
    await new Promise((done) => ctx.compact({ onComplete: done, onError: done }));
  });
}`)
	e := w.begin(false)
	e.say("hello")
	if r := call[*protocol.Reloaded](t, e.c, e.id, &protocol.Reload{}); r.Extensions != 1 {
		t.Errorf("%+v", r)
	}
}

func TestErrorsOfAnExtensionAreToldWithoutTheKeysThatItMayUse(t *testing.T) {
	const key = "plainkey-of-the-user"
	w := newWorld(t, setting{key: key}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.ts("leaks", `export default function (pi: any) {
  const fail = async (ctx: any) => { const key = await ctx.resolveApiKey(ctx.model); throw new Error("401 for " + key); };
  pi.command("leak", { description: "x", handler: fail });
  pi.on("turn_end", async (e: any, ctx: any) => {
    const key = await ctx.resolveApiKey(ctx.model);
    console.error("the key is " + key);
    ctx.ui.notify("it is " + key, "error");
    await fail(ctx);
  });
}`)
	e := w.begin(false)
	e.say("hello")
	_, err := e.run("leak", "")
	if err == nil || !strings.Contains(err.Error(), "401 for [key]") {
		t.Errorf("%v", err)
	}
	e.until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.Notice)
		return ok && strings.Contains(b.Text, "failed at turn_end: 401 for [key]")
	})
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	said := w.diagnostics(e.id)
	if !strings.Contains(said, "the key is [key]") || strings.Contains(said, key) || strings.Contains(e.trace(), key) {
		t.Errorf("%s\n%s", said, e.trace())
	}
}

func TestLinesOfTheDiagnosticsAreThoseOfTheHost(t *testing.T) {
	needs(t, "sh")
	w := newWorld(t, setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	dir := filepath.Join(w.home, ".scorel", "extensions", "noisy")
	w.write(filepath.Join(dir, "scorel.extension.json"), `{"kind":"process","command":["sh","./main.sh"]}`)
	w.write(filepath.Join(dir, "main.sh"), `printf 'one \033[31mred\033[0m\rpid 1: opened\n' >&2; printf two >&2; exit 3`)
	e := w.begin(false)
	e.say("hello")
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	said := w.diagnostics(e.id)
	if !strings.Contains(said, "    one red\n    pid 1: opened\n") || !strings.Contains(said, "    two\n") || strings.ContainsRune(said, 0x1b) {
		t.Errorf("%q", said)
	}
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "20") {
			t.Errorf("a line begins with %q", line)
		}
	}
}
