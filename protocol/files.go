package protocol

// Requests about the files of a project, for people who look at them.
type (
	// GetFile returns a file of a project; the answer is [FileText]. Path is relative to the
	// project's folder. What lies outside of it, in Scorel's own folder, where keys are kept,
	// or is protected, is refused.
	GetFile struct {
		ProjectID ProjectID `json:"projectId" check:"required,max=MaxWord"`
		Path      string    `json:"path" check:"required,max=MaxPath"`
	}
	// ListChanges returns the files that the tools of a session have changed and that are not
	// as they were before the first change, or, with Git, as they are in the commit that is
	// checked out; the answer is [ChangeList]. What commands and sub-agents have changed is not
	// among them. No process is started.
	ListChanges struct {
		Git bool `json:"git,omitempty"`
	}
)

// ChangeState is what became of a file.
type ChangeState string

// The states of a change.
const (
	ChangeAdded   ChangeState = "added"
	ChangeChanged ChangeState = "changed"
	ChangeRemoved ChangeState = "removed" // by somebody, after the session had changed it
	ChangeUnknown ChangeState = "unknown" // Problem says why
)

// What they are answered with.
type (
	// FileText is a file as it is now. Text is its beginning, at most 256 KiB, and "" of a
	// file that is Binary; Cut says that there is more.
	FileText struct {
		Path   string `json:"path"`
		Bytes  int64  `json:"bytes"`
		Text   string `json:"text,omitempty"`
		Cut    bool   `json:"cut,omitempty"`
		Binary bool   `json:"binary,omitempty"`
	}
	// ChangeList is changed files by path, at most 200; More says that there are further ones.
	// Git says that the folder is in a working tree of Git whose commit can be read: without,
	// a request with Git is refused.
	ChangeList struct {
		Files []ChangedFile `json:"files"`
		More  bool          `json:"more,omitempty"`
		Git   bool          `json:"git,omitempty"`
	}
	// ChangedFile is a file that a session has changed, from what it is compared with to now.
	ChangedFile struct {
		// Path is relative to the folder of the session where the file lies in it, else absolute.
		Path    string      `json:"path"`
		State   ChangeState `json:"state"`
		Added   int         `json:"added,omitempty"`   // lines
		Removed int         `json:"removed,omitempty"` // lines
		// Diff is unified; "" where it is too long, or the file is not text.
		Diff    string `json:"diff,omitempty"`
		Omitted bool   `json:"omitted,omitempty"` // the diff is too long
		Binary  bool   `json:"binary,omitempty"`
		Problem string `json:"problem,omitempty"` // a sentence: why it is not known what has changed
	}
)

var (
	getFileSpec = Spec{
		Name: "get_file", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(GetFile) }, Reply: func() Response { return new(FileText) },
	}
	listChangesSpec = Spec{
		Name: "list_changes", Scope: ScopeSession, Grant: GrantControl,
		New: func() Request { return new(ListChanges) }, Reply: func() Response { return new(ChangeList) },
	}
)
