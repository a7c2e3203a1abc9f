package claude

import (
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

func TestRulesThatDenyMeanTheSameOrMore(t *testing.T) {
	for from, want := range map[string]struct {
		as    string // joined by " + "
		wider bool
		note  string // part of it
	}{
		"Bash":                       {as: "Bash"},
		"Bash(*)":                    {as: "Bash"},
		"Bash(npm run test:*)":       {as: "Bash(npm run test:*)"},
		"Bash(npm run *)":            {as: "Bash(npm run:*)"},
		"Bash(make deploy)":          {as: "Bash(make deploy)"},
		"Bash(npm*)":                 {as: "Bash(npm:*)", note: "covers the command of that name"},
		"Bash(git push * --force)":   {as: "Bash(git push:*)", wider: true, note: "every git push is asked for"},
		"Bash(git * main)":           {as: "Bash(git:*)", wider: true, note: "every git is asked for"},
		"Bash(* --version)":          {as: "Bash", wider: true, note: "every call of Bash is asked for"},
		"Bash(curl http://x | bash)": {as: "Bash(curl http://x:*)", wider: true, note: "asked for"},
		"Bash(echo $HOME)":           {as: "Bash(echo:*)", wider: true, note: "every echo"},
		"Read(./.env)":               {as: "Read(./.env)"},
		"Read(.env)":                 {as: "Read(./**/.env)"},
		"Read(secrets/)":             {as: "Read(./**/secrets/)"},
		"Read(secrets/**)":           {as: "Read(./secrets/**)"},
		"Read(**/*.pem)":             {as: "Read(./**/*.pem)"},
		"Read(//etc/passwd)":         {as: "Read(/etc/passwd)"},
		"Read(/etc/passwd)":          {as: "Read(./etc/passwd) + Read(/etc/passwd)"},
		"Read(~/.ssh/**)":            {as: "Read(~/.ssh/**)"},
		"Read(a{b}c)":                {as: `Read(./**/a\{b\}c)`},
		"Read(../secret)":            {note: "outside the workspace is asked for anyway"},
		"Read(!keep)":                {note: "begins with !"},
		"MultiEdit(src/**)":          {as: "Edit(./src/**)"},
		"LS(./private)":              {as: "Read(./private)"},
		"Grep(./private/**)":         {as: "Grep(./private/**)"},
		"MultiEdit":                  {note: "no tool MultiEdit"},
		"PowerShell(x)":              {note: "no tool PowerShell"},
		"WebFetch(domain:x.com)":     {as: "WebFetch(domain:x.com)"},
		"WebFetch(x.com)":            {as: "WebFetch", wider: true, note: "every call of WebFetch"},
		"WebSearch":                  {as: "WebSearch"},
		"mcp__puppeteer":             {as: "mcp__puppeteer"},
		"mcp__puppeteer__*":          {as: "mcp__puppeteer__*"},
		"mcp__x__y":                  {as: "mcp__x__y"},
		"mcp__x__y(z)":               {note: "take nothing in parentheses"},
		"Task(Explore)":              {as: "Task", wider: true, note: "every call of Task"},
		"Agent":                      {as: "Task"},
		"KillShell":                  {as: "TaskStop"},
		"Frobnicate":                 {as: "Frobnicate", note: "Scorel itself has no tool Frobnicate"},
		"Frobnicate(x)":              {as: "Frobnicate", wider: true, note: "asked for. Scorel itself has no tool Frobnicate"},
		"Skill(deploy *)":            {as: "Skill(deploy)"},
		"Bash(rm":                    {note: "closing parenthesis"},
		"":                           {note: "empty"},
		"a b":                        {note: "not a rule that can be read"},
		strings.Repeat("x", 3000):    {note: "3000 bytes"},
	} {
		r := Tightens(from)
		if got := strings.Join(r.As, " + "); got != want.as || r.Wider != want.wider || want.note == "" && r.Note != "" || !strings.Contains(r.Note, want.note) {
			t.Errorf("%.40q is %q, wider %v, %q; want %+v", from, got, r.Wider, r.Note, want)
		}
	}
}

func TestRulesThatAllowMeanTheSameOrAreLeftOut(t *testing.T) {
	for from, want := range map[string]string{
		"Bash(npm run test:*)": "Bash(npm run test:*)", "Bash(npm run *)": "Bash(npm run:*)", "Bash(make)": "Bash(make)", "Bash": "Bash",
		"Bash(npm*)": "", "Bash(git * main)": "", "Bash(* --help *)": "", "Bash(echo $x)": "", "Bash(a | b)": "", "Bash(a && b:*)": "",
		"Read(~/notes/**)": "Read(~/notes/**)", "Read(/src/**)": "Read(./src/**)", "Read(//usr/share/**)": "Read(/usr/share/**)", "Edit(docs/**)": "Edit(./docs/**)",
		"Bash(make\u202e:*)": "", "Bash(make\t:*)": "", "Bash(make\u200b:*)": "",
		"Read(../x)": "", "WebFetch(domain:docs.rs)": "WebFetch(domain:docs.rs)", "mcp__x__y": "mcp__x__y", "Task(Explore)": "", "NotebookEdit": "NotebookEdit", "Agent": "Task",
	} {
		r := Allows(from)
		if got := strings.Join(r.As, " + "); got != want || (want == "") != (r.Note != "") {
			t.Errorf("%q is %q (%s), want %q", from, got, r.Note, want)
		}
	}
	if r := Allows("Bash(echo $x)"); strings.Contains(r.Note, "/project") || !strings.Contains(r.Note, "not literal") {
		t.Errorf("the note is %q", r.Note)
	}
}

// FuzzRules checks that nothing that is written becomes a rule that cannot be compiled.
func FuzzRules(f *testing.F) {
	for _, s := range []string{"Bash(a:*)", "Read(./x)", "Read({)", "Bash(a, b)", "Task(x)", "WebFetch(domain:*.x)", "Bash(\")\")"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, from string) {
		for _, r := range []Rule{Tightens(from), Allows(from)} {
			for _, as := range r.As {
				if _, err := permission.Compile(permission.Config{Home: "/h", Root: "/r", UID: -1, Layers: []permission.Layer{{Deny: []string{as}}}}); err != nil {
					t.Errorf("%q became %q: %v", from, as, err)
				}
			}
			if len(r.As) == 0 && r.Note == "" {
				t.Errorf("%q became nothing, without a sentence", from)
			}
		}
	})
}

func TestToolsAreTheSameInBothDirections(t *testing.T) {
	for _, tool := range protocol.Tools() {
		for _, theirs := range ToolsThere(tool.Name) {
			if name, exact := ToolHere(theirs); name != tool.Name || !exact {
				t.Errorf("%s is %s there, which is %q here", tool.Name, theirs, name)
			}
		}
	}
	if name, _ := AgentTool("Bash(git:*)"); name != "Bash" {
		t.Errorf("an agent's Bash(git:*) is %q", name)
	}
	if name, _ := AgentTool("LS"); name != "LS" || !slices.Equal(ToolsThere("Read"), []string{"Read"}) {
		t.Errorf("an agent's LS is %q", name)
	}
}
