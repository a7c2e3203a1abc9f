package protocol

// Requests about the entries that may come in.
type (
	// ListEntries returns the entries that may come in with their own key; the answer
	// is [EntryList]. Every client with control may change the list, for itself and
	// for others. The holder of the device's token is in no list and always has
	// control, so the last word is the owner's.
	ListEntries struct{}
	// RenameEntry returns an entry another label.
	RenameEntry struct {
		ClientID ClientID `json:"clientId" check:"required,max=MaxWord"`
		Label    string   `json:"label" check:"required,max=MaxName"`
	}
	// SetGrant changes what an entry may do, from now on, on open connections too.
	SetGrant struct {
		ClientID ClientID `json:"clientId" check:"required,max=MaxWord"`
		Grant    Grant    `json:"grant" check:"oneof=view|answer|control"`
	}
	// ConfirmEntry lets an entry in that waits for it: it has the grant of its code, at
	// most answer. [RevokeEntry] sends it away.
	ConfirmEntry struct {
		ClientID ClientID `json:"clientId" check:"required,max=MaxWord"`
	}
	// RevokeEntry takes an entry off the list and closes its connections. One that
	// revokes itself may not get the answer.
	RevokeEntry struct {
		ClientID ClientID `json:"clientId" check:"required,max=MaxWord"`
	}
)

// What they are answered with.
type (
	// EntryList is the entries that may come in with their own key, by label.
	EntryList struct {
		Entries []Entry `json:"entries"`
	}
	// Entry is one of them. Times are in Unix milliseconds; LastSeen is 0 for one
	// that never came. Pending says that it came over the network, waits for a
	// [ConfirmEntry] and may do nothing until then: Address is where it came from, and at
	// ExpiresAt it is taken off the list. Grant is what it has once it is confirmed. Push is how
	// its push subscription stands, "" without one.
	Entry struct {
		ClientID ClientID `json:"clientId"`
		Label    string   `json:"label"`
		Grant    Grant    `json:"grant"`
		AddedAt  int64    `json:"addedAt"`
		LastSeen int64    `json:"lastSeen,omitempty"`
		Online   bool     `json:"online,omitempty"`

		Push PushState `json:"push,omitempty"`

		Pending   bool   `json:"pending,omitempty"`
		Address   string `json:"address,omitempty"`
		ExpiresAt int64  `json:"expiresAt,omitempty"`
	}
)

var (
	listEntriesSpec = Spec{
		Name: "list_entries", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(ListEntries) }, Reply: func() Response { return new(EntryList) },
	}
	renameEntrySpec = Spec{
		Name: "rename_entry", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(RenameEntry) }, Reply: func() Response { return new(Done) },
	}
	setGrantSpec = Spec{
		Name: "set_grant", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(SetGrant) }, Reply: func() Response { return new(Done) },
	}
	confirmEntrySpec = Spec{
		Name: "confirm_entry", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(ConfirmEntry) }, Reply: func() Response { return new(Done) },
	}
	revokeEntrySpec = Spec{
		Name: "revoke_entry", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(RevokeEntry) }, Reply: func() Response { return new(Done) },
	}
)
