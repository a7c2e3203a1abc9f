package protocol

import "encoding/json"

// ProtectedKind is the kind of the custom events that tell people of protected files that
// a command changed, and of what was set aside because Git would have run programs
// because of it. Its data is a [ProtectedNotice]. The model reads of both in the result of
// the call.
const ProtectedKind = OwnKind + "protected"

// ProtectedNotice is the data of such an event. At least one list is not empty.
type ProtectedNotice struct {
	// ToolCallID is the call whose command did it, "" for a command of a person.
	ToolCallID string `json:"toolCallId,omitempty"`
	// Agent is the sub-agent whose call it was, "" for one of the session itself.
	Agent string `json:"agent,omitempty"`
	// Changed are the protected files that were made, changed or removed, absolute; at
	// most 100.
	Changed []string `json:"changed,omitempty"`
	// SetAside is what was moved; at most 100.
	SetAside []SetAside `json:"setAside,omitempty"`
	// More is how many of either are not listed.
	More int `json:"more,omitempty"`
}

// SetAside is something in the folder of a repository that was moved, because Git would
// have run programs or used another repository because of it.
type SetAside struct {
	Path string `json:"path"`         // where it was, absolute
	To   string `json:"to,omitempty"` // where it is now, "" when it could not be moved
	Why  string `json:"why"`
	// Error says why it could not be moved.
	Error string `json:"error,omitempty"`
}

// ProtectedOf returns the notice that an event of kind [ProtectedKind] carries; false for
// any other event.
func ProtectedOf(b *Custom) (notice ProtectedNotice, ok bool) {
	if b.Kind != ProtectedKind || json.Unmarshal(b.Data, &notice) != nil {
		return ProtectedNotice{}, false
	}
	return notice, true
}
