package config

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Bounds of [[hooks]].
const (
	maxHooks       = 100      // of one file
	maxHookCommand = 32 << 10 // bytes of a command
	maxHookTimeout = 600_000  // milliseconds
	hookTimeout    = 60 * time.Second
)

// Hook is an entry of [[hooks]]: a shell command that is asked or told of an event.
type Hook struct {
	Event   string // PreToolUse and so on; see [HookEvents]
	Matcher string // of tools: a name, a|b, or a glob; "" is all
	Command string
	Timeout time.Duration // at most 10 minutes
	// Blocks says that a failure of the hook counts as a refusal.
	Blocks bool
	// Number counts the hooks of its file from 1.
	Number int
	Source Source // user or project
	// Claude says that it was written for Claude Code: Matcher is as there, and so are
	// what the hook is told and what its answers mean.
	Claude bool
}

// HookEvents are the events of which shell hooks are asked or told.
func HookEvents() []string {
	return []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop", "SubagentStop", "PreCompact", "Notification"}
}

// ofTools reports whether a matcher may be at an event.
func ofTools(event string) bool { return event == "PreToolUse" || event == "PostToolUse" }

// hooks takes the entries of [[hooks]].
func hooks(c *Config, e entry) error {
	values, ok := e.value.([]any)
	if !ok {
		return wrong(e, "tables, each under [[hooks]]")
	}
	if len(values) > maxHooks {
		return fmt.Errorf("there are %d entries [[hooks]]; a file has at most %d (%s)", len(values), maxHooks, e.source.place())
	}
	for i, v := range values {
		table, ok := v.(map[string]any)
		if !ok {
			return wrong(e, "tables, each under [[hooks]]")
		}
		h, err := hookOf(e, table, i)
		if err != nil {
			return err
		}
		c.Hooks = append(c.Hooks, h)
	}
	return nil
}

// hookOf reads one entry.
func hookOf(e entry, table map[string]any, i int) (Hook, error) {
	h := Hook{Timeout: hookTimeout, Number: i + 1, Source: e.source}
	h.Source.Line = e.lineOf(i, "")
	at := func(key string) entry {
		sub := entry{path: []string{"hooks", key}, value: table[key], source: e.source}
		sub.source.Line = e.lineOf(i, key)
		return sub
	}
	onFailure, ms := "", 0
	for _, key := range slices.Sorted(maps.Keys(table)) {
		sub := at(key)
		var err error
		switch key {
		case "event":
			err = choose(&h.Event, sub, HookEvents()...)
		case "matcher":
			if err = str(&h.Matcher, sub); err == nil && !validMatcher(h.Matcher) {
				err = wrong(sub, "the name of a tool, names with | between them, or a pattern with *")
			}
		case "command":
			if err = str(&h.Command, sub); err == nil && (strings.TrimSpace(h.Command) == "" || len(h.Command) > maxHookCommand || strings.ContainsRune(h.Command, 0)) {
				err = wrong(sub, fmt.Sprintf("a shell command of at most %d bytes", maxHookCommand))
			}
		case "timeoutMs":
			if err = integer(&ms, sub, 1, maxHookTimeout); err == nil {
				h.Timeout = time.Duration(ms) * time.Millisecond
			}
		case "onFailure":
			err = choose(&onFailure, sub, "block", "continue", "allow")
		default:
			err = fmt.Errorf("%s", unsupported(sub))
		}
		if err != nil {
			return h, err
		}
	}
	for _, key := range []string{"event", "command"} {
		if _, ok := table[key]; !ok {
			return h, fmt.Errorf("the hook lacks %s (%s)", key, h.Source.place())
		}
	}
	if h.Matcher != "" && h.Matcher != "*" && !ofTools(h.Event) {
		return h, wrong(at("matcher"), "left out: only PreToolUse and PostToolUse are about a tool")
	}
	h.Blocks = onFailure == "block" || onFailure == "" && h.Event == "PreToolUse"
	return h, nil
}

// validMatcher reports whether every part of a matcher can be of a tool: one that has what
// no name has, such as the regular expression "mcp__.*", would never be.
func validMatcher(matcher string) bool {
	for part := range strings.SplitSeq(matcher, "|") {
		part = strings.TrimSpace(part)
		if _, err := path.Match(part, ""); err != nil || part == "" && matcher != "" {
			return false
		}
		for _, c := range []byte(part) {
			name := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
			if !name && !strings.ContainsRune("*?[]^", rune(c)) {
				return false
			}
		}
	}
	return true
}

// Matches reports whether a hook is about a tool. Capitals make no difference: a guard of
// "bash" is meant for Bash.
func (h Hook) Matches(tool string) bool {
	if h.Matcher == "" || h.Matcher == "*" {
		return true
	}
	for part := range strings.SplitSeq(h.Matcher, "|") {
		if ok, err := path.Match(strings.ToLower(strings.TrimSpace(part)), strings.ToLower(tool)); ok && err == nil {
			return true
		}
	}
	return false
}
