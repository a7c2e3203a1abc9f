package admin

import (
	"context"
	"errors"

	"scorel/internal/host/clients"
	"scorel/internal/host/doctor"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/protocol"
)

func (ad *Admin) listEntries() (*protocol.EntryList, error) {
	list, err := ad.entries.List()
	if err != nil {
		return nil, entryError("read the entries", err)
	}
	out := &protocol.EntryList{Entries: []protocol.Entry{}}
	for _, e := range list {
		listed := e.Listed()
		listed.Push = ad.pushes.Of(e.ClientID)
		listed.Online = ad.connections.Online(e.ClientID)
		out.Entries = append(out.Entries, listed)
	}
	return out, nil
}

func (ad *Admin) renameEntry(r *protocol.RenameEntry) error {
	if err := ad.entries.Rename(r.ClientID, r.Label); err != nil {
		return entryError("rename the entry", err)
	}
	ad.connections.EntriesChanged()
	return nil
}

// confirmEntry lets an entry in that waits for it. One that is in already is no error.
func (ad *Admin) confirmEntry(r *protocol.ConfirmEntry) error {
	grant, err := ad.entries.Confirm(r.ClientID)
	if err != nil {
		return entryError("confirm the entry", err)
	}
	ad.connections.SetGrantOf(r.ClientID, grant)
	ad.connections.EntriesChanged()
	return nil
}

func (ad *Admin) setGrant(r *protocol.SetGrant) error {
	if err := r.Grant.Check(); err != nil {
		return protocol.About("grant", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if err := ad.entries.SetGrant(r.ClientID, r.Grant); err != nil {
		return entryError("change the grant", err)
	}
	ad.connections.SetGrantOf(r.ClientID, r.Grant)
	ad.connections.EntriesChanged()
	return nil
}

// revokeEntry takes an entry off the list and ends its connections. One that
// revokes itself may not see the answer. A repeat that does not find the entry has
// done it before.
func (ad *Admin) revokeEntry(r *protocol.RevokeEntry, repeat bool) error {
	if err := ad.entries.Revoke(r.ClientID); err != nil && !(repeat && errors.Is(err, clients.ErrUnknown)) {
		return entryError("revoke the entry", err)
	}
	ad.pushes.Forget(r.ClientID)
	ad.connections.Disconnect(r.ClientID, "This entry has been taken off the device's list; pair it again to connect.")
	ad.connections.EntriesChanged()
	return nil
}

// entryError turns an error of the list into what a client is told; nil stays nil.
func entryError(what string, err error) error {
	var damaged *clients.DamagedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, clients.ErrUnknown):
		return protocol.About("clientId", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	case errors.Is(err, clients.ErrPending):
		return protocol.About("clientId", protocol.ReasonPending, protocol.CodeConflict, "%s.", failure.Sentence(err))
	case errors.Is(err, clients.ErrLabel):
		return protocol.About("label", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	case errors.As(err, &damaged):
		return protocol.Errorf(protocol.CodeStorageError, "%s.", err)
	}
	return failure.Storage(what, err)
}

func (ad *Admin) checkEntries(context.Context) doctor.Finding {
	list, err := ad.entries.List()
	if err != nil {
		return doctor.Fail(err.Error(), "Until then no client can connect with its key.")
	}
	return doctor.OK("client keys: %d", len(list))
}

func (ad *Admin) checkPushes(context.Context) doctor.Finding {
	n, err := ad.pushes.Check()
	if err != nil {
		return doctor.Fail(err.Error(), "Until then, closed pages get no notifications of sessions that wait.")
	}
	return doctor.OK("pages that are notified while they are closed: %d", n)
}

// handleEntries enters the handlers of this file's requests.
func (ad *Admin) handleEntries(t request.Table) {
	request.On(t, func(_ context.Context, _ *request.Target, _ *protocol.ListEntries) (protocol.Response, error) {
		return ad.listEntries()
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.RenameEntry) (protocol.Response, error) {
		return &protocol.Done{}, ad.renameEntry(r)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.SetGrant) (protocol.Response, error) {
		return &protocol.Done{}, ad.setGrant(r)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.ConfirmEntry) (protocol.Response, error) {
		return &protocol.Done{}, ad.confirmEntry(r)
	})
	request.On(t, func(_ context.Context, at *request.Target, r *protocol.RevokeEntry) (protocol.Response, error) {
		return &protocol.Done{}, ad.revokeEntry(r, at.Call.Repeat)
	})
}
