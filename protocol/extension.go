package protocol

// ExtensionState returns the state of an extension.
type ExtensionState string

// The states of an extension.
const (
	ExtensionFound     ExtensionState = "found"     // not started, because nobody needed it yet
	ExtensionLoaded    ExtensionState = "loaded"    //
	ExtensionDisabled  ExtensionState = "disabled"  // switched off by the user
	ExtensionUntrusted ExtensionState = "untrusted" // of a project, and not trusted
	ExtensionShadowed  ExtensionState = "shadowed"  // another one has its name
	ExtensionFailed    ExtensionState = "failed"    // it could not be loaded
	ExtensionStopped   ExtensionState = "stopped"   // switched off for the session, after three kills
)

// Requests about extensions.
type (
	// ListExtensions returns the extensions of a session, or, without one, those of
	// WorkDir, which are then not started; the answer is an [ExtensionList].
	ListExtensions struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
	// CheckExtension loads one extension by its file or folder, in a child of its own
	// and without a session, and says what it registers; the answer is an
	// [ExtensionInfo].
	CheckExtension struct {
		Path string `json:"path" check:"required,max=MaxPath"`
	}
	// EnableExtension switches an extension on or off, for all sessions of the user.
	EnableExtension struct {
		ID      string `json:"id" check:"required,max=MaxName"`
		Enabled bool   `json:"enabled"`
	}
)

// What they are answered with.
type (
	// ExtensionInfo is an extension that was found.
	ExtensionInfo struct {
		ID          string         `json:"id"`
		Name        string         `json:"name,omitempty"`
		Version     string         `json:"version,omitempty"`
		Path        string         `json:"path"`
		Scope       string         `json:"scope"` // user or project
		Kind        string         `json:"kind"`  // javascript or process
		State       ExtensionState `json:"state"`
		Problem     string         `json:"problem,omitempty"` // why it is not loaded, with file and line
		Tools       []string       `json:"tools,omitempty"`
		Commands    []string       `json:"commands,omitempty"`
		Hooks       []string       `json:"hooks,omitempty"`  // events that it listens to
		Models      []string       `json:"models,omitempty"` // that it adds, as they are chosen
		Unsupported []string       `json:"unsupported,omitempty"`
	}
	// ExtensionList is what was found, in load order.
	ExtensionList struct {
		Extensions []ExtensionInfo `json:"extensions"`
		Problems   []string        `json:"problems,omitempty"`
	}
)

var (
	listExtensionsSpec = Spec{
		Name: "list_extensions", Scope: ScopeEither, Grant: GrantView,
		New: func() Request { return new(ListExtensions) }, Reply: func() Response { return new(ExtensionList) },
	}
	checkExtensionSpec = Spec{
		Name: "check_extension", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(CheckExtension) }, Reply: func() Response { return new(ExtensionInfo) },
	}
	enableExtensionSpec = Spec{
		Name: "enable_extension", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(EnableExtension) }, Reply: func() Response { return new(Done) },
	}
)

// NamedFolder returns the folder that the client names: see [NamesFolder].
func (r *ListExtensions) NamedFolder() string { return r.WorkDir }
