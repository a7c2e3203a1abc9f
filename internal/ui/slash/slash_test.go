package slash

import (
	"slices"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestNamesOfCommandsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range commands() {
		for _, name := range append([]string{c.Name, c.Was}, c.Aliases...) {
			if name != "" && seen[name] {
				t.Errorf("/%s is there twice", name)
			}
			seen[name] = true
		}
		if c.Doc == "" || !c.Has(Screen) && !c.Has(Lines) {
			t.Errorf("/%s has no help, or no client has it", c.Name)
		}
		for _, client := range []Client{Screen, Lines} {
			if !c.Has(client) && c.Instead(client) == "" {
				t.Errorf("/%s is refused without a word of what serves instead", c.Name)
			}
		}
	}
}

func TestACommandOfTheHostIsReachedBesideTheClientsOwn(t *testing.T) {
	var shown []string
	for _, c := range Beside(Screen, []protocol.CommandInfo{
		{Name: "model", Source: protocol.CommandBuiltin}, {Name: "tools", Source: protocol.CommandExtension},
		{Name: "attach", Source: protocol.CommandTemplate}, {Name: "deploy", Source: protocol.CommandExtension},
	}) {
		shown = append(shown, c.Name)
	}
	if got := strings.Join(shown, " "); got != "tools:extension attach:template deploy" {
		t.Errorf("%q can be typed", got)
	}
}

func TestFindKnowsAliasesAndFormerNames(t *testing.T) {
	for typed, want := range map[string]string{"add": "add", "attach": "add", "name": "rename", "quit": "quit"} {
		if c := Find(typed); c == nil || c.Name != want {
			t.Errorf("/%s is %v, want /%s", typed, c, want)
		}
	}
	for _, typed := range []string{"", "fly", "/quit", "Quit"} {
		if c := Find(typed); c != nil {
			t.Errorf("%q is /%s", typed, c.Name)
		}
	}
}

func TestEachClientListsWhatItHas(t *testing.T) {
	names := func(client Client) (all []string) {
		for _, c := range For(client) {
			all = append(all, c.Name)
		}
		return all
	}
	if screen := names(Screen); !slices.Contains(screen, "theme") || slices.Contains(screen, "steer") {
		t.Errorf("the terminal UI has %s", strings.Join(screen, " "))
	}
	if lines := names(Lines); !slices.Contains(lines, "steer") || slices.Contains(lines, "theme") {
		t.Errorf("line mode has %s", strings.Join(lines, " "))
	}
}

func TestRefusalNamesTheCommandAndWhatServesInstead(t *testing.T) {
	if got, want := Find("doctor").Refusal(Lines), "line mode has no /doctor; scorel doctor does that"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Find("cancel").Refusal(Screen), "the terminal UI has no /cancel; Esc cancels the turn"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTextBehindACommandThatTakesNoneIsRefused(t *testing.T) {
	for _, c := range []struct {
		client           Client
		name, args, want string
	}{
		{Screen, "tree", "", ""},
		{Screen, "model", "fast", ""},
		{Lines, "process", "3", ""},
		{Screen, "process", "3", "/process takes nothing after its name: remove what is there, or begin with // to send it as a message"},
		{Screen, "daemon", "3", "/daemon takes nothing after its name: remove what is there, or begin with // to send it as a message"},
	} {
		if got := Find(c.name).Excess(c.client, c.name, c.args); got != c.want {
			t.Errorf("/%s %s: %q, want %q", c.name, c.args, got, c.want)
		}
	}
}
