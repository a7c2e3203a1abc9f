package permission

import (
	"path"
	"strings"
	"testing"

	"scorel/protocol"
)

const (
	testHome = "/home/u"
	testRoot = "/home/u/p"
)

// resolveTest is a file system without symlinks, except /home/u/p/out, which
// leads to /etc.
func resolveTest(abs string) Path {
	abs = path.Clean(abs)
	if rest, ok := strings.CutPrefix(abs, testRoot+"/out"); ok && (rest == "" || rest[0] == '/') {
		abs = "/etc" + rest
	}
	within := func(dir string) bool { return abs == dir || strings.HasPrefix(abs, dir+"/") }
	return Path{
		Abs:        abs,
		Inside:     within(testRoot),
		Protected:  within(testRoot+"/.git/hooks") || within(testRoot+"/.scorel") || abs == testRoot+"/.git/config",
		OutOfReach: within(testHome + "/.scorel"),
	}
}

func bash(src string) Action {
	return Action{Tool: "Bash", Kind: Exec, Command: src, Dir: testRoot, Resolve: resolveTest}
}

func compile(t testing.TB, mode Mode, layers ...Layer) *Policy {
	t.Helper()
	p, err := Compile(Config{Mode: mode, Layers: layers, Home: testHome, Root: testRoot, UID: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func files(tool string, kind Kind, names ...string) Action {
	a := Action{Tool: tool, Kind: kind}
	for _, n := range names {
		a.Paths = append(a.Paths, resolveTest(n))
	}
	return a
}

func TestModesAskForWhatTheTableSays(t *testing.T) {
	actions := []struct {
		name string
		act  Action
	}{
		{"read inside", files("Read", Read, testRoot+"/a")},
		{"read outside", files("Read", Read, "/etc/hosts")},
		{"write inside", files("Write", Write, testRoot+"/a")},
		{"write outside", files("Write", Write, "/etc/hosts")},
		{"write protected", files("Edit", Write, testRoot+"/.git/config")},
		{"out of reach", files("Read", Read, testHome+"/.scorel/host.json")},
		{"command", bash("make")},
		{"net", Action{Tool: "WebFetch", Kind: Net, Host: "example.com"}},
		{"state", Action{Tool: "TodoWrite", Kind: State}},
		{"mcp", Action{Tool: "mcp__s__t", Kind: Exec}},
	}
	const a, q, d = protocol.DecisionAllow, protocol.DecisionAsk, protocol.DecisionDeny
	want := map[Mode][]protocol.Decision{
		Default:     {a, q, q, q, q, d, q, q, a, q},
		AcceptEdits: {a, q, a, q, q, d, q, q, a, q},
		Plan:        {a, d, d, d, d, d, d, d, a, d},
		DontAsk:     {a, d, d, d, d, d, d, d, a, d},
		Bypass:      {a, a, a, a, a, d, a, a, a, a},
	}
	for mode, decisions := range want {
		p := compile(t, mode)
		for i, c := range actions {
			v := p.Judge(c.act)
			if v.Decision != decisions[i] {
				t.Errorf("%s in mode %s: %s (%s), want %s", c.name, mode, v.Decision, v.Reason, decisions[i])
			}
			if v.Decision != a && v.Reason == "" {
				t.Errorf("%s in mode %s: %s without a reason", c.name, mode, v.Decision)
			}
			if (v.Decision == q) != (len(v.Suggestions) > 0) {
				t.Errorf("%s in mode %s: %s with suggestions %v", c.name, mode, v.Decision, v.Suggestions)
			}
			if len(v.Suggestions) > 0 && (v.Suggestions[0].Scope != "once" || v.Suggestions[0].Rule != "") {
				t.Errorf("%s in mode %s: the first suggestion is %+v", c.name, mode, v.Suggestions[0])
			}
		}
	}
}

func TestDenyBeatsAskBeatsAllowFromAnyLayer(t *testing.T) {
	layers := []Layer{
		{Name: "user", Scope: ScopeUser, Allow: []string{"Bash(make:*)", "Read(/etc/**)", "WebFetch(domain:example.com)"}, Deny: []string{"Bash(make rm)"}},
		{Name: "project", Scope: ScopeProject, Ask: []string{"Bash(make deploy:*)", "Read(/etc/shadow)"}, Deny: []string{"Bash(make deploy prod)", "WebFetch(domain:evil.example.com)"}},
		{Name: "session", Scope: ScopeSession, Allow: []string{"Bash(make deploy prod)", "Bash(make rm)"}},
	}
	const a, q, d = protocol.DecisionAllow, protocol.DecisionAsk, protocol.DecisionDeny
	for _, mode := range []Mode{Default, Bypass} {
		p := compile(t, mode, layers...)
		for _, c := range []struct {
			act  Action
			want protocol.Decision
			rule string
		}{
			{bash("make all"), a, "Bash(make:*)"},
			{bash("make deploy staging"), q, "Bash(make deploy:*)"},
			{bash("make deploy prod"), d, "Bash(make deploy prod)"},
			{bash("make deploy staging; make rm"), d, "Bash(make rm)"},
			{files("Read", Read, "/etc/hosts"), a, "Read(/etc/**)"},
			{files("Grep", Read, "/etc/hosts"), a, "Read(/etc/**)"},
			{files("Read", Read, "/etc/hosts", "/etc/shadow"), q, "Read(/etc/shadow)"},
			{Action{Tool: "WebFetch", Kind: Net, Host: "Example.com:443"}, a, "WebFetch(domain:example.com)"},
			{Action{Tool: "WebFetch", Kind: Net, Host: "x.evil.example.com"}, d, "WebFetch(domain:evil.example.com)"},
		} {
			v := p.Judge(c.act)
			if v.Decision != c.want || (v.Rule != c.rule && (mode != Bypass || c.want != a)) {
				t.Errorf("%s %+v: %s by %q, want %s by %q", mode, c.act, v.Decision, v.Rule, c.want, c.rule)
			}
		}
	}
}

func TestAllowRuleForAHostDoesNotCoverOtherHosts(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"WebFetch(domain:example.com)", "WebFetch(domain:*.go.dev)", "WebFetch(domain:[::1]:8080)"}})
	for hostname, want := range map[string]protocol.Decision{
		"example.com": protocol.DecisionAllow, "example.com.": protocol.DecisionAllow, "EXAMPLE.com": protocol.DecisionAllow,
		"www.example.com": protocol.DecisionAsk, "example.com.evil.org": protocol.DecisionAsk, "notexample.com": protocol.DecisionAsk,
		"example.com:8080": protocol.DecisionAsk, "pkg.go.dev": protocol.DecisionAllow, "go.dev": protocol.DecisionAsk,
		"[::1]:8080": protocol.DecisionAllow, "::1": protocol.DecisionAsk,
	} {
		if v := p.Judge(Action{Tool: "WebFetch", Kind: Net, Host: hostname}); v.Decision != want {
			t.Errorf("%s: %s, want %s", hostname, v.Decision, want)
		}
	}
}

func TestFileRulesCoverWhatTheyName(t *testing.T) {
	const a, q, d = protocol.DecisionAllow, protocol.DecisionAsk, protocol.DecisionDeny
	for _, c := range []struct {
		allow, deny string
		act         Action
		want        protocol.Decision
	}{
		{"Read(~/notes/**)", "", files("Read", Read, "/home/u/notes/a/b"), a},
		{"Read(~/notes/**)", "", files("Read", Read, "/home/u/notes2/a"), q},
		{"Read(~/notes/)", "", files("Glob", Read, "/home/u/notes"), a},
		{"Read(~/notes)", "", files("Read", Read, "/home/u/notes/a"), q},
		{"Write(src/**)", "", files("Edit", Write, testRoot+"/src/a.go"), a},
		{"Edit(./src/*.go)", "", files("Write", Write, testRoot+"/src/a.go"), a},
		{"Edit(src/*.go)", "", files("Write", Write, testRoot+"/src/x/a.go"), q},
		{"Read(src/**)", "", files("Write", Write, testRoot+"/src/a.go"), q},
		{"Write(**)", "", files("Write", Write, testRoot+"/.git/config"), q},
		{"Write", "", files("Write", Write, testRoot+"/.git/hooks/pre-commit"), q},
		{"Write(/**)", "", files("Write", Write, testHome+"/.scorel/config.toml"), d},
		{"Read", "", files("Read", Read, "/etc/passwd"), a},
		{"", "Read(.env)", files("Read", Read, testRoot+"/.env"), d},
		{"", "Read(//etc/passwd)", files("Read", Read, "/etc/passwd"), d},
		{"", "Read(.//secrets//*)", files("Read", Read, testRoot+"/secrets/key"), d},
		{"", "Read(secrets//)", files("Read", Read, testRoot+"/secrets/a/key"), d},
		{"", "Read(secrets)", files("Grep", Read, testRoot+"/secrets/key"), d},
		{"", "Edit(go.mod)", files("Write", Write, testRoot+"/go.mod"), d},
		{"", "Read", files("Read", Read, testRoot+"/a"), d},
		{"Write(src/**)", "", files("Write", Write, testRoot+"/src/a", "/etc/b"), q},
	} {
		l := Layer{}
		if c.allow != "" {
			l.Allow = []string{c.allow}
		}
		if c.deny != "" {
			l.Deny = []string{c.deny}
		}
		if v := compile(t, Default, l).Judge(c.act); v.Decision != c.want {
			t.Errorf("allow %q deny %q, %s of %s: %s (%s), want %s", c.allow, c.deny, c.act.Tool, c.act.Paths[0].Abs, v.Decision, v.Reason, c.want)
		}
	}
}

// linked is resolveTest as a tool uses it: the name that was asked for is kept.
func linked(abs string) Path { return resolveTest(abs).As(abs) }

func TestARuleThatTightensFollowsLinksAndAnAllowRuleDoesNot(t *testing.T) {
	for _, c := range []struct {
		rule, named string
		want        protocol.Decision
	}{
		{"Read(out/hosts)", testRoot + "/out/hosts", protocol.DecisionDeny},
		{"Read(out/hosts)", "/etc/hosts", protocol.DecisionDeny},
		{"Read(out/**)", "/etc/ssh/key", protocol.DecisionDeny},
		{"Read(out)", "/etc/ssh/key", protocol.DecisionDeny},
		{"Read(/etc/**)", testRoot + "/out/hosts", protocol.DecisionDeny},
		{"Read(**/hosts*)", testRoot + "/out/hosts2", protocol.DecisionDeny}, // by its name alone
		{"Read(o?t/hosts)", testRoot + "/out/hosts", protocol.DecisionDeny},
		{"Read(out/\\[a])", "/etc/[a]", protocol.DecisionDeny},
		{"Read(out/hosts)", "/etc/hosts2", protocol.DecisionAsk},
	} {
		cfg := Config{UID: 1000, Home: testHome, Root: testRoot, Resolve: resolveTest}
		act := Action{Tool: "Read", Kind: Read, Paths: []Path{linked(c.named)}}
		cfg.Layers = []Layer{{Scope: ScopeProject, Deny: []string{c.rule}}}
		p, err := Compile(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if v := p.Judge(act); v.Decision != c.want {
			t.Errorf("deny %s, %s: %s, want %s", c.rule, c.named, v.Decision, c.want)
		}
		cfg.Layers = []Layer{{Scope: ScopeUser, Allow: []string{c.rule}}}
		if p, err = Compile(cfg); err != nil {
			t.Fatal(err)
		}
		if v := p.Judge(act); c.rule != "Read(/etc/**)" && v.Decision != protocol.DecisionAsk {
			t.Errorf("allow %s, %s: %s, want ask", c.rule, c.named, v.Decision)
		}
	}
}

func TestASearchWithholdsWhatRulesKeepFromReading(t *testing.T) {
	p := compile(t, Default, Layer{Deny: []string{"Read(.env)", "Grep(secrets/**)"}, Ask: []string{"Read(private/**)", "Write(src/**)"}, Allow: []string{"Read(secrets/**)"}})
	withheld := p.Withheld()
	for _, c := range []struct {
		folder, file string
		want         bool
	}{
		{"", "/.env", true},
		{"", "/env", false},
		{"", "/secrets/a/key", true},
		{"/secrets", "/secrets/key", true},
		{"", "/private/key", true},
		{"/private", "/private/key", false}, // the search was asked for
		{"", "/src/a.go", false},
	} {
		if got := withheld(testRoot+c.folder, testRoot+c.file); got != c.want {
			t.Errorf("%s in %q: %v, want %v", c.file, c.folder, got, c.want)
		}
	}
	if compile(t, Default, Layer{Deny: []string{"Write(src/**)", "Bash(rm:*)", "WebFetch"}}).Withheld() != nil {
		t.Error("without a rule about reading there is something to withhold")
	}
}

func TestMCPRulesCoverAToolOrAServer(t *testing.T) {
	for rule, want := range map[string]protocol.Decision{
		"mcp__git__log": protocol.DecisionAllow, "mcp__git": protocol.DecisionAllow, "mcp__git__*": protocol.DecisionAllow,
		"mcp__gi": protocol.DecisionAsk, "mcp__git__lo": protocol.DecisionAsk,
	} {
		if v := compile(t, Default, Layer{Allow: []string{rule}}).Judge(Action{Tool: "mcp__git__log", Kind: Exec}); v.Decision != want {
			t.Errorf("%s: %s, want %s", rule, v.Decision, want)
		}
	}
}

func TestRuleErrorsNameTheRuleAndWhatIsWrong(t *testing.T) {
	for rule, want := range map[string]string{
		"":                          "does not begin with the name of a tool",
		"(x)":                       "does not begin with the name of a tool",
		"bash(ls)":                  "the tool is called Bash",
		"Bash(ls":                   "closing parenthesis is missing",
		"Bash()":                    "write Bash for the whole tool",
		"Bash(rm *)":                "write Bash(rm:*)",
		"Bash(ls; rm x)":            "not one simple command",
		"Bash(ls $HOME)":            "is not literal",
		"Bash(X=1 ls)":              "not one simple command",
		"Bash(ls > x)":              "not one simple command",
		"Bash(')":                   "cannot be parsed",
		"Read(../x)":                "may not contain ..",
		"Read([)":                   "malformed",
		"WebFetch(example.com)":     "write WebFetch(domain:example.com)",
		"WebFetch(domain:a/b)":      "is not a host name",
		"WebFetch(domain:a.b:http)": "a port that is not a number",
		"TodoWrite(x)":              "take nothing in parentheses",
		"mcp__*":                    "only a deny rule covers all MCP servers",
		"Bash(git status:*) or not": "closing parenthesis is missing",
	} {
		_, err := Compile(Config{UID: 1, Home: testHome, Root: testRoot, Layers: []Layer{{Name: "config.toml", Scope: ScopeUser, Allow: []string{rule}}}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"`+rule+`"`) || !strings.HasPrefix(err.Error(), "config.toml: ") {
			t.Errorf("%q: %v, want %q", rule, err, want)
		}
	}
}

func TestModesAreRefusedByName(t *testing.T) {
	if _, err := Compile(Config{Mode: "auto", UID: 1}); err == nil || !strings.Contains(err.Error(), "auto does not exist yet") {
		t.Errorf("auto: %v", err)
	}
	if _, err := Compile(Config{Mode: "yolo", UID: 1}); err == nil || !strings.Contains(err.Error(), `"yolo" is not a permission mode`) {
		t.Errorf("yolo: %v", err)
	}
	if _, err := Compile(Config{Mode: Bypass, UID: 0}); err != ErrRootBypass {
		t.Errorf("bypass as root: %v", err)
	}
	p, err := Compile(Config{UID: 0, Confined: true})
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.WithMode(Bypass, 0); err != nil {
		t.Errorf("bypass as root in a sandbox: %v", err)
	} else if v := p.Judge(Action{Tool: "Bash", Kind: Exec, Command: "make"}); v.Decision != protocol.DecisionAllow {
		t.Errorf("a command of root in a sandbox: %+v", v)
	}
	if v := p.Judge(Action{Tool: "Write", Kind: Write, Paths: []Path{{Abs: "/etc/passwd"}}}); v.Decision != protocol.DecisionAsk {
		t.Errorf("root's write outside, which no sandbox bounds: %+v", v)
	}
	if v := p.Judge(Action{Tool: "Write", Kind: Write, Paths: []Path{{Abs: "/w/a", Inside: true}}}); v.Decision != protocol.DecisionAllow {
		t.Errorf("root's write inside: %+v", v)
	}
	if _, err := Compile(Config{UID: 1, Layers: []Layer{{Name: "p", Scope: ScopeProject, Allow: []string{"Bash"}}}}); err == nil {
		t.Error("a project layer may allow")
	}
}

func TestQuestionsAboutCommandsSayWhatIsNotConfined(t *testing.T) {
	p, err := Compile(Config{UID: 1, Unconfined: "Commands are not confined."})
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Judge(Action{Tool: "Bash", Kind: Exec, Command: "make"}); !strings.HasSuffix(v.Reason, " Commands are not confined.") {
		t.Errorf("a command: %q", v.Reason)
	}
	if v := p.Judge(Action{Tool: "Write", Kind: Write, Paths: []Path{{Abs: "/w/a", Inside: true}}}); strings.Contains(v.Reason, "confined") {
		t.Errorf("a file: %q", v.Reason)
	}
}

func TestWithLeavesTheOldPolicyAsItIs(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash(a)"}})
	q, err := p.With(Layer{Scope: ScopeSession, Allow: []string{"Bash(make), Read(/etc/**)"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.With(Layer{Scope: ScopeSession, Allow: []string{"Bash(other)"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		p    *Policy
		want protocol.Decision
	}{{p, protocol.DecisionAsk}, {q, protocol.DecisionAllow}, {r, protocol.DecisionAsk}} {
		if v := c.p.Judge(bash("make")); v.Decision != c.want {
			t.Errorf("policy %d: %s, want %s", i, v.Decision, c.want)
		}
	}
	if v := q.Judge(files("Read", Read, "/etc/hosts")); v.Decision != protocol.DecisionAllow {
		t.Error("the second rule of the list was lost")
	}
}

func TestSplitKeepsCommasInsideParentheses(t *testing.T) {
	for list, want := range map[string]string{
		"Bash(a, b), Read":       "Bash(a, b)|Read",
		" Bash(f(x),g) ,Edit,":   "Bash(f(x),g)|Edit",
		"Bash(grep '(' a, b), c": "Bash(grep '(' a, b), c",
		"":                       "",
	} {
		if got := strings.Join(Split(list), "|"); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}
