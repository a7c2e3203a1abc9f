package mcpservers

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/trust"
	"scorel/internal/extension"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// Surroundings are what a server runs in.
type Surroundings struct {
	Environ []string // of the process, without keys of models
	Root    string   // of the workspace
	// Trust is the trusted files of projects; nil trusts none.
	Trust *trust.Store
	// Profile confines what runs in the sandbox. An error says in a sentence without a
	// subject why nothing can.
	Profile func() (*sandbox.Profile, error)
	// Answers are those of people to the questions of entries; the zero value is none.
	Answers Answers
}

// Check says in a sentence without a subject why the server of an entry may not be used now,
// "" when it may: that of a project has to be as it was trusted.
func (in Surroundings) Check(e mcpconfig.Entry) (string, error) {
	if !e.OfProject() {
		return "", nil
	}
	file, err := filepath.Rel(in.Root, e.Source.File)
	if in.Trust == nil || err != nil {
		return "it is of the project, which you have not trusted; see scorel trust", nil
	}
	return in.Trust.ChangedServer(in.Root, filepath.ToSlash(file), e)
}

// ProjectFiles returns the files of servers of the project at root that are trusted as they
// are.
func ProjectFiles(store *trust.Store, root string) (files []mcpconfig.File) {
	for _, name := range mcpconfig.ProjectFiles() {
		data, trusted, _, err := store.Read(root, trust.KindMCP, name, mcpconfig.MaxFile)
		if err == nil && trusted && data != nil {
			files = append(files, mcpconfig.File{Name: filepath.Join(root, name), Data: data})
		}
	}
	return files
}

// OfExtensions returns the servers of extensions that are enabled and, those of the project,
// trusted.
func OfExtensions(found extension.Found) (list []mcpconfig.Extension) {
	for _, x := range found.Extensions {
		if x.State == protocol.ExtensionFound && x.Servers != nil {
			project := x.Scope == extension.Project
			list = append(list, mcpconfig.Extension{ID: x.ID, Dir: x.Dir, File: x.Path, Servers: x.Servers, OfProject: project,
				Taken: project && slices.ContainsFunc(found.Extensions, func(o extension.Extension) bool {
					return o.Scope == extension.User && o.ID == x.ID && o.Servers != nil
				})})
		}
	}
	return list
}

// Reached is an entry with its variables replaced, and how its server is reached.
type Reached struct {
	Entry  mcpconfig.Entry
	Target connect.Target
}

// Vars is what the values of entries may refer to, in an environment of the host.
func Vars(environ []string, home, root string) mcpconfig.Vars {
	return mcpconfig.Vars{Workspace: root, Home: home, Lookup: func(name string) (string, bool) {
		for _, pair := range slices.Backward(environ) {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}}
}

// minHidden is how long a value is that is taken out of texts, in bytes: shorter ones are in
// any text.
const minHidden = 4

// hiding returns what writes the names of variables and questions of an entry in the place of
// their values.
func hiding(e mcpconfig.Entry, vars mcpconfig.Vars) func(string) string {
	var pairs []string
	add := func(value, name string) {
		if len(value) < minHidden {
			return
		}
		pairs = append(pairs, value, name)
		if escaped := url.PathEscape(value); escaped != value {
			pairs = append(pairs, escaped, name)
		}
		if escaped := url.QueryEscape(value); escaped != value {
			pairs = append(pairs, escaped, name)
		}
	}
	for _, q := range e.Inputs {
		add(vars.Inputs[q.ID], "${input:"+q.ID+"}")
	}
	for _, name := range e.Variables() {
		if vars.Lookup != nil {
			value, _ := vars.Lookup(name)
			add(value, "${"+name+"}")
		}
	}
	if len(pairs) == 0 {
		return func(s string) string { return s }
	}
	return strings.NewReplacer(pairs...).Replace
}

// ordinary reports whether a variable of the environment says no more than where things are,
// in which language, and whose they are.
func ordinary(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// Reach says how the server of an entry is reached. An error says in a sentence without a
// subject why it may not be, or cannot be yet.
func Reach(e mcpconfig.Entry, policy mcpconfig.Policies, vars mcpconfig.Vars, in Surroundings) (r Reached, err error) {
	why, err := in.Check(e)
	if err != nil || why != "" {
		return Reached{}, cmp.Or(err, errors.New(why))
	}
	if vars.Inputs, err = in.Answers.Of(e); err != nil {
		return Reached{}, err
	}
	for _, q := range e.Inputs {
		if _, ok := vars.Inputs[q.ID]; !ok {
			return Reached{}, fmt.Errorf("it asks for something first: scorel mcp inputs %s", e.Name)
		}
	}
	vars.Allowed = e.Variables() // of a project's: they were shown when its file was trusted
	hide := hiding(e, vars)
	defer func() {
		if err != nil {
			err = errors.New(hide(err.Error()))
		}
	}()
	full, faults, ok := e.Expand(vars)
	if !ok || len(faults) > 0 {
		var why []string
		for _, f := range faults {
			if !slices.Contains(why, f.Message) {
				why = append(why, f.Message)
			}
		}
		return Reached{}, errors.New(strings.Join(why, "; "))
	}
	if full, err = full.WithEnvFile(in.Root); err != nil {
		return Reached{}, err
	}
	if refused := policy.Check(full); refused != nil {
		return Reached{}, refused
	}
	t := connect.Target{Hide: hide, Name: full.Name, Command: full.Command, Args: full.Args, Dir: full.Cwd, URL: full.URL, SSE: full.Type == mcpconfig.TypeSSE, Advice: full.Advice}
	if t.Dir == "" {
		t.Dir = in.Root
	}
	t.Helper = full.HeadersHelper
	if full.Sandbox || full.OfProject() && t.Helper != "" {
		if in.Profile == nil {
			return Reached{}, errors.New("it runs in the sandbox, which is not there")
		}
		if t.Profile, err = in.Profile(); err != nil {
			return Reached{}, err
		}
	}
	t.Env = slices.Clone(in.Environ)
	if full.OfProject() { // the trust question names the variables that it gets
		t.Env = slices.DeleteFunc(t.Env, func(pair string) bool { return !ordinary(pair) })
	}
	if full.Type == mcpconfig.TypeStdio {
		t.URL = ""
		for _, name := range slices.Sorted(maps.Keys(full.Env)) {
			t.Env = append(t.Env, name+"="+full.Env[name])
		}
		return Reached{full, t}, nil
	}
	t.Command, t.Headers = "", http.Header{}
	for name, value := range full.Headers {
		t.Headers.Set(name, value)
	}
	return Reached{full, t}, nil
}
