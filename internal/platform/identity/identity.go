// Package identity keeps the keys by which devices and entries are known: one
// X25519 key each, made at first use and kept in a file of mode 0600. Ids derive
// from the public half. The private half is in no log, event or error.
package identity

import (
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"scorel/internal/platform/disk"
)

// keyFile is what the file holds.
type keyFile struct {
	Version    int    `json:"version"`
	PrivateKey string `json:"privateKey"` // base64 of 32 bytes
}

// Load returns the key of the file at name, making it when there is none. Several
// processes may do so at once; one key comes out. Errors name the file and say what
// failed; a damaged file is not replaced.
func Load(fsys disk.FS, name string, rand io.Reader) (*ecdh.PrivateKey, error) {
	if key, err := read(fsys, name); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	lock, err := disk.WaitLock(fsys, name+".lock")
	if err != nil {
		return nil, fmt.Errorf("make the key %s: %w", name, err)
	}
	defer func() { _ = lock.Unlock() }()
	if key, err := read(fsys, name); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	priv, err := ecdh.X25519().GenerateKey(rand)
	if err != nil {
		return nil, fmt.Errorf("make the key %s: %w", name, err)
	}
	data, err := json.Marshal(keyFile{1, base64.StdEncoding.EncodeToString(priv.Bytes())})
	if err != nil {
		return nil, err
	}
	if err := disk.WriteFile(fsys, name, append(data, '\n')); err != nil {
		return nil, fmt.Errorf("make the key %s: %w", name, err)
	}
	return priv, nil
}

// Ephemeral returns a key that is kept nowhere.
func Ephemeral(rand io.Reader) (*ecdh.PrivateKey, error) { return ecdh.X25519().GenerateKey(rand) }

func read(fsys disk.FS, name string) (*ecdh.PrivateKey, error) {
	data, err := disk.ReadFile(fsys, name, 4096)
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", name, err)
	}
	var k keyFile
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, fmt.Errorf("the key file %s is damaged: move it away to get a new key", name)
	}
	raw, err := base64.StdEncoding.DecodeString(k.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("the key file %s is damaged: move it away to get a new key", name)
	}
	priv, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("the key file %s is damaged: move it away to get a new key", name)
	}
	return priv, nil
}
