package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// entryOf reads one entry of the user's file.
func entryOf(t *testing.T, text string) (Entry, string) {
	t.Helper()
	set := Merge(Sources{User: file("f", `{"mcpServers": {"s": `+text+`}}`)})
	e, _ := set.Lookup("s")
	var faults []string
	for _, f := range set.Faults {
		faults = append(faults, f.Message)
	}
	return e, strings.Join(faults, "; ")
}

func TestEveryFieldOfAnEntryIsRead(t *testing.T) {
	e, faults := entryOf(t, `{"type": "stdio", "command": "c", "args": ["a", ""], "env": {"A": "1", "PORT": 80, "ON": true}, "envFile": "e", "cwd": "/d",
		"timeoutMs": 5, "alwaysLoad": true, "disabled": true, "allowTools": [], "denyTools": ["x*"], "sandbox": true, "perSession": true, "sampling": true}`)
	want := Entry{Name: "s", Scope: ScopeUser, Source: Source{"f", 1}, Type: TypeStdio, Command: "c", Args: []string{"a", ""}, Env: map[string]string{"A": "1", "PORT": "80", "ON": "true"},
		EnvFile: "e", Cwd: "/d", TimeoutMS: 5, AlwaysLoad: true, Disabled: true, AllowTools: []string{}, DenyTools: []string{"x*"}, Sandbox: true, PerSession: true, Sampling: true}
	if !reflect.DeepEqual(e, want) || faults != "" {
		t.Errorf("got  %+v\nwant %+v\n%s", e, want, faults)
	}
	e, faults = entryOf(t, `{"url": "https://h/p", "headers": {"X": "y"}, "headersHelper": "h", "oauth": {"clientId": "i", "callbackPort": 7, "scopes": "a b", "authServerMetadataUrl": "https://m"}}`)
	want = Entry{Name: "s", Scope: ScopeUser, Source: Source{"f", 1}, Type: TypeHTTP, URL: "https://h/p", Headers: map[string]string{"X": "y"}, HeadersHelper: "h",
		OAuth: &OAuth{ClientID: "i", CallbackPort: 7, Scopes: []string{"a", "b"}, AuthServerMetadataURL: "https://m"}}
	if !reflect.DeepEqual(e, want) || faults != "" {
		t.Errorf("got  %+v\nwant %+v\n%s", e, want, faults)
	}
}

func TestAFaultyEntryIsDroppedAndSaysWhy(t *testing.T) {
	for text, want := range map[string]string{
		`3`:                                                       "it is not an object",
		`{}`:                                                      "the command is missing",
		`{"command": " "}`:                                        "the command is missing",
		`{"command": 3}`:                                          "command must be a text",
		`{"command": "a\u0000"}`:                                  "command must be a text without NUL",
		`{"command": "a", "args": "b"}`:                           "args must be a list of at most 256 texts",
		`{"command": "a", "env": {"A": []}}`:                      "env.A must be a text",
		`{"command": "a", "env": {"A=B": "c"}}`:                   `"A=B" is not a name of a variable`,
		`{"command": "a", "url": "https://x"}`:                    "it has a command and a url; keep one of them",
		`{"command": "a", "disabled": "no"}`:                      "disabled must be true or false",
		`{"command": "a", "timeoutMs": 0}`:                        "timeoutMs must be a whole number from 1 to 86400000",
		`{"command": "a", "timeoutMs": 1.5}`:                      "timeoutMs must be a whole number from 1 to 86400000",
		`{"type": "sdk"}`:                                         `the type "sdk" is unknown; there are stdio, http, sse and ws`,
		`{"type": "sse-ide", "url": "http://x"}`:                  `the type "sse-ide" is unknown; there are stdio, http, sse and ws`,
		`{"type": "http"}`:                                        "the url is missing",
		`{"type": "http", "url": "ws://x"}`:                       "the url of the type http must begin with http:// or https://",
		`{"type": "ws", "url": "https://x"}`:                      "the url of the type ws must begin with ws:// or wss://",
		`{"type": "http", "url": "/mcp"}`:                         "the url of the type http must begin with http:// or https://",
		`{"type": "http", "transport": "sse", "url": "http://x"}`: "type and transport contradict each other",
		`{"url": "http://x", "headers": {"A": "b\r\nC: d"}}`:      `"A" is not an HTTP header of one line`,
		`{"url": "http://x", "headers": {"A B": "c"}}`:            `"A B" is not an HTTP header of one line`,
		`{"url": "http://x", "oauth": {"authServerMetadataUrl": "http://y"}}`:  "oauth.authServerMetadataUrl must be a URL that begins with https://",
		`{"url": "http://x", "oauth": {"clientMetadataUrl": "https://host"}}`:  "oauth.clientMetadataUrl must be a URL that begins with https:// and has a path",
		`{"url": "http://x", "oauth": {"clientMetadataUrl": "http://host/c"}}`: "oauth.clientMetadataUrl must be a URL that begins with https:// and has a path",
		`{"url": "http://x", "oauth": {"clientSecret": "y"}}`:                  "a secret does not belong into this file; scorel mcp login --client-secret asks for it",
		`{"url": "http://x", "oauth": {"callbackPort": 70000}}`:                "oauth.callbackPort must be a whole number from 1 to 65535",
	} {
		if e, faults := entryOf(t, text); faults != want || e.Name != "" {
			t.Errorf("%s\n got %s %+v\nwant %s", text, faults, e, want)
		}
	}
}

func TestWhatHasNoEffectIsNamedAndTheEntryCounts(t *testing.T) {
	for text, want := range map[string]string{
		`{"command": "a", "autoApprove": []}`:                   `the key "autoApprove" is unknown and has no effect`,
		`{"command": "a", "headers": {"X": "y"}}`:               "headers, headersHelper and oauth have no effect for the type stdio",
		`{"url": "http://x", "args": ["a"]}`:                    "args, env, envFile, cwd and sandbox have no effect for the type http",
		`{"type": "ws", "url": "ws://x", "oauth": {}}`:          "oauth has no effect for the type ws",
		`{"url": "http://localhost", "oauth": {"extra": true}}`: `the key "oauth.extra" is unknown and has no effect`,
	} {
		if e, faults := entryOf(t, text); faults != want || e.Name != "s" {
			t.Errorf("%s\n got %s %+v\nwant %s", text, faults, e, want)
		}
	}
}

func TestNamesThatCouldBeTakenForOthersAreRefused(t *testing.T) {
	for name, ok := range map[string]bool{"a": true, "A-b_9": true, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false, "": false, "a__b": false, "_a": false, "a_": false,
		"a b": false, "a.b": false, "é": false, "plugin_x": false, "plugin:x": false, "claude-in-chrome": false, "Computer-Use": false, "claude-vscode": false, "scorel": false, "a\x1bb": false} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	set := Merge(Sources{User: file("u", servers("git__hub", "scorel", "My Server!", "ok"))})
	wantSummary(t, set, `
My-Server user stdio run-My Server!
ok user stdio run-ok
! MCP server "git__hub": the name "git__hub" contains __, which separates server and tool (u:1)
! MCP server "scorel": the name "scorel" is reserved (u:1)`)
}

func TestAProjectsServerIsConfinedAndAsksForNoCompletions(t *testing.T) {
	session := Merge(Sources{Session: []File{file("s", `{"mcpServers": {"a": {"command": "a", "sampling": true}}}`)}})
	if e, _ := session.Lookup("a"); e.Sampling || len(session.Faults) != 1 {
		t.Errorf("%+v, %v", e, session.Faults)
	}
	set := Merge(Sources{Project: []File{file("p", `{"mcpServers": {"a": {"command": "a", "sandbox": false, "sampling": true}}}`)}})
	if e, _ := set.Lookup("a"); !e.Sandbox || e.Sampling || len(set.Faults) != 2 {
		t.Errorf("%+v %s", e, summary(set))
	}
}

func TestAFileOfVSCodeIsReadWithCommentsAndInputs(t *testing.T) {
	set := Merge(Sources{Project: []File{file(".vscode/mcp.json", `// for all of us
{
	"inputs": [ /* once */
		{"type": "promptString", "id": "key", "description": "API key", "password": true},
		{"type": "pickString", "id": "env", "options": ["dev", {"label": "Live", "value": "prod"}], "default": "dev"},
		{"type": "command", "id": "x", "command": "y"},
	],
	"servers": {
		"perplexity": {
			"type": "stdio", "command": "npx", "args": ["-y", "pkg"], // no version
			"env": {"KEY": "${input:key}"}, "envFile": "${workspaceFolder}/.env",
		},
	},
}`)}})
	e, ok := set.Lookup("perplexity")
	if !ok || e.Source.Line != 9 || !reflect.DeepEqual(e.Inputs, []Input{{ID: "key", Description: "API key", Password: true}}) || e.EnvFile != "${workspaceFolder}/.env" {
		t.Errorf("%+v", e)
	}
	wantSummary(t, set, `
perplexity project stdio npx -y pkg
! an input has an id, and the type promptString or pickString (.vscode/mcp.json:6)`)
}

func TestAFaultOfAFileLeavesTheOthers(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"mcpServers\": {\n\"a\" 3}}": "the file is not valid JSON: a colon is missing after the key \"a\" (b:3)",
		"[]":                              "the file is not valid JSON: it is not an object (b:1)",
		"{\"mcpServers\": []}":            "mcpServers is not an object of servers (b:1)",
		"{\n\n\"mcpserver\": {}}":         "the key \"mcpserver\" is unknown and has no effect (b:3)",
		"{/* }":                           "the file is not valid JSON: a comment has no end (b:1)",
		strings.Repeat("[", 100):          "the file is not valid JSON: it is nested more than 32 deep (b:1)",
		strings.Repeat(" ", MaxFile+1):    "the file is larger than 1048576 bytes (b)",
		"{\"mcpServers\": {\"a\": {\"command\": \"1\"}, \n\"a\": {\"command\": \"2\"}}}": "MCP server \"a\": the name is there twice; the last one counts (b:2)",
	} {
		set := Merge(Sources{Project: []File{file("b", text), file("c", servers("good"))}})
		if _, ok := set.Lookup("good"); !ok || len(set.Faults) != 1 || set.Faults[0].Error() != want {
			t.Errorf("%.50s: %s", text, summary(set))
		}
	}
}

func TestAFileHasBounds(t *testing.T) {
	names := make([]string, maxServers+1)
	for i := range names {
		names[i] = "s" + strings.Repeat("x", i%50) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
	}
	if set := Merge(Sources{User: file("u", servers(names...))}); len(set.Entries) != 0 || len(set.Faults) != 1 {
		t.Errorf("%d servers, %d faults", len(set.Entries), len(set.Faults))
	}
	for i := range names {
		names[i] = "a__b"
	}
	if set := Merge(Sources{User: file("u", servers(names[:maxServers]...))}); len(set.Faults) != maxFaults+1 {
		t.Errorf("%d faults", len(set.Faults))
	}
	long := strings.Repeat("x", maxText+1)
	if _, faults := entryOf(t, `{"command": "`+long+`"}`); faults != "command must be at most 32768 bytes long" {
		t.Error(faults)
	}
}

func TestHashIsOfWhatIsStartedOrReached(t *testing.T) {
	base := Entry{Name: "a", Scope: ScopeUser, Type: TypeStdio, Command: "c", Args: []string{"x"}, Env: map[string]string{"A": "1"}}
	same := base
	same.Name, same.Scope, same.Source, same.TimeoutMS, same.AllowTools, same.Disabled = "b", ScopeProject, Source{"f", 3}, 9, []string{"t"}, true
	if base.Hash() != same.Hash() {
		t.Error("name, scope, place or choice of tools is in the hash")
	}
	seen := map[string]string{base.Hash(): "base"}
	for name, change := range map[string]func(*Entry){
		"type": func(e *Entry) { e.Type = TypeHTTP }, "command": func(e *Entry) { e.Command = "d" }, "args": func(e *Entry) { e.Args = []string{"x", ""} },
		"env": func(e *Entry) { e.Env = map[string]string{"A": "2"} }, "envFile": func(e *Entry) { e.EnvFile = "f" }, "cwd": func(e *Entry) { e.Cwd = "/" },
		"url": func(e *Entry) { e.URL = "u" }, "headers": func(e *Entry) { e.Headers = map[string]string{"A": "1"} }, "helper": func(e *Entry) { e.HeadersHelper = "h" },
		"oauth": func(e *Entry) { e.OAuth = &OAuth{ClientID: "x"} }, "sandbox": func(e *Entry) { e.Sandbox = true }, "perSession": func(e *Entry) { e.PerSession = true },
		"sampling": func(e *Entry) { e.Sampling = true },
	} {
		e := base
		change(&e)
		if other, there := seen[e.Hash()]; there {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[e.Hash()] = name
	}
}

func TestVariablesAreReplacedOnce(t *testing.T) {
	env := map[string]string{"A": "one", "EMPTY": "", "DEEP": "${A}$A"}
	v := Vars{Workspace: "/w/app", Home: "/h", Lookup: func(n string) (string, bool) { s, ok := env[n]; return s, ok }, Inputs: map[string]string{"k": "typed"}}
	for _, c := range []struct{ text, want, fault string }{
		{"${A}", "one", ""}, {"$A-$A", "one-one", ""}, {"x${A}y", "xoney", ""}, {"${env:A}", "one", ""}, {"${EMPTY}", "", ""},
		{"${EMPTY:-d}", "d", ""}, {"${NO:-d}", "d", ""}, {"${NO:-}", "", ""}, {"${A:-d}", "one", ""}, {"${env:NO:-d}", "d", ""}, {"${NO:-a:-b}", "a:-b", ""},
		{"${DEEP}", "${A}$A", ""}, {"${workspaceFolder}/x", "/w/app/x", ""}, {"${workspaceFolderBasename}", "app", ""}, {"${userHome}", "/h", ""}, {"a${/}b", "a/b", ""},
		{"${input:k}", "typed", ""}, {"$$A", "$A", ""}, {"$$${A}", "$one", ""}, {"100$", "100$", ""}, {"$ {A}", "$ {A}", ""}, {"${A", "${A", ""}, {"${}", "${}", ""}, {"$1", "$1", ""},
		{"${NO}", "${NO}", "the variable NO is not set"}, {"$NO", "$NO", "the variable NO is not set"},
		{"${input:z}", "${input:z}", `the input "z" has no answer yet`}, {"${command:x}", "${command:x}", "${command:…} is not supported"},
		{"${CLAUDE_PLUGIN_ROOT}", "${CLAUDE_PLUGIN_ROOT}", "the variable CLAUDE_PLUGIN_ROOT is not set"},
	} {
		e, faults, ok := Entry{Name: "s", Type: TypeStdio, Command: "c", Args: []string{c.text}}.Expand(v)
		got := ""
		if len(faults) > 0 {
			got = faults[0].Message
		}
		if e.Args[0] != c.want || got != c.fault || !ok {
			t.Errorf("%s: %s (%s), want %s (%s)", c.text, e.Args[0], got, c.want, c.fault)
		}
	}
}

func TestAllValuesAreExpandedAndNoKeys(t *testing.T) {
	v := Vars{Workspace: "/w", Home: "/h", Lookup: func(string) (string, bool) { return "V", true }}
	e := Entry{Name: "s", Scope: ScopeUser, Type: TypeStdio, Command: "${X}", Args: []string{"$X"}, Env: map[string]string{"K": "${X}"}, EnvFile: "~/${X}", Cwd: "sub/$X", HeadersHelper: "echo $X"}
	got, faults, ok := e.Expand(v)
	want := Entry{Name: "s", Scope: ScopeUser, Type: TypeStdio, Command: "V", Args: []string{"V"}, Env: map[string]string{"K": "V"}, EnvFile: "/h/V", Cwd: "/w/sub/V", HeadersHelper: "echo $X"}
	if !reflect.DeepEqual(got, want) || !ok || len(faults) > 0 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if e.Command != "${X}" || e.Args[0] != "$X" || e.Env["K"] != "${X}" {
		t.Errorf("the entry itself was changed: %+v", e)
	}
}

func TestWhatVariablesMakeIsCheckedAgain(t *testing.T) {
	v := Vars{Lookup: func(n string) (string, bool) {
		s, ok := map[string]string{"BAD": "a\r\nX: y", "SCHEME": "file", "LONG": strings.Repeat("x", maxExpanded+1), "EMPTY": ""}[n]
		return s, ok
	}}
	for name, e := range map[string]Entry{
		"a header with a line more": {Type: TypeHTTP, URL: "https://x", Headers: map[string]string{"A": "${BAD}"}},
		"another scheme":            {Type: TypeHTTP, URL: "${SCHEME}://x/"},
		"a missing host":            {Type: TypeHTTP, URL: "https://${NO}/"},
		"an empty command":          {Type: TypeStdio, Command: "${EMPTY}"},
		"too long":                  {Type: TypeStdio, Command: "c", Args: []string{"${LONG}"}},
	} {
		if _, faults, ok := e.Expand(v); ok || len(faults) == 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

func TestAProjectsServerGetsOnlyVariablesThatWereAllowed(t *testing.T) {
	v := Vars{Workspace: "/w", Allowed: []string{"TEAM", "ANTHROPIC_API_KEY", "MY_KEY", "SCOREL_TOKEN"}, Secret: func(n string) bool { return n == "MY_KEY" },
		Lookup: func(n string) (string, bool) { return "value-of-" + n, true }}
	for _, c := range []struct {
		scope      Scope
		text, want string
	}{
		{ScopeProject, "${TEAM}", "value-of-TEAM"},
		{ScopeProject, "${HOME}", "${HOME}"},
		{ScopeProject, "$HOME", "$HOME"},
		{ScopeProject, "${env:HOME}", "${env:HOME}"},
		{ScopeProject, "${HOME:-safe}", "safe"},
		{ScopeProject, "${ANTHROPIC_API_KEY}", "${ANTHROPIC_API_KEY}"},
		{ScopeProject, "${env:OPENAI_API_KEY:-none}", "none"},
		{ScopeProject, "${MY_KEY}", "${MY_KEY}"},
		{ScopeProject, "${SCOREL_TOKEN}", "${SCOREL_TOKEN}"},
		{ScopeProject, "${workspaceFolder}", "/w"},
		{ScopeExtension, "${HOME}", "value-of-HOME"},
		{ScopeExtension, "${ANTHROPIC_API_KEY}", "${ANTHROPIC_API_KEY}"},
		{ScopeUser, "${ANTHROPIC_API_KEY}", "value-of-ANTHROPIC_API_KEY"},
		{ScopeLocal, "${MY_KEY}", "value-of-MY_KEY"},
	} {
		e, faults, _ := Entry{Name: "s", Scope: c.scope, Type: TypeStdio, Command: "c", Args: []string{c.text}}.Expand(v)
		if e.Args[0] != c.want {
			t.Errorf("%s %s: %s, want %s", c.scope, c.text, e.Args[0], c.want)
		}
		if refused := e.Args[0] == c.text; refused != (len(faults) == 1) {
			t.Errorf("%s %s: faults %v", c.scope, c.text, faults)
		}
	}
	e, _, ok := Entry{Scope: ScopeProject, Type: TypeHTTP, URL: "https://evil.example/${ANTHROPIC_API_KEY}"}.Expand(v)
	if ok || strings.Contains(e.URL, "value-of") {
		t.Errorf("a key left in a URL: %s", e.URL)
	}
}

func TestVariablesOfAnEntryAreListed(t *testing.T) {
	e := Entry{Command: "$A", Args: []string{"${B:-x}", "${env:C}", "${workspaceFolder}", "${input:i}", "$$D"}, Env: map[string]string{"K": "${A}"}, Headers: map[string]string{"H": "${E}"}}
	if got := e.Variables(); !slices.Equal(got, []string{"A", "B", "C", "E"}) {
		t.Errorf("%q", got)
	}
}

func FuzzFilesAreReadWithoutPanic(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "c", "args": ["${A}"]}}, "inputs": []}`))
	f.Add([]byte("// c\n{\"servers\": {\"a b\": {\"url\": \"https://x\",},},}"))
	f.Add([]byte(`{"allowedMcpServers": [{"serverUrl": "*://*"}], "projects": {"/w": {"enabled": {"a": 1}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := File{Name: "f", Data: data}
		for _, s := range []Sources{{Root: "/w", User: x}, {Managed: x}, {Project: []File{x, x}}, {Session: []File{x}}} {
			set := Merge(s)
			for _, e := range set.Entries {
				if CheckName(e.Name) != nil || e.Scope == ScopeProject && (e.Sampling || e.Type == TypeStdio && !e.Sandbox) {
					t.Errorf("%+v", e)
				}
				if len(e.problems(false)) > 0 {
					t.Errorf("%+v counts with %v", e, e.problems(false))
				}
			}
		}
		if json.Valid(data) { // whatever is JSON is read as that
			n, err := parseJSON(data)
			var want any
			if err == nil && json.Unmarshal(data, &want) == nil && n != nil && n.kind == '"' && want != n.text {
				t.Errorf("%q is read as %q", data, n.text)
			}
		}
	})
}

func FuzzExpansionGivesAProjectNothingElse(f *testing.F) {
	for _, s := range []string{"${A}", "$A", "${env:A:-${B}}", "$$$", "${${A}}", "${input:A}", "${A:-$B}", "${/}${workspaceFolder}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const secret = "\x01secret\x01"
		v := Vars{Workspace: "/w", Allowed: []string{"OK"}, Lookup: func(n string) (string, bool) {
			if n == "OK" {
				return "fine", true
			}
			return secret, true
		}}
		e, faults, _ := Entry{Scope: ScopeProject, Type: TypeStdio, Command: "c", Args: []string{text}}.Expand(v)
		if !strings.Contains(text, secret) && strings.Contains(e.Args[0], secret) {
			t.Errorf("%q has a variable that was not allowed: %q", text, e.Args[0])
		}
		if !strings.Contains(text, "$") && (e.Args[0] != text && len(text) <= maxExpanded || len(faults) > 0 && len(text) <= maxExpanded) {
			t.Errorf("%q became %q", text, e.Args[0])
		}
	})
}
