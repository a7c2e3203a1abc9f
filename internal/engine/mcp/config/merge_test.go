package config

import (
	"fmt"
	"strings"
	"testing"
)

func file(name, text string) File { return File{Name: name, Data: []byte(text)} }

// server is a file with one server for each name.
func servers(names ...string) string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q: {\"command\": \"run-%s\"}", n, n))
	}
	return `{"mcpServers": {` + strings.Join(out, ", ") + `}}`
}

// summary writes a set in lines: what counts, what does not, what is wrong.
func summary(s Set) string {
	var b strings.Builder
	for _, e := range s.Entries {
		off := ""
		if e.Disabled {
			off = " disabled"
		}
		fmt.Fprintf(&b, "%s %s %s %s%s\n", e.Name, e.Scope, e.Type, e.Target(), off)
	}
	for _, x := range s.Suppressed {
		fmt.Fprintf(&b, "- %s %s %s %s\n", x.Entry.Name, x.Entry.Scope, x.Code, x.By)
	}
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "! %v\n", f)
	}
	return b.String()
}

func wantSummary(t *testing.T, s Set, want string) {
	t.Helper()
	if got, want := strings.TrimSpace(summary(s)), strings.TrimSpace(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEachScopeWinsOverThoseBelowByName(t *testing.T) {
	all := Sources{
		Root:       "/w",
		Session:    []File{file("session", servers("a"))},
		User:       file("user", `{"mcpServers": {"a": {"command": "u"}, "b": {"command": "u"}, "c": {"command": "u"}}, "projects": {"/w": {"mcpServers": {"a": {"command": "l"}, "b": {"command": "l"}}}, "/other": {"mcpServers": {"z": {"command": "z"}}}}}`),
		UserTOML:   []Entry{{Name: "c", Scope: ScopeUser, Type: TypeStdio, Command: "t"}, {Name: "d", Scope: ScopeUser, Type: TypeStdio, Command: "t"}},
		Project:    []File{file(".scorel/mcp.json", servers("d", "e")), file(".mcp.json", servers("c", "e", "f"))},
		Extensions: []Extension{{ID: "x", Servers: []byte(`{"a": {"command": "ext"}}`)}},
	}
	wantSummary(t, Merge(all), `
a session stdio run-a
b local stdio l
c user stdio u
d user stdio t
e project stdio run-e
f project stdio run-f
plugin:x:a extension stdio ext
- a local replaced a
- a user replaced a
- b user replaced b
- c user replaced c
- d project replaced d
- c project replaced c
- e project replaced e`)
}

func TestAProjectDoesNotTakeTheNameOfAFaultyServerOfTheUser(t *testing.T) {
	wantSummary(t, Merge(Sources{User: file("user", `{"mcpServers": {"db": {"type": "sdk"}}}`), Project: []File{file(".mcp.json", servers("db", "ok"))}}), `
ok project stdio run-ok
- db project replaced db
! MCP server "db": the type "sdk" is unknown; there are stdio, http, sse and ws (user:1)`)
}

func TestAManagedFileExcludesAllOthers(t *testing.T) {
	others := Sources{Session: []File{file("s", servers("a"))}, User: file("u", servers("b")), Project: []File{file("p", servers("c"))},
		Extensions: []Extension{{ID: "x", Servers: []byte(`{"d": {"command": "d"}}`)}}}
	excluded := `
- a session managed_exclusive 
- b user managed_exclusive 
- c project managed_exclusive 
- plugin:x:d extension managed_exclusive 
`
	for _, c := range []struct{ name, managed, entries, faults string }{
		{"its servers count", `{"mcpServers": {"m": {"command": "m"}}}`, "m managed stdio m", ""},
		{"none is MCP switched off", `{"mcpServers": {}}`, "", ""},
		{"broken is none", `{"mcpServers": {"m": {"command": "m"}`, "", "! the file is not valid JSON: it ends too early (/etc/m:1)"},
		{"empty is none", ``, "", "! the administrator's file is empty, so no server counts (/etc/m)"},
		{"a faulty deny rule is none", `{"mcpServers": {"m": {"command": "m"}}, "deniedMcpServers": [{"name": "x"}]}`, "",
			"! the key \"name\" is unknown in a rule (/etc/m:1)\n! a deny rule of the administrator's is faulty, so no server counts until it is repaired (/etc/m:1)"},
		{"a faulty allow rule allows nothing", `{"mcpServers": {"m": {"command": "m"}}, "allowedMcpServers": [{"serverName": 3}]}`, "- m managed not_in_allowlist", "! serverName must be a text (/etc/m:1)"},
		{"deny beats allow", `{"mcpServers": {"m": {"command": "m"}, "n": {"command": "n"}}, "allowedMcpServers": [{"serverName": "m"}, {"serverName": "n"}], "deniedMcpServers": [{"serverCommand": ["m"]}]}`,
			"n managed stdio n", "- m managed denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := others
			s.Managed = file("/etc/m", c.managed)
			set := Merge(s)
			got := "\n" + summary(set)
			want := "\n" + strings.TrimLeft(c.entries+"\n", "\n")
			if strings.HasPrefix(c.entries, "- ") { // refused at the end
				want = excluded + c.entries + " \n"
			} else {
				want += excluded[1:]
			}
			if c.faults != "" {
				want += c.faults
				if strings.HasPrefix(c.faults, "- ") {
					want += " "
				}
				want += "\n"
			}
			if got != want || !set.Managed {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
	s := others
	s.Managed = File{Name: "/etc/m", Err: fmt.Errorf("permission denied")}
	if set := Merge(s); len(set.Entries) != 0 || !set.Managed || len(set.Faults) != 1 {
		t.Errorf("an unreadable managed file: %s", summary(set))
	}
}

func TestPoliciesOfAllLayersAreAsked(t *testing.T) {
	stdio := Entry{Name: "db", Type: TypeStdio, Command: "npx", Args: []string{"-y", "@corp/mcp"}}
	wiki := Entry{Name: "wiki", Type: TypeHTTP, URL: "https://wiki.corp.example/mcp"}
	allow := func(r ...Rule) Policies { return Policies{{Layer: "L", Limited: true, Allowed: r}} }
	deny := func(r ...Rule) Policies { return Policies{{Layer: "D", Denied: r}} }
	for _, c := range []struct {
		name  string
		p     Policies
		e     Entry
		wants Code
	}{
		{"no list", nil, stdio, ""},
		{"an empty allow list", allow(), stdio, CodeNotInAllowList},
		{"a name", allow(Rule{Name: "db"}), stdio, ""},
		{"another name", allow(Rule{Name: "dbx"}), stdio, CodeNotInAllowList},
		{"a name beside a command", allow(Rule{Name: "db"}, Rule{Command: []string{"x"}}), stdio, CodeNotInAllowList},
		{"the command", allow(Rule{Command: []string{"npx", "-y", "@corp/mcp"}}), stdio, ""},
		{"fewer arguments", allow(Rule{Command: []string{"npx", "-y"}}), stdio, CodeNotInAllowList},
		{"a name beside a URL, for a process", allow(Rule{Name: "db"}, Rule{URL: "https://x/*"}), stdio, ""},
		{"a name beside a URL", allow(Rule{Name: "wiki"}, Rule{URL: "https://x/*"}), wiki, CodeNotInAllowList},
		{"the URL", allow(Rule{URL: "https://*.corp.example/*"}), wiki, ""},
		{"denied by name", deny(Rule{Name: "db"}), stdio, CodeDenied},
		{"deny beats allow", append(allow(Rule{Name: "db"}), deny(Rule{Name: "db"})...), stdio, CodeDenied},
		{"each allow list", append(allow(Rule{Name: "db"}), allow()...), stdio, CodeNotInAllowList},
		{"only the administrator's", append(allow(), Policy{Managed: true, Limited: true, OnlyThis: true, Allowed: []Rule{{Name: "db"}}}), stdio, ""},
		{"a deny beside only the administrator's", append(deny(Rule{Name: "db"}), Policy{Managed: true, OnlyThis: true}), stdio, CodeDenied},
		{"a project's claim to be the only one", append(allow(), Policy{OnlyThis: true}), stdio, CodeNotInAllowList},
	} {
		got := Code("")
		if r := c.p.Check(c.e); r != nil {
			got = r.Code
		}
		if got != c.wants {
			t.Errorf("%s: %q, want %q", c.name, got, c.wants)
		}
	}
}

func TestAPatternOfAURLDoesNotReachFromTheHostIntoThePath(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		want         bool
	}{
		{"https://*.corp.example/*", "https://a.corp.example/mcp", true},
		{"https://*.corp.example/*", "HTTPS://A.Corp.Example/mcp", true},
		{"https://*.corp.example/*", "https://evil.example/x.corp.example/mcp", false},
		{"https://*.corp.example/*", "https://corp.example/mcp", false},
		{"https://*.corp.example/*", "https://a.corp.example.evil.example/mcp", false},
		{"https://*.corp.example/*", "https://a.corp.example@evil.example/mcp", false},
		{"https://*.corp.example/*", "http://a.corp.example/mcp", false},
		{"*://*.bad.example/*", "wss://x.bad.example/", true},
		{"*://*.bad.example/*", "wss://x.bad.example.", true},
		{"*://x.bad.example/*", "https://x.bad.example./a", true},
		{"https://a.example/mcp", "https://a.example:443/mcp", true},
		{"https://a.example:443/mcp", "https://a.example/mcp", true},
		{"https://a.example/mcp", "https://a.example:444/mcp", false},
		{"https://a.example:*/mcp", "https://a.example:444/mcp", true},
		{"https://a.example/mcp", "https://a.example/MCP", false},
		{"https://a.example", "https://a.example/", true},
		{"https://a.example", "https://a.example/x", false},
		{"*", "https://a.example/x", false},
	} {
		if got := matchURL(c.pattern, c.url); got != c.want {
			t.Errorf("%s with %s: %v", c.pattern, c.url, got)
		}
	}
}

func TestPolicyJudgesWhatVariablesMake(t *testing.T) {
	vars := Vars{Lookup: func(name string) (string, bool) { return "bad.example", name == "HOST" }}
	set := Merge(Sources{User: file("u", `{"mcpServers": {"a": {"url": "https://${HOST}/mcp"}}}`), Vars: vars,
		Policies: Policies{{Layer: "config.toml:3", Denied: []Rule{{URL: "https://bad.example/*"}}}}})
	if len(set.Suppressed) != 1 || set.Suppressed[0].Reason != "it is denied by config.toml:3" || len(set.Entries) != 0 {
		t.Errorf("%s", summary(set))
	}
}

func TestAServerOfAnExtensionThatThePersonHasIsSuppressed(t *testing.T) {
	ext := []Extension{
		{ID: "zed", Servers: []byte(`{"s": {"command": "db", "args": ["--ro"]}, "t": {"url": "https://t/"}}`)},
		{ID: "abc", Servers: []byte(`{"t": {"url": "https://t/"}, "off": {"command": "off"}}`)},
	}
	wantSummary(t, Merge(Sources{User: file("u", `{"mcpServers": {"mine": {"command": "db", "args": ["--ro"]}, "off": {"command": "off", "disabled": true}}}`), Extensions: ext}), `
mine user stdio db --ro
off user stdio off disabled
plugin:abc:off extension stdio off
plugin:abc:t extension http https://t/
- plugin:zed:s extension duplicate mine
- plugin:zed:t extension duplicate plugin:abc:t`)
}

func TestNamesOfExtensionsThatMakeTheSameToolsDoNotMeet(t *testing.T) {
	set := Merge(Sources{Extensions: []Extension{{ID: "a_b", Servers: []byte(`{"c": {"command": "one"}}`)}, {ID: "a", Servers: []byte(`{"b_c": {"command": "two"}}`)}}})
	wantSummary(t, set, `
plugin:a:b_c extension stdio two
- plugin:a_b:c extension replaced plugin:a:b_c`)
}

func TestSwitchesOfAProjectCountForAllButTheAdministrator(t *testing.T) {
	s := Sources{Root: "/w", User: file("u", `{"projects": {"/w": {"enabled": {"a": false, "b": true, "m": false}}}}`),
		Project: []File{file("p", `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "disabled": true}, "c": {"command": "c", "disabled": true}}}`)}}
	wantSummary(t, Merge(s), "a project stdio a disabled\nb project stdio b\nc project stdio c disabled")
	s.Managed = file("m", servers("m"))
	if e, ok := Merge(s).Lookup("m"); !ok || e.Disabled {
		t.Error("a person switched the administrator's server off")
	}
}

func TestAnOrderOfFilesGivesTheSameSetEveryTime(t *testing.T) {
	s := Sources{User: file("u", servers("c", "b", "a")), Project: []File{file("p", servers("b", "d"))}, Extensions: []Extension{{ID: "x", Servers: []byte(`{"q": {"command": "c"}, "p": {"command": "c"}}`)}}}
	first := summary(Merge(s))
	for range 20 {
		if got := summary(Merge(s)); got != first {
			t.Fatalf("got\n%s\nfirst\n%s", got, first)
		}
	}
}

func TestAnAdministratorCanRestrictServersToThoseOfExtensions(t *testing.T) {
	all := Sources{Session: []File{file("s", servers("a"))}, User: file("u", servers("b")), UserTOML: []Entry{{Name: "t", Scope: ScopeUser, Type: TypeStdio, Command: "t"}},
		Project: []File{file("p", servers("c"))}, Extensions: []Extension{{ID: "x", Servers: []byte(`{"d": {"command": "d"}, "e": {"command": "e"}}`)}}}
	const only = `
m managed stdio m
plugin:x:d extension stdio d
- a session plugin_only 
- b user plugin_only 
- t user plugin_only 
- c project plugin_only 
- plugin:x:e extension denied 
`
	for key, more := range map[string]string{`true`: "", `["skills", "mcp"]`: "", `[]`: "none", `["skills"]`: "none", `false`: "none",
		`"mcp"`: "! strictPluginOnlyCustomization must be true, false or a list of texts; it counts as true (/etc/m:1)\n"} {
		s := all
		s.Managed = file("/etc/m", `{"mcpServers": {"m": {"command": "m"}}, "deniedMcpServers": [{"serverCommand": ["e"]}], "strictPluginOnlyCustomization": `+key+`}`)
		set := Merge(s)
		if more != "none" {
			wantSummary(t, set, only+more)
		} else if got := summary(set); strings.Contains(got, "plugin_only") || !strings.Contains(got, "plugin:x:d extension managed_exclusive") {
			t.Errorf("%s: %s", key, got)
		}
	}
}

func TestReservedNamesOfAUsersFileAreFoundInAllProjects(t *testing.T) {
	faults := ReservedNames(file("u", `{"mcpServers": {"db": {"command": "x"}}, "projects": {
"/one": {"mcpServers": {"fine": {"command": "x"}, "a__b": {"command": "x"}}},
"/two": {"mcpServers": {"Scorel": {"command": "x"}}}, "/three": 3}}`))
	if len(faults) != 1 || faults[0].Server != "Scorel" || faults[0].Code != CodeReservedName || faults[0].Source.Line != 3 {
		t.Errorf("%+v", faults)
	}
	if faults := ReservedNames(File{}); len(faults) != 0 {
		t.Errorf("a missing file: %+v", faults)
	}
}
