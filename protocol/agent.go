package protocol

// Requests about agents.
type (
	// ListAgents returns the agents that Task can start in a session, or, without one, in
	// WorkDir; the answer is an [AgentList].
	ListAgents struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
)

// What they are answered with.
type (
	// AgentInfo is an agent that Task can start.
	AgentInfo struct {
		Name        string   `json:"name"`
		Description string   `json:"description,omitempty"`
		Path        string   `json:"path,omitempty"` // "" of a built-in one
		Scope       string   `json:"scope"`          // builtin, user or project
		Model       string   `json:"model,omitempty"`
		Mode        string   `json:"mode,omitempty"`
		Tools       []string `json:"tools,omitempty"` // names, or a preset; "-name" is denied; none are those of the session
		MaxSteps    int      `json:"maxSteps,omitempty"`
		Prompt      string   `json:"prompt,omitempty"`
		Color       string   `json:"color,omitempty"`         // red, orange, yellow, green, cyan, blue, purple or pink
		Effort      string   `json:"effort,omitempty"`        // its thinking level; "" is that of the session
		Background  bool     `json:"background,omitempty"`    // its calls always return at once
		Skills      []string `json:"skills,omitempty"`        // that it is given at its beginning
		Initial     string   `json:"initialPrompt,omitempty"` // what is said before its first task
		Hooks       int      `json:"hooks,omitempty"`         // of its own
		State       string   `json:"state"`                   // ok, shadowed, untrusted, broken
		Problem     string   `json:"problem,omitempty"`       // why it does not count, or what of it has no effect
	}
	// AgentList is what was found, sorted by name.
	AgentList struct {
		Agents   []AgentInfo `json:"agents"`
		Problems []string    `json:"problems,omitempty"`
	}
)

var (
	listAgentsSpec = Spec{
		Name: "list_agents", Scope: ScopeDevice, Grant: GrantView,
		New: func() Request { return new(ListAgents) }, Reply: func() Response { return new(AgentList) },
	}
)

// NamedFolder returns the folder that the client names: see [NamesFolder].
func (r *ListAgents) NamedFolder() string { return r.WorkDir }
