package mcpservers

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/connect"
)

// Surroundings are what a server runs in.
type Surroundings struct {
	Environ []string // of the process, without keys of models
	Root    string   // of the workspace
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

// Reach says how the server of an entry is reached. An error says in a sentence without a
// subject why it may not be, or cannot be yet.
func Reach(e mcpconfig.Entry, policy mcpconfig.Policies, vars mcpconfig.Vars, in Surroundings) (Reached, error) {
	full, faults, ok := e.Expand(vars)
	if !ok || len(faults) > 0 {
		why := make([]string, len(faults))
		for i, f := range faults {
			why[i] = f.Message
		}
		return Reached{}, errors.New(strings.Join(why, "; "))
	}
	full, err := full.WithEnvFile(in.Root)
	if err != nil {
		return Reached{}, err
	}
	if refused := policy.Check(full); refused != nil {
		return Reached{}, refused
	}
	t := connect.Target{Name: full.Name, Command: full.Command, Args: full.Args, Dir: full.Cwd, URL: full.URL, SSE: full.Type == mcpconfig.TypeSSE}
	if t.Dir == "" {
		t.Dir = in.Root
	}
	switch {
	case full.Type == mcpconfig.TypeWS:
		return Reached{}, errors.New("servers of the type ws are not there yet")
	case full.Scope == mcpconfig.ScopeProject || full.Scope == mcpconfig.ScopeExtension:
		return Reached{}, fmt.Errorf("servers of a %s are not there yet; scorel mcp add makes one your own", full.Scope)
	case full.Sandbox:
		return Reached{}, errors.New("it is to run in the sandbox, which is not there yet for servers")
	case full.HeadersHelper != "":
		return Reached{}, errors.New("its headersHelper is not there yet; give its headers as they are")
	}
	if full.Type == mcpconfig.TypeStdio {
		t.URL = ""
		t.Env = slices.Clone(in.Environ)
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
