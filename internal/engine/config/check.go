package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// SourceKind returns what a value comes from.
type SourceKind string

// The sources.
const (
	SourceDefault SourceKind = "default"
	SourceUser    SourceKind = "user"
	SourceProject SourceKind = "project"
	SourceFlag    SourceKind = "flag"
)

// Source is where a value comes from.
type Source struct {
	Kind SourceKind
	File string // of user and project
	Line int    // of user and project
	Flag string // of flag, as it is written: --model
}

// String returns the source for people.
func (s Source) String() string {
	switch s.Kind {
	case SourceUser, SourceProject:
		return s.place()
	case SourceFlag:
		return s.Flag
	}
	return string(s.Kind)
}

func (s Source) place() string { return s.File + ":" + strconv.Itoa(s.Line) }

// Flag is a value that the command line sets over the files.
type Flag struct {
	Key   string // as in [Keys]
	Value string
	Flag  string // --model
}

// Setting is a key with a value that is in force.
type Setting struct {
	Key    string
	Value  string // as TOML; secrets are [redacted]
	Source Source
}

// Settings returns what is in force for every key of [Keys], in its order: what a
// flag sets, else what the files set, else the default. A list of rules that
// both files hold gives one setting each. Keys that describe a model are given only
// where they are set, those of aliases for each alias.
func (c Config) Settings(flags []Flag) []Setting {
	var out []Setting
	for _, k := range table() {
		if i := slices.IndexFunc(flags, func(f Flag) bool { return f.Key == k.Name }); i >= 0 {
			f := flags[i]
			out = append(out, Setting{k.Name, strconv.Quote(f.Value), Source{Kind: SourceFlag, Flag: f.Flag}})
			continue
		}
		had := false
		for _, e := range c.entries {
			if e.key.Name != k.Name {
				continue
			}
			if items := e.tables(); items != nil { // each in force, with a line of its own
				for i, item := range items {
					at := e.source
					at.Line = e.lineOf(i, "")
					value := render(item)
					if k.secret {
						value = "[redacted]"
					}
					out = append(out, Setting{e.name(), value, at})
				}
				had = true
				continue
			}
			value := render(e.value)
			if k.secret {
				value = "[redacted]"
			}
			out = append(out, Setting{e.name(), value, e.source})
			had = true
		}
		if !had && !strings.Contains(k.Name, "<") && !k.describesModel() {
			out = append(out, Setting{k.Name, defaultValue(k.Key), Source{Kind: SourceDefault}})
		}
	}
	return out
}

func defaultValue(k Key) string {
	if _, err := strconv.Atoi(k.Default); err == nil {
		return k.Default
	}
	switch k.Default {
	case "true", "false", "[]":
		return k.Default
	}
	return strconv.Quote(k.Default)
}

func render(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i, p := range v {
			parts[i] = render(p)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if table, ok := value.(map[string]any); ok {
		parts := make([]string, 0, len(table))
		for _, name := range slices.Sorted(maps.Keys(table)) {
			parts = append(parts, dotted([]string{name})+" = "+render(table[name]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return fmt.Sprint(value)
}

// tables are the tables of a [[list]], nil for another value.
func (e entry) tables() []any {
	list, ok := e.value.([]any)
	if !ok || len(list) == 0 {
		return nil
	}
	for _, v := range list {
		if _, ok := v.(map[string]any); !ok {
			return nil
		}
	}
	return list
}

// checkAliases fills in the types of models and says what their tables lack.
func (c Config) checkAliases() []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		a := c.Models[name]
		if a.Type == "" {
			a.Type = "builtin"
			if a.BaseURL != "" {
				a.Type = "custom"
			}
			c.Models[name] = a
		}
		var missing []string
		need := func(key, value string) {
			if value == "" {
				missing = append(missing, key)
			}
		}
		need("id", a.ID)
		if a.Type == "custom" {
			need("api", a.API)
			need("baseUrl", a.BaseURL)
		} else {
			need("provider", a.Provider)
		}
		if len(missing) == 0 {
			continue
		}
		table, place := dotted([]string{"models", name}), ""
		for _, e := range c.entries {
			if e.aliasOf() == name {
				if e.path[0] == "model" {
					table = "of the table model"
				}
				place = " (" + e.source.place() + ")"
				break
			}
		}
		errs = append(errs, fmt.Errorf("the model %s of type %s lacks %s%s", table, a.Type, strings.Join(missing, " and "), place))
	}
	return errs
}

// describedModel makes the model that the table [model] describes itself the one that
// is used. The error says in one sentence what contradicts it.
func (c *Config) describedModel(keys []known) error {
	var here, elsewhere, name *entry
	for i := range c.entries {
		switch e := &c.entries[i]; {
		case e.name() == "model.name":
			name = e
		case e.aliasOf() != DefaultAlias:
		case e.path[0] == "model" && here == nil:
			here = e
		case e.path[0] == "models" && elsewhere == nil:
			elsewhere = e
		}
	}
	switch {
	case here == nil:
		return nil
	case elsewhere != nil:
		return fmt.Errorf("the model %q is described twice, in [model] (%s) and in [models.%s] (%s); keep one of them",
			DefaultAlias, here.source.place(), DefaultAlias, elsewhere.source.place())
	case name == nil || c.Model.Name == "":
		c.Model.Name = DefaultAlias
		c.entries = slices.DeleteFunc(c.entries, func(e entry) bool { return e.name() == "model.name" })
		path := []string{"model", "name"}
		c.entries = append(c.entries, entry{path: path, value: DefaultAlias, line: here.line, source: here.source, key: lookup(keys, path)})
	case c.Model.Name != DefaultAlias:
		return fmt.Errorf("the table [model] describes a model itself (%s) and names another one with name (%s); take name out, or move the description to [models.<alias>]",
			here.source.place(), name.source.place())
	}
	return nil
}

// checkSearch returns what the table [search] lacks.
func (c Config) checkSearch() []error {
	missing := ""
	switch s := c.Search; {
	case s.Provider == "" && (s.APIKeyEnv != "" || s.BaseURL != ""):
		missing = "provider: brave, tavily or searxng"
	case s.Provider == "searxng" && s.BaseURL == "":
		missing = "baseUrl, the address of an instance of SearXNG"
	default:
		return nil
	}
	for _, e := range c.entries {
		if e.path[0] == "search" {
			return []error{fmt.Errorf("the table search lacks %s (%s)", missing, e.source.place())}
		}
	}
	return nil
}
