package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of the hooks of a file.
const (
	maxHooks       = 100
	maxCommand     = 32 << 10 // bytes
	maxMatcher     = 1000     // bytes
	maxTimeout     = 10 * time.Minute
	defaultTimeout = time.Minute
)

// Hook is a command that is asked or told of an event.
type Hook struct {
	Event   string
	Matcher string // see [Matches]
	Command string
	Timeout time.Duration
}

// events are those that hooks of Scorel have, too.
var events = []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop", "SubagentStop", "PreCompact", "Notification"}

// hooks reads the object of that name.
func (s *Settings) hooks(raw json.RawMessage) {
	var byEvent map[string]json.RawMessage
	if json.Unmarshal(raw, &byEvent) != nil {
		s.note("hooks", "It is not an object.")
		return
	}
	for _, event := range slices.Sorted(maps.Keys(byEvent)) {
		if !slices.Contains(events, event) {
			s.note("hooks."+event, "There is no such event in Scorel.")
			continue
		}
		var groups []struct {
			Matcher string            `json:"matcher"`
			Hooks   []json.RawMessage `json:"hooks"`
		}
		if json.Unmarshal(byEvent[event], &groups) != nil {
			s.note("hooks."+event, `It is not a list of objects with "matcher" and "hooks".`)
			continue
		}
		n := 0
		for _, g := range groups {
			for _, raw := range g.Hooks {
				n++
				s.hook(event, fmt.Sprintf("hooks.%s %d", event, n), g.Matcher, raw)
			}
		}
	}
}

// hook reads one entry; name is what notes call it.
func (s *Settings) hook(event, name, matcher string, raw json.RawMessage) {
	var h struct {
		Type    string          `json:"type"`
		Command string          `json:"command"`
		Timeout float64         `json:"timeout"` // seconds
		Async   bool            `json:"async"`
		If      string          `json:"if"`
		Shell   string          `json:"shell"`
		Args    json.RawMessage `json:"args"`
	}
	if json.Unmarshal(raw, &h) != nil {
		s.note(name, "It cannot be read.")
		return
	}
	note := s.note
	if event == "PreToolUse" {
		note = s.lose
	}
	switch {
	case h.Type != "command" && h.Type != "":
		note(name, fmt.Sprintf("It is of the type %s; only commands are run.", shown(h.Type)))
		return
	case strings.TrimSpace(h.Command) == "" || len(h.Command) > maxCommand || strings.ContainsRune(h.Command, 0):
		note(name, fmt.Sprintf("Its command is empty, or has more than %d bytes.", maxCommand))
		return
	case h.If != "" || h.Args != nil || h.Shell != "" && h.Shell != "bash":
		note(name, "It has a condition, arguments or a shell of its own, which Scorel does not know.")
		return
	case len(s.Hooks) >= maxHooks:
		note(name, fmt.Sprintf("A file has at most %d hooks.", maxHooks))
		return
	}
	if err := checkMatcher(matcher); err != nil {
		note(name, fmt.Sprintf("Its matcher %s cannot be read: %v.", shown(matcher), err))
		return
	}
	if h.Async {
		s.differ(name+" async", "It runs, and is waited for.")
	}
	timeout := defaultTimeout
	if h.Timeout > 0 {
		timeout = time.Duration(min(h.Timeout, maxTimeout.Seconds()) * float64(time.Second))
	}
	s.Hooks = append(s.Hooks, Hook{Event: event, Matcher: matcher, Command: h.Command, Timeout: max(timeout, time.Millisecond)})
}

// simple reports whether a matcher is names with | between them: these are compared whole.
func simple(matcher string) bool {
	return !strings.ContainsFunc(matcher, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '|'
	})
}

func checkMatcher(matcher string) error {
	if len(matcher) > maxMatcher {
		return fmt.Errorf("it has more than %d bytes", maxMatcher)
	}
	if matcher == "*" || simple(matcher) {
		return nil
	}
	_, err := regexp.Compile(matcher)
	return err
}

// Matches reports whether a matcher is about one of the names of a tool, or of what else
// an event is about. It is a name, names with | between them, or a regular expression;
// "" and "*" are about everything. One that cannot be read is about nothing.
func Matches(matcher string, names ...string) bool {
	switch {
	case matcher == "" || matcher == "*":
		return true
	case simple(matcher):
		for part := range strings.SplitSeq(matcher, "|") {
			if slices.Contains(names, part) {
				return true
			}
		}
		return false
	case len(matcher) > maxMatcher:
		return false
	}
	re, err := regexp.Compile(matcher)
	return err == nil && slices.ContainsFunc(names, re.MatchString)
}

// Commands returns the commands of the hooks of a file, none of one that cannot be read.
func Commands(data []byte) []string {
	s, err := Parse(data)
	if err != nil {
		return nil
	}
	var out []string
	for _, h := range s.Hooks {
		out = append(out, h.Command)
	}
	return out
}
