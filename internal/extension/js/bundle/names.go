package bundle

import (
	"fmt"
	"strings"
)

// NodeModules are the modules of Node that there are, in order.
func NodeModules() []string {
	return []string{"assert", "assert/strict", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "http", "https", "os", "path", "path/posix", "process", "querystring", "readline", "stream", "stream/promises", "string_decoder", "timers", "timers/promises", "tty", "url", "util", "util/types"}
}

// Instead says what to use in the place of a module of Node that there is not, "" where
// nothing is known.
func Instead(path string) string {
	switch strings.TrimPrefix(path, "node:") {
	case "http2":
		return "use https or the global fetch for requests; an extension cannot be a server"
	case "net", "tls", "dgram":
		return "there are no sockets: use http, https or the global fetch, or run a program with exec"
	case "dns", "dns/promises":
		return "use the global fetch, which looks names up itself, or run a program with exec"
	case "worker_threads", "cluster":
		return "an extension has one thread: start a program with child_process"
	case "sqlite":
		return "run the program sqlite3 with exec, or keep state in the session"
	case "zlib":
		return "run a program such as gzip with exec"
	}
	return ""
}

// absent is the error of an import of a module of Node that there is not.
func absent(path string) error {
	if use := Instead(path); use != "" {
		return fmt.Errorf("there is no module %q in Scorel; %s", path, use)
	}
	return fmt.Errorf("there is no module %q in Scorel; it has %s", path, strings.Join(NodeModules(), ", "))
}

// Builtin returns the name under which a runtime knows an imported module, if it is one
// that Scorel brings along.
func Builtin(path string) (name string, ok bool) {
	bare := strings.TrimPrefix(path, "node:")
	switch bare {
	case "assert", "assert/strict", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "http", "https", "os", "path", "path/posix", "process", "querystring", "readline", "stream", "stream/promises", "string_decoder", "timers", "timers/promises", "tty", "url", "util", "util/types":
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
		case "pi-ai/compat": // as versions of pi in between have it
			return "@mariozechner/pi-ai", true
		case "pi-agent":
			return "@mariozechner/pi-agent-core", true
		}
	}
	return "", false
}
