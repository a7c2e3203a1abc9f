package protocol

// TrustState returns how a project's files stand as a whole.
type TrustState string

// The states.
const (
	TrustNone        TrustState = "none"        // nothing of it could act
	TrustAll         TrustState = "trusted"     // all that could act may
	TrustPart        TrustState = "changed"     // it was trusted; something is new or changed
	TrustNothing     TrustState = "untrusted"   // nothing that could act may
	TrustNotPossible TrustState = "untrustable" // there is too much of it
)

// Requests about what of a project may act.
type (
	// GetTrust returns what of a project could act, file by file; the answer is
	// [TrustReport].
	GetTrust struct {
		ProjectID ProjectID `json:"projectId" check:"required,max=MaxWord"`
	}
	// TrustProject trusts the files that Hash names, as a [TrustReport] gave it, or
	// takes all trust from the project. Another hash fails with conflict, whose
	// details are the report as it is now. The answer is [ProjectTrust].
	TrustProject struct {
		ProjectID ProjectID `json:"projectId" check:"required,max=MaxWord"`
		Hash      string    `json:"hash,omitempty" check:"max=MaxName"`
		Trusted   bool      `json:"trusted"`
		// WithoutServers are MCP servers of the project's files that are switched off for the
		// person before the files are trusted; enable_mcp_server switches one on.
		WithoutServers []string `json:"withoutServers,omitempty" check:"max=MaxRules,each=MaxName"`
	}
)

// What they are answered with.
type (
	// ProjectTrust says how a project's files stand. Ignored names at most 5 of
	// those that do not count, and Count says how many there are.
	ProjectTrust struct {
		State   TrustState `json:"state"`
		Ignored []string   `json:"ignored,omitempty"`
		Count   int        `json:"count,omitempty"`
		Notices []string   `json:"notices,omitempty"`
	}
	// TrustReport is what of a project could act. Hash names exactly this list.
	// Problem says why nothing of it can be trusted.
	TrustReport struct {
		ProjectID ProjectID   `json:"projectId"`
		Root      string      `json:"root"`
		State     TrustState  `json:"state"`
		TrustedAt int64       `json:"trustedAt,omitempty"`
		Hash      string      `json:"hash,omitempty"`
		Items     []TrustItem `json:"items"`
		Problem   string      `json:"problem,omitempty"`
		Notices   []string    `json:"notices,omitempty"`
		Servers   []string    `json:"servers,omitempty"` // MCP servers of the files, each of which can be left out
	}
	// TrustItem is what is trusted as a whole: Kind is config, settings, hook, mcp,
	// program, agent, command, skill, extension, heartbeat or template; Status is trusted,
	// changed, new or untrusted.
	// Problem, where there is one, says why it cannot be trusted. Does and the
	// names are text of the project.
	TrustItem struct {
		Kind    string      `json:"kind"`
		Name    string      `json:"name"`
		Status  string      `json:"status"`
		Problem string      `json:"problem,omitempty"`
		Does    []string    `json:"does,omitempty"`
		Files   []TrustFile `json:"files,omitempty"`
		Gone    []string    `json:"gone,omitempty"`
	}
	// TrustFile is one file of it; Change is "changed" or "new" in an item that
	// was trusted with another content.
	TrustFile struct {
		Name   string `json:"name"`
		Target string `json:"target,omitempty"`
		SHA256 string `json:"sha256"`
		Size   int64  `json:"size"`
		Change string `json:"change,omitempty"`
	}
)

var (
	getTrustSpec = Spec{
		Name: "get_trust", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(GetTrust) }, Reply: func() Response { return new(TrustReport) },
	}
	trustProjectSpec = Spec{
		Name: "trust_project", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(TrustProject) }, Reply: func() Response { return new(ProjectTrust) },
	}
)
