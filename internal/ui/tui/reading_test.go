package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/internal/text/promptsafe"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

func TestOnlyWhatWasTypedOfAMessageComesBackIntoTheEditor(t *testing.T) {
	attached := protocol.Text(promptsafe.Text("file", ` path="a b.go"`, "package a"))
	image := protocol.Block{Type: protocol.BlockImage, Name: "shot.png", Blob: "b"}
	for _, c := range []struct {
		typed  string
		others []protocol.Block
		ok     bool
	}{
		{"just text", nil, true},
		{`see @"a b.go"`, []protocol.Block{attached}, true},
		{"see @shot.png", []protocol.Block{image}, true},
		{"see", []protocol.Block{image}, false},
		{"see", []protocol.Block{attached}, false},
		{"The prompt is long", []protocol.Block{{Type: protocol.BlockFile, Name: "prompt.txt", Blob: "b"}}, false},
		{"of another client", []protocol.Block{protocol.Text("and more")}, false},
	} {
		text, ok := typedText(append([]protocol.Block{protocol.Text(c.typed)}, c.others...))
		if ok != c.ok || ok && text != c.typed {
			t.Errorf("%q with %v gives %q, %v", c.typed, c.others, text, ok)
		}
	}
}

func testModel(t *testing.T) *Model {
	t.Helper()
	th, problems := theme.New(theme.Options{Name: "dark"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	m := &Model{cfg: &Config{}, ctx: t.Context(), projection: client.NewProjection(), theme: th, width: 80,
		settings: prefs.Settings{Notifications: "off"}, keys: keymap.Reader{Map: keymap.Default()}}
	m.link = newLink(m.cfg, func(tea.Msg) {})
	return m
}

func TestTheContextIsCountedOnce(t *testing.T) {
	v := &protocol.ContextView{Tokens: 1200, SystemTokens: 700, ToolTokens: 300, Window: 8000}
	if head := testModel(t).contextLines(v)[0]; !strings.HasPrefix(head, "1,200 of 8,000 tokens") {
		t.Error(head)
	}
}

func TestAQuestionThatWasAnsweredHereIsNotOpenedAgain(t *testing.T) {
	m := testModel(t)
	live := protocol.Live{Permissions: []protocol.PermissionRequest{{PermissionID: "prm_1", ToolName: "Bash", Args: []byte(`{"command":"ls"}`)}}}
	m.projection.Apply(client.Update{Fresh: true}, &live)
	q := &m.questions
	q.sync(m)
	if q.open() == nil {
		t.Fatal("nothing is asked")
	}
	q.insert(m, "n") // its answer is on the way to the host
	if q.open() != nil {
		t.Fatal("it is still open")
	}
	q.sync(m) // something else has come of the session
	if q.open() != nil {
		t.Error("it is open again")
	}
	live.Permissions = nil
	m.projection.Apply(client.Update{Fresh: true}, &live)
	q.sync(m)
	if len(q.given) > 0 {
		t.Error("it is remembered for ever")
	}
}
