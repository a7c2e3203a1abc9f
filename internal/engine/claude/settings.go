package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/text/promptsafe"
)

// Bounds of a file of settings.
const (
	MaxFile  = 1 << 20 // bytes
	maxNotes = 60      // of what does not count; the rest is counted
	maxName  = 80      // characters of a name in a note
)

// The names of a project's settings, and of the user's in the home.
const (
	ProjectSettings = ".claude/settings.json"
	LocalSettings   = ".claude/settings.local.json"
	UserSettings    = ".claude/settings.json"
)

// Files lists the settings that a project has.
func Files() []string { return []string{ProjectSettings, LocalSettings} }

// Settings is what a file of settings holds.
type Settings struct {
	Hooks            []Hook
	Allow, Ask, Deny []Rule // Allow as [Allows] reads them, the others as [Tightens] does
	// NotTaken is what of the file does not count, or not as it is written, each with a
	// sentence.
	NotTaken []Note
}

// Note is a sentence about a key of a file.
type Note struct {
	Key, Why string
	// Differs reports that it counts, otherwise than it is written.
	Differs bool
	lost    bool // it would guard
}

// String returns the note for people.
func (n Note) String() string { return n.Key + ": " + n.Why }

// Parse reads a file. The error is a sentence without its full stop that says what is
// wrong with the file as a whole; nothing of it counts then.
func Parse(data []byte) (*Settings, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	s := &Settings{}
	switch {
	case len(data) > MaxFile:
		return nil, fmt.Errorf("it is larger than %d bytes", MaxFile)
	case !utf8.Valid(data):
		return nil, errors.New("it is not text in UTF-8")
	case len(bytes.TrimSpace(data)) == 0:
		return s, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, explain(data, err)
	}
	off := false
	if raw, ok := keys["disableAllHooks"]; ok {
		off = string(raw) == "true"
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		switch key {
		case "$schema", "disableAllHooks":
		case "hooks":
			if off {
				s.note("hooks", "disableAllHooks is set in this file.")
			} else {
				s.hooks(keys[key])
			}
		case "permissions":
			s.permissions(keys[key])
		default:
			s.note(key, why(key))
		}
	}
	return s, nil
}

// explain says where a file is not JSON.
func explain(data []byte, err error) error {
	var bad *json.SyntaxError
	if errors.As(err, &bad) {
		at := min(max(int(bad.Offset), 0), len(data))
		return fmt.Errorf("it is not valid JSON (line %d): %s", 1+bytes.Count(data[:at], []byte("\n")), bad)
	}
	return errors.New("it is not a JSON object")
}

// differ is note for what counts otherwise than it is written.
func (s *Settings) differ(key, why string) {
	s.note(key, why)
	s.NotTaken[len(s.NotTaken)-1].Differs = true
}

// lose is note for what would guard.
func (s *Settings) lose(key, why string) {
	s.note(key, why)
	s.NotTaken[len(s.NotTaken)-1].lost = true
}

func (s *Settings) note(key, why string) {
	switch {
	case len(s.NotTaken) < maxNotes:
		s.NotTaken = append(s.NotTaken, Note{Key: shown(key), Why: why})
	case len(s.NotTaken) == maxNotes:
		s.NotTaken = append(s.NotTaken, Note{Key: "and more", Why: fmt.Sprintf("only the first %d are named.", maxNotes)})
	}
}

// shown is a name from a file, safe for a line of a terminal.
func shown(s string) string {
	s = strings.Join(strings.Fields(promptsafe.Clean(s)), " ")
	if utf8.RuneCountInString(s) > maxName {
		s = string([]rune(s)[:maxName-1]) + "…"
	}
	return s
}

// why is the sentence about a key that does not count.
func why(key string) string {
	switch key {
	case "env":
		return "Commands get the environment in which Scorel was started, without keys; set variables in your shell."
	case "apiKeyHelper", "awsCredentialExport", "awsAuthRefresh", "otelHeadersHelper":
		return "No program is run for a key; a key comes from the variable that apiKeyEnv names, or from /login."
	case "model", "availableModels", "effortLevel", "alwaysThinkingEnabled", "fallbackModel":
		return "Models are named in config.toml: model.name, model.thinking, model.fallback."
	case "statusLine":
		return "A status line of your own is set in Scorel; see docs/status-line.md."
	case "sandbox":
		return "What commands can reach is set with sandbox.mode and sandbox.network."
	case "enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers", "allowedMcpServers", "deniedMcpServers":
		return "Which servers may be used is set with mcp.allowed and mcp.denied; servers of a project count when you trust it."
	case "enabledPlugins", "extraKnownMarketplaces":
		return "Plugins of Claude Code are not read."
	case "outputStyle", "language":
		return "Text for the system prompt is set with prompt, or is in AGENTS.md."
	case "autoMemoryEnabled", "autoMemoryDirectory":
		return "Notes are set with memory.enabled."
	}
	return "Scorel has no such setting."
}

// permissions reads the object of that name.
func (s *Settings) permissions(raw json.RawMessage) {
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		s.note("permissions", "It is not an object.")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		name := "permissions." + key
		switch key {
		case "deny":
			s.Deny = s.rules(name, keys[key], Tightens)
		case "ask":
			s.Ask = s.rules(name, keys[key], Tightens)
		case "allow":
			s.Allow = s.rules(name, keys[key], Allows)
			if len(s.Allow) > 0 {
				s.note(name, "Rules that allow are yours to give: scorel permissions import offers them one by one.")
			}
		case "defaultMode":
			s.note(name, "The permission mode is set with permissions.mode, --permission-mode or /mode.")
		case "additionalDirectories":
			s.note(name, "Further folders are set with permissions.additionalDirectories in your config.toml.")
		default:
			s.note(name, "Scorel has no such setting.")
		}
	}
}

// rules reads a list of rules. What of one does not count is noted, but for those that
// allow, which nobody takes from here.
func (s *Settings) rules(name string, raw json.RawMessage, read func(string) Rule) []Rule {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		s.refuse(name, "It is not a list of rules.")
		return nil
	}
	if len(list) > MaxRules {
		s.refuse(name, fmt.Sprintf("It has %d rules; only the first %d count.", len(list), MaxRules))
		list = list[:MaxRules]
	}
	var out []Rule
	for i, raw := range list {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			s.refuse(fmt.Sprintf("%s[%d]", name, i), "It is not text.")
			continue
		}
		r := read(text)
		switch r.From = shown(text); {
		case r.Note == "" || name == "permissions.allow":
		case len(r.As) > 0:
			s.differ(name+" "+r.From, r.Note)
		case !r.Nothing:
			s.lose(name+" "+r.From, r.Note)
		default:
			s.note(name+" "+r.From, r.Note)
		}
		out = append(out, r)
	}
	return out
}

// refuse notes what is wrong with a list of rules.
func (s *Settings) refuse(name, why string) {
	if strings.HasPrefix(name, "permissions.allow") {
		s.note(name, why)
		return
	}
	s.lose(name, why)
}

// Tightening returns the rules of ours that deny and that ask.
func (s *Settings) Tightening() (deny, ask []string) {
	for _, r := range s.Deny {
		if r.Wider {
			ask = append(ask, r.As...)
		} else {
			deny = append(deny, r.As...)
		}
	}
	for _, r := range s.Ask {
		ask = append(ask, r.As...)
	}
	return deny, ask
}

// Lost returns the notes about what would guard there and does not here: rules that deny
// or ask without a counterpart, and hooks before a call that do not run. Who relies on
// one is to know.
func (s *Settings) Lost() []Note {
	var out []Note
	for _, n := range s.NotTaken {
		if n.lost {
			out = append(out, n)
		}
	}
	return out
}
