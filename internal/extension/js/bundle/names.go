package bundle

import "strings"

// NodeModules are the modules of Node that there are, in order.
func NodeModules() []string {
	return []string{"assert", "assert/strict", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "os", "path", "path/posix", "process", "querystring", "readline", "stream", "stream/promises", "string_decoder", "timers", "timers/promises", "tty", "url", "util", "util/types"}
}

// Builtin gives the name under which a runtime knows an imported module, if it is one
// that Scorel brings along.
func Builtin(path string) (name string, ok bool) {
	bare := strings.TrimPrefix(path, "node:")
	switch bare {
	case "assert", "assert/strict", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "os", "path", "path/posix", "process", "querystring", "readline", "stream", "stream/promises", "string_decoder", "timers", "timers/promises", "tty", "url", "util", "util/types":
		return bare, true
	}
	if bare != path {
		return "", false
	}
	return vendor(path)
}

// vendor knows the packages whose programs extensions were written for, under the names
// that they have had. A prelude defines the modules by the first of them.
func vendor(path string) (string, bool) {
	switch path {
	case "@sinclair/typebox", "typebox":
		return "@sinclair/typebox", true
	case "@sinclair/typebox/value", "typebox/value":
		return "@sinclair/typebox/value", true
	case "@sinclair/typebox/compiler", "typebox/compile":
		return "@sinclair/typebox/compiler", true
	case "scorel":
		return "scorel", true
	}
	for _, scope := range []string{"@mariozechner/", "@earendil-works/"} {
		rest, ok := strings.CutPrefix(path, scope)
		if !ok {
			continue
		}
		switch rest {
		case "pi-ai", "pi-coding-agent", "pi-tui", "pi-agent-core":
			return "@mariozechner/" + rest, true
		case "pi-coding-agent/hooks", "pi-coding-agent/extensions":
			return "@mariozechner/" + rest, true
		case "pi-agent":
			return "@mariozechner/pi-agent-core", true
		}
	}
	return "", false
}
