package prelude

import (
	"bytes"
	"embed"
	"encoding/json"

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
	return []js.Script{{Name: Name, Source: Source}, {Name: Components, Source: components, Later: true}}
}

// components returns the script of the components: a function of what it shares with the
// prelude.
func components() []byte {
	return join("tui", ofComponents(), "(function (shared) {\n\"use strict\";\n", "})\n")
}

// join returns files of a folder after each other, between a beginning and an end.
func join(dir string, names []string, begin, end string) []byte {
	room := len(begin) + len(end) + bytes.MinRead
	all, err := files.ReadDir(dir)
	if err != nil {
		panic(err) // a folder that is not embedded
	}
	for _, e := range all {
		info, _ := e.Info() // never fails, as reading does not
		room += int(info.Size())
	}
	var s bytes.Buffer
	s.Grow(room)
	s.WriteString(begin)
	for _, name := range names {
		f, err := files.Open(dir + "/" + name + ".js")
		if err != nil {
			panic(err) // a name that is not embedded
		}
		_, _ = s.ReadFrom(f)
	}
	s.WriteString(end)
	return s.Bytes()
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
func Source() []byte {
	return join("js", order(), "(function (host) {\n\"use strict\";\nconst toolNames = "+toolNames()+";\n", "})(__host);\n")
}
