package config

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Scope says whose file may set a key.
type Scope string

// The scopes.
const (
	ScopeUser    Scope = "user"    // only ~/.scorel/config.toml
	ScopeTrusted Scope = "trusted" // also a project's file that the user trusts
	ScopeProject Scope = "project" // any project's file: it only tightens
)

// Key is one configuration key.
type Key struct {
	Name    string // dotted; <alias> and <name> stand for any part
	Type    string // for people
	Default string // for people, "" without one
	Scope   Scope
	Doc     string // one sentence
}

// Keys lists every key that exists.
func Keys() []Key {
	table := table()
	out := make([]Key, len(table))
	for i, k := range table {
		out[i] = k.Key
	}
	return out
}

// key is a Key with the code that takes its value.
type key struct {
	Key
	secret bool // the value is not shown
	set    func(c *Config, e entry) error
}

// known is a key, ready to be looked up.
type known struct {
	key
	parts []string // of its name
	rest  bool     // the last part stands for one or more
}

// table lists every key. It is made once, since each file is read with it.
var table = sync.OnceValue(func() []known {
	keys := allKeys()
	all := make([]known, len(keys))
	for i, k := range keys {
		name, _, rest := strings.Cut(k.Name, restOfPath)
		all[i] = known{k, strings.Split(name, "."), rest}
	}
	return all
})

func allKeys() []key {
	u, t, p := ScopeUser, ScopeTrusted, ScopeProject
	return slices.Concat([]key{
		{Key{"model.name", "string", "", t, "The model: an alias, provider/id, or an id."}, false,
			text(func(c *Config, _ []string) *string { return &c.Model.Name })},
		{Key{"model.thinking", protocol.ThinkingLevelWords(), "", u, "How much the model thinks."}, false,
			oneOf(func(c *Config, _ []string) *string { return &c.Model.Thinking }, protocol.ThinkingLevels()...)},
		{Key{"model.fallback", "string", "", t, "The model that takes over when the first is overloaded."}, false,
			text(func(c *Config, _ []string) *string { return &c.Model.Fallback })},
	}, modelKeys("model."), modelKeys("models.<alias>."), []key{
		{Key{"models.<alias>.images", "boolean", "", u, "Whether the model takes images."}, false,
			ofAlias(func(a *Alias, e entry) error { a.Images = new(bool); return boolean(a.Images, e) })},
		{Key{"models.<alias>.headers.<name>", "string", "", u, "An HTTP header that is sent along."}, true, ofAlias(header)},
		{Key{"models.<alias>.fallback", "string", "", u, "The model that takes over when this one is overloaded."}, false,
			ofAlias(func(a *Alias, e entry) error { return str(&a.Fallback, e) })},
		{Key{"models.<alias>.price.input", "number", "", u, "US dollars per million input tokens."}, false,
			price(func(p *Price) *float64 { return &p.Input })},
		{Key{"models.<alias>.price.output", "number", "", u, "US dollars per million output tokens."}, false,
			price(func(p *Price) *float64 { return &p.Output })},
		{Key{"models.<alias>.price.cacheRead", "number", "", u, "US dollars per million tokens read from the cache."}, false,
			price(func(p *Price) *float64 { return &p.CacheRead })},
		{Key{"models.<alias>.price.cacheWrite", "number", "", u, "US dollars per million tokens written to the cache."}, false,
			price(func(p *Price) *float64 { return &p.CacheWrite })},

		{Key{"auxiliary.model", "string", "", u, "The model for titles and other work beside a conversation; without one there is none."}, false,
			text(func(c *Config, _ []string) *string { return &c.Auxiliary.Model })},
		{Key{"auxiliary.summaries", "boolean", "false", u, "Whether the auxiliary model also makes the summaries of long conversations."}, false,
			func(c *Config, e entry) error { return boolean(&c.Auxiliary.Summaries, e) }},

		{Key{"memory.enabled", "boolean", "true", u, "Whether notes are kept and sent to the model; without notes nothing is sent."}, false,
			func(c *Config, e entry) error { return boolean(&c.Memory.Enabled, e) }},
		{Key{"memory.maxTokens", "integer", "4000", u, "The most tokens of notes that are sent, and at most 2% of the model's window."}, false,
			func(c *Config, e entry) error { return integer(&c.Memory.MaxTokens, e, 100, 100_000) }},
		{Key{"memory.consolidate", "boolean", "false", u, "Whether the auxiliary model summarises the daily notes of a project, once a day, when nobody works in it."}, false,
			func(c *Config, e entry) error { return boolean(&c.Memory.Consolidate, e) }},

		{Key{"tools.preset", "coding, readonly, all or none", "coding", t, "Which tools the model gets."}, false,
			oneOf(func(c *Config, _ []string) *string { return &c.Tools.Preset }, "coding", "readonly", "all", "none")},
		{Key{"tools.search", "on, off, auto or auto:N", "on", u, "Whether the model searches for the tools of MCP servers instead of being sent them; auto:N: when they take more than N% of its window."}, false,
			toolSearch},

		{Key{"permissions.mode", "default, acceptEdits, plan, dontAsk or bypassPermissions", "default", u, "What is asked for when no rule decides."}, false,
			oneOf(func(c *Config, _ []string) *string { return &c.Permissions.Mode }, "default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")},
		{Key{"permissions.allow", "list of rules", "[]", u, "What runs without a question."}, false,
			rules(func(r *Rules) *[]string { return &r.Allow })},
		{Key{"permissions.ask", "list of rules", "[]", p, "What is always asked for."}, false,
			rules(func(r *Rules) *[]string { return &r.Ask })},
		{Key{"permissions.deny", "list of rules", "[]", p, "What is never done."}, false,
			rules(func(r *Rules) *[]string { return &r.Deny })},
		{Key{"permissions.additionalDirectories", "list of folders", "[]", u, "Folders that count as part of the workspace."}, false, directories},
		{Key{"permissions.timeoutMs", "integer", "0", u, "Milliseconds after which an unanswered question is denied; 0 is never."}, false, timeout},

		{Key{"web.proxy", "URL", "", u, "The HTTP proxy that pages are fetched through; it is trusted to judge addresses."}, false,
			func(c *Config, e entry) error { return address(&c.Web.Proxy, e) }},
		{Key{"search.provider", "brave, tavily or searxng", "", u, "The service that WebSearch asks; without one there is no WebSearch."}, false,
			oneOf(func(c *Config, _ []string) *string { return &c.Search.Provider }, "brave", "tavily", "searxng")},
		{Key{"search.apiKeyEnv", "name of a variable", "", u, "The environment variable that holds the key of the search service."}, false,
			func(c *Config, e entry) error { return variable(&c.Search.APIKeyEnv, e) }},
		{Key{"search.baseUrl", "URL", "", u, "Where the search service is; SearXNG needs it."}, false,
			func(c *Config, e entry) error { return address(&c.Search.BaseURL, e) }},

		{Key{"compaction.auto", "boolean", "true", u, "Whether a long conversation is summarised by itself."}, false,
			func(c *Config, e entry) error { return boolean(&c.Compaction.Auto, e) }},

		{Key{"agents.maxParallel", "integer", "4", u, "How many sub-agents of a session work at once; further ones wait."}, false,
			func(c *Config, e entry) error { return integer(&c.Agents.MaxParallel, e, 1, 16) }},
		{Key{"background.wake", "off, agents or all", "agents", u, "Which background work begins a turn in an idle session when it has something to tell: sub-agents, or commands and monitors too."}, false,
			oneOf(func(c *Config, _ []string) *string { return &c.Background.Wake }, "off", "agents", "all")},
		{Key{"extensions.disabled", "list of ids", "[]", u, "Extensions that are not started."}, false,
			func(c *Config, e entry) (err error) {
				c.Extensions.Disabled, err = list(e, "ids of extensions")
				return err
			}},
		{Key{"extensions.<id>.<setting...>", "anything", "", t, "A setting of an extension, in its own table; a project's is for its own extensions."}, true, extensionSetting},

		{Key{"limits.maxSteps", "integer", "200", u, "The most model calls of one turn."}, false,
			func(c *Config, e entry) error { return integer(&c.Limits.MaxSteps, e, 1, 100_000) }},
		{Key{"limits.maxBudgetUSD", "number", "0", u, "What one turn may cost in US dollars; 0 means no limit."}, false,
			func(c *Config, e entry) error { return number(&c.Limits.MaxBudgetUSD, e) }},
		{Key{"limits.maxTurnMinutes", "number", "0", p, "How many minutes one turn may take, whatever it does then, without waits for answers; 0 means no limit, and a project may only lower it."}, false, turnMinutes},
	}, automationKeys(), []key{

		{Key{"hooks", "list of tables", "[]", t, "Shell commands that run at certain events; a project's in addition to the user's."}, false, hooks},

		{Key{"mcp.servers", "list of tables", "[]", u, "MCP servers, beside those of ~/.scorel/mcp.json."}, true, mcpServers},
		{Key{"mcp.allowed", "list of tables", "", u, "The only MCP servers that may be used; without the key all may."}, false, mcpAllowed},
		{Key{"mcp.denied", "list of tables", "[]", p, "MCP servers that are never used, whatever allows them."}, false, mcpDenied},

		{Key{"channels.listen", "list of channels", "[]", u, "MCP servers that may push events into the sessions of the serving host, as server:NAME."}, false,
			func(c *Config, e entry) error { return channels(&c.Channels.Listen, e) }},
		{Key{"channels.allowed", "list of channels", "", u, "The only MCP servers that may be channels; without the key all may that somebody names."}, false,
			func(c *Config, e entry) error { c.Channels.Limited = true; return channels(&c.Channels.Allowed, e) }},

		{Key{"sandbox.mode", "workspace-write, read-only or off", "workspace-write", p, "What commands may write; a project may only tighten it."}, false, sandboxMode},
		{Key{"sandbox.network", "boolean", "true", p, "Whether commands reach the network; a project may only take it away."}, false, sandboxNetwork},
		{Key{"sandbox.sshAgent", "boolean", "false", u, "Whether commands reach the SSH agent."}, false,
			func(c *Config, e entry) error { return boolean(&c.Sandbox.SSHAgent, e) }},

		{Key{"host.names", "list of names", "[]", u, "Further names under which the serving host is reached over TCP, as name or name:port."}, false,
			func(c *Config, e entry) error { return names(&c.Host.Names, e) }},
		{Key{"host.origins", "list of origins", "[]", u, "Further origins of web pages that may connect, as https://name:port."}, false,
			func(c *Config, e entry) error { return origins(&c.Host.Origins, e) }},
		{Key{"host.pushServices", "list of origins", "[]", u, "Push services of yours in a private network, as https://name:port, that the host may send pushes to."}, false,
			func(c *Config, e entry) error { return origins(&c.Host.PushServices, e) }},
		{Key{"host.logMaxBytes", "integer", "1048576", u, "How long host.log gets before it is set aside, in bytes."}, false,
			func(c *Config, e entry) error { return integer(&c.Host.LogMaxBytes, e, 64<<10, 1<<30) }},
		{Key{"host.logFiles", "integer", "1", u, "How many of the logs that were set aside are kept."}, false,
			func(c *Config, e entry) error { return integer(&c.Host.LogFiles, e, 1, 100) }},

		{Key{"tiers.haiku", "string", "", u, "The model that agents and commands of Claude Code call haiku; without one the current model."}, false,
			text(func(c *Config, _ []string) *string { return &c.Tiers.Haiku })},
		{Key{"tiers.sonnet", "string", "", u, "The model that agents and commands of Claude Code call sonnet; without one the current model."}, false,
			text(func(c *Config, _ []string) *string { return &c.Tiers.Sonnet })},
		{Key{"tiers.opus", "string", "", u, "The model that agents and commands of Claude Code call opus; without one the current model."}, false,
			text(func(c *Config, _ []string) *string { return &c.Tiers.Opus })},
		{Key{"claude.settings", "boolean", "true", u, "Whether hooks, deny and ask rules of Claude Code's settings are read."}, false,
			func(c *Config, e entry) error { return boolean(&c.Claude.Settings, e) }},

		{Key{"prompt", "string", "", t, "Text that is added to the system prompt; a project's beside the user's, marked as the project's."}, false,
			func(c *Config, e entry) error {
				if e.source.Kind == SourceProject {
					return str(&c.ProjectPrompt, e)
				}
				return str(&c.Prompt, e)
			}},
	})
}

// modelKeys describe a model in a table of its own, [models.<alias>], and in [model],
// which is the alias [DefaultAlias].
func modelKeys(table string) []key {
	describe := func(name, of, without, doc string, set func(*Alias, entry) error) key {
		return key{Key{table + name, of, without, ScopeUser, doc}, false, ofAlias(set)}
	}
	return []key{
		describe("type", "builtin or custom", "custom with baseUrl, else builtin", "Whether the catalogue knows the model, or all of it is described here.",
			func(a *Alias, e entry) error { return choose(&a.Type, e, "builtin", "custom") }),
		describe("api", either(apis()), "", "The wire format that the server speaks.",
			func(a *Alias, e entry) error { return choose(&a.API, e, apis()...) }),
		describe("provider", "string", "", "The provider in the catalogue, or the name to show.",
			func(a *Alias, e entry) error { return str(&a.Provider, e) }),
		describe("id", "string", "", "The model's id at its provider.",
			func(a *Alias, e entry) error { return str(&a.ID, e) }),
		describe("baseUrl", "URL", "", "Where the server is.",
			func(a *Alias, e entry) error { return address(&a.BaseURL, e) }),
		describe("apiKeyEnv", "name of a variable", "", "The environment variable that holds the key.",
			func(a *Alias, e entry) error { return variable(&a.APIKeyEnv, e) }),
		describe("contextWindow", "integer", "", "The context window in tokens.",
			func(a *Alias, e entry) error { return integer(&a.ContextWindow, e, 1000, 1<<30) }),
		describe("maxTokens", "integer", "", "The most output tokens of one answer.",
			func(a *Alias, e entry) error { return integer(&a.MaxTokens, e, 1, 1<<30) }),
		describe("reasoning", "boolean", "", "Whether the model can think.",
			func(a *Alias, e entry) error { a.Reasoning = new(bool); return boolean(a.Reasoning, e) }),
	}
}

// restOfPath ends the name of a key below which anything may stand.
const restOfPath = "...>"

// defaults is the configuration without any file. It says what the table says; a
// test compares the two.
func defaults() Config {
	return Config{
		Models:      map[string]Alias{},
		Memory:      Memory{Enabled: true, MaxTokens: 4000},
		Tools:       Tools{Preset: "coding"},
		Permissions: Permissions{Mode: "default"},
		Compaction:  Compaction{Auto: true},
		Limits:      Limits{MaxSteps: 200},
		Agents:      Agents{MaxParallel: 4},
		Sandbox:     Sandbox{Mode: "workspace-write", Network: true},
		Claude:      Claude{Settings: true},
		Background:  Background{Wake: "agents"},
		Host:        Host{LogMaxBytes: 1 << 20, LogFiles: 1},
		Automation:  Automation{Enabled: true, MaxParallel: 2, OnQuestion: "deny", CatchUp: "one", ProactiveTickSeconds: 30},
	}
}

// lookup finds the key of a path, nil when there is none. A last part "<name...>"
// stands for one or more.
func lookup(keys []known, path []string) *key {
	for i := range keys {
		parts := keys[i].parts
		if len(parts) > len(path) || len(parts) < len(path) && !keys[i].rest {
			continue
		}
		same := true
		for j, part := range parts {
			same = same && (part == path[j] || part[0] == '<')
		}
		if same {
			return &keys[i].key
		}
	}
	return nil
}

// isTable reports whether keys exist below path.
func isTable(keys []known, path []string) bool {
	for i := range keys {
		parts := keys[i].parts
		if len(parts) <= len(path) {
			continue
		}
		same := true
		for j, part := range path {
			same = same && (part == parts[j] || parts[j][0] == '<')
		}
		if same {
			return true
		}
	}
	return false
}

// wrong returns what a key should have been. The value is not repeated: it may be a
// secret that was put into the wrong place.
func wrong(e entry, want string) error {
	return fmt.Errorf("the config key %s must be %s (%s)", e.name(), want, e.source.place())
}

func str(to *string, e entry) error {
	s, ok := e.value.(string)
	if !ok {
		return wrong(e, "a string")
	}
	*to = s
	return nil
}

func choose(to *string, e entry, values ...string) error {
	s, ok := e.value.(string)
	for _, v := range values {
		if ok && v == s {
			*to = s
			return nil
		}
	}
	return wrong(e, either(values))
}

// either is "a, b or c".
func either(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// apis are the names of wire formats.
func apis() []string {
	var names []string
	for _, a := range model.APIs() {
		names = append(names, string(a))
	}
	return names
}

func boolean(to *bool, e entry) error {
	b, ok := e.value.(bool)
	if !ok {
		return wrong(e, "true or false")
	}
	*to = b
	return nil
}

func integer(to *int, e entry, low, high int64) error {
	n, ok := e.value.(int64)
	if !ok || n < low || n > high {
		return wrong(e, fmt.Sprintf("an integer from %d to %d", low, high))
	}
	*to = int(n)
	return nil
}

func number(to *float64, e entry) error {
	f, ok := e.value.(float64)
	if n, whole := e.value.(int64); whole {
		f, ok = float64(n), true
	}
	if !ok || f < 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return wrong(e, "a number that is not negative")
	}
	*to = f
	return nil
}

func list(e entry, what string) ([]string, error) {
	values, ok := e.value.([]any)
	if !ok {
		return nil, wrong(e, "a list of "+what)
	}
	out := make([]string, 0, len(values))
	for _, v := range values {
		s, ok := v.(string)
		if !ok || s == "" {
			return nil, wrong(e, "a list of "+what+", each a string")
		}
		out = append(out, s)
	}
	return out, nil
}

func text(field func(*Config, []string) *string) func(*Config, entry) error {
	return func(c *Config, e entry) error { return str(field(c, e.path), e) }
}

func oneOf(field func(*Config, []string) *string, values ...string) func(*Config, entry) error {
	return func(c *Config, e entry) error { return choose(field(c, e.path), e, values...) }
}

// DefaultAlias is the alias of the model that the table [model] describes itself.
const DefaultAlias = "default"

// describesModel reports whether the key belongs to the description of a model in the
// table [model], which has no defaults: where there is none, model.name names one.
func (k Key) describesModel() bool {
	return slices.ContainsFunc(modelKeys("model."), func(d key) bool { return d.Name == k.Name })
}

// aliasOf returns the alias that an entry belongs to, and "" for none.
func (e entry) aliasOf() string {
	switch {
	case len(e.path) > 2 && e.path[0] == "models":
		return e.path[1]
	case len(e.path) == 2 && (Key{Name: e.name()}).describesModel():
		return DefaultAlias
	}
	return ""
}

// ofAlias sets something of the alias that the path names.
func ofAlias(set func(*Alias, entry) error) func(*Config, entry) error {
	return func(c *Config, e entry) error {
		a := c.Models[e.aliasOf()]
		err := set(&a, e)
		c.Models[e.aliasOf()] = a
		return err
	}
}

func price(field func(*Price) *float64) func(*Config, entry) error {
	return ofAlias(func(a *Alias, e entry) error {
		if a.Price == nil {
			a.Price = &Price{}
		}
		return number(field(a.Price), e)
	})
}

func header(a *Alias, e entry) error {
	s, ok := e.value.(string)
	name := e.path[len(e.path)-1]
	if !ok || strings.ContainsAny(s, "\r\n\x00") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) || name == "" {
		return wrong(e, "an HTTP header: a name without spaces and a string of one line")
	}
	if a.Headers == nil {
		a.Headers = map[string]string{}
	}
	a.Headers[name] = s
	return nil
}

func address(to *string, e entry) error {
	s, _ := e.value.(string)
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return wrong(e, "a URL that begins with http:// or https:// and holds no user, query or fragment")
	}
	*to = s
	return nil
}

// names takes names of machines, each with a port or without.
func names(to *[]string, e entry) error {
	*to = nil
	values, err := list(e, "names such as desk.example or desk.example:4444")
	if err != nil {
		return err
	}
	for _, v := range values {
		if u, err := url.Parse("//" + v); err != nil || u.Host != v || u.Hostname() == "" || strings.ContainsAny(v, "*@ ") {
			return wrong(e, "a list of names such as desk.example or desk.example:4444")
		}
	}
	*to = append(*to, values...)
	return nil
}

// origins takes origins of web pages (RFC 6454): scheme, name and port.
func origins(to *[]string, e entry) error {
	*to = nil
	values, err := list(e, "origins such as https://desk.example:4444")
	if err != nil {
		return err
	}
	for _, v := range values {
		if u, err := url.Parse(v); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+u.Host != v || u.Hostname() == "" {
			return wrong(e, "a list of origins such as https://desk.example:4444")
		}
	}
	*to = append(*to, values...)
	return nil
}

func variable(to *string, e entry) error {
	s, _ := e.value.(string)
	if s == "" || len(s) > 100 || (s[0] >= '0' && s[0] <= '9') || strings.Contains(s, "-") || !bareKey(s) {
		return wrong(e, "the name of an environment variable, not the key itself")
	}
	*to = s
	return nil
}

func rules(field func(*Rules) *[]string) func(*Config, entry) error {
	return func(c *Config, e entry) error {
		values, err := list(e, "permission rules")
		if err != nil {
			return err
		}
		r := &c.Permissions.User
		if e.source.Kind == SourceProject {
			r = &c.Permissions.Project
		}
		*field(r) = values
		return nil
	}
}

func directories(c *Config, e entry) error {
	values, err := list(e, "folders")
	if err != nil {
		return err
	}
	for _, v := range values {
		if !filepath.IsAbs(v) && v != "~" && !strings.HasPrefix(v, "~/") {
			return wrong(e, "a list of folders, each absolute or below ~/")
		}
	}
	c.Permissions.AdditionalDirectories = values
	return nil
}

func timeout(c *Config, e entry) error {
	var ms int
	err := integer(&ms, e, 0, 24*60*60*1000)
	c.Permissions.Timeout = time.Duration(ms) * time.Millisecond
	return err
}

// extensionSetting takes a setting of an extension: what it may be only that knows.
func extensionSetting(c *Config, e entry) error {
	tables := &c.Extensions.User
	if e.source.Kind == SourceProject {
		tables = &c.Extensions.Project
	}
	if *tables == nil {
		*tables = map[string]any{}
	}
	at := *tables
	for _, part := range e.path[1 : len(e.path)-1] {
		sub, ok := at[part].(map[string]any)
		if !ok {
			sub = map[string]any{}
			at[part] = sub
		}
		at = sub
	}
	at[e.path[len(e.path)-1]] = e.value
	return nil
}
