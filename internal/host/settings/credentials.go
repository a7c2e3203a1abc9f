package settings

import (
	"path/filepath"
	"sync"

	"scorel/internal/engine/model/credentials"
)

func (st *Settings) CredentialsFile() string { return filepath.Join(st.Dir, "credentials.json") }

// credentials returns where the keys are looked up that were entered. The file is
// read when the first one is wanted: not when all come from variables.
func (st *Settings) credentials() func(provider string) (string, error) {
	load := sync.OnceValues(func() (credentials.Keys, error) { return credentials.Load(st.FS, st.CredentialsFile()) })
	return func(provider string) (string, error) {
		keys, err := load()
		key, _ := keys.Get(provider)
		return key, err
	}
}
