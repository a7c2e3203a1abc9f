package host

import (
	"context"
	"errors"

	"scorel/internal/host/clients"
	"scorel/internal/host/doctor"
	"scorel/protocol"
)

// Who may change the list: every entry with the grant control, itself and others
// alike, and the owner of the device, who holds the token. The token stands in no
// list and always has control, so the last word is the owner's: what an entry has
// done to the list, the device can undo.

// Entries gives the list of the device's entries, for servers, which look keys up
// in it, and for pairing. What is changed in it by the requests of this file counts
// at once on open connections; whoever changes it otherwise calls [Host.SetGrantOf]
// or [Host.Disconnect].
func (h *Host) Entries() *clients.Store { return h.entries }

func (h *Host) listEntries() (*protocol.EntryList, error) {
	list, err := h.entries.List()
	if err != nil {
		return nil, entryError("read the entries", err)
	}
	online := map[protocol.ClientID]bool{}
	for _, c := range h.connections(func(c *Conn) bool { return c.ctx.Err() == nil }) {
		online[c.client] = true
	}
	out := &protocol.EntryList{Entries: []protocol.Entry{}}
	for _, e := range list {
		out.Entries = append(out.Entries, protocol.Entry{ClientID: e.ClientID, Label: e.Label, Grant: e.Grant,
			AddedAt: e.AddedAt, LastSeen: e.LastSeen, Online: online[e.ClientID]})
	}
	return out, nil
}

func (h *Host) renameEntry(r *protocol.RenameEntry) error {
	return entryError("rename the entry", h.entries.Rename(r.ClientID, r.Label))
}

func (h *Host) setGrant(r *protocol.SetGrant) error {
	if err := r.Grant.Check(); err != nil {
		return protocol.About("grant", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if err := h.entries.SetGrant(r.ClientID, r.Grant); err != nil {
		return entryError("change the grant", err)
	}
	h.SetGrantOf(r.ClientID, r.Grant)
	return nil
}

// revokeEntry takes an entry off the list and ends its connections. One that
// revokes itself may not see the answer. A repeat that does not find the entry has
// done it before.
func (h *Host) revokeEntry(r *protocol.RevokeEntry, repeat bool) error {
	if err := h.entries.Revoke(r.ClientID); err != nil && !(repeat && errors.Is(err, clients.ErrUnknown)) {
		return entryError("revoke the entry", err)
	}
	h.Disconnect(r.ClientID, "This entry has been taken off the device's list; pair it again to come in.")
	return nil
}

// entryError turns an error of the list into what a client is told; nil stays nil.
func entryError(what string, err error) error {
	var damaged *clients.DamagedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, clients.ErrUnknown):
		return protocol.About("clientId", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
	case errors.Is(err, clients.ErrLabel):
		return protocol.About("label", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
	case errors.As(err, &damaged):
		return protocol.Errorf(protocol.CodeStorageError, "%s.", err)
	}
	return storageError(what, err)
}

func (h *Host) checkEntries(context.Context) doctor.Finding {
	list, err := h.entries.List()
	if err != nil {
		return doctor.Fail(err.Error(), "Until then no entry can come in with its key.")
	}
	return doctor.OK("may come in with a key of their own: %d", len(list))
}

// handleEntries registers the handlers of this file's requests.
func (h *Host) handleEntries(t handlers) {
	on(t, func(_ context.Context, _ *target, _ *protocol.ListEntries) (protocol.Response, error) {
		return h.listEntries()
	})
	on(t, func(_ context.Context, _ *target, r *protocol.RenameEntry) (protocol.Response, error) {
		return &protocol.Done{}, h.renameEntry(r)
	})
	on(t, func(_ context.Context, _ *target, r *protocol.SetGrant) (protocol.Response, error) {
		return &protocol.Done{}, h.setGrant(r)
	})
	on(t, func(_ context.Context, at *target, r *protocol.RevokeEntry) (protocol.Response, error) {
		return &protocol.Done{}, h.revokeEntry(r, at.call.Repeat)
	})
}
