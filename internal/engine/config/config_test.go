package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	mcp "scorel/internal/engine/mcp/config"
)

func user(text string) File { return File{Name: "/u/config.toml", Data: []byte(text)} }

func project(text string) File { return File{Name: "/p/.scorel/config.toml", Data: []byte(text)} }

const full = `prompt = "Be brief."
[model]
name = "big"
thinking = "high"
fallback = "small"
[models.big]
type = "custom"
api = "openai-completions"
provider = "local"
id = "qwen"
baseUrl = "http://localhost:8080/v1"
apiKeyEnv = "LOCAL_KEY"
contextWindow = 32_000
maxTokens = 4000
reasoning = false
images = true
fallback = "small"
headers = { "X-Team" = "secret", Other = "x" }
[models.big.price]
input = 1
output = 2.5
cacheRead = 0.1
cacheWrite = 1.25
[models."gpt.4"]
provider = "openai"
id = "gpt-4"
[tools]
preset = "readonly"
search = "auto:20"
[permissions]
mode = "acceptEdits"
allow = ["Bash(make:*)"]
ask = ["Bash(git push:*)"]
deny = ["Bash(rm:*)"]
additionalDirectories = ["~/lib", "/opt"]
timeoutMs = 60000
[compaction]
auto = false
[limits]
maxSteps = 50
maxBudgetUSD = 2
maxTurnMinutes = 12.5
[web]
proxy = "http://proxy.example:3128"
[search]
provider = "searxng"
apiKeyEnv = "SEARCH_KEY"
baseUrl = "http://10.0.0.1:8888"
[sandbox]
mode = "read-only"
network = false
sshAgent = true
[host]
names = ["desk.example", "desk.example:4444"]
origins = ["https://desk.example:4444"]
pushServices = ["https://push.example"]
logMaxBytes = 65536
logFiles = 3
[[hooks]]
event = "PreToolUse"
matcher = "Bash|mcp__*"
command = "check"
timeoutMs = 2000
onFailure = "allow"
[[hooks]]
event = "Stop"
command = "again"
[agents]
maxParallel = 7

[background]
wake = "all"
[extensions]
disabled = ["old"]
[extensions.gate]
level = 2
paths = { "a.b" = ["x"] }
[auxiliary]
model = "small"
summaries = true
[memory]
enabled = false
maxTokens = 900
consolidate = true
[tiers]
haiku = "small"
sonnet = "gpt.4"
opus = "openai/gpt-5.4"
[claude]
settings = false
[mcp]
allowed = [{ serverName = "db" }, { serverCommand = ["db-mcp", "--ro"] }]
denied = [{ serverUrl = "*://*.bad.example/*" }]
[[mcp.servers]]
name = "db"
command = "db-mcp"
args = ["--ro"]
[mcp.servers.env]
DSN = "${DSN}"
[[mcp.servers]]
name = "wiki"
transport = "http"
url = "https://wiki.example/mcp"
[channels]
listen = ["server:chat"]
allowed = ["server:chat", "plugin:mail@official"]
[automation]
enabled = false
maxParallel = 3
maxRunUSD = 0.5
maxDayUSD = 4
maxRunTokens = 100000
maxDayTokens = 2000000
maxRunMinutes = 7
quietHours = "22:00-07:00"
onQuestion = "wait"
catchUp = "none"
proactiveTickSeconds = 60
`

func TestEveryKeyIsReadIntoItsField(t *testing.T) {
	c, notices, err := Parse(user(full), File{}, nil)
	if err != nil || len(notices) > 0 {
		t.Fatal(err, notices)
	}
	no, yes := false, true
	want := Config{
		Prompt: "Be brief.",
		Model:  Model{Name: "big", Thinking: "high", Fallback: "small"},
		Models: map[string]Alias{
			"big": {Type: "custom", API: "openai-completions", Provider: "local", ID: "qwen", BaseURL: "http://localhost:8080/v1", APIKeyEnv: "LOCAL_KEY",
				ContextWindow: 32000, MaxTokens: 4000, Reasoning: &no, Images: &yes, Fallback: "small", Headers: map[string]string{"X-Team": "secret", "Other": "x"},
				Price: &Price{1, 2.5, 0.1, 1.25}},
			"gpt.4": {Type: "builtin", Provider: "openai", ID: "gpt-4"},
		},
		Auxiliary: Auxiliary{Model: "small", Summaries: true},
		Memory:    Memory{MaxTokens: 900, Consolidate: true},
		Tools:     Tools{Preset: "readonly", SearchAbove: 20},
		Permissions: Permissions{Mode: "acceptEdits", Timeout: time.Minute, AdditionalDirectories: []string{"~/lib", "/opt"},
			User: Rules{File: "/u/config.toml", Allow: []string{"Bash(make:*)"}, Ask: []string{"Bash(git push:*)"}, Deny: []string{"Bash(rm:*)"}}},
		Web:    Web{Proxy: "http://proxy.example:3128"},
		Search: Search{Provider: "searxng", APIKeyEnv: "SEARCH_KEY", BaseURL: "http://10.0.0.1:8888"},
		Hooks: []Hook{
			{Event: "PreToolUse", Matcher: "Bash|mcp__*", Command: "check", Timeout: 2 * time.Second, Number: 1, Source: Source{Kind: SourceUser, File: "/u/config.toml", Line: 59}},
			{Event: "Stop", Command: "again", Timeout: time.Minute, Number: 2, Source: Source{Kind: SourceUser, File: "/u/config.toml", Line: 65}}},
		Extensions: Extensions{Disabled: []string{"old"},
			User: map[string]any{"gate": map[string]any{"level": int64(2), "paths": map[string]any{"a.b": []any{"x"}}}}},
		Channels: Channels{Listen: []mcp.Channel{{Server: "chat"}}, Limited: true, Allowed: []mcp.Channel{{Server: "chat"}, {Plugin: "mail", Market: "official"}}},
		MCP: MCP{
			Servers: []mcp.Entry{
				{Name: "db", Scope: mcp.ScopeUser, Source: mcp.Source{File: "/u/config.toml", Line: 94}, Type: mcp.TypeStdio, Command: "db-mcp", Args: []string{"--ro"}, Env: map[string]string{"DSN": "${DSN}"}},
				{Name: "wiki", Scope: mcp.ScopeUser, Source: mcp.Source{File: "/u/config.toml", Line: 100}, Type: mcp.TypeHTTP, URL: "https://wiki.example/mcp"}},
			User: mcp.Policy{Layer: "/u/config.toml:92", Limited: true,
				Allowed: []mcp.Rule{{Name: "db"}, {Command: []string{"db-mcp", "--ro"}}}, Denied: []mcp.Rule{{URL: "*://*.bad.example/*"}}}},
		Limits: Limits{MaxSteps: 50, MaxBudgetUSD: 2, MaxTurnMinutes: 12.5},
		Automation: Automation{MaxParallel: 3, MaxRunUSD: 0.5, MaxDayUSD: 4, MaxRunTokens: 100_000, MaxDayTokens: 2_000_000, MaxRunMinutes: 7,
			QuietHours: "22:00-07:00", OnQuestion: "wait", CatchUp: "none", ProactiveTickSeconds: 60},
		Agents: Agents{MaxParallel: 7}, Background: Background{Wake: "all"},
		Sandbox: Sandbox{Mode: "read-only", SSHAgent: true},
		Tiers:   Tiers{Haiku: "small", Sonnet: "gpt.4", Opus: "openai/gpt-5.4"},
		Host:    Host{Names: []string{"desk.example", "desk.example:4444"}, Origins: []string{"https://desk.example:4444"}, PushServices: []string{"https://push.example"}, LogMaxBytes: 65536, LogFiles: 3},
	}
	set := map[string]bool{}
	described, _, err := Parse(user(describedCustom), File{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range append(described.entries, c.entries...) {
		set[e.key.Name] = true
	}
	for _, k := range Keys() {
		if !set[k.Name] {
			t.Errorf("the test does not set %s", k.Name)
		}
	}
	c.entries = nil
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	if got := c.Directories("/home/u"); !reflect.DeepEqual(got, []string{"/home/u/lib", "/opt"}) {
		t.Errorf("directories %q", got)
	}
}

func TestDefaultsAreWhatTheTableSays(t *testing.T) {
	c, _, err := Parse(File{}, File{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, s := range c.Settings(nil) {
		if s.Value != `""` {
			text.WriteString(s.Key + " = " + s.Value + "\n")
		}
		if s.Source.String() != "default" {
			t.Errorf("%s comes from %s", s.Key, s.Source)
		}
	}
	again, _, err := Parse(user(text.String()), File{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	again.entries = nil
	again.Permissions.User.File = ""
	again.Permissions.User.Allow, again.Permissions.User.Ask, again.Permissions.User.Deny = nil, nil, nil
	again.Permissions.AdditionalDirectories, again.Extensions.Disabled = nil, nil
	if !reflect.DeepEqual(c, again) {
		t.Errorf("got  %+v\nwant %+v", again, c)
	}
}

func TestUnknownKeysAreRefusedByOneRuleAtAnyDepth(t *testing.T) {
	for text, want := range map[string]string{
		"prompt = 'x'\n\nsessionsDir = '/tmp'": "Unsupported config key: sessionsDir (/u/config.toml:3)",
		"[ui]":                                 "Unsupported config key: ui (/u/config.toml:1)",
		"[[hooks]]\nevnt = 'Stop'":             "Unsupported config key: hooks.evnt (/u/config.toml:2)",
		"model.nmae = 'x'":                     "Unsupported config key: model.nmae (/u/config.toml:1)",
		"[models.a]\nid='x'\nprovider='y'\nprice = {\ninput = 1, out = 2 }": "Unsupported config key: models.a.price.out (/u/config.toml:5)",
		"models.a = { id = 'x', provider = 'y', extra = { deep = 1 } }":     "Unsupported config key: models.a.extra.deep (/u/config.toml:1)",
		"[\"a.b\".\"c\\nd\"]\nx = 1":                                        `Unsupported config key: "a.b"."c\nd".x (/u/config.toml:2)`,
		"Prompt = 'x'":                                                      "Unsupported config key: Prompt (/u/config.toml:1)",
		"\n\n[ui]\na.b.c=1":                                                 "Unsupported config key: ui.a.b.c (/u/config.toml:4)",
	} {
		_, _, err := Parse(user(text), File{}, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
	_, _, err := Parse(user("b = 1\na = 2\n"), File{}, nil)
	if want := "Unsupported config key: b (/u/config.toml:1)\nUnsupported config key: a (/u/config.toml:2)"; err == nil || err.Error() != want {
		t.Errorf("two keys: %v", err)
	}
}

func TestAKeyInTheFilePointsToTheVariable(t *testing.T) {
	_, _, err := Parse(user("[models.a]\nid='x'\nprovider='y'\napiKey = 'sk-secret'"), File{}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "Unsupported config key: models.a.apiKey (/u/config.toml:4)") ||
		!strings.Contains(err.Error(), "apiKeyEnv") || strings.Contains(err.Error(), "sk-secret") {
		t.Error(err)
	}
}

func TestWrongValuesAreOneSentenceWithThePlace(t *testing.T) {
	alias := "[models.a]\nid='x'\nprovider='y'\n"
	for text, want := range map[string]string{
		"prompt = 1":                               "the config key prompt must be a string (/u/config.toml:1)",
		"[model]\nthinking = 'very'":               "the config key model.thinking must be off, minimal, low, medium, high, xhigh or max (/u/config.toml:2)",
		"[limits]\nmaxSteps = 'many'":              "the config key limits.maxSteps must be an integer from 1 to 100000 (/u/config.toml:2)",
		"limits.maxSteps = 0":                      "the config key limits.maxSteps must be an integer from 1 to 100000 (/u/config.toml:1)",
		"limits.maxBudgetUSD = -1":                 "the config key limits.maxBudgetUSD must be a number that is not negative (/u/config.toml:1)",
		"limits.maxBudgetUSD = nan":                "the config key limits.maxBudgetUSD must be a number that is not negative (/u/config.toml:1)",
		"tools.search = 'auto:101'":                "the config key tools.search must be on, off, auto or auto:N with N from 0 to 100 (/u/config.toml:1)",
		"compaction.auto = 'no'":                   "the config key compaction.auto must be true or false (/u/config.toml:1)",
		"permissions.deny = 'x'":                   "the config key permissions.deny must be a list of permission rules (/u/config.toml:1)",
		"permissions.deny = [1]":                   "the config key permissions.deny must be a list of permission rules, each a string (/u/config.toml:1)",
		"permissions.mode = 'auto'":                "the config key permissions.mode must be default, acceptEdits, plan, dontAsk or bypassPermissions (/u/config.toml:1)",
		"permissions.additionalDirectories=['..']": "the config key permissions.additionalDirectories must be a list of folders, each absolute or below ~/ (/u/config.toml:1)",
		"model = 'x'":                              "the config key model must be a table (/u/config.toml:1)",
		"[[models]]\nid = 'x'":                     "the config key models must be a table (/u/config.toml:1)",
		"prompt = {}":                              "the config key prompt must be a string (/u/config.toml:1)",
		"permissions.timeoutMs = 1.5":              "the config key permissions.timeoutMs must be an integer from 0 to 86400000 (/u/config.toml:1)",
		alias + "apiKeyEnv = 'sk-abc'":             "the config key models.a.apiKeyEnv must be the name of an environment variable, not the key itself (/u/config.toml:4)",
		alias + "baseUrl = 'http://u:p@x/'":        "the config key models.a.baseUrl must be a URL that begins with http:// or https:// and holds no user, query or fragment (/u/config.toml:4)",
		alias + "headers = {a = 1}":                "the config key models.a.headers.a must be an HTTP header: a name without spaces and a string of one line (/u/config.toml:4)",
		alias + "api = 'x'":                        "the config key models.a.api must be openai-completions, openai-responses, anthropic-messages or google-generative-ai (/u/config.toml:4)",
		"[models.a]\ntype = 'custom'\nid = 'x'":    "the model models.a of type custom lacks api and baseUrl (/u/config.toml:2)",
		"[models.a]\nid = 'x'\nbaseUrl='http://x'": "the model models.a of type custom lacks api (/u/config.toml:2)",
		"web.proxy = 'http://u:p@x:1'":             "the config key web.proxy must be a URL that begins with http:// or https:// and holds no user, query or fragment (/u/config.toml:1)",
		"search.provider = 'bing'":                 "the config key search.provider must be brave, tavily or searxng (/u/config.toml:1)",
		"search.apiKeyEnv = 'sk-1'":                "the config key search.apiKeyEnv must be the name of an environment variable, not the key itself (/u/config.toml:1)",
		"\n[search]\napiKeyEnv = 'K'":              "the table search lacks provider: brave, tavily or searxng (/u/config.toml:3)",
		"[search]\nprovider = 'searxng'":           "the table search lacks baseUrl, the address of an instance of SearXNG (/u/config.toml:2)",
		"[models.a]\nimages = true":                "the model models.a of type builtin lacks id and provider (/u/config.toml:2)",
	} {
		_, _, err := Parse(user(text), File{}, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestBrokenTOMLNamesItsLine(t *testing.T) {
	for _, text := range []string{"\nprompt = ", "\nprompt = 'a\nb'", "a = 1\na = 2", "prompt='x'\n[model", "x = 1\n\xff"} {
		_, _, err := Parse(user(text), File{}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "the configuration is not valid TOML: ") || !strings.HasSuffix(err.Error(), "(/u/config.toml:2)") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAByteOrderMarkIsNoKey(t *testing.T) {
	c, _, err := Parse(user("\ufeffprompt = 'x'\r\nlimits.maxSteps = 7\r\n"), File{}, nil)
	if err != nil || c.Prompt != "x" || c.Limits.MaxSteps != 7 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestErrorsHoldNoControlCharacters(t *testing.T) {
	for _, text := range []string{"\x1b[31m = 1", "a = \x1b", "a = '\x1b'", "'\u202e' = 1 \x07"} {
		_, _, err := Parse(File{}, project(text), nil)
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\x07\u202e") {
			t.Errorf("%q: %q", text, err)
		}
	}
	_, notices, err := Parse(File{}, project("\"a\\u001b\\u202e\" = 1"), nil)
	if err != nil || len(notices) != 1 || strings.ContainsAny(notices[0].Text, "\x1b\u202e") {
		t.Errorf("%+v, %v", notices, err)
	}
}

func TestAHostileProjectFileOnlyTightens(t *testing.T) {
	plain, _, err := Parse(user(full), File{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	hostile := strings.NewReplacer(`"read-only"`, `"off"`, "network = false", "network = true", "maxTurnMinutes = 12.5", "maxTurnMinutes = 0").Replace(full) + "\n[[hooks]]\ncommand='rm'\n[model2]\n"
	c, notices, err := Parse(user(full), project(hostile), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Permissions.Project, Rules{File: "/p/.scorel/config.toml", Ask: []string{"Bash(git push:*)"}, Deny: []string{"Bash(rm:*)"}}) {
		t.Errorf("project rules %+v", c.Permissions.Project)
	}
	entries := c.entries
	c.Permissions.Project, plain.Permissions.Project = Rules{}, Rules{}
	if p := c.MCP.Project; p.Limited || len(p.Allowed) > 0 || len(p.Denied) != 1 {
		t.Errorf("project policy %+v", p)
	}
	c.MCP.Project = mcp.Policy{}
	c.entries, plain.entries = nil, nil
	c.ProjectFile = ""
	if !reflect.DeepEqual(c, plain) {
		t.Errorf("the project changed something:\n got %+v\nwant %+v", c, plain)
	}
	for _, e := range entries {
		if e.source.Kind == SourceProject && e.name() != "permissions.deny" && e.name() != "permissions.ask" && e.name() != "mcp.denied" {
			t.Errorf("%s comes from the project", e.name())
		}
	}
	var texts []string
	for _, n := range notices {
		texts = append(texts, n.Text)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{
		"Ignored in a project's file: models.big.baseUrl (/p/.scorel/config.toml:11): only the user's own configuration may set it.",
		"Ignored in a project's file: models.big.apiKeyEnv (/p/.scorel/config.toml:12): only the user's own configuration may set it.",
		"Ignored in a project's file: permissions.allow (",
		"Ignored in a project's file: permissions.additionalDirectories (",
		"Ignored in a project's file: permissions.mode (",
		"Ignored in a project's file: prompt (/p/.scorel/config.toml:1): it counts when you trust the project; see scorel trust.",
		"Ignored in a project's file: web.proxy (",
		"Ignored in a project's file: search.provider (",
		"Ignored in a project's file: search.apiKeyEnv (",
		"Ignored in a project's file: search.baseUrl (",
		"Ignored in a project's file: sandbox.mode (/p/.scorel/config.toml:50): a project may only tighten what the user's own configuration says.",
		"Ignored in a project's file: limits.maxTurnMinutes (/p/.scorel/config.toml:42): a project may only tighten what the user's own configuration says.",
		"Ignored in a project's file: sandbox.network (",
		"Ignored in a project's file: sandbox.sshAgent (",
		"Ignored in a project's file: host.names (",
		"Ignored in a project's file: host.origins (",
		"Unsupported config key: model2 (",
		"Ignored in a project's file: hooks (/p/.scorel/config.toml:59): it counts when you trust the project; see scorel trust.",
	} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%q stands %d times in\n%s", want, strings.Count(all, want), all)
		}
	}
}

// anyModel lets a project name every model.
func anyModel(Config, string) bool { return true }

// TestEveryKeyCountsWhereTheTableSays tries each key that there is in a project's
// file, trusted and not.
func TestEveryKeyCountsWhereTheTableSays(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		described, rest, _ := strings.Cut(describedCustom, "\n")
		f := project(strings.Replace(full, described+"\n", described+"\n"+rest, 1))
		f.Trusted = trusted
		c, notices, err := Parse(user("[models.big]\ntype='custom'\nid='x'\napi='openai-completions'\nbaseUrl='http://localhost'"), f, anyModel)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]bool{}
		for _, e := range c.entries {
			if e.source.Kind == SourceProject {
				counts[e.key.Name] = true
			}
		}
		for _, k := range Keys() {
			want := k.Scope == ScopeProject || (trusted && k.Scope == ScopeTrusted)
			if counts[k.Name] != want {
				t.Errorf("trusted %v: %s (%s) counts: %v", trusted, k.Name, k.Scope, counts[k.Name])
			}
			if ignored := len(notices) > 0 && strings.Contains(fmt.Sprint(notices), " "+noticeName(k.Name)+" (/p/"); ignored == want {
				t.Errorf("trusted %v: %s has a notice: %v\n%v", trusted, k.Name, ignored, notices)
			}
		}
		// What a project never sets, whatever its keys say.
		b := c.Models["big"]
		if len(c.Models) != 1 || b.BaseURL != "http://localhost" || b.APIKeyEnv != "" || len(b.Headers) > 0 || c.Permissions.Mode != "default" ||
			len(c.Permissions.Project.Allow)+len(c.Permissions.User.Allow)+len(c.Permissions.AdditionalDirectories) > 0 || c.Prompt != "" {
			t.Errorf("trusted %v: the project set %+v", trusted, c)
		}
		if trusted && (c.Model != Model{Name: "big", Fallback: "small"} || c.Tools.Preset != "readonly" || c.ProjectPrompt != "Be brief." ||
			c.Extensions.User != nil || c.Extensions.Project["gate"] == nil) {
			t.Errorf("a trusted project did not set %+v", c)
		}
	}
}

// noticeName writes a key of the table as the test's file does.
func noticeName(key string) string {
	return strings.NewReplacer("<alias>", "big", "<name>", "X-Team", "<id>", "gate", "<setting...>", "level").Replace(key)
}

// TestTheScopesAreAClosedList holds that nobody lets a project set a key without
// meaning to.
func TestTheScopesAreAClosedList(t *testing.T) {
	var got []string
	for _, k := range Keys() {
		if k.Scope != ScopeUser {
			got = append(got, k.Name+" "+string(k.Scope))
		}
	}
	want := []string{"model.name trusted", "model.fallback trusted", "tools.preset trusted", "permissions.ask project", "permissions.deny project",
		"extensions.<id>.<setting...> trusted", "limits.maxTurnMinutes project", "hooks trusted", "mcp.denied project", "sandbox.mode project", "sandbox.network project", "prompt trusted"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("projects may set %q, want %q", got, want)
	}
}

func TestATrustedProjectNamesOnlyModelsOfTheUserAndNoMoreTools(t *testing.T) {
	f := project("prompt = 'of the project'\n[model]\nname = 'theirs'\nfallback = 'mine'\n[tools]\npreset = 'all'")
	f.Trusted = true
	c, notices, err := Parse(user("prompt = 'of the user'\n[model]\nname = 'first'"), f, func(_ Config, ref string) bool { return ref == "mine" })
	if err != nil {
		t.Fatal(err)
	}
	if c.Model.Name != "first" || c.Model.Fallback != "mine" || c.Tools.Preset != "coding" || c.Prompt != "of the user" || c.ProjectPrompt != "of the project" {
		t.Errorf("%+v", c)
	}
	var texts []string
	for _, n := range notices {
		if texts = append(texts, n.Text); n.Untrusted {
			t.Errorf("%q would not count in a trusted project either", n.Text)
		}
	}
	if want := []string{
		"Ignored in a project's file: model.name (/p/.scorel/config.toml:3): it names no alias of your configuration and no model that you have a key for.",
		"Ignored in a project's file: tools.preset (/p/.scorel/config.toml:6): it would give more tools than \"coding\", which is in force for you.",
	}; !reflect.DeepEqual(texts, want) {
		t.Errorf("notices %q", texts)
	}
	// What is in force is shown once, with where it comes from; the prompts are both.
	var lines []string
	for _, s := range c.Settings(nil) {
		if s.Source.Kind != SourceDefault {
			lines = append(lines, s.Key+" = "+s.Value+" "+s.Source.String())
		}
	}
	if want := []string{`model.name = "first" /u/config.toml:3`, `model.fallback = "mine" /p/.scorel/config.toml:4`,
		`prompt = "of the user" /u/config.toml:1`, `prompt = "of the project" /p/.scorel/config.toml:1`}; !reflect.DeepEqual(lines, want) {
		t.Errorf("settings %q", lines)
	}
	c, _, err = Parse(user("model.name = 'first'"), File{Name: "/p", Data: []byte("model.name = 'second'"), Trusted: true}, anyModel)
	if n := strings.Count(fmt.Sprint(c.Settings(nil)), "model.name"); err != nil || n != 1 || c.Model.Name != "second" {
		t.Errorf("the model in force is shown %d times, %q, %v", n, c.Model.Name, err)
	}
}

func TestTheNoticeOfAnUntrustedKeySaysWhatItWouldBe(t *testing.T) {
	_, notices, err := Parse(File{}, project("tools.preset = 'none'"), anyModel)
	if err != nil || len(notices) != 1 || !notices[0].Untrusted || notices[0].Key != "tools.preset" || notices[0].Value != `"none"` {
		t.Errorf("%+v, %v", notices, err)
	}
}

func TestSettingsNameTheirSourceAndHideSecrets(t *testing.T) {
	c, _, err := Parse(user(full), project("permissions.deny = ['Bash(x)']"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range c.Settings([]Flag{{Key: "model.name", Value: "demo", Flag: "--model"}}) {
		lines = append(lines, s.Key+" = "+s.Value+" from "+s.Source.String())
	}
	all := strings.Join(lines, "\n") + "\n"
	for _, want := range []string{
		`model.name = "demo" from --model`,
		`model.thinking = "high" from /u/config.toml:4`,
		`models.big.headers.X-Team = "[redacted]" from`,
		`models."gpt.4".id = "gpt-4" from /u/config.toml:26`,
		`permissions.deny = ["Bash(rm:*)"] from /u/config.toml:34`,
		`permissions.deny = ["Bash(x)"] from /p/.scorel/config.toml:1`,
		`limits.maxSteps = 50 from /u/config.toml:40`,
	} {
		want = strings.ReplaceAll(want, `"[redacted]"`, "[redacted]")
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, "secret") || strings.Contains(all, `"big"`) {
		t.Errorf("a secret, or a value that is not in force, is shown:\n%s", all)
	}
}

func TestReadBoundsFilesAndTakesNoOthers(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "config.toml")
	for _, missing := range []string{name, filepath.Join(dir, "none", "config.toml"), ""} {
		if c, err := Load(missing); err != nil || c.Tools.Preset != "coding" {
			t.Errorf("a missing file: %+v, %v", c, err)
		}
	}
	write := func(data string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("prompt = 'x'")
	if c, err := Load(name); err != nil || c.Prompt != "x" {
		t.Errorf("%+v, %v", c, err)
	}
	write("#" + strings.Repeat("x", MaxFile))
	if _, err := Load(name); err == nil || err.Error() != "the configuration "+name+" cannot be read: it is larger than 1048576 bytes" {
		t.Error(err)
	}
	if _, err := Load(dir); err == nil || err.Error() != "the configuration "+dir+" cannot be read: it is not a regular file" {
		t.Error(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(pipe); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(full)
	f.Add("[[a.b]]\nc = {d.e = [1, {f = 2}]}\n'g.h'.\"\\u0001\" = 1979-05-27")
	f.Add("a.b = 1\na.c.d = {}\n[x.\"\"]\ny=1")
	f.Fuzz(func(t *testing.T, text string) {
		c, _, err := Parse(user(text), File{}, nil)
		if err != nil {
			if strings.Contains(err.Error(), "config.toml:0)") {
				t.Fatalf("%q: an error without a line: %v", text, err)
			}
			return
		}
		for _, s := range c.Settings(nil) {
			if s.Source.Kind == SourceUser && s.Source.Line == 0 {
				t.Fatalf("%q: %s has no line", text, s.Key)
			}
		}
		for _, trusted := range []bool{false, true} {
			f := project(text)
			f.Trusted = trusted
			c, _, err = Parse(File{}, f, nil)
			if err == nil && (len(c.Models) > 0 || c.Prompt != "" || len(c.Permissions.Project.Allow) > 0 || c.Model.Name != "") {
				t.Fatalf("%q: a project set %+v", text, c)
			}
		}
	})
}

func TestAProjectTightensTheSandboxAndNeverLoosensIt(t *testing.T) {
	for _, c := range []struct {
		user, project string
		want          Sandbox
		notices       int
	}{
		{"", "mode = 'read-only'\nnetwork = false", Sandbox{Mode: "read-only"}, 0},
		{"", "mode = 'off'", Sandbox{Mode: "workspace-write", Network: true}, 1},
		{"mode = 'off'", "mode = 'workspace-write'", Sandbox{Mode: "workspace-write", Network: true}, 0},
		{"mode = 'read-only'\nnetwork = false", "mode = 'workspace-write'\nnetwork = true", Sandbox{Mode: "read-only"}, 2},
		{"sshAgent = true", "sshAgent = false", Sandbox{Mode: "workspace-write", Network: true, SSHAgent: true}, 1},
	} {
		got, notices, err := Parse(user("[sandbox]\n"+c.user), project("[sandbox]\n"+c.project), nil)
		if err != nil || got.Sandbox != c.want || len(notices) != c.notices {
			t.Errorf("%q under %q: %+v, %v, %v", c.project, c.user, got.Sandbox, notices, err)
		}
	}
}

func TestAFileOfTooManyKeysOrPartsIsRefusedQuickly(t *testing.T) {
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for name, c := range map[string]struct{ text, place string }{
		"dotted key":        {"a = 1\n" + many("a.", 400_000) + "a = 1", ":2)"},
		"dotted table":      {"[" + many("a.", 400_000) + "a]", ":1)"},
		"inline tables":     {"a = " + many("{a = ", 5000) + "1" + many("}", 5000), ":1)"},
		"tables in a list":  {"a = [\n" + many("{a = 1},\n", 6000) + "]", ":5001)"},
		"lists of lists":    {"a = " + many("[", 5000) + many("{a = 1},", 6000) + many("]", 5000), ":1)"},
		"many keys":         {keysOf(100_000), ":5001)"},
		"many array tables": {many("[[a]]\n", 150_000), ":5001)"},
	} {
		done := make(chan error, 1)
		go func() { // ends by itself
			_, _, err := Parse(File{}, File{Name: "/p/config.toml", Data: []byte(c.text)}, nil)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "more than 5000 keys, or a key of more than 16 parts (/p/config.toml"+c.place) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(2 * time.Minute): // what is read in time takes less than a second
			t.Fatalf("%s: it is read for ever", name)
		}
	}
}

func TestAProjectCannotDrownWhatIsSaid(t *testing.T) {
	_, notices, err := Parse(File{}, File{Name: "/p/config.toml", Data: []byte(keysOf(3000) + "prompt = 'x'\n")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := notices[len(notices)-1].Text
	if len(notices) != 102 || !notices[100].Untrusted || last != "2900 more keys of /p/config.toml do not count." {
		t.Errorf("%d notices, the last: %s", len(notices), last)
	}
}

// keysOf returns lines with n keys that do not exist.
func keysOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	return b.String()
}

func TestNamesAndOriginsOfAHostArePlainOnes(t *testing.T) {
	for _, bad := range []string{`names = ["*"]`, `names = ["http://x"]`, `names = ["a/b"]`, `names = [""]`, `names = "x"`, `names = ["me@x"]`,
		`origins = ["x"]`, `origins = ["https://x/"]`, `origins = ["https://x/path"]`, `origins = ["file://x"]`, `origins = ["https://me@x"]`, `origins = ["https://"]`} {
		if c, _, err := Parse(user("[host]\n"+bad), File{}, nil); err == nil {
			t.Errorf("%s is taken: %+v", bad, c.Host)
		}
	}
}
