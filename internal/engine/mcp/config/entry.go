package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// Scope is where an entry comes from.
type Scope string

// The scopes, the one that wins first.
const (
	ScopeManaged   Scope = "managed"   // the administrator's file, which excludes all others
	ScopeSession   Scope = "session"   // given with a session
	ScopeLocal     Scope = "local"     // the user's, for one project
	ScopeUser      Scope = "user"      // the user's, for all projects
	ScopeProject   Scope = "project"   // a file of the project
	ScopeExtension Scope = "extension" // the manifest of an extension
	ScopePreset    Scope = "preset"    // built in, see [Presets]
)

// Scopes returns all scopes, the one that wins first.
func Scopes() []Scope {
	return []Scope{ScopeManaged, ScopeSession, ScopeLocal, ScopeUser, ScopeProject, ScopeExtension, ScopePreset}
}

// Type is how a server is reached.
type Type string

// The types of servers.
const (
	TypeStdio Type = "stdio" // a process that reads and writes lines
	TypeHTTP  Type = "http"  // streamable HTTP
	TypeSSE   Type = "sse"   // HTTP with server-sent events
	TypeWS    Type = "ws"    // WebSocket
)

// Source is a place in a file.
type Source struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // from 1; 0 for none
}

// String returns the place for people.
func (s Source) String() string {
	if s.Line == 0 {
		return s.File
	}
	return s.File + ":" + strconv.Itoa(s.Line)
}

// OAuth is how a person signs in to a server of the types http and sse.
type OAuth struct {
	ClientID string `json:"clientId,omitempty"` // "" to register a client
	// ClientMetadataURL is where a document describes the client, for servers that read such
	// documents; "" for none.
	ClientMetadataURL     string   `json:"clientMetadataUrl,omitempty"`
	CallbackPort          int      `json:"callbackPort,omitempty"` // 0 for any that is free
	Scopes                []string `json:"scopes,omitempty"`       // nil for those that the server asks for
	AuthServerMetadataURL string   `json:"authServerMetadataUrl,omitempty"`
}

// Input is a value that a person is asked for once, as VS Code's files name them.
type Input struct {
	ID          string   `json:"id"`
	Description string   `json:"description,omitempty"`
	Default     string   `json:"default,omitempty"`
	Password    bool     `json:"password,omitempty"` // what is typed is not shown
	Options     []string `json:"options,omitempty"`  // nil for any text
}

// Entry is one server as it is configured, with a field for each key of its table. Slices and maps are not changed once it has
// been returned.
type Entry struct {
	Name   string // of the server; it has no "__"
	Scope  Scope
	Source Source
	Type   Type

	// Of the type stdio.
	Command string
	Args    []string
	Env     map[string]string // laid over the environment that the process gets
	EnvFile string            // a file with more of Env, which wins over it; "" for none
	Cwd     string            // "" for the workspace

	// Of the other types.
	URL           string
	Headers       map[string]string
	HeadersHelper string // a shell command that prints a JSON object of more headers
	OAuth         *OAuth // nil when nothing is set

	TimeoutMS  int  // of a call, in milliseconds; 0 for the default
	AlwaysLoad bool // its tools are in the request from the first turn on
	Disabled   bool // it is shown, and never started
	AllowTools []string
	// DenyTools and AllowTools are names, or patterns with *, of the server's tools as
	// the server names them. A nil AllowTools is all; DenyTools wins.
	DenyTools  []string
	Sandbox    bool // of the type stdio: it runs in the sandbox; always set where [Entry.OfProject] is true
	PerSession bool // each session has a connection of its own
	Sampling   bool // it may ask for completions; only of the user's and an administrator's own
	// ProjectExtension says of [ScopeExtension] that the extension is the project's.
	ProjectExtension bool

	Advice string // of [ScopePreset]: what a person can do when it cannot be reached, a clause
	// Awaited says that a session has switched it on by its name: the person waits for it.
	Awaited bool

	Inputs []Input // those that the values name
	Dir    string  // of [ScopeExtension]: the folder of the extension
}

// OfProject reports whether a file of the project has the entry: one of servers, or the
// manifest of an extension.
func (e Entry) OfProject() bool { return e.Scope == ScopeProject || e.ProjectExtension }

// Target returns the command line or the URL, for people.
func (e Entry) Target() string {
	if e.Type != TypeStdio {
		return e.URL
	}
	line := e.Command
	for _, a := range e.Args {
		line += " " + a
	}
	return line
}

// Hash returns what a connection, a sign-in and a decision of a person hold for, in hex:
// the type, what is started or reached, and with which variables, headers and rights.
// Name, scope, place, time-out and choice of tools are not in it. That of an expanded
// entry differs from that of the entry as it is written.
func (e Entry) Hash() string {
	return digest(struct {
		Type       Type
		Command    string
		Args       []string
		Env        map[string]string
		EnvFile    string
		Cwd        string
		URL        string
		Headers    map[string]string
		Helper     string
		OAuth      *OAuth
		Sandbox    bool
		PerSession bool
		Sampling   bool
	}{e.Type, e.Command, append([]string{}, e.Args...), orEmpty(e.Env), e.EnvFile, e.Cwd, e.URL, orEmpty(e.Headers), e.HeadersHelper, e.OAuth, e.Sandbox, e.PerSession, e.Sampling})
}

// Signature returns what two entries share that are the same server under two names:
// command and arguments, or the URL.
func (e Entry) Signature() string {
	if e.Type == TypeStdio {
		line, _ := json.Marshal(append([]string{e.Command}, e.Args...))
		return "stdio:" + string(line)
	}
	return "url:" + e.URL
}

func digest(v any) string {
	data, err := json.Marshal(v) // of strings, numbers and booleans: it cannot fail
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
