package protocol

// Requests about the configuration and its shell hooks.
type (
	// GetConfig gives every key of the configuration with its value in force
	// and where it came from, as it counts in a session, or, without one, in WorkDir; the
	// answer is a [ConfigReport].
	GetConfig struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
	// SetConfig sets a key of the user's config.toml, whose other lines and comments stay.
	// Value is what is after the = in the file; where the key takes a text, words
	// without quotes are that text. An empty Value takes the key out, so that its default
	// counts. What would make the file wrong is refused, and so is everything that may
	// hold a secret: keys of providers go to set_credential.
	SetConfig struct {
		Key   string `json:"key" check:"required,max=MaxName"` // dotted, as [GetConfig] gives it
		Value string `json:"value" check:"max=MaxSetting"`     // at most 16 KiB
	}
	// ListHooks returns the shell hooks of the configuration of a session, or, without one,
	// of WorkDir; the answer is a [HookList].
	ListHooks struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
)

// What they are answered with.
type (
	// ConfigReport is the configuration in force; Notices are what was ignored.
	// Trust is the state of the project's file: trusted, changed, new or untrusted,
	// and "" where there is none.
	ConfigReport struct {
		Entries []ConfigEntry `json:"entries"`
		Trust   string        `json:"trust,omitempty"`
		Notices []string      `json:"notices,omitempty"`
	}
	// ConfigEntry is one key with its value in force; Source says where it came
	// from: "default", "flag", or file:line.
	//
	// Type, Default and Doc are what the documentation says of the key, for people;
	// Settable says that set_config takes it.
	ConfigEntry struct {
		Key      string `json:"key"`
		Value    string `json:"value"`
		Source   string `json:"source"`
		Type     string `json:"type,omitempty"`
		Default  string `json:"default,omitempty"`
		Doc      string `json:"doc,omitempty"`
		Settable bool   `json:"settable,omitempty"`
	}
	// HookList is the shell hooks, the user's before the project's, in the order of
	// their files. Problems are sentences about what does not count.
	HookList struct {
		Hooks    []HookInfo `json:"hooks"`
		Problems []string   `json:"problems,omitempty"`
	}
	// HookInfo is a shell hook. State is ok, untrusted (a project's that the user does not
	// trust), or changed (a file that it runs has changed since it was trusted). Source is
	// file:line.
	HookInfo struct {
		Event     string `json:"event"`
		Matcher   string `json:"matcher,omitempty"` // of tools; "" is all
		Command   string `json:"command"`
		TimeoutMS int64  `json:"timeoutMs"`
		Blocks    bool   `json:"blocks,omitempty"` // a failure of it counts as a refusal
		Scope     string `json:"scope"`            // user or project
		Source    string `json:"source"`
		State     string `json:"state"`
		Problem   string `json:"problem,omitempty"`
	}
)

var (
	getConfigSpec = Spec{
		Name: "get_config", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(GetConfig) }, Reply: func() Response { return new(ConfigReport) },
	}
	setConfigSpec = Spec{
		Name: "set_config", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(SetConfig) }, Reply: func() Response { return new(Done) },
	}
	listHooksSpec = Spec{
		Name: "list_hooks", Scope: ScopeEither, Grant: GrantControl,
		New: func() Request { return new(ListHooks) }, Reply: func() Response { return new(HookList) },
	}
)
