package identity_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/identity"
)

func TestASigningKeyIsMadeOnceAndReadAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key.json")
	keys := make([]string, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := identity.LoadSigning(disk.OS(), name, rand.Reader)
			if err != nil {
				t.Error(err)
				return
			}
			raw, err := key.Bytes()
			if err != nil {
				t.Error(err)
			}
			keys[i] = string(raw)
		})
	}
	wg.Wait()
	for _, k := range keys {
		if k != keys[0] || len(k) != 32 {
			t.Errorf("another key, or one of %d bytes", len(k))
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestADamagedSigningKeyIsNamedAndKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key.json")
	for _, text := range []string{"", "{}", `{"version":1,"privateKey":"AAAA"}`, `{"version":1,"privateKey":"!"}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := identity.LoadSigning(disk.OS(), name, rand.Reader)
		if err == nil || key != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", text, err)
		}
		if now, err := os.ReadFile(name); err != nil || string(now) != text {
			t.Errorf("%q became %q", text, now)
		}
	}
}
