package protocol

// MCPState is the state of an MCP server, in a session or as it is configured.
type MCPState string

// The states of an MCP server.
const (
	MCPConfigured MCPState = "configured" // the session's first turn begins it
	MCPPending    MCPState = "pending"    // it is being connected with
	MCPConnected  MCPState = "connected"
	MCPNeedsAuth  MCPState = "needs-auth" // somebody has to sign in
	MCPFailed     MCPState = "failed"
	MCPDisabled   MCPState = "disabled"
	MCPRefused    MCPState = "refused"    // it may not be used: it is not trusted, or something in its entry is missing
	MCPSuppressed MCPState = "suppressed" // another one counts in its place, or a policy denies it
)

// Requests about MCP servers.
type (
	// ListMCPServers returns the MCP servers of a session, or, without one, those that are
	// configured for WorkDir, none of which is started; the answer is an [MCPServerList].
	ListMCPServers struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
	// EnableMCPServer switches an MCP server on or off: for all projects where the user's own
	// file has it, else for the project of the session or of WorkDir. The session uses or
	// leaves it from its next turn on, other sessions from their beginning.
	EnableMCPServer struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
		Name    string `json:"name" check:"required,max=MaxName"`
		Enabled bool   `json:"enabled"`
	}
	// ReconnectMCPServer ends the connection of a session to an MCP server and makes a new one.
	ReconnectMCPServer struct {
		Name string `json:"name" check:"required,max=MaxName"`
	}
	// GetMCPLog returns the last of what an MCP server of a session has written to its log and
	// to stderr; the answer is an [MCPLog].
	GetMCPLog struct {
		Name string `json:"name" check:"required,max=MaxName"`
	}
	// SetMCPInput keeps what a person answers to a question of the entry of an MCP server of the
	// session, or of WorkDir, with the keys of providers; "" forgets it. A server that waits for
	// it is begun with the session's next turn.
	SetMCPInput struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
		Name    string `json:"name" check:"required,max=MaxName"`
		ID      string `json:"id" check:"required,max=MaxName"`
		Value   string `json:"value" check:"max=MaxMCPInput"`
	}
	// BeginMCPLogin begins to sign in to an MCP server of the session, or of WorkDir; the answer
	// is an [MCPLogin]. A person opens its address in a browser, which comes back to this host.
	// It waits five minutes; [AwaitMCPLogin] tells how it ended.
	BeginMCPLogin struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
		Name    string `json:"name" check:"required,max=MaxName"`
	}
	// AwaitMCPLogin waits until a sign-in has ended. A person whose browser is on another machine
	// gives the address at which it ended as Pasted.
	AwaitMCPLogin struct {
		LoginID string `json:"loginId" check:"required,max=MaxName"`
		Pasted  string `json:"pasted,omitempty" check:"max=MaxPasted"`
	}
	// CancelMCPLogin ends a sign-in that nobody waits for any more.
	CancelMCPLogin struct {
		LoginID string `json:"loginId" check:"required,max=MaxName"`
	}
)

// Bounds of requests about MCP servers, in bytes but for the number of texts.
const (
	MaxMCPInput   = 4 << 10  // an answer to a question of an entry
	MaxPasted     = 64 << 10 // the address at which a sign-in has ended
	MaxMCPConfigs = 16       // texts with servers that a turn brings
	MaxMCPConfig  = 1 << 20  // one of them, as for a file of servers
	MaxChannels   = 16       // channels that a turn names
	MaxChannel    = 160      // one of them
)

// What they are answered with.
type (
	// MCPServerInfo is an MCP server. What a server says of itself is in Title alone.
	MCPServerInfo struct {
		Name    string   `json:"name"`
		Scope   string   `json:"scope"`            // managed, session, local, user, project, extension or preset
		Source  string   `json:"source,omitempty"` // file and line of its entry
		Type    string   `json:"type"`             // stdio, http, sse or ws
		Target  string   `json:"target,omitempty"` // what is started, or its address, without values of variables
		State   MCPState `json:"state"`
		Problem string   `json:"problem,omitempty"` // a sentence: why it is not connected, or what is left out
		Title   string   `json:"title,omitempty"`   // what the server calls itself
		Tools   int      `json:"tools,omitempty"`   // how many the session can use
		// Prompts and Resources are how many it has, where it is connected.
		Prompts    int  `json:"prompts,omitempty"`
		Resources  int  `json:"resources,omitempty"`
		AlwaysLoad bool `json:"alwaysLoad,omitempty"` // its tools are sent to the model from the first turn on
		CanSignIn  bool `json:"canSignIn,omitempty"`  // it can need a sign-in, or has one
		SignedIn   bool `json:"signedIn,omitempty"`   // somebody has
		// Inputs are what its entry asks people for, once.
		Inputs []MCPInput `json:"inputs,omitempty"`
	}
	// MCPInput is a question of an entry.
	MCPInput struct {
		ID          string   `json:"id"`
		Description string   `json:"description,omitempty"`
		Default     string   `json:"default,omitempty"`
		Password    bool     `json:"password,omitempty"` // what is typed is not to be shown
		Options     []string `json:"options,omitempty"`  // what can be answered; none for any text
		Answered    bool     `json:"answered,omitempty"`
	}
	// MCPServerList is the servers by name, those that do not count last. SavedTokens is an
	// estimate of what the descriptions of tools would take that the model searches for instead.
	MCPServerList struct {
		Servers     []MCPServerInfo `json:"servers"`
		Problems    []string        `json:"problems,omitempty"` // of the files, a sentence each
		SavedTokens int             `json:"savedTokens,omitempty"`
	}
	// MCPLog is the last of what a server has written, cleaned; at most 64 KiB.
	MCPLog struct {
		Text string `json:"text"`
	}
	// MCPLogin is a sign-in that waits. Host is the host of URL, which a person looks at before
	// they open it.
	MCPLogin struct {
		LoginID string `json:"loginId"`
		URL     string `json:"url"`
		Host    string `json:"host"`
	}
)

var (
	listMCPServersSpec = Spec{
		Name: "list_mcp_servers", Scope: ScopeEither, Grant: GrantView,
		New: func() Request { return new(ListMCPServers) }, Reply: func() Response { return new(MCPServerList) },
	}
	enableMCPServerSpec = Spec{
		Name: "enable_mcp_server", Scope: ScopeEither, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(EnableMCPServer) }, Reply: func() Response { return new(Done) },
	}
	reconnectMCPServerSpec = Spec{
		Name: "reconnect_mcp_server", Scope: ScopeSession, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(ReconnectMCPServer) }, Reply: func() Response { return new(Done) },
	}
	getMCPLogSpec = Spec{
		Name: "get_mcp_log", Scope: ScopeSession, Grant: GrantControl,
		New: func() Request { return new(GetMCPLog) }, Reply: func() Response { return new(MCPLog) },
	}
	setMCPInputSpec = Spec{
		Name: "set_mcp_input", Scope: ScopeEither, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(SetMCPInput) }, Reply: func() Response { return new(Done) },
	}
	beginMCPLoginSpec = Spec{
		Name: "begin_mcp_login", Scope: ScopeEither, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(BeginMCPLogin) }, Reply: func() Response { return new(MCPLogin) },
	}
	awaitMCPLoginSpec = Spec{
		Name: "await_mcp_login", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(AwaitMCPLogin) }, Reply: func() Response { return new(Done) },
	}
	cancelMCPLoginSpec = Spec{
		Name: "cancel_mcp_login", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(CancelMCPLogin) }, Reply: func() Response { return new(Done) },
	}
)

// NamedFolder returns the folder that the client names: see [NamesFolder].
func (r *ListMCPServers) NamedFolder() string { return r.WorkDir }
