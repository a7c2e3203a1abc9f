package protocol

// Width returns how much of the machine a workspace is, where that is so much that a
// person has to allow it.
type Width string

// The widths; "" is a folder like any other.
const (
	WidthHome Width = "home" // the user's home, or what it lies in
	WidthRoot Width = "root" // the whole file system
)

// Requests about projects and their folders.
type (
	// RegisterProject makes the project of a working directory known, which is named by
	// its whole path; the answer is a [Project]. With Wide a person allows it as a
	// workspace, from now on, though it is their home or /; without, no turn runs there.
	RegisterProject struct {
		WorkDir string `json:"workDir" check:"required,max=MaxPath"`
		Wide    bool   `json:"wide,omitempty"`
	}
	// ListProjects returns the projects that are known; the answer is [ProjectList].
	ListProjects struct{}
	// RemoveProject takes a project off the list. Its sessions and files stay.
	RemoveProject struct {
		ProjectID ProjectID `json:"projectId" check:"required,max=MaxWord"`
	}
	// GetProjectState returns what a status line shows of the folder of a session, or,
	// without one, of WorkDir; the answer is a [ProjectState]. It starts no process.
	GetProjectState struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
	// ListFiles returns the files of a project whose paths match Query, best first,
	// for @: all letters of each word in their order, in any case. The answer is
	// [FileList]. Hidden and ignored files are left out. Limit is at most 200, 50 when
	// it is 0.
	ListFiles struct {
		ProjectID ProjectID `json:"projectId" check:"required,max=MaxWord"`
		Query     string    `json:"query,omitempty" check:"max=MaxQuery"`
		Limit     int       `json:"limit,omitempty" check:"min=0"`
	}
	// ListDirectories returns the folders inside a folder, the user's home when Path is
	// empty; the answer is [DirectoryList]. Path is absolute or begins with ~/. Hidden
	// folders are left out unless a name in Path begins with a dot: /srv/. gives those
	// of /srv.
	ListDirectories struct {
		Path string `json:"path,omitempty" check:"max=MaxPath"`
	}
)

// What they are answered with.
type (
	// Project is a folder that sessions belong to. Root is its canonical path.
	// Notices are what of its configuration does not count, one sentence each.
	Project struct {
		ProjectID ProjectID `json:"projectId"`
		Root      string    `json:"root"`
		WorkDir   string    `json:"workDir"`
		Notices   []string  `json:"notices,omitempty"`
		// Wide says that it is as wide as a home, and WideAllowed that a person allowed it
		// as a workspace; neither is said in a list.
		Wide        Width `json:"wide,omitempty"`
		WideAllowed bool  `json:"wideAllowed,omitempty"`
		// Trust is how its files stand; nil in a list.
		Trust *ProjectTrust `json:"trust,omitempty"`
		// TrustedAt is when the folder was trusted, 0 when it is not.
		TrustedAt int64 `json:"trustedAt,omitempty"`
	}
	// ProjectList is the known projects and trusted folders, by path. Notices are
	// what is wrong with the lists.
	ProjectList struct {
		Projects []Project `json:"projects"`
		Notices  []string  `json:"notices,omitempty"`
	}
	// ProjectState is what a status line shows of a folder. Branch is that of Git, or the
	// first 12 characters of a commit that is checked out by itself, "" without either.
	ProjectState struct {
		WorkDir string `json:"workDir"`
		Root    string `json:"root"`
		Git     bool   `json:"git,omitempty"`
		Branch  string `json:"branch,omitempty"`
	}
	// FileList is the files that match, best first, relative to the project's folder.
	FileList struct {
		Files []string `json:"files"`
		More  bool     `json:"more,omitempty"`
	}
	// DirectoryList is the folders inside a folder, by name. Path has no links in it;
	// Parent is "" at the top.
	DirectoryList struct {
		Path    string      `json:"path"`
		Parent  string      `json:"parent,omitempty"`
		Entries []Directory `json:"entries"`
		More    bool        `json:"more,omitempty"`
	}
	// Directory is one of them; ProjectID is set when it is a known project.
	Directory struct {
		Name      string    `json:"name"`
		ProjectID ProjectID `json:"projectId,omitempty"`
		Git       bool      `json:"git,omitempty"`
	}
)

var (
	registerProjectSpec = Spec{
		Name: "register_project", Scope: ScopeDevice, Grant: GrantControl,
		Method: "POST", Path: "/v1/projects",
		New: func() Request { return new(RegisterProject) }, Reply: func() Response { return new(Project) },
	}
	listProjectsSpec = Spec{
		Name: "list_projects", Scope: ScopeDevice, Grant: GrantView,
		Method: "GET", Path: "/v1/projects",
		New: func() Request { return new(ListProjects) }, Reply: func() Response { return new(ProjectList) },
	}
	removeProjectSpec = Spec{
		Name: "remove_project", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(RemoveProject) }, Reply: func() Response { return new(Done) },
	}
	getProjectStateSpec = Spec{
		Name: "get_project_state", Scope: ScopeEither, Grant: GrantView,
		New: func() Request { return new(GetProjectState) }, Reply: func() Response { return new(ProjectState) },
	}
	listFilesSpec = Spec{
		Name: "list_files", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(ListFiles) }, Reply: func() Response { return new(FileList) },
	}
	listDirectoriesSpec = Spec{
		Name: "list_directories", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(ListDirectories) }, Reply: func() Response { return new(DirectoryList) },
	}
)

// NamedFolder returns the folder that the client names: see [NamesFolder].
func (r *GetProjectState) NamedFolder() string { return r.WorkDir }
