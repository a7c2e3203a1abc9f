package credentials_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/engine/model/credentials"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox/sandboxtest"
)

const secret = "sk-very-secret-0123456789"

func TestAKeyIsKeptReplacedAndForgotten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "credentials.json")
	set := func(provider, key string) {
		t.Helper()
		if err := credentials.Set(disk.OS(), name, provider, key); err != nil {
			t.Fatal(err)
		}
	}
	get := func(provider string) string {
		t.Helper()
		keys, err := credentials.Load(disk.OS(), name)
		if err != nil {
			t.Fatal(err)
		}
		key, _ := keys.Get(provider)
		return key
	}
	set("anthropic", "")
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("to forget what is not there made a file: %v", err)
	}
	set("anthropic", secret)
	set("openai", "<&>\"\\"+secret)
	if get("anthropic") != secret || get("openai") != "<&>\"\\"+secret || get("google") != "" {
		t.Error("the keys are not as they were entered")
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	set("anthropic", "another")
	if get("anthropic") != "another" {
		t.Error("the key was not replaced")
	}
	set("anthropic", "")
	if get("anthropic") != "" || get("openai") == "" {
		t.Error("forgetting one key forgot none, or more")
	}
	data, err := os.ReadFile(name)
	if err != nil || strings.Contains(string(data), "another") {
		t.Errorf("a forgotten key stands in the file: %v", err)
	}
}

func TestWhatIsNoKeyIsRefusedWithoutBeingQuoted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "credentials.json")
	for _, key := range []string{secret + " ", secret + "\n", secret + "\x00", "ключ" + secret, secret + strings.Repeat("x", credentials.MaxKey)} {
		err := credentials.Set(disk.OS(), name, "anthropic", key)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", key, err)
		}
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was made: %v", err)
	}
}

func TestADamagedFileIsNamedNotQuotedAndNotReplaced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "credentials.json")
	for _, text := range []string{"", "null", "{", `{"version":1,"keys":{"anthropic":"` + secret, `{"version":2,"keys":{"anthropic":"` + secret + `"}}`,
		`{"anthropic":"` + secret + `"}`, `{"version":1,"keys":{"anthropic":"` + secret + ` x"}}`, `{"version":1,"keys":{"anthropic":["` + secret + `"]}}`,
		`{"version":1,"keys":{}}` + secret} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		keys, err := credentials.Load(disk.OS(), name)
		setErr := credentials.Set(disk.OS(), name, "openai", "k")
		for what, err := range map[string]error{"load": err, "set": setErr} {
			var damaged *credentials.DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s of %q: %v", what, text, err)
			}
		}
		if now, err := os.ReadFile(name); keys.Len() != 0 || err != nil || string(now) != text {
			t.Errorf("%q: %d keys, and the file became %q", text, keys.Len(), now)
		}
	}
}

func TestKeysArePrintedByNoVerb(t *testing.T) {
	name := filepath.Join(t.TempDir(), "credentials.json")
	if err := credentials.Set(disk.OS(), name, "anthropic", secret); err != nil {
		t.Fatal(err)
	}
	keys, err := credentials.Load(disk.OS(), name)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if got := fmt.Sprintf(verb, keys) + fmt.Sprintf(verb, struct{ K credentials.Keys }{keys}); strings.Contains(got, "secret") {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

func TestAFileOfAnotherUserIsAnErrorThatNamesIt(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		name := filepath.Join(dir, "credentials.json")
		if err := credentials.Set(disk.OS(), name, "anthropic", secret); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := credentials.Load(disk.OS(), name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("load: %v", err)
		}
		if err := credentials.Set(disk.OS(), name, "openai", "k"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("set: %v", err)
		}
	})
}

// FuzzKeysAreOnlyWhatCanBeSent: whatever is in the file, only keys that can go
// into a header come out of it, and it is not written over when it is damaged.
func FuzzKeysAreOnlyWhatCanBeSent(f *testing.F) {
	f.Add([]byte(`{"version":1,"keys":{"anthropic":"k"}}`))
	f.Add([]byte(`{"version":1,"keys":{"":"k"}}`))
	f.Add([]byte(`{"version":1,"keys":{"a":"k\r\nX: y"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "credentials.json")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		keys, err := credentials.Load(disk.OS(), name)
		setErr := credentials.Set(disk.OS(), name, "zz", "k")
		if err != nil {
			if now, _ := os.ReadFile(name); setErr == nil || string(now) != string(data) {
				t.Errorf("a damaged file became %q", now)
			}
			return
		}
		if k, ok := keys.Get("anthropic"); ok && credentials.Check(k) != nil {
			t.Errorf("the key %q came out", k)
		}
		if setErr != nil {
			return // it was full
		}
		again, err := credentials.Load(disk.OS(), name)
		if k, _ := again.Get("zz"); err != nil || k != "k" {
			t.Errorf("after a change: %q %v", k, err)
		}
	})
}
