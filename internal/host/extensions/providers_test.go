package extensions_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// registers is an extension that registers a provider.
func registers(w *hosttest.World, name, more string) string {
	return `export default function (pi: any) {
  pi.registerProvider("` + name + `", { baseUrl: ` + jsonText(hosttest.Between(w.ReadAll(filepath.Join(w.Home, ".scorel", "config.toml")), `baseUrl = "`, `"`)) + `, api: "anthropic-messages", apiKey: "MINE_API_KEY", headers: { "x-mine": "yes" }, models: [
    { id: "big", name: "Big", reasoning: true, input: ["text", "image"], contextWindow: 150000, maxTokens: 9000, cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } },
    { id: "odd", api: "no-such-api" },
  ] });
  ` + more + `
}`
}

func TestExtensionRegistersAProviderOfModels(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{API: "anthropic-messages", Key: "the-key", Overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"if":{"user":"run"},"do":[{"call":"Bash","id":"c1","input":{"command":"echo \"key:$MINE_API_KEY.\""}}]}`,
		`{"again":true,"do":[{"text":"fine"}]}`)
	w.Config.Environ = append(w.Config.Environ, "MINE_API_KEY=the-key")
	w.Restart()
	w.Ts("mine", registers(w, "mine", `pi.registerCommand("big", { handler: async (_a: any, ctx: any) => { await pi.setModel(ctx.modelRegistry.find("mine", "big")); } });
  pi.registerCommand("off", { handler: async () => { pi.unregisterProvider("mine"); } });`))
	e := w.Begin(false)
	refs := func() (out []string) {
		for _, m := range hosttest.Call[*protocol.ModelList](t, e.C, "", &protocol.ListModels{Query: "mine/"}).Models {
			if strings.HasPrefix(m.Ref, "mine/") {
				out = append(out, m.Ref)
			}
		}
		return out
	}
	choose := func(model string) error {
		_, err := client.Call[*protocol.Done](t.Context(), e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Model: &model}})
		return err
	}
	e.Say("hello")
	if got := refs(); !slices.Equal(got, []string{"mine/big"}) {
		t.Errorf("the models are %q", got)
	}
	if said := e.Extension("mine").Unsupported; len(said) != 1 || !strings.HasPrefix(said[0], `The model "odd" of the provider mine is left out: its api is "no-such-api"; it can be `) {
		t.Errorf("of it is said %q", said)
	}
	if err := choose("mine/big"); err != nil {
		t.Fatal(err)
	}
	if end := e.Say("run"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("%+v", end)
	}
	last := w.Server.Requests()[len(w.Server.Requests())-1]
	if hosttest.ModelOf(last) != "big" || last.Header.Get("x-mine") != "yes" || last.Header.Get("x-api-key") != "the-key" {
		t.Errorf("the request is for %s with %v", hosttest.ModelOf(last), last.Header)
	}
	if out := e.Results()["c1"].PlainText(); !strings.Contains(out, "key:.") {
		t.Errorf("a command of the session sees the key: %s", out)
	}
	w.Restart() // nothing of the extension runs, and the session has its model
	e = w.Open(w.Connect(false), e.ID)
	if end := e.Say("again"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("after a restart: %+v %v", end, end.Error)
	}
	if last := w.Server.Requests()[len(w.Server.Requests())-1]; hosttest.ModelOf(last) != "big" {
		t.Errorf("after a restart the request is for %s", hosttest.ModelOf(last))
	}
	if _, err := e.Run("off", ""); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]bool{"mine/big": true, "nobodys": false, "anthropic/none": false} {
		_, err := client.Call[*protocol.SessionSummary](t.Context(), e.C, protocol.NewSessionID(w.Config.Now(), w.Config.Rand),
			&protocol.CreateSession{ProjectID: w.Registered(e.C).ProjectID, Meta: protocol.Meta{WorkDir: w.Project, Model: model}})
		if (err == nil) != want {
			t.Errorf("a session with the model %s: %v", model, err)
		}
	}
	if err := choose("mine/none"); err == nil {
		t.Error("a session whose extensions run takes a model that none of them has")
	}
	w.Eventually("the models to be gone", func() bool { return len(refs()) == 0 })
}

func TestExtensionOfAProjectRegistersNoProvider(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{API: "anthropic-messages"}, `{"again":true,"do":[{"text":"fine"}]}`)
	file := filepath.Join(w.Project, ".scorel", "extensions", "mine.ts")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(registers(w, "mine", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Ts("vendor", registers(w, "anthropic", ""))
	c := w.Connect(false)
	w.Trust(c)
	e := w.Begin(false)
	e.Say("hello")
	for _, m := range hosttest.Call[*protocol.ModelList](t, e.C, "", &protocol.ListModels{}).Models {
		if m.Ref == "mine/big" || m.Ref == "anthropic/big" {
			t.Errorf("there is the model %s", m.Ref)
		}
	}
	for id, want := range map[string]string{"mine": "an extension of a project may not", "vendor": "Scorel has one of this name"} {
		if said := e.Extension(id).Unsupported; !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("of %s is said %q", id, said)
		}
	}
}
