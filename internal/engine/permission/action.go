package permission

import "scorel/protocol"

// Kind returns what sort of effect a call has.
type Kind = protocol.ToolKind

// The kinds.
const (
	Read  = protocol.ToolReads
	Write = protocol.ToolWrites
	Exec  = protocol.ToolRuns
	Net   = protocol.ToolSends
	State = protocol.ToolOwn
)

// Path is one file or folder that a call touches, already resolved: absolute,
// without symlinks.
type Path struct {
	Abs string
	// Named is the path as it was named, absolute, where links lead from it to
	// Abs; else "". Rules that deny or ask cover a file by both names.
	Named      string
	Inside     bool // in the workspace or an additional directory, and no Keys
	Keys       bool // where the user keeps keys, though the workspace lies around it
	Protected  bool // one of the protected files, or in a protected folder
	OutOfReach bool // in ~/.scorel: always refused, but for reading what is Skill
	Skill      bool // in the folder of one of the user's skills: it can be read like the workspace
}

// As returns the path with the name, absolute, under which it was asked for.
func (p Path) As(named string) Path {
	if p.Named = named; named == p.Abs {
		p.Named = ""
	}
	return p
}

// Action is what a call would do, exactly. It is made by the tool from the bytes
// that will run.
type Action struct {
	Tool  string
	Kind  Kind
	Paths []Path // of Read and Write
	// Effect returns what a Write does with its file, such as "creates" or "replaces", and how
	// many lines that are, such as " (22 → 3 lines)". With nil it writes it.
	Effect  func() (verb, size string)
	Command string // of Exec: the bash source
	Name    string // of Skill and ExecuteSkill: the skill; with Server a prompt of that server
	Dir     string // of Exec: the working directory, absolute
	Host    string // of Net: lower case, with the port when it is not 80 or 443
	Server  string // of a tool or a prompt of an MCP server: the server, as its tools' names write it
	// Exact, of Net, says that only a rule which names Host itself allows this:
	// neither one for the whole tool or for names below a domain, nor a mode: what
	// no such rule names is asked for, also in a mode that asks for nothing. So
	// this machine and unusual ports are never reached by a wide permission.
	Exact bool
	// Background of Exec says that the command goes on running after the call.
	Background bool
	// Own of Exec says that the call acts only on what this session was allowed to
	// start: it is asked for only by a rule.
	Own bool
	// Resolve resolves an absolute path that a command names, as Read and Write
	// would: the file need not exist. With nil only the text of a path counts:
	// no folder is known to be inside the workspace except the workspace itself.
	Resolve func(abs string) Path
	// Repository returns the repository that Git would use in a folder, absolute and
	// without symlinks, as it is before the command. With nil rules about Git count in
	// every folder of the workspace.
	Repository func(dir string) Repository
	// Ignored reports whether Git ignores a folder of the workspace, absolute and without
	// symlinks. With nil it ignores none.
	Ignored func(dir string) bool
	// Holds returns a file in a folder, absolute and without symlinks, or below it, that is
	// covered, "" when there is none, and whether all of it was looked at. With nil nothing
	// is known of what folders hold.
	Holds func(dir string, covered func(abs string) bool) (file string, all bool)
	// Names returns the names in a folder, absolute, and whether these are all; none for what
	// is no folder. With nil a wildcard counts by its text alone.
	Names func(dir string) (names []string, all bool)
}

// prompt reports whether the action uses a prompt of an MCP server as a skill.
func (a Action) prompt() bool { return a.Server != "" && a.Name != "" }

// Verdict is the judgement about an action.
type Verdict struct {
	Decision protocol.Decision // allow, ask or deny
	Rule     string            // the rule that decided, "" when the mode did
	Reason   string            // one sentence for the person asked, or for the model when denied
	// Git says that a rule allows a command that starts Git: it has to run with
	// safe.bareRepository=explicit, so that no folder of the workspace is taken for a
	// repository that the judgement did not see.
	Git bool
	// Suggestions are the answers that a question offers; the first is "once".
	Suggestions []protocol.Suggestion
}
