package config

// Code is why an entry does not count, for programs.
type Code string

// The codes.
const (
	CodeReplaced         Code = "replaced"          // an upper scope or a nearer file has the name
	CodeDuplicate        Code = "duplicate"         // the same server, under another name
	CodeDenied           Code = "denied"            // a deny rule names it
	CodeNotInAllowList   Code = "not_in_allowlist"  // there is an allow list without it
	CodeManagedExclusive Code = "managed_exclusive" // there is a managed file
	CodePluginOnly       Code = "plugin_only"       // the managed file lets only those of extensions count
	CodeNotSwitchedOn    Code = "not_switched_on"   // a session switches it on, and it does not count
	CodeReservedName     Code = "reserved_name"     // the name is one of [Reserved]
)

// Suppressed is an entry that does not count.
type Suppressed struct {
	Entry  Entry
	Code   Code
	By     string // the server that counts in its place, "" for none
	Reason string // a sentence
}

// Fault is something wrong in a file or entry.
type Fault struct {
	Source  Source
	Scope   Scope  // "" where it is of no scope
	Path    string // in the file, such as mcpServers.db.url; "" for the file
	Server  string // "" for the file
	Dropped bool   // the entry, or without Server the file, does not count
	Message string // a sentence without place
	Code    Code   // why, "" for most
}

// Error returns the sentence with its place.
func (f Fault) Error() string {
	text := f.Message
	if f.Server != "" {
		text = "MCP server " + quote(f.Server) + ": " + text
	}
	if place := f.Source.String(); place != "" {
		text += " (" + place + ")"
	}
	return text
}

// Set is what all files make together.
type Set struct {
	Entries    []Entry      // what counts, by name, those that are disabled too; not expanded
	Suppressed []Suppressed // in the order of scopes, then of names
	Faults     []Fault
	Managed    bool // there is a managed file, so that nothing else counts
	// Policy is asked again of an expanded entry before it is used: what is known of
	// variables only then may fit a rule.
	Policy Policies
	// Channels is what an administrator says of servers that push.
	Channels ChannelPolicy
}

// Lookup returns the entry of a name that counts.
func (s Set) Lookup(name string) (Entry, bool) {
	for _, e := range s.Entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}
