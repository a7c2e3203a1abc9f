package config

import (
	"errors"
	"path/filepath"
	"strings"
	"time"
)

// Config is the configuration in force.
type Config struct {
	Model       Model
	Models      map[string]Alias // by alias
	Tools       Tools
	Permissions Permissions
	Compaction  Compaction
	Limits      Limits
	Sandbox     Sandbox
	Prompt      string // added to the system prompt

	entries []entry // where everything that was set comes from, in file order
}

// Model is the table [model].
type Model struct {
	Name     string // an alias, "provider/id" or an id; "" for none
	Thinking string // off, minimal, low, medium or high; "" for the model's own
	Fallback string // the model used when Name is overloaded; "" for none
}

// Alias is a table [models.<alias>].
type Alias struct {
	Type          string // builtin (from the catalogue, with changes) or custom
	API           string // openai-completions or anthropic-messages
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

// Tools is the table [tools].
type Tools struct {
	Preset string // coding, readonly, all or none
}

// Permissions is the table [permissions]. The rules of the two files are kept
// apart, because a project may not allow.
type Permissions struct {
	Mode                  string
	User                  Rules
	Project               Rules // Allow is always empty
	AdditionalDirectories []string
	Timeout               time.Duration // after which an unanswered question is denied; 0: never
}

// Rules are permission rules of one file.
type Rules struct {
	File             string // "" without a file
	Allow, Ask, Deny []string
}

// Compaction is the table [compaction].
type Compaction struct {
	Auto bool // compact before the context is too long
}

// Limits is the table [limits].
type Limits struct {
	MaxSteps     int     // of a turn
	MaxBudgetUSD float64 // of a turn; 0: no limit
}

// Sandbox is the table [sandbox].
type Sandbox struct {
	Mode     string // workspace-write, read-only or off
	Network  bool   // whether commands reach the network
	SSHAgent bool   // whether commands reach the SSH agent
}

// Notice is something that the user should know and that stops nothing.
type Notice struct{ Text string }

// File is one configuration file. Data is nil for a missing one.
type File struct {
	Name string // as it is shown
	Data []byte
}

// Load reads the files at the two paths; "" or a missing file is an empty one.
// The error is one sentence a line, each with the file and, where there is one,
// the line: what cannot be read, is no TOML, has an unknown key (in the user's
// file) or a value of the wrong type. Notices name what a project's file may not
// set.
func Load(userPath, projectPath string) (Config, []Notice, error) {
	user, err := readFile(userPath)
	if err != nil {
		return Config{}, nil, err
	}
	project, err := readFile(projectPath)
	if err != nil {
		return Config{}, nil, err
	}
	return Parse(user, project)
}

// Parse is Load of files that are already read.
func Parse(user, project File) (Config, []Notice, error) {
	keys := table()
	c := defaults()
	c.Permissions.User.File, c.Permissions.Project.File = user.Name, project.Name
	var notices []Notice
	var errs []error
	for _, f := range []struct {
		File
		source SourceKind
	}{{user, SourceUser}, {project, SourceProject}} {
		entries, err := parseTOML(f.File)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, e := range entries {
			e.source = Source{Kind: f.source, File: f.Name, Line: e.line}
			k := lookup(keys, e.path)
			if k == nil && isTable(keys, e.path) {
				if _, ok := e.value.(map[string]any); !ok && f.source == SourceUser {
					errs = append(errs, wrong(e, "a table"))
				}
				continue
			}
			switch {
			case k == nil && f.source == SourceProject:
				notices = append(notices, Notice{unsupported(e)})
				continue
			case k == nil:
				errs = append(errs, errors.New(unsupported(e)))
				continue
			case f.source == SourceProject && k.Scope != ScopeProject:
				notices = append(notices, Notice{"Ignored in a project's file: " + e.name() + " (" + e.source.place() + "): only the user's own configuration may set it."})
				continue
			}
			err := k.set(&c, e)
			if errors.Is(err, errWidens) {
				notices = append(notices, Notice{"Ignored in a project's file: " + e.name() + " (" + e.source.place() + "): a project may only tighten what the user's own configuration says."})
				continue
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
			e.key = k
			c.entries = append(c.entries, e)
		}
	}
	errs = append(errs, c.checkAliases()...)
	if len(errs) > 0 {
		return Config{}, nil, errors.Join(errs...)
	}
	return c, notices, nil
}

// Directories gives permissions.additionalDirectories as absolute paths.
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
