package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"scorel/internal/engine/model/credentials"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/host/doctor"
	"scorel/protocol"
)

func (h *Host) credentialsFile() string { return filepath.Join(h.cfg.Dir, "credentials.json") }

// credentials gives where the keys are looked up that were entered. The file is
// read when the first one is wanted: not when all come from variables.
func (h *Host) credentials() func(provider string) (string, error) {
	load := sync.OnceValues(func() (credentials.Keys, error) { return credentials.Load(h.cfg.FS, h.credentialsFile()) })
	return func(provider string) (string, error) {
		keys, err := load()
		key, _ := keys.Get(provider)
		return key, err
	}
}

// setCredential keeps the key of a provider, or forgets it. No error of it quotes
// the key.
func (h *Host) setCredential(r *protocol.SetCredential) error {
	cfg, err := h.userConfig()
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	if r.Key != "" { // one of a provider that is gone can still be forgotten
		if err := resolve.CheckProvider(r.Provider, h.resolver(cfg)); err != nil {
			return protocol.About("provider", "", protocol.CodeInvalidRequest, "%s", sentence(err))
		}
		if err := credentials.Check(r.Key); err != nil {
			return protocol.About("key", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
		}
	}
	var damaged *credentials.DamagedError
	err = credentials.Set(h.cfg.FS, h.credentialsFile(), r.Provider, r.Key)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &damaged):
		return protocol.Errorf(protocol.CodeStorageError, "%s.", sentence(err))
	}
	return storageError("keep the key", err)
}

// checkCredentials says whether the keys that were entered can be used, and only
// here. It names no provider: whose keys there are the check of the keys says.
func (h *Host) checkCredentials(context.Context) doctor.Finding {
	name := h.credentialsFile()
	keys, err := credentials.Load(h.cfg.FS, name)
	if err != nil {
		return doctor.Fail(err.Error(), "Until then only keys from variables count. Correct the file, or move it away and enter the keys again.")
	}
	info, err := h.cfg.FS.Stat(name)
	switch {
	case err != nil || keys.Len() == 0:
		return doctor.OK("none entered")
	case info.Mode().Perm()&0o077 != 0:
		return doctor.Fail(fmt.Sprintf("%s can be read by others (mode %04o)", name, info.Mode().Perm()), "Close it: chmod 600 "+name+"; draw new keys if others use this machine.")
	}
	return doctor.OK("%d entered", keys.Len())
}

// handleCredentials registers the handlers of this file's requests.
func (h *Host) handleCredentials(t handlers) {
	on(t, func(_ context.Context, _ *target, r *protocol.SetCredential) (protocol.Response, error) {
		return &protocol.Done{}, h.setCredential(r)
	})
}
