package admin

import (
	"context"
	"errors"
	"fmt"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model/credentials"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/host/doctor"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// setCredential keeps the key of a provider, or forgets it. No error of it quotes
// the key.
func (ad *Admin) setCredential(r *protocol.SetCredential) error {
	cfg, err := ad.settings.User()
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	if r.Key == "" { // one of a provider that is gone can still be forgotten
		if err := ad.hasKey(r.Provider, cfg); err != nil {
			return err
		}
	} else {
		if err := resolve.CheckProvider(r.Provider, ad.settings.Resolver(cfg)); err != nil {
			return protocol.About("provider", "", protocol.CodeInvalidRequest, "%s", failure.Sentence(err))
		}
		if err := credentials.Check(r.Key); err != nil {
			return protocol.About("key", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
		}
	}
	var damaged *credentials.DamagedError
	err = credentials.Set(ad.settings.FS, ad.settings.CredentialsFile(), r.Provider, r.Key)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &damaged):
		return protocol.Errorf(protocol.CodeStorageError, "%s.", failure.Sentence(err))
	}
	return failure.Storage("keep the key", err)
}

// hasKey returns why no key of a provider can be forgotten. A file that cannot be read is for
// the change to tell of.
func (ad *Admin) hasKey(provider string, cfg config.Config) error {
	keys, err := credentials.Load(ad.settings.FS, ad.settings.CredentialsFile())
	if _, had := keys.Get(provider); had || err != nil {
		return nil
	}
	if err := resolve.CheckProvider(provider, ad.settings.Resolver(cfg)); err != nil {
		return protocol.About("provider", "", protocol.CodeInvalidRequest, "%s", failure.Sentence(err))
	}
	return protocol.About("provider", "", protocol.CodeInvalidRequest, "No key of %s was entered, so there is none to remove; one in a variable is removed where that is set.", provider)
}

// checkCredentials reports whether the keys that were entered can be used, and only
// here. It names no provider: whose keys there are the check of the keys says.
func (ad *Admin) checkCredentials(context.Context) doctor.Finding {
	name := ad.settings.CredentialsFile()
	keys, err := credentials.Load(ad.settings.FS, name)
	if err != nil {
		return doctor.Fail(err.Error(), "Until then only keys from variables count. Correct the file, or move it away and enter the keys again.")
	}
	info, err := ad.settings.FS.Stat(name)
	switch {
	case err != nil || keys.Len() == 0:
		return doctor.OK("none entered")
	case info.Mode().Perm()&0o077 != 0:
		return doctor.Fail(fmt.Sprintf("%s can be read by others (mode %04o)", name, info.Mode().Perm()), "Close it: chmod 600 "+name+"; get new keys if others use this machine.")
	}
	return doctor.OK("%d entered", keys.Len())
}

// handleCredentials enters the handlers of this file's requests.
func (ad *Admin) handleCredentials(t request.Table) {
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.SetCredential) (protocol.Response, error) {
		return &protocol.Done{}, ad.setCredential(r)
	})
}
