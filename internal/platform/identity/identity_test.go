package identity_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/identity"
	"scorel/internal/platform/sandbox/sandboxtest"
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

func TestAClosedKeyFileIsNamedAndIsNoReasonForAnother(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		name := filepath.Join(dir, "client.json")
		if _, err := identity.Load(disk.OS(), name, rand.Reader); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0); err != nil {
			t.Fatal(err)
		}
		for _, look := range []func() error{
			func() error { _, err := identity.Load(disk.OS(), name, rand.Reader); return err },
			func() error { return identity.Check(disk.OS(), name) },
		} {
			if err := look(); !identity.Unusable(err) || !strings.Contains(err.Error(), "chmod u+rw "+name) {
				t.Errorf("%v", err)
			}
		}
	})
}

func TestCheckFindsWhatLoadRefuses(t *testing.T) {
	name := filepath.Join(t.TempDir(), "client.json")
	if err := identity.Check(disk.OS(), name); err != nil {
		t.Errorf("without a file: %v", err)
	}
	for _, text := range []string{"", "null", "{}", "{", `{"version":1,"privateKey":"AAAA"}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := identity.Load(disk.OS(), name, rand.Reader)
		if found := identity.Check(disk.OS(), name); !identity.Unusable(err) || !identity.Unusable(found) {
			t.Errorf("%q: %v, %v", text, err, found)
		}
		if data, _ := os.ReadFile(name); string(data) != text {
			t.Errorf("%q was replaced by %q", text, data)
		}
	}
}

func TestWhatIsNoFileOfAKeyCountsAsADamagedOne(t *testing.T) {
	for what, put := range map[string]func(name string) error{
		"is a directory":     func(name string) error { return os.Mkdir(name, 0o700) },
		"levels of symbolic": func(name string) error { return os.Symlink(filepath.Base(name), name) },
		"at most 4096 are":   func(name string) error { return os.WriteFile(name, make([]byte, 5000), 0o600) },
		"it is a pipe and":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"get a new key":      func(name string) error { return os.Symlink(name+".nowhere", name) },
	} {
		name := filepath.Join(t.TempDir(), "client.json")
		if err := put(name); err != nil {
			t.Fatal(err)
		}
		_, err := identity.Load(disk.OS(), name, rand.Reader)
		for _, err := range []error{err, identity.Check(disk.OS(), name)} {
			if !identity.Unusable(err) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func TestAKeyBelowAFileIsNoDamagedKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := identity.Check(disk.OS(), filepath.Join(file, "device.json")); err == nil || identity.Unusable(err) {
		t.Errorf("%v", err)
	}
}
