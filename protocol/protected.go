package protocol

import "encoding/json"

// ProtectedNotice is the data of a harness item of kind runtime_notice and origin system: it
// tells people, and the model, of protected files that a command changed and of what was
// set aside because Git would have run programs because of it. At least one list is not
// empty.
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

// ProtectedOf returns the notice that an item carries; false for any other item.
func ProtectedOf(item Item) (notice ProtectedNotice, ok bool) {
	if item.Kind != ItemRuntimeNotice || item.Origin != OriginSystem || len(item.Data) == 0 || json.Unmarshal(item.Data, &notice) != nil {
		return ProtectedNotice{}, false
	}
	return notice, len(notice.Changed)+len(notice.SetAside) > 0
}
