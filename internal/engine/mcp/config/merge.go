package config

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// File is a file that was read. Data is nil for a missing one.
type File struct {
	Name string // as it is shown
	Data []byte
	Err  error // it is there and could not be read
}

func (f File) exists() bool { return f.Data != nil || f.Err != nil }

// Sources is all that is merged.
type Sources struct {
	Root       string // the workspace, as in the user's file under projects
	Managed    File
	Session    []File
	User       File        // with what is local
	UserTOML   []Entry     // of [[mcp.servers]]
	Faults     []Fault     // of those
	Project    []File      // the nearer first; only files that are trusted
	Presets    []Entry     // see [Presets]
	Extensions []Extension // each counts when it is enabled and trusted
	Policies   Policies    // of the configuration
	Vars       Vars        // for policies and for finding the same server under two names
}

// Strict returns the sources without all but what a session brings, presets, an administrator's
// file and the policies.
func (s Sources) Strict() Sources {
	s.User, s.UserTOML, s.Faults, s.Project, s.Extensions = File{}, nil, nil, nil, nil
	return s
}

// ProjectFiles returns the names of a project's files, the one that wins first.
func ProjectFiles() []string {
	return []string{".scorel/mcp.json", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"}
}

// merger collects what counts.
type merger struct {
	Sources
	set   Set
	taken map[string]string // the names of servers by the prefix of their tools
	off   map[string]bool   // names that are switched off or on for the project
	// given are names that the session switches off or on, which counts more.
	given map[string]bool
	// pluginOnly reports that the administrator lets the servers of extensions count, beside
	// the administrator's own.
	pluginOnly bool
}

// Merge returns what the sources make. Entries, suppressed ones and faults are in an order
// that depends on nothing else.
func Merge(s Sources) Set {
	m := &merger{Sources: s, taken: map[string]string{}}
	m.set.Policy = slices.Clone(s.Policies)
	m.set.Managed = s.Managed.exists()
	sound := true
	if m.set.Managed {
		sound = m.managed()
	}
	m.sessionSwitches()
	for _, f := range s.Session {
		m.add(m.file(ScopeSession, f))
	}
	local, user := m.user()
	m.add(local.entries, local.dropped)
	m.add(user.entries, user.dropped)
	var faulty []string
	for _, f := range s.Faults {
		if f.Dropped && CheckName(f.Server) == nil {
			faulty = append(faulty, f.Server)
		}
	}
	m.set.Faults = append(m.set.Faults, s.Faults...)
	m.add(s.UserTOML, faulty)
	for _, f := range s.Project {
		m.add(m.file(ScopeProject, f))
	}
	exts := slices.Clone(s.Extensions)
	slices.SortStableFunc(exts, func(a, b Extension) int { return strings.Compare(a.ID, b.ID) })
	for _, x := range exts {
		m.extension(x)
	}
	if !m.set.Managed {
		m.add(s.Presets, nil)
	}
	if !sound { // fail closed
		m.set.Entries = nil
	}
	m.duplicates()
	m.refuse()
	m.missed()
	slices.SortFunc(m.set.Entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return m.set
}

// add takes entries of a scope, unless an upper one has their names. A name that an upper
// scope has in a faulty entry is taken, too: rules that were given for that one must not
// count for another server.
func (m *merger) add(entries []Entry, dropped []string) {
	for _, e := range entries {
		switch {
		case m.pluginOnly && e.Scope != ScopeManaged && e.Scope != ScopeExtension:
			m.suppress(e, CodePluginOnly, "", "the administrator's file "+m.Sources.Managed.Name+" restricts servers to those of extensions")
			continue
		case m.set.Managed && !m.pluginOnly && e.Scope != ScopeManaged:
			m.suppress(e, CodeManagedExclusive, "", "the administrator's file "+m.Sources.Managed.Name+" excludes all other servers")
			continue
		}
		if by, ok := m.taken[e.ToolPrefix()]; ok {
			if e.Scope == ScopePreset {
				continue
			}
			reason := "another entry of the name counts before it"
			if o, found := m.set.Lookup(by); found {
				reason = "the entry of scope " + string(o.Scope) + " counts before it (" + o.Source.String() + ")"
			}
			m.suppress(e, CodeReplaced, by, reason)
			continue
		}
		m.taken[e.ToolPrefix()] = e.Name
		if on, ok := m.off[e.Name]; ok && e.Scope != ScopeManaged {
			e.Disabled, e.Awaited = !on, on && e.Scope == ScopePreset // who enables one has to learn that it needs more
		}
		if on, ok := m.given[e.Name]; ok && e.Scope != ScopeManaged {
			e.Disabled, e.Awaited = !on, on
		}
		m.set.Entries = append(m.set.Entries, e)
	}
	for _, name := range dropped {
		prefix := Entry{Name: name}.ToolPrefix()
		if _, ok := m.taken[prefix]; !ok {
			m.taken[prefix] = name
		}
	}
}

func (m *merger) suppress(e Entry, code Code, by, reason string) {
	m.set.Suppressed = append(m.set.Suppressed, Suppressed{e, code, by, reason})
}

// managed reads the administrator's file. It returns false where no server may be used.
func (m *merger) managed() bool {
	r, n := m.open(ScopeManaged, m.Sources.Managed)
	defer func() { m.set.Faults = append(m.set.Faults, r.faults...) }()
	if n == nil {
		if len(r.faults) == 0 {
			r.fault(0, "", true, "the administrator's file is empty, so no server counts")
		}
		return false
	}
	policy := Policy{Layer: m.Sources.Managed.Name, Managed: true}
	sound := true
	for _, e := range n.members {
		switch e.key {
		case "mcpServers", "$schema":
		case "allowedMcpServers":
			policy.Limited = true
			policy.Allowed, _ = r.rules(e.key, e.value)
		case "deniedMcpServers":
			if policy.Denied, sound = r.rules(e.key, e.value); !sound {
				r.path = e.key
				r.fault(e.line, "", true, "a deny rule of the administrator's is faulty, so no server counts until it is repaired")
			}
		case "allowManagedMcpServersOnly":
			r.path = e.key
			policy.OnlyThis = true
			if e.value.kind != 't' {
				r.fault(e.line, "", false, "%s must be true or false; it counts as true", e.key)
			} else {
				policy.OnlyThis = e.value.yes
			}
		case "strictPluginOnlyCustomization":
			m.pluginOnly = r.pluginOnly(e.key, e.value, e.line)
		case "channelsEnabled", "allowedChannels":
			m.set.Channels.read(r, e)
		default:
			r.path, r.server = e.key, ""
			r.fault(e.line, "", false, "the key %s is unknown and has no effect", quote(e.key))
		}
	}
	m.set.Policy = append(m.set.Policy, policy)
	m.add(r.servers("mcpServers", n.get("mcpServers")), r.dropped)
	return sound
}

// pluginOnly reports whether a value restricts servers to those of extensions: true, or a
// list of what is restricted, with "mcp". What is neither restricts them.
func (r *reader) pluginOnly(key string, n *node, line int) bool {
	switch n.kind {
	case 't':
		return n.yes
	case '[':
		if !slices.ContainsFunc(n.items, func(i *node) bool { return i.kind != '"' }) {
			return slices.ContainsFunc(n.items, func(i *node) bool { return i.text == "mcp" })
		}
	}
	r.path, r.server = key, ""
	r.fault(line, "", false, "%s must be true, false or a list of texts; it counts as true", key)
	return true
}

// ReservedNames returns the faults of a user's file that are about reserved names, of the
// servers of all its projects too.
func ReservedNames(user File) (faults []Fault) {
	m := &merger{}
	r, n := m.open(ScopeUser, user)
	r.document(n, []string{"projects"})
	faults = r.faults
	if projects := n.get("projects"); projects != nil {
		for _, p := range projects.members {
			l := &reader{source: r.source, scope: ScopeLocal}
			l.servers("mcpServers", p.value.get("mcpServers"))
			faults = append(faults, l.faults...)
		}
	}
	return slices.DeleteFunc(faults, func(f Fault) bool { return f.Code != CodeReservedName })
}

// open reads a file into an object; nil for a missing or faulty one.
func (m *merger) open(scope Scope, f File) (*reader, *node) {
	r := &reader{source: Source{File: f.Name}, scope: scope}
	if f.Err != nil {
		r.fault(0, "", true, "the file cannot be read: %v", f.Err)
		return r, nil
	}
	n, err := objectOf(f.Data)
	var bad *syntaxError
	switch {
	case errors.As(err, &bad):
		r.path = ""
		r.fault(bad.line, "", true, "the file is not valid JSON: %s", bad.text)
		return r, nil
	case err != nil:
		r.fault(0, "", true, "%v", err)
		return r, nil
	}
	return r, n
}

// objectOf parses a file that is an object, or empty.
func objectOf(data []byte) (*node, error) {
	if len(data) > MaxFile {
		return nil, errTooLarge
	}
	n, err := parseJSON(data)
	if err == nil && n != nil && n.kind != '{' {
		return nil, &syntaxError{n.line, "it is not an object"}
	}
	return n, err
}

// file reads a file of servers.
func (m *merger) file(scope Scope, f File) ([]Entry, []string) {
	r, n := m.open(scope, f)
	var known []string
	if scope == ScopeSession {
		known = []string{"enabled"}
	}
	entries := r.document(n, known)
	m.set.Faults = append(m.set.Faults, r.faults...)
	return entries, r.dropped
}

// document reads the servers of a document, as Claude Code or VS Code has them. Known are
// further keys that are read elsewhere.
func (r *reader) document(n *node, known []string) (out []Entry) {
	if n == nil {
		return nil
	}
	r.readInputs(n.get("inputs"))
	for _, m := range n.members {
		switch m.key {
		case "mcpServers", "servers":
			for _, e := range r.servers(m.key, m.value) {
				if !slices.ContainsFunc(out, func(o Entry) bool { return o.Name == e.Name }) {
					out = append(out, e)
				}
			}
		case "inputs", "$schema":
		default:
			if !slices.Contains(known, m.key) {
				r.path, r.server = m.key, ""
				r.fault(m.line, "", false, "the key %s is unknown and has no effect", quote(m.key))
			}
		}
	}
	return out
}

// readInputs reads what VS Code asks people for.
func (r *reader) readInputs(n *node) {
	if n == nil {
		return
	}
	r.path, r.server = "inputs", ""
	if n.kind != '[' || len(n.items) > maxInputs {
		r.fault(n.line, "", false, "inputs must be a list of at most %d objects", maxInputs)
		return
	}
	for _, item := range n.items {
		var in Input
		kind := ""
		before := len(r.faults)
		for _, m := range item.members {
			switch m.key {
			case "id":
				r.text(&in.ID, m.key, m.value)
			case "description":
				r.text(&in.Description, m.key, m.value)
			case "default":
				r.text(&in.Default, m.key, m.value)
			case "password":
				r.flag(&in.Password, m.key, m.value)
			case "type":
				r.text(&kind, m.key, m.value)
			case "options":
				for _, o := range m.value.items {
					if o.kind == '{' {
						o = o.get("value")
					}
					if o != nil && o.kind == '"' {
						in.Options = append(in.Options, o.text)
					}
				}
			}
		}
		if item.kind != '{' || in.ID == "" || kind != "promptString" && kind != "pickString" {
			r.fault(item.line, "", false, "an input has an id, and the type promptString or pickString")
		}
		if len(r.faults) == before {
			r.inputs = append(r.inputs, in)
		}
	}
}

// section is what a part of the user's file has.
type section struct {
	entries []Entry
	dropped []string
}

// user reads the user's file: what is local to the project, and what is everywhere.
func (m *merger) user() (local, user section) {
	r, n := m.open(ScopeUser, m.User)
	user.entries = r.document(n, []string{"projects"})
	user.dropped = r.dropped
	l := &reader{source: r.source, scope: ScopeLocal, inputs: r.inputs}
	if p := n.get("projects").get(m.Root); p != nil {
		local.entries = l.servers("mcpServers", p.get("mcpServers"))
		local.dropped = l.dropped
		m.switches(l, p.get("enabled"))
	}
	m.set.Faults = append(m.set.Faults, append(r.faults, l.faults...)...)
	return local, user
}

// switches reads which servers are switched on or off for the project.
func (m *merger) switches(r *reader, n *node) {
	if n == nil {
		return
	}
	m.off = r.switches(n)
}

// sessionSwitches reads which servers the session switches on or off.
func (m *merger) sessionSwitches() {
	for _, f := range m.Session {
		n, err := objectOf(f.Data)
		if err != nil || n.get("enabled") == nil {
			continue // what reads its servers names the fault
		}
		r := &reader{source: Source{File: f.Name}, scope: ScopeSession}
		for name, on := range r.switches(n.get("enabled")) {
			if m.given == nil {
				m.given = map[string]bool{}
			}
			m.given[name] = on
		}
		m.set.Faults = append(m.set.Faults, r.faults...)
	}
}

// missed names the servers that the session switches on and that do not count.
func (m *merger) missed() {
	for _, name := range slices.Sorted(maps.Keys(m.given)) {
		if _, ok := m.set.Lookup(name); ok || !m.given[name] {
			continue
		}
		why := "there is no server of this name"
		if m.set.Managed {
			why = "the administrator's file " + m.Sources.Managed.Name + " excludes it"
		}
		for _, x := range m.set.Suppressed {
			if x.Entry.Name == name {
				why = x.Reason
			}
		}
		m.set.Faults = append(m.set.Faults, Fault{Scope: ScopeSession, Server: name, Dropped: true, Code: CodeNotSwitchedOn, Message: "it is not switched on: " + why})
	}
}

// switches reads an object of names with true or false, nil for a faulty one.
func (r *reader) switches(n *node) map[string]bool {
	r.path, r.server = "enabled", ""
	if n.kind != '{' || len(n.members) > maxServers {
		r.fault(n.line, "", false, "enabled must be an object of at most %d names with true or false", maxServers)
		return nil
	}
	out := map[string]bool{}
	for _, s := range n.members {
		out[s.key] = s.value.kind == 't' && s.value.yes
		if s.value.kind != 't' {
			r.fault(s.line, s.key, false, "it is neither true nor false, so the server is disabled")
		}
	}
	return out
}

func (m *merger) extension(x Extension) {
	r, n := m.open(ScopeExtension, File{Name: x.File, Data: x.Servers})
	r.ofProject, r.lineOf = x.OfProject, func(string) int { return 0 } // lines are those of the manifest, which is not here
	entries := r.servers("mcp", n)
	for i := range entries {
		entries[i].Name, entries[i].Dir = extensionPrefix+x.ID+":"+entries[i].Name, x.Dir
	}
	m.set.Faults = append(m.set.Faults, r.faults...)
	if x.Taken {
		for _, e := range entries {
			m.suppress(e, CodeReplaced, "", "you have an extension "+x.ID+" with servers of its own, whose rules would count for it; rename one of the two")
		}
		return
	}
	m.add(entries, nil)
}

// duplicates suppresses servers of extensions that the person has by another name.
func (m *merger) duplicates() {
	have := map[string]string{}
	for pass := range 2 {
		m.set.Entries = slices.DeleteFunc(m.set.Entries, func(e Entry) bool {
			ext := e.Scope == ScopeExtension
			if ext != (pass == 1) || e.Disabled {
				return false
			}
			full, _, _ := e.Expand(m.Vars)
			by, ok := have[full.Signature()]
			if !ok {
				have[full.Signature()] = e.Name
				return false
			}
			if ext {
				m.suppress(e, CodeDuplicate, by, "it is the same server as "+by)
			}
			return ext
		})
	}
}

// refuse takes out what the policies do not let count.
func (m *merger) refuse() {
	m.set.Entries = slices.DeleteFunc(m.set.Entries, func(e Entry) bool {
		full, _, _ := e.Expand(m.Vars)
		refusal := m.set.Policy.Check(full)
		if refusal == nil {
			return false
		}
		if e.Scope != ScopePreset || !e.Disabled { // who uses none needs not know of it
			m.suppress(e, refusal.Code, "", refusal.Error())
		}
		return true
	})
}
