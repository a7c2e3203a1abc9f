package protocol

// Requests about memory.
type (
	// AddMemory adds a note to the memory of the session's project, without one of that
	// of WorkDir, or to the user's.
	AddMemory struct {
		Scope   string `json:"scope" check:"oneof=project|user|daily"` // project, user or daily
		Text    string `json:"text" check:"required,max=MaxSetting"`   // at most 8 KiB, 2 KiB a line
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
	// GetMemory returns the files of the session's memory, or, without one, of that of
	// WorkDir; the answer is a [MemoryView].
	GetMemory struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
)

// What they are answered with.
type (
	// MemoryView is the memory of a session. Tokens is what of it is told to the model.
	MemoryView struct {
		Files   []MemoryFile `json:"files"`
		Tokens  int          `json:"tokens"`
		Problem string       `json:"problem,omitempty"`
	}
	// MemoryFile is a file of memory.
	MemoryFile struct {
		Scope string `json:"scope"` // user, project or daily
		Path  string `json:"path"`
		Bytes int64  `json:"bytes"`
		Text  string `json:"text,omitempty"` // at most 64 KiB
	}
)

var (
	addMemorySpec = Spec{
		Name: "add_memory", Scope: ScopeEither, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(AddMemory) }, Reply: func() Response { return new(Done) },
	}
	getMemorySpec = Spec{
		Name: "get_memory", Scope: ScopeEither, Grant: GrantControl,
		New: func() Request { return new(GetMemory) }, Reply: func() Response { return new(MemoryView) },
	}
)

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *AddMemory) Check() *Problem {
	if r.Text == "" {
		return &Problem{"text", "The note is empty; write something to keep."}
	}
	return r.checkFields()
}
