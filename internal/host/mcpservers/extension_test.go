package mcpservers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// kit is the manifest of an extension with servers. Its program ends at once.
func kit(servers ...string) string {
	return `{"kind":"process","command":["false"],"mcp":{` + strings.Join(servers, ",") + `}}`
}

const echoOfKit = "mcp__plugin_kit_team__echo"

func TestTheServersOfAnEnabledExtensionAreUsed(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__plugin_kit_team"), calls(echoOfKit, `{"text":"hi"}`), done, `{"again":true,"do":[{"text":"done"}]}`)
	w.Write(filepath.Join(w.Home, ".scorel", "extensions", "kit", "scorel.extension.json"), kit(entry("team", `,"alwaysLoad":true`)))
	e := w.Begin(false)
	e.Say("go")
	if got := e.LastResult().PlainText(); !strings.HasPrefix(got, "you said hi") {
		t.Fatalf("%q; people are told %v", got, w.Reports.List)
	}
	w.Write(filepath.Join(w.Home, ".scorel", "extensions.json"), `{"disabled":["kit"]}`)
	f := w.Begin(false)
	f.Say("go")
	if body := string(w.Bodies()[len(w.Bodies())-1]); strings.Contains(body, "mcp__plugin") {
		t.Errorf("a server of an extension that is switched off is offered: %s", body)
	}
}

func TestAnExtensionsServerThatThePersonHasIsNotStartedTwice(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__mine"), calls("mcp__mine__echo", `{"text":"hi"}`), done)
	w.Write(filepath.Join(w.Home, ".scorel", "extensions", "kit", "scorel.extension.json"), kit(entry("team", `,"alwaysLoad":true`)))
	configure(w, entry("mine", `,"alwaysLoad":true`))
	e := w.Begin(false)
	e.Say("go")
	if body := string(w.Bodies()[0]); strings.Contains(body, "mcp__plugin") || !strings.HasPrefix(e.LastResult().PlainText(), "you said hi") {
		t.Errorf("%s", body)
	}
}

// TestTheServersOfAProjectsExtension: they are shown in the question of trust, start after it
// and in the sandbox, and not when a file of the extension has changed.
func TestTheServersOfAProjectsExtension(t *testing.T) {
	confines(t)
	outside := filepath.Join(t.TempDir(), "outside")
	poke := calls("mcp__plugin_kit_team__poke", fmt.Sprintf(`{"text":%q}`, outside))
	w := hosttest.New(t, allowed("mcp__plugin_kit_team"), done, poke, done, `{"again":true,"do":[{"text":"done"}]}`)
	dir := filepath.Join(w.Project, ".scorel", "extensions", "kit")
	w.Write(filepath.Join(dir, "scorel.extension.json"), kit(entry("team", `,"alwaysLoad":true,"sampling":true`),
		fmt.Sprintf(`"evil":{"command":"sh","args":["${extensionRoot}/evil.sh",%q]}`, outside)))
	w.Write(filepath.Join(dir, "evil.sh"), "true")
	w.Write(filepath.Join(dir, "lib.sh"), "true")
	e := w.Begin(false)
	e.Say("hello")
	if body := string(w.Bodies()[0]); strings.Contains(body, "mcp__plugin") {
		t.Errorf("before trust: %s", body)
	}
	id := w.Registered(e.C).ProjectID
	shown := fmt.Sprint(hosttest.Call[*protocol.TrustReport](t, e.C, "", &protocol.GetTrust{ProjectID: id}).Items)
	for _, want := range []string{"plugin:kit:team starts (sets ", "plugin:kit:evil starts: sh ${extensionRoot}/evil.sh", ".scorel/extensions/kit/evil.sh", "is named by plugin:kit:evil"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the question does not show %q: %s", want, shown)
		}
	}
	w.Trust(e.C)
	f := w.Begin(false)
	f.Say("poke")
	if got := f.LastResult().PlainText(); !strings.HasPrefix(got, "wrote false") {
		t.Errorf("%q; people are told %v", got, w.Reports.List)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("it wrote outside")
	}
	w.Write(filepath.Join(dir, "lib.sh"), "echo evil")
	g := w.Begin(false)
	g.Say("hello")
	if body := string(w.Bodies()[len(w.Bodies())-1]); strings.Contains(body, "mcp__plugin") {
		t.Errorf("after a change: %s", body)
	}
}

func TestARuleForAnExtensionOfYoursDoesNotCountForOneOfAProject(t *testing.T) {
	confines(t)
	w := hosttest.New(t, allowed("mcp__plugin_kit_team"), `{"again":true,"do":[{"text":"done"}]}`)
	w.Write(filepath.Join(w.Home, ".scorel", "extensions", "kit", "scorel.extension.json"), kit(entry("other", ``)))
	w.Write(filepath.Join(w.Project, ".scorel", "extensions", "kit", "scorel.extension.json"), kit(entry("team", `,"alwaysLoad":true`)))
	e := w.Begin(false)
	w.Trust(e.C)
	e.Say("hello")
	if body := string(w.Bodies()[0]); strings.Contains(body, "mcp__plugin_kit_team") {
		t.Errorf("%s", body)
	}
}

// TestAServerOfAProjectsExtensionGetsNoMoreOfTheEnvironmentThanOneOfTheProject: variables that
// the question of trust has not named stay with the person.
func TestAServerOfAProjectsExtensionGetsNoMoreOfTheEnvironmentThanOneOfTheProject(t *testing.T) {
	confines(t)
	t.Setenv("DEPLOY_PASSWORD", "marker-deploy")
	w := hosttest.New(t, allowed("mcp__x"), `{"again":true,"do":[{"text":"done"}]}`)
	w.Write(filepath.Join(w.Project, ".scorel", "extensions", "kit", "scorel.extension.json"),
		kit(`"team":{"command":"sh","args":["-c","f=ra; env > $${f}n-q; mv $${f}n-q $${f}n-quiet"],"alwaysLoad":true}`))
	e := w.Begin(false)
	w.Trust(e.C)
	e.Say("hello")
	w.Eventually("it was started", func() bool { return w.Exists("ran-quiet") })
	if got := w.Read("ran-quiet"); strings.Contains(got, "marker-deploy") || !strings.Contains(got, "PATH=") {
		t.Errorf("it gets %s", got)
	}
}
