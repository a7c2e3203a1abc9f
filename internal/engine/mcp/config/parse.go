package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Bounds of one file and entry; see docs/limits.md.
const (
	maxServers = 500      // of a file
	maxFaults  = 200      // that are named of a file
	maxText    = 32 << 10 // bytes of a value
	maxArgs    = 256
	maxVars    = 256 // variables of an entry, and headers
	maxTools   = 1000
	maxInputs  = 100
	maxTimeout = 24 * 60 * 60 * 1000 // milliseconds
)

// reader reads the servers of one file.
type reader struct {
	source Source
	scope  Scope
	// ofProject says of an extension's servers that the extension is the project's.
	ofProject bool
	path      string // of what is read, such as mcpServers.db
	server    string
	faults    []Fault
	// lineOf returns the line of a key of the entry that is read; nil: as parsed.
	lineOf  func(key string) int
	inputs  []Input
	bad     bool     // the entry is dropped
	dropped []string // the names of entries that are
}

func (r *reader) fault(line int, key string, dropped bool, format string, args ...any) {
	if dropped {
		r.bad = true
	}
	if len(r.faults) > maxFaults {
		return
	}
	at := r.source
	at.Line = line
	if r.lineOf != nil {
		at.Line = r.lineOf(key)
	}
	path := r.path
	if key != "" {
		path += "." + key
	}
	f := Fault{Source: at, Scope: r.scope, Path: path, Server: r.server, Dropped: dropped, Message: fmt.Sprintf(format, args...)}
	if len(r.faults) == maxFaults {
		f = Fault{Source: r.source, Scope: r.scope, Message: fmt.Sprintf("it has more than %d faults; the rest is not named", maxFaults)}
	}
	r.faults = append(r.faults, f)
}

// servers reads the object of servers of a file.
func (r *reader) servers(key string, n *node) (out []Entry) {
	if n == nil || n.kind == 'n' {
		return nil
	}
	r.path, r.server = key, ""
	if n.kind != '{' {
		r.fault(n.line, "", true, "%s is not an object of servers", key)
		return nil
	}
	if len(n.members) > maxServers {
		r.fault(n.line, "", true, "it has %d servers; a file has at most %d, so none of it counts", len(n.members), maxServers)
		return nil
	}
	for _, m := range n.members {
		r.path, r.server = key+"."+m.key, m.key
		e, ok := r.entry(cleanName(m.key), m.value, m.line)
		if !ok {
			out = slices.DeleteFunc(out, func(o Entry) bool { return o.Name == e.Name })
			r.dropped = append(r.dropped, e.Name)
			continue
		}
		if i := slices.IndexFunc(out, func(o Entry) bool { return o.Name == e.Name }); i >= 0 {
			r.fault(m.line, "", false, "the name is there twice; the last one counts")
			out[i] = e
			continue
		}
		out = append(out, e)
	}
	return out
}

// entry reads one server. It is dropped, with a fault, when it could not be used.
func (r *reader) entry(name string, n *node, line int) (Entry, bool) {
	e := Entry{Name: name, Scope: r.scope, Source: Source{r.source.File, line}}
	if r.lineOf != nil {
		e.Source.Line = r.lineOf("")
	}
	r.bad = false
	if err := CheckName(name); err != nil {
		before := len(r.faults)
		r.fault(line, "", true, "%v", err)
		if len(r.faults) > before && slices.Contains(Reserved(), strings.ToLower(name)) {
			r.faults[before].Code = CodeReservedName
		}
		return e, false
	}
	if n.kind != '{' {
		r.fault(line, "", true, "it is not an object")
		return e, false
	}
	for _, m := range n.members {
		r.field(&e, m.key, m.value)
	}
	r.typeOf(&e, line)
	if r.bad {
		return e, false
	}
	if e.Sampling && !slices.Contains([]Scope{ScopeManaged, ScopeLocal, ScopeUser}, r.scope) {
		r.fault(line, "sampling", false, "sampling has an effect only in your own file")
		e.Sampling = false
	}
	if e.ProjectExtension = r.ofProject; e.OfProject() {
		if e.Type == TypeStdio && n.get("sandbox") != nil && !e.Sandbox {
			r.fault(line, "sandbox", false, "a project's servers run in the sandbox; sandbox has no effect in its file")
		}
		e.Sandbox = e.Type == TypeStdio
	}
	named := e.names("input:")
	for i, in := range r.inputs { // in the order of the file; the first of an id counts
		if slices.Contains(named, in.ID) && !slices.ContainsFunc(r.inputs[:i], func(o Input) bool { return o.ID == in.ID }) {
			e.Inputs = append(e.Inputs, in)
		}
	}
	r.check(e, line)
	return e, !r.bad
}

// field takes one key of an entry.
func (r *reader) field(e *Entry, key string, n *node) {
	switch key {
	case "type", "transport":
		var s string
		r.text(&s, key, n)
		switch s {
		case "streamable-http", "streamableHttp", "streamable_http":
			s = string(TypeHTTP)
		}
		if e.Type != "" && e.Type != Type(s) {
			r.fault(n.line, key, true, "type and transport contradict each other")
		}
		switch Type(s) {
		case TypeStdio, TypeHTTP, TypeSSE, TypeWS:
			e.Type = Type(s)
		default:
			r.fault(n.line, key, true, "the type %s is unknown; there are stdio, http, sse and ws", quote(s))
		}
	case "command":
		r.text(&e.Command, key, n)
	case "args":
		r.list(&e.Args, key, n, maxArgs)
	case "env":
		r.table(&e.Env, key, n)
	case "envFile":
		r.text(&e.EnvFile, key, n)
	case "cwd":
		r.text(&e.Cwd, key, n)
	case "url":
		r.text(&e.URL, key, n)
	case "headers":
		r.table(&e.Headers, key, n)
	case "headersHelper":
		r.text(&e.HeadersHelper, key, n)
	case "oauth":
		r.oauth(e, n)
	case "timeoutMs", "timeout":
		r.number(&e.TimeoutMS, key, n, 1, maxTimeout)
	case "alwaysLoad":
		r.flag(&e.AlwaysLoad, key, n)
	case "disabled":
		r.flag(&e.Disabled, key, n)
	case "allowTools":
		r.list(&e.AllowTools, key, n, maxTools)
	case "denyTools":
		r.list(&e.DenyTools, key, n, maxTools)
	case "sandbox":
		r.flag(&e.Sandbox, key, n)
	case "perSession":
		r.flag(&e.PerSession, key, n)
	case "sampling":
		r.flag(&e.Sampling, key, n)
	case "description", "name", "$schema": // for people
	default:
		r.fault(n.line, key, false, "the key %s is unknown and has no effect", quote(key))
	}
}

// wrong drops the entry: a value that is not understood must not act as if it were missing.
func (r *reader) wrong(n *node, key, want string) {
	r.fault(n.line, key, true, "%s must be %s", key, want)
}

func (r *reader) text(to *string, key string, n *node) {
	switch {
	case n.kind != '"':
		r.wrong(n, key, "a text")
	case len(n.text) > maxText:
		r.wrong(n, key, fmt.Sprintf("at most %d bytes long", maxText))
	case strings.ContainsRune(n.text, 0):
		r.wrong(n, key, "a text without NUL")
	default:
		*to = n.text
	}
}

func (r *reader) flag(to *bool, key string, n *node) {
	if n.kind != 't' {
		r.wrong(n, key, "true or false")
		return
	}
	*to = n.yes
}

func (r *reader) number(to *int, key string, n *node, low, high int) {
	v, err := strconv.Atoi(n.text)
	if n.kind != 'd' || err != nil || v < low || v > high {
		r.wrong(n, key, fmt.Sprintf("a whole number from %d to %d", low, high))
		return
	}
	*to = v
}

func (r *reader) list(to *[]string, key string, n *node, most int) {
	if n.kind != '[' || len(n.items) > most {
		r.wrong(n, key, fmt.Sprintf("a list of at most %d texts", most))
		return
	}
	*to = make([]string, len(n.items))
	for i, item := range n.items {
		r.text(&(*to)[i], key, item)
	}
}

func (r *reader) table(to *map[string]string, key string, n *node) {
	if n.kind != '{' || len(n.members) > maxVars {
		r.wrong(n, key, fmt.Sprintf("an object of at most %d texts", maxVars))
		return
	}
	*to = map[string]string{}
	for _, m := range n.members {
		var s string
		switch m.value.kind {
		case 'd', 't': // a port or a switch, as people write them
			s = m.value.text
			if m.value.kind == 't' {
				s = strconv.FormatBool(m.value.yes)
			}
		case 'n':
			continue // VS Code: not set
		default:
			r.text(&s, key+"."+m.key, m.value)
		}
		(*to)[m.key] = s
	}
}

func (r *reader) oauth(e *Entry, n *node) {
	if n.kind != '{' {
		r.wrong(n, "oauth", "an object")
		return
	}
	e.OAuth = &OAuth{}
	for _, m := range n.members {
		key := "oauth." + m.key
		switch m.key {
		case "clientId":
			r.text(&e.OAuth.ClientID, key, m.value)
		case "clientMetadataUrl":
			r.text(&e.OAuth.ClientMetadataURL, key, m.value)
			if u, err := url.Parse(e.OAuth.ClientMetadataURL); err != nil || u.Host == "" || u.Scheme != "https" || strings.Trim(u.Path, "/") == "" || u.User != nil || u.Fragment != "" {
				r.wrong(m.value, key, "a URL that begins with https:// and has a path")
			}
		case "callbackPort":
			r.number(&e.OAuth.CallbackPort, key, m.value, 1, 65535)
		case "scopes":
			if m.value.kind == '"' {
				e.OAuth.Scopes = strings.Fields(m.value.text)
				if len(m.value.text) > maxText {
					r.wrong(m.value, key, fmt.Sprintf("at most %d bytes long", maxText))
				}
				continue
			}
			r.list(&e.OAuth.Scopes, key, m.value, maxVars)
		case "authServerMetadataUrl":
			r.text(&e.OAuth.AuthServerMetadataURL, key, m.value)
			if u, err := url.Parse(e.OAuth.AuthServerMetadataURL); err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
				r.wrong(m.value, key, "a URL that begins with https://")
			}
		case "clientSecret":
			r.fault(m.value.line, key, true, "a secret does not belong into this file; scorel mcp login --client-secret asks for it")
		default:
			r.fault(m.value.line, key, false, "the key %s is unknown and has no effect", quote(key))
		}
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// typeOf decides the type of an entry that names none, and refuses what is not of it.
func (r *reader) typeOf(e *Entry, line int) {
	if r.bad {
		return
	}
	if e.Type == "" {
		e.Type = TypeStdio
		if e.Command == "" && e.URL != "" {
			e.Type = TypeHTTP
		}
	}
	if e.Type == TypeStdio {
		switch {
		case strings.TrimSpace(e.Command) == "":
			r.fault(line, "command", true, "the command is missing")
		case e.URL != "":
			r.fault(line, "url", true, "it has a command and a url; keep one of them")
		case len(e.Headers) > 0 || e.HeadersHelper != "" || e.OAuth != nil:
			r.fault(line, "headers", false, "headers, headersHelper and oauth have no effect for the type stdio")
		}
		return
	}
	switch {
	case e.URL == "":
		r.fault(line, "url", true, "the url is missing")
	case e.Command != "":
		r.fault(line, "command", true, "it has a command and a url; keep one of them")
	case len(e.Args) > 0 || len(e.Env) > 0 || e.EnvFile != "" || e.Cwd != "" || e.Sandbox:
		r.fault(line, "args", false, "args, env, envFile, cwd and sandbox have no effect for the type %s", e.Type)
	}
	if e.OAuth != nil && e.Type == TypeWS {
		r.fault(line, "oauth", false, "oauth has no effect for the type ws")
	}
}

// check adds what is wrong with the values of an entry that no variable changes.
func (r *reader) check(e Entry, line int) {
	for _, p := range e.problems(false) {
		r.fault(line, p.key, true, "%s", p.text)
	}
}

// problem is a value that could not be used.
type problem struct{ key, text string }

// problems returns what is wrong with values; a URL that has variables is looked at when
// they are replaced.
func (e Entry) problems(expanded bool) (out []problem) {
	switch {
	case e.Type == TypeStdio && e.Command == "":
		out = append(out, problem{"command", "the command is empty"})
	case expanded && e.Type != TypeStdio && strings.Contains(e.URL, "${"):
		out = append(out, problem{"url", "the url has a variable that is not set"})
	case e.Type != TypeStdio && (expanded || !hasVariable(e.URL)):
		schemes := []string{"http", "https"}
		if e.Type == TypeWS {
			schemes = []string{"ws", "wss"}
		}
		u, err := url.Parse(e.URL)
		if err != nil || u.Host == "" || !slices.Contains(schemes, strings.ToLower(u.Scheme)) {
			out = append(out, problem{"url", fmt.Sprintf("the url of the type %s must begin with %s:// or %s://", e.Type, schemes[0], schemes[1])})
		}
	}
	for name := range sorted(e.Headers) {
		value := e.Headers[name]
		if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c) }) || strings.ContainsAny(value, "\r\n\x00") {
			out = append(out, problem{"headers", fmt.Sprintf("%s is not an HTTP header of one line", quote(name))})
		}
	}
	for name := range sorted(e.Env) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(e.Env[name], 0) {
			out = append(out, problem{"env", fmt.Sprintf("%s is not a name of a variable", quote(name))})
		}
	}
	return out
}
