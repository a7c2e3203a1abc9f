// Package identity keeps the keys by which devices and entries are known: one
// X25519 key each, and one of P-256 by which push services know a host, made at first
// use and kept in a file of mode 0600. Ids derive from the public half. The private
// half is in no log, event or error.
package identity

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"scorel/internal/platform/disk"
)

// keyFile is what the file holds.
type keyFile struct {
	Version    int    `json:"version"`
	PrivateKey string `json:"privateKey"` // base64 of 32 bytes
}

// Load returns the X25519 key of the file at name, making it when there is none. Several
// processes may do so at once; one key comes out. Errors name the file and say what
// failed; a damaged file is not replaced.
func Load(fsys disk.FS, name string, rand io.Reader) (*ecdh.PrivateKey, error) {
	return load(fsys, name, rand, ecdh.X25519().NewPrivateKey, ecdh.X25519().GenerateKey)
}

// LoadSigning is [Load] for a key of P-256 that signs.
func LoadSigning(fsys disk.FS, name string, rand io.Reader) (*ecdsa.PrivateKey, error) {
	parse := func(raw []byte) (signing, error) {
		key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
		return signing{key}, err
	}
	generate := func(rand io.Reader) (signing, error) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand)
		return signing{key}, err
	}
	key, err := load(fsys, name, rand, parse, generate)
	return key.PrivateKey, err
}

// signing is a key of P-256 that can be written.
type signing struct{ *ecdsa.PrivateKey }

// Bytes returns the private half, 32 bytes.
func (s signing) Bytes() []byte {
	raw, err := s.PrivateKey.Bytes()
	if err != nil {
		panic(err) // only of another curve
	}
	return raw
}

func load[K interface{ Bytes() []byte }](fsys disk.FS, name string, rand io.Reader, parse func([]byte) (K, error), generate func(io.Reader) (K, error)) (none K, err error) {
	if key, err := read(fsys, name, parse); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	lock, err := disk.WaitLock(fsys, name+".lock")
	if err != nil {
		return none, fmt.Errorf("make the key %s: %w", name, err)
	}
	defer func() { _ = lock.Unlock() }()
	if key, err := read(fsys, name, parse); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	priv, err := generate(rand)
	if err != nil {
		return none, fmt.Errorf("make the key %s: %w", name, err)
	}
	data, err := json.Marshal(keyFile{1, base64.StdEncoding.EncodeToString(priv.Bytes())})
	if err != nil {
		return none, err
	}
	if err := disk.WriteFile(fsys, name, append(data, '\n')); err != nil {
		return none, fmt.Errorf("make the key %s: %w", name, err)
	}
	return priv, nil
}

// Check returns what is wrong with the file of [Load] at name, and changes nothing. The file
// need not be there.
func Check(fsys disk.FS, name string) error {
	_, err := read(fsys, name, ecdh.X25519().NewPrivateKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// errDamaged and errClosed are in the chain of errors about a key file that is there.
var (
	errDamaged = errors.New("is damaged: move it away to get a new key")
	errClosed  = errors.New("cannot be read")
)

// Unusable reports whether an error says that a key file is there, but is damaged or closed to
// this user: who needs no lasting key can do with an [Ephemeral] one.
func Unusable(err error) bool { return errors.Is(err, errDamaged) || errors.Is(err, errClosed) }

// Ephemeral returns a key that is kept nowhere.
func Ephemeral(rand io.Reader) (*ecdh.PrivateKey, error) { return ecdh.X25519().GenerateKey(rand) }

func read[K any](fsys disk.FS, name string, parse func([]byte) (K, error)) (none K, err error) {
	data, err := disk.ReadFile(fsys, name, 4096)
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, err
	case errors.Is(err, fs.ErrPermission) && errors.As(err, &path):
		return none, fmt.Errorf("the key file %s %w: %v; make it yours again: chmod u+rw %s", name, errClosed, path.Err, name)
	case errors.As(err, &path) && path.Path == name && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE):
		return none, fmt.Errorf("the key file %s %w (%v)", name, errDamaged, path.Err) // a folder, a loop of links
	case errors.As(err, new(*disk.LongError)):
		return none, fmt.Errorf("the key file %s %w (%v)", name, errDamaged, err)
	case err != nil:
		return none, fmt.Errorf("the key file %s cannot be read: %w", name, err)
	}
	damaged := fmt.Errorf("the key file %s %w", name, errDamaged)
	var k keyFile
	if err := json.Unmarshal(data, &k); err != nil {
		return none, damaged
	}
	raw, err := base64.StdEncoding.DecodeString(k.PrivateKey)
	if err != nil {
		return none, damaged
	}
	priv, err := parse(raw)
	if err != nil {
		return none, damaged
	}
	return priv, nil
}
