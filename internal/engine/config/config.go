package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is the configuration in force, with a field for each table and each single key of
// the files.
type Config struct {
	Model       Model
	Models      map[string]Alias // by alias
	Auxiliary   Auxiliary
	Memory      Memory
	Tools       Tools
	Permissions Permissions
	Web         Web
	Search      Search
	Compaction  Compaction
	Extensions  Extensions
	Limits      Limits
	Automation  Automation
	Agents      Agents
	Background  Background
	Hooks       []Hook // the user's before the project's
	MCP         MCP
	Channels    Channels
	Sandbox     Sandbox
	Host        Host
	Tiers       Tiers
	Claude      Claude
	Prompt      string // added to the system prompt
	// ProjectPrompt is that of a trusted project, and ProjectFile where it is.
	ProjectPrompt, ProjectFile string

	entries []entry // where everything that was set comes from, in file order
}

// Model is the table [model]. What else is there describes the alias [DefaultAlias],
// which is then its Name.
type Model struct {
	Name     string // an alias, "provider/id" or an id; "" for none
	Thinking string // one of [protocol.ThinkingLevels]; "" for the model's own
	Fallback string // the model used when Name is overloaded; "" for none
}

// Alias is a table [models.<alias>], or what [model] says of a model itself.
type Alias struct {
	Type          string // builtin (from the catalogue, with changes) or custom
	API           string // one of model.APIs
	Provider      string
	ID            string
	BaseURL       string
	APIKeyEnv     string // name of the variable that holds the key
	ContextWindow int    // tokens, 0 when not set
	MaxTokens     int    // tokens, 0 when not set
	Reasoning     *bool  // nil when not set
	Images        *bool  // nil when not set
	Headers       map[string]string
	Fallback      string
	Price         *Price // nil when not set
}

// Price is in US dollars per million tokens.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// Auxiliary is the table [auxiliary]: the model that is asked beside conversations.
type Auxiliary struct {
	Model     string // as [Model.Name]; "" for none, and then nothing is asked
	Summaries bool   // it makes the summaries of compactions, too
}

// Memory is the table [memory].
type Memory struct {
	Enabled     bool
	MaxTokens   int  // of notes that are told to a model
	Consolidate bool // daily notes are summarised when nobody works
}

// Tools is the table [tools].
type Tools struct {
	Preset string // coding, readonly, all or none
	// SearchAbove is the share of the model's window, in percent, above which the tools of
	// servers are searched for instead of being sent: 0 is always, 100 never.
	SearchAbove int
}

// NeverSearch is the [Tools.SearchAbove] with which all tools are sent.
const NeverSearch = 100

// autoSearch is the share that auto stands for.
const autoSearch = 10

// toolSearch sets tools.search.
func toolSearch(c *Config, e entry) error {
	var s string
	if err := str(&s, e); err != nil {
		return err
	}
	switch share, auto := strings.CutPrefix(s, "auto:"); {
	case s == "on":
		c.Tools.SearchAbove = 0
	case s == "off":
		c.Tools.SearchAbove = NeverSearch
	case s == "auto":
		c.Tools.SearchAbove = autoSearch
	default:
		n, err := strconv.Atoi(share)
		if !auto || err != nil || n < 0 || n > 100 {
			return wrong(e, "on, off, auto or auto:N with N from 0 to 100")
		}
		c.Tools.SearchAbove = n
	}
	return nil
}

// Permissions is the table [permissions]. The rules of the two files are kept
// apart, because a project may not allow.
type Permissions struct {
	Mode    string
	User    Rules
	Project Rules // Allow is always empty
	// Others are rules of other programs' settings. They deny and ask; none allows.
	Others                []Rules
	AdditionalDirectories []string
	Timeout               time.Duration // after which an unanswered question is denied; 0: never
}

// Rules are permission rules of one file.
type Rules struct {
	File             string // "" without a file
	Allow, Ask, Deny []string
}

// Background is the table [background].
type Background struct {
	Wake string // off, agents or all
}

// Host is the table [host]: under which further names a serving host is reached, and
// from which further pages.
type Host struct {
	Names   []string // name or name:port
	Origins []string // https://name:port

	PushServices []string // origins, https://name:port, that may be in a private network

	LogMaxBytes int // of host.log, before it is set aside
	LogFiles    int // that are kept of those that were set aside
}

// Web is the table [web].
type Web struct {
	Proxy string // URL of an HTTP proxy for pages, "" for none
}

// Search is the table [search].
type Search struct {
	Provider  string // brave, tavily or searxng; "" for no search
	APIKeyEnv string // name of the variable that holds the key
	BaseURL   string
}

// Compaction is the table [compaction].
type Compaction struct {
	Auto bool // compact before the context is too long
}

// Agents is the table [agents].
type Agents struct {
	MaxParallel int // sub-agents of one session that work at once
}

// Extensions is the table [extensions].
type Extensions struct {
	Disabled []string // ids of extensions that are not started
	// User and Project are the tables [extensions.<id>] of the two files, by id. Those
	// of a project are for its own extensions.
	User, Project map[string]any
}

// Limits is the table [limits].
type Limits struct {
	MaxSteps     int     // of a turn
	MaxBudgetUSD float64 // of a turn; 0: no limit
	// MaxTurnMinutes is how long a turn may take, without waits for a person's answers; 0:
	// no limit.
	MaxTurnMinutes float64
}

// Automation is the table [automation]: what limits sessions that begin work by themselves.
// It is the user's alone. Of limits 0 is none.
type Automation struct {
	Enabled     bool // schedules and other sources begin runs
	MaxParallel int  // runs that work at once

	MaxRunUSD     float64 // US dollars of one run
	MaxDayUSD     float64 // US dollars of all runs of a day
	MaxRunTokens  int     // all that models read and write in one run
	MaxDayTokens  int     // the same in all runs of a day
	MaxRunMinutes float64 // of one run, without waits for a person's answers

	QuietHours           string // in which no run begins, as "22:00-07:00" in local time; "" for none
	OnQuestion           string // deny: what would be asked is denied at once; wait: somebody is waited for
	CatchUp              string // one: what was missed while the host was down runs once; none: it does not
	ProactiveTickSeconds int    // seconds from the end of a turn to the next tick of a proactive session
}

// Sandbox is the table [sandbox].
type Sandbox struct {
	Mode     string // workspace-write, read-only or off
	Network  bool   // whether commands reach the network
	SSHAgent bool   // whether commands reach the SSH agent
}

// Tiers is the table [tiers]: the models that files of Claude Code call haiku, sonnet and
// opus; "" for the one that is in force anyway.
type Tiers struct{ Haiku, Sonnet, Opus string }

// Model returns the model of a tier, "" for one that has none. It reports whether name
// is a tier at all: inherit is the model that is in force anyway.
func (t Tiers) Model(name string) (ref string, ok bool) {
	switch name {
	case "haiku":
		return t.Haiku, true
	case "sonnet":
		return t.Sonnet, true
	case "opus":
		return t.Opus, true
	}
	return "", name == "inherit"
}

// Claude is the table [claude].
type Claude struct {
	Settings bool // hooks and rules of Claude Code's settings are read
}

// Notice is something that the user should know and that stops nothing.
type Notice struct {
	Text string
	// Untrusted marks what would count if the project were trusted: Key is its name
	// and Value what it would be set to.
	Untrusted  bool
	Key, Value string
}

// File is one configuration file. Data is nil for a missing one.
type File struct {
	Name string // as it is shown
	Data []byte
	// Trusted says of a project's file that the user has approved exactly Data.
	Trusted bool
}

// Usable reports whether a model that a project names is one that the user has:
// an alias of theirs, or one of the catalogue that they have a key for. User is
// the configuration without the project.
type Usable func(user Config, ref string) bool

// Load reads the user's file alone; "" or a missing file is an empty one. The
// error is that of [Read] or [Parse].
func Load(path string) (Config, error) {
	f, err := Read(path)
	if err != nil {
		return Config{}, err
	}
	c, _, err := Parse(f, File{}, nil)
	return c, err
}

// Parse returns the configuration that the user's file and a project's make. A nil
// usable lets a project name no model. The error is one sentence a line, each
// with the file and, where there is one, the line: what is not TOML, has an
// unknown key (in the user's file) or a value of the wrong type. Notices name
// what is in the project's file and does not count.
func Parse(user, project File, usable Usable) (Config, []Notice, error) {
	keys := table()
	c := defaults()
	c.Permissions.User.File, c.Permissions.Project.File = user.Name, project.Name
	c.ProjectFile = project.Name
	errs := c.parseUser(keys, user)
	if err := c.describedModel(keys); err != nil {
		errs = append(errs, err)
	}
	notices, more := c.parseProject(keys, project, usable)
	errs = append(errs, more...)
	errs = append(errs, c.checkAliases()...)
	errs = append(errs, c.checkSearch()...)
	if len(errs) > 0 {
		return Config{}, nil, errors.Join(errs...)
	}
	return c, notices, nil
}

func (c *Config) parseUser(keys []known, f File) (errs []error) {
	entries, err := parseTOML(f)
	if err != nil {
		return []error{err}
	}
	for _, e := range entries {
		e.source = Source{Kind: SourceUser, File: f.Name, Line: e.line}
		k := lookup(keys, e.path)
		switch {
		case k == nil && isTable(keys, e.path):
			if _, ok := e.value.(map[string]any); !ok {
				errs = append(errs, wrong(e, "a table"))
			}
		case k == nil:
			errs = append(errs, errors.New(unsupported(e)))
		default:
			if err := k.set(c, e); err != nil {
				errs = append(errs, err)
				continue
			}
			e.key = k
			c.entries = append(c.entries, e)
		}
	}
	return errs
}

// parseProject lays a project's file over the user's. The scope in the table
// decides what counts; what does is held to what the user's file allows.
func (c *Config) parseProject(keys []known, f File, usable Usable) (notices []Notice, errs []error) {
	entries, err := parseTOML(f)
	if err != nil {
		return nil, []error{err}
	}
	user := *c
	user.entries = nil
	note := func(e entry, why string) {
		notices = append(notices, Notice{Text: "Ignored in a project's file: " + e.name() + " (" + e.source.place() + "): " + why})
	}
	for _, e := range entries {
		e.source = Source{Kind: SourceProject, File: f.Name, Line: e.line}
		k := lookup(keys, e.path)
		switch {
		case k == nil && isTable(keys, e.path):
			continue
		case k == nil:
			notices = append(notices, Notice{Text: unsupported(e)})
			continue
		case k.Scope == ScopeUser:
			note(e, "only the user's own configuration may set it.")
			continue
		}
		if why := widens(user, e, usable); why != "" {
			note(e, why)
			continue
		}
		if k.Scope == ScopeTrusted && !f.Trusted {
			note(e, "it counts when you trust the project; see scorel trust.")
			n := &notices[len(notices)-1]
			n.Untrusted, n.Key, n.Value = true, e.name(), render(e.value)
			continue
		}
		err := k.set(c, e)
		if errors.Is(err, errWidens) {
			note(e, "a project may only tighten what the user's own configuration says.")
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		e.key = k
		if k.Scope == ScopeTrusted && k.Name != "prompt" && k.Name != "hooks" && !strings.HasPrefix(k.Name, "extensions.") || strings.HasPrefix(k.Name, "sandbox.") || strings.HasPrefix(k.Name, "limits.") { // the user's is no more in force
			c.entries = slices.DeleteFunc(c.entries, func(o entry) bool { return o.key.Name == k.Name })
		}
		c.entries = append(c.entries, e)
	}
	return bounded(notices, f.Name), errs
}

// maxNotices is how many keys of a project's file are named that do not count:
// what else is said is not to drown in them.
const maxNotices = 100

// bounded keeps the first notices, and all of what would count in a trusted
// project, which are few.
func bounded(notices []Notice, file string) []Notice {
	named, more := 0, 0
	out := slices.DeleteFunc(notices, func(n Notice) bool {
		if n.Untrusted {
			return false
		}
		if named < maxNotices {
			named++
			return false
		}
		more++
		return true
	})
	if more > 0 {
		out = append(out, Notice{Text: fmt.Sprintf("%d more keys of %s do not count.", more, file)})
	}
	return out
}

// widens returns why a value of a trusted project does not count, "" when it does. A
// value of a wrong type is left to who sets it.
func widens(user Config, e entry, usable Usable) string {
	value, ok := e.value.(string)
	if !ok {
		return ""
	}
	switch e.name() {
	case "model.name", "model.fallback":
		if value == "" || usable == nil || !usable(user, value) {
			return "it names no alias of your configuration and no model that you have a key for."
		}
	case "tools.preset":
		if tools(value) > tools(user.Tools.Preset) {
			return "it would give more tools than " + strconv.Quote(user.Tools.Preset) + ", which is in force for you."
		}
	}
	return ""
}

// tools orders the presets: each holds all tools of those below it.
func tools(preset string) int {
	return slices.Index([]string{"none", "readonly", "coding", "all"}, preset)
}

// Directories returns permissions.additionalDirectories as absolute paths.
func (c Config) Directories(home string) []string {
	var out []string
	for _, d := range c.Permissions.AdditionalDirectories {
		if rest, ok := strings.CutPrefix(d, "~"); ok {
			d = home + rest
		}
		out = append(out, filepath.Clean(d))
	}
	return out
}

// unsupported is the one text for a key that does not exist.
func unsupported(e entry) string {
	text := "Unsupported config key: " + e.name() + " (" + e.source.place() + ")"
	switch strings.ToLower(e.path[len(e.path)-1]) {
	case "apikey", "api_key", "token", "authtoken":
		text += ": keys do not belong into this file; put the key into an environment variable and set apiKeyEnv to its name"
	}
	return text
}
