package mcpserve

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"scorel/internal/platform/disk"
)

const (
	tokenSize    = 32 // bytes, before they are written as base64url
	maxHeader    = 4 << 10
	headerPrefix = "Authorization: Bearer "
)

// TokenFile is the file with the token of the server over HTTP, as a header line, so that
// it is in no argument.
func TokenFile(dir string) string { return filepath.Join(dir, "mcp-serve.header") }

// Token returns the token of the server, generating one at first use, and in the place of
// one that others of this machine could read: replaced is true then. No error holds it.
func Token(dir string, rand io.Reader) (token string, replaced bool, err error) {
	name := TokenFile(dir)
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		token, err = writeToken(dir, rand)
		return token, false, err
	case err != nil:
		return "", false, err
	case !info.Mode().IsRegular():
		return "", false, fmt.Errorf("%s is not a file; remove it", name)
	case info.Mode().Perm()&0o077 != 0:
		token, err = writeToken(dir, rand)
		return token, true, err
	}
	data, err := disk.ReadFile(disk.OS(), name, maxHeader)
	if err != nil {
		return "", false, err
	}
	token, ok := strings.CutPrefix(strings.TrimSpace(string(data)), headerPrefix)
	if raw, err := base64.RawURLEncoding.DecodeString(token); !ok || err != nil || len(raw) != tokenSize {
		return "", false, fmt.Errorf("%s does not hold a token; remove it, and the next start makes another", name)
	}
	return token, false, nil
}

func writeToken(dir string, rand io.Reader) (string, error) {
	raw := make([]byte, tokenSize)
	if _, err := io.ReadFull(rand, raw); err != nil {
		return "", fmt.Errorf("generate a token: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString(raw)
	if err := disk.OS().MkdirAll(dir); err != nil {
		return "", err
	}
	return token, disk.WriteFile(disk.OS(), TokenFile(dir), []byte(headerPrefix+token+"\n"))
}
