package prelude

import (
	"embed"
	"encoding/json"
	"strings"

	"scorel/internal/extension/js"
	"scorel/protocol"
)

//go:embed js/*.js tui/*.js
var files embed.FS

// order is how the files follow each other: constants come before what uses them while
// the script runs.
func order() []string {
	return []string{
		"host", "content", "names", "theme", "ui", "components", "exec", "models", "session", "moves", "context",
		"tools", "render", "areas", "editor", "completions", "commands", "handlers", "hooks", "registration", "pi", "scorel",
		"module", "module_typebox", "module_ai", "module_agent", "module_tui", "module_scorel",
		"check", "main",
	}
}

// ofComponents is how the files of the components follow each other.
func ofComponents() []string {
	return []string{"text", "keys", "keybindings", "fuzzy", "themes", "boxes", "lists", "editing", "exports"}
}

// Name is what the script is called, and Components the part of it with pi's components,
// which runs in the extensions that import them.
const (
	Name       = "prelude"
	Components = "components"
)

// Scripts returns what a child is started with.
func Scripts() []js.Script {
	return []js.Script{{Name: Name, Source: Source()}, {Name: Components, Source: components(), Later: true}}
}

// components returns the script of the components: a function of what it shares with the
// prelude.
func components() string {
	var s strings.Builder
	s.WriteString("(function (shared) {\n\"use strict\";\n")
	for _, name := range ofComponents() {
		text, err := files.ReadFile("tui/" + name + ".js")
		if err != nil {
			panic(err) // a name that is not embedded
		}
		s.Write(text)
	}
	s.WriteString("})\n")
	return s.String()
}

// toolNames returns, as a JSON object, the names that pi has for the built-in tools.
func toolNames() string {
	names := map[string][]string{}
	for _, t := range protocol.Tools() {
		if len(t.PiNames) > 0 {
			names[t.Name] = t.PiNames
		}
	}
	text, err := json.Marshal(names) // sorts them
	if err != nil {
		panic(err) // texts only
	}
	return string(text)
}

// Source returns the script. It is the same on each call.
func Source() string {
	var s strings.Builder
	s.WriteString("(function (host) {\n\"use strict\";\nconst toolNames = " + toolNames() + ";\n")
	for _, name := range order() {
		text, err := files.ReadFile("js/" + name + ".js")
		if err != nil {
			panic(err) // a name in order that is not embedded
		}
		s.Write(text)
	}
	s.WriteString("})(__host);\n")
	return s.String()
}
