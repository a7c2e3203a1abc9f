package daemon

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"

	"scorel/internal/platform/disk"
)

const (
	tokenSize    = 32 // bytes, before they are written as base64url
	maxHeader    = 4 << 10
	headerPrefix = "Authorization: Bearer "
)

// ReadToken returns the token of the device. A missing file is [fs.ErrNotExist]; no
// error holds what is in it.
func ReadToken(dir string) (string, error) {
	data, err := disk.ReadFile(disk.OS(), Header(dir), maxHeader)
	if err != nil {
		return "", err
	}
	token, ok := strings.CutPrefix(strings.TrimRight(string(data), "\n"), headerPrefix)
	if raw, err := base64.RawURLEncoding.DecodeString(token); !ok || err != nil || len(raw) != tokenSize {
		return "", fmt.Errorf("%s does not hold a token: generate a new one with scorel host token --refresh", Header(dir))
	}
	return token, nil
}

// RefreshToken draws a new token and replaces the old one.
func RefreshToken(dir string, rand io.Reader) (string, error) {
	raw := make([]byte, tokenSize)
	if _, err := io.ReadFull(rand, raw); err != nil {
		return "", fmt.Errorf("generate a token: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString(raw)
	fsys := disk.OS()
	if err := fsys.MkdirAll(dir); err != nil {
		return "", err
	}
	err := disk.WriteFile(fsys, Header(dir), []byte(headerPrefix+token+"\n"))
	return token, err
}

// TokenSignal tells a host that another token stands in the file: clients that came
// in with the one before are cut off.
const TokenSignal = syscall.SIGUSR1

// TellRefreshed sends the signal to the host that holds the lock, if there is one.
func TellRefreshed(dir string) error {
	info, live, err := Find(dir)
	if err != nil || !live || info.PID <= 0 {
		return err
	}
	if err := syscall.Kill(info.PID, TokenSignal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("the new token is valid, but %v could not be asked to disconnect clients that use the old one: %w", info, err)
	}
	return nil
}

// tokens gives the token that is in force: what the file says now, so that another
// one counts as soon as it stands there, and none once the file is gone.
type tokens struct {
	dir string

	mu    sync.Mutex // held while the file is read
	seen  fs.FileInfo
	token string
}

// newTokens reads the token, drawing one at first use, and one in the place of a token
// that somebody else may know: replaced is true then.
func newTokens(dir string, rand io.Reader) (t *tokens, replaced bool, err error) {
	known, err := exposed(Header(dir))
	if err == nil && !known {
		_, err = ReadToken(dir)
	} else if known || errors.Is(err, fs.ErrNotExist) {
		_, err = RefreshToken(dir, rand)
	}
	if err != nil {
		return nil, false, err
	}
	return &tokens{dir: dir}, known, nil
}

// current returns the token, "" when there is none that could be used.
func (t *tokens) current() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	info, err := os.Stat(Header(t.dir))
	if err != nil {
		t.seen, t.token = nil, ""
		return ""
	}
	if t.seen != nil && os.SameFile(t.seen, info) && t.seen.ModTime().Equal(info.ModTime()) && t.seen.Size() == info.Size() {
		return t.token
	}
	t.seen = info
	if t.token, err = ReadToken(t.dir); err != nil { // who cannot read it gets no token either
		t.seen = nil // descriptors may be used up for a moment
	}
	return t.token
}
