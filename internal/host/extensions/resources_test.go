package extensions_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestExtensionBringsSkillsAndCommandsAlong(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	dir := filepath.Join(w.Home, ".scorel", "extensions", "brings")
	for name, text := range map[string]string{
		"one/SKILL.md":      "---\ndescription: The first one.\n---\nOne.\n",
		"more/two/SKILL.md": "---\ndescription: The second one.\n---\nTwo.\n",
		"beside/SKILL.md":   "---\ndescription: Not named.\n---\nBeside.\n",
		"say.md":            "---\ndescription: Says something.\n---\nSay $1 aloud.\n",
		"hidden.md":         "Not named.\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	index := filepath.Join(dir, "index.ts")
	source := `export default function (pi: any) {
  pi.on("resources_discover", (e: any) => ({ skillPaths: [` + jsonText(filepath.Join(dir, "one", "SKILL.md")) + `, "more", "none"], promptPaths: ["say.md"], themePaths: ["x.json"] }));
  pi.on("resources_discover", (e: any) => { throw new Error("not this one"); });
}`
	if err := os.WriteFile(index, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	e := w.Begin(false)
	e.Say("hello")
	body := string(w.Bodies()[0])
	for text, want := range map[string]bool{"The first one.": true, "The second one.": true, "Not named.": false} {
		if strings.Contains(body, text) != want {
			t.Errorf("the first request has %q: %v", text, !want)
		}
	}
	told := strings.Join(notices(e), "\n")
	if !strings.Contains(told, "names themes, which are not used") || !strings.Contains(told, filepath.Join(dir, "none")+`", which has no skills`) {
		t.Errorf("people are told %s", told)
	}
	names := func() (out []string) {
		for _, c := range hosttest.Call[*protocol.CommandList](t, e.C, e.ID, &protocol.ListCommands{}).Commands {
			if c.Source == protocol.CommandTemplate && strings.HasPrefix(c.Origin, dir) || c.Name == "one" || c.Name == "two" || c.Name == "beside" {
				out = append(out, c.Name)
			}
		}
		slices.Sort(out)
		return out
	}
	if got := strings.Join(names(), " "); !strings.Contains(got, "say") || strings.Contains(got, "hidden") || strings.Contains(got, "beside") {
		t.Errorf("the commands are %s", got)
	}
	if _, err := e.Run("say", "it"); err != nil {
		t.Fatal(err)
	}
	e.End()
	if last := w.LastRequest(); !strings.Contains(last, "Say it aloud.") {
		t.Errorf("the command sends %s", last)
	}
	if err := os.WriteFile(index, []byte("export default function () {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run("reload", ""); err != nil {
		t.Fatal(err)
	}
	if got := names(); len(got) > 0 {
		t.Errorf("after the reload there are %q", got)
	}
}

func TestExtensionOfAProjectBringsNothingFromOutsideOfIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	outside := filepath.Join(w.Home, "outside")
	for name, text := range map[string]string{
		filepath.Join(outside, "far", "SKILL.md"): "---\ndescription: From far away.\n---\nFar.\n",
		filepath.Join(w.Project, ".scorel", "extensions", "brings.ts"): `export default function (pi: any) {
  pi.on("resources_discover", () => ({ skillPaths: [` + jsonText(outside) + `, "../../link", "../../near"] }));
}`,
		filepath.Join(w.Project, "near", "SKILL.md"): "---\ndescription: From nearby.\n---\nNear.\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(w.Project, "link")); err != nil {
		t.Fatal(err)
	}
	c := w.Connect(false)
	w.Trust(c)
	e := w.Begin(false)
	e.Say("hello")
	body := string(w.Bodies()[0])
	if strings.Contains(body, "From far away.") || !strings.Contains(body, "From nearby.") {
		t.Errorf("the first request is %s", body)
	}
	if n := strings.Count(strings.Join(notices(e), "\n"), "which is not in its project; it is left out."); n != 2 {
		t.Errorf("people are told %q", notices(e))
	}
}
