package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"scorel/internal/platform/disk"
)

// maxForeign is the largest file of another program that is read, in bytes: Claude Code
// keeps much else in its.
const maxForeign = 32 << 20

// Programs returns the programs whose servers [Import] reads.
func Programs() []string { return []string{"claude", "cursor", "vscode", "gemini", "codex"} }

// Import returns the servers that a person has configured for another program, by home
// folder: each with [ScopeUser], or, where that program has it for the workspace at root
// alone, with [ScopeLocal]. Files are those that were found. What could not be taken is a
// fault. The error is an unknown program.
func Import(program, home, root string) (entries []Entry, files []string, faults []Fault, err error) {
	in := &importer{program: program, root: root}
	switch program {
	case "claude":
		in.read(filepath.Join(home, ".claude.json"), in.claude)
	case "cursor":
		in.read(filepath.Join(home, ".cursor", "mcp.json"), in.json)
	case "vscode":
		dir := filepath.Join(home, ".config", "Code", "User")
		if runtime.GOOS == "darwin" {
			dir = filepath.Join(home, "Library", "Application Support", "Code", "User")
		}
		in.read(filepath.Join(dir, "mcp.json"), in.json)
	case "gemini":
		in.read(filepath.Join(home, ".gemini", "settings.json"), in.json)
	case "codex":
		in.read(filepath.Join(home, ".codex", "config.toml"), in.codex)
	default:
		return nil, nil, nil, fmt.Errorf("there is nothing to import from %s; there are %s", quote(program), strings.Join(Programs(), ", "))
	}
	return in.entries, in.files, in.faults, nil
}

type importer struct {
	program string
	root    string
	entries []Entry
	files   []string
	faults  []Fault
}

func (in *importer) read(name string, take func(name string, data []byte)) {
	data, err := disk.ReadFile(disk.OS(), name, maxForeign)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
	case err != nil:
		in.fail(name, 0, "the file cannot be read: %v", cause(err))
	default:
		in.files = append(in.files, name)
		take(name, data)
	}
}

func (in *importer) fail(name string, line int, format string, args ...any) {
	in.faults = append(in.faults, Fault{Source: Source{name, line}, Dropped: true, Message: fmt.Sprintf(format, args...)})
}

// take adds the servers of an object.
func (in *importer) take(scope Scope, name, key string, servers, inputs *node, lines bool) {
	r := &reader{source: Source{File: name}, scope: scope}
	if !lines { // they are not those of the file
		r.lineOf = func(string) int { return 0 }
	}
	r.readInputs(inputs)
	if servers != nil && servers.kind == '{' {
		for _, m := range servers.members {
			if m.value.kind == '{' {
				in.adapt(m.value)
			}
		}
	}
	for _, e := range r.servers(key, servers) {
		if !slices.ContainsFunc(in.entries, func(o Entry) bool { return o.Name == e.Name && o.Scope == e.Scope }) {
			in.entries = append(in.entries, e)
		}
	}
	in.faults = append(in.faults, r.faults...)
}

// json reads a file as VS Code, Cursor and Gemini have it.
func (in *importer) json(name string, data []byte) {
	n, err := parseJSON(data)
	var bad *syntaxError
	switch {
	case errors.As(err, &bad):
		in.fail(name, bad.line, "the file is not valid JSON: %s", bad.text)
		return
	case n == nil:
		return
	}
	for _, key := range []string{"mcpServers", "servers"} {
		in.take(ScopeUser, name, key, n.get(key), n.get("inputs"), true)
	}
}

// claude reads ~/.claude.json, of which servers are a small part.
func (in *importer) claude(name string, data []byte) {
	var file struct {
		Servers  json.RawMessage `json:"mcpServers"`
		Projects map[string]struct {
			Servers json.RawMessage `json:"mcpServers"`
		} `json:"projects"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		in.fail(name, 0, "the file is not as Claude Code writes it: %v", err)
		return
	}
	for _, part := range []struct {
		scope Scope
		data  []byte
	}{{ScopeUser, file.Servers}, {ScopeLocal, file.Projects[in.root].Servers}} {
		n, err := parseJSON(part.data)
		if err != nil {
			in.fail(name, 0, "the servers are not valid JSON: %v", err)
			continue
		}
		in.take(part.scope, name, "mcpServers", n, nil, false)
	}
}

// codex reads config.toml of Codex.
func (in *importer) codex(name string, data []byte) {
	var file struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(data, &file); err != nil {
		line := 0
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			line, _ = bad.Position()
		}
		in.fail(name, line, "the file is not valid TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
		return
	}
	data, err := json.Marshal(file.Servers)
	if err != nil {
		in.fail(name, 0, "mcp_servers has values that no server has: %v", err)
		return
	}
	n, err := parseJSON(data)
	if err != nil {
		in.fail(name, 0, "mcp_servers: %v", err)
		return
	}
	in.take(ScopeUser, name, "mcp_servers", n, nil, false)
}

// adapt gives the keys of an entry the names that they have here, and keeps a dollar that
// is none of a variable there.
func (in *importer) adapt(n *node) {
	if in.program != "gemini" { // which takes $VAR, too
		escape(n, in.program == "codex")
	}
	switch in.program {
	case "gemini":
		in.gemini(n)
	case "codex":
		adaptCodex(n)
	}
}

func (in *importer) gemini(n *node) {
	typed := n.get("type") != nil
	for i := range n.members {
		m := &n.members[i]
		switch m.key {
		case "httpUrl":
			m.key = "url"
			if !typed {
				n.set("type", textNode("http", m.value.line))
				typed = true
			}
		case "url":
			if !typed && n.get("httpUrl") == nil {
				n.set("type", textNode("sse", m.value.line))
				typed = true
			}
		case "includeTools":
			m.key = "allowTools"
		case "excludeTools":
			m.key = "denyTools"
		}
	}
}

// adaptCodex renames the keys of Codex. Variables that it takes from the environment are
// named, so that no secret is copied.
func adaptCodex(n *node) {
	var out []member
	table := map[string]*node{}
	into := func(key, name string, value *node) {
		if table[key] == nil {
			table[key] = &node{kind: '{', line: n.line}
		}
		table[key].set(name, value)
	}
	for _, m := range n.members {
		v := m.value
		switch m.key {
		case "bearer_token_env_var":
			into("headers", "Authorization", textNode("Bearer ${"+v.text+"}", v.line))
		case "http_headers", "env_http_headers", "env":
			key := "headers"
			if m.key == "env" {
				key = "env"
			}
			for _, h := range v.members {
				if m.key == "env_http_headers" {
					h.value = textNode("${"+h.value.text+"}", v.line)
				}
				into(key, h.key, h.value)
			}
		case "env_vars":
			for _, item := range v.items {
				if item.kind == '"' {
					into("env", item.text, textNode("${"+item.text+"}", v.line))
				}
			}
		case "tool_timeout_sec":
			var seconds float64
			if json.Unmarshal([]byte(v.text), &seconds) == nil && v.kind == 'd' {
				m.key, m.value = "timeoutMs", &node{kind: 'd', line: v.line, text: fmt.Sprint(int64(math.Min(seconds*1000, maxTimeout)))}
			}
			out = append(out, m)
		case "enabled":
			m.key, m.value = "disabled", &node{kind: v.kind, line: v.line, yes: !v.yes}
			out = append(out, m)
		case "enabled_tools":
			m.key = "allowTools"
			out = append(out, m)
		case "disabled_tools":
			m.key = "denyTools"
			out = append(out, m)
		default:
			out = append(out, m)
		}
	}
	for _, key := range []string{"env", "headers"} {
		if table[key] != nil {
			out = append(out, member{key: key, line: n.line, value: table[key]})
		}
	}
	n.members = out
}

func textNode(s string, line int) *node { return &node{kind: '"', line: line, text: s} }

// set gives a member of an object another value.
func (n *node) set(key string, value *node) {
	for i := range n.members {
		if n.members[i].key == key {
			n.members[i].value = value
			return
		}
	}
	n.members = append(n.members, member{key: key, line: value.line, value: value})
}

// escape doubles the dollars of all texts, but for those before { unless all is set.
func escape(n *node, all bool) {
	if n.kind == '"' {
		var b strings.Builder
		for i := range len(n.text) {
			if n.text[i] == '$' && (all || !strings.HasPrefix(n.text[i+1:], "{")) {
				b.WriteByte('$')
			}
			b.WriteByte(n.text[i])
		}
		n.text = b.String()
	}
	for _, m := range n.members {
		escape(m.value, all)
	}
	for _, item := range n.items {
		escape(item, all)
	}
}
