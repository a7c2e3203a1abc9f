package protocol

// Requests about the entries that may come in.
type (
	// ListEntries gives the entries that may come in with their own key; the answer
	// is [EntryList]. Every client with control may change the list, for itself and
	// for others. The holder of the device's token stands in no list and always has
	// control, so the last word is the owner's.
	ListEntries struct{}
	// RenameEntry gives an entry another label.
	RenameEntry struct {
		ClientID ClientID `json:"clientId"`
		Label    string   `json:"label"`
	}
	// SetGrant changes what an entry may do, from now on, on open connections too.
	SetGrant struct {
		ClientID ClientID `json:"clientId"`
		Grant    Grant    `json:"grant"`
	}
	// RevokeEntry takes an entry off the list and closes its connections. One that
	// revokes itself may not get the answer.
	RevokeEntry struct {
		ClientID ClientID `json:"clientId"`
	}
)

// What they are answered with.
type (
	// EntryList is the entries that may come in with their own key, by label.
	EntryList struct {
		Entries []Entry `json:"entries"`
	}
	// Entry is one of them. Times are in Unix milliseconds; LastSeen is 0 for one
	// that never came.
	Entry struct {
		ClientID ClientID `json:"clientId"`
		Label    string   `json:"label"`
		Grant    Grant    `json:"grant"`
		AddedAt  int64    `json:"addedAt"`
		LastSeen int64    `json:"lastSeen,omitempty"`
		Online   bool     `json:"online,omitempty"`
	}
)

// RequestName is the type that stands on the wire.
func (*ListEntries) RequestName() string { return "list_entries" }
func (*RenameEntry) RequestName() string { return "rename_entry" }
func (*SetGrant) RequestName() string    { return "set_grant" }
func (*RevokeEntry) RequestName() string { return "revoke_entry" }

// Check says what of the request cannot be carried out; see [Call.Check].
func (*ListEntries) Check() *Problem { return nil }
func (r *RenameEntry) Check() *Problem {
	return first(need("clientId", r.ClientID, MaxWord), need("label", r.Label, MaxName))
}
func (r *SetGrant) Check() *Problem {
	return first(need("clientId", r.ClientID, MaxWord), one("grant", r.Grant, GrantView, GrantAnswer, GrantControl))
}
func (r *RevokeEntry) Check() *Problem {
	return need("clientId", r.ClientID, MaxWord)
}

func (*EntryList) response() {}
