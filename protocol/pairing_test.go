package protocol

import (
	"crypto/rand"
	"strings"
	"testing"
)

func TestACodeIsTheNameOfItsPairingAndASecret(t *testing.T) {
	id, code := NewPairingCode(rand.Reader)
	got, secret, ok := SplitPairingCode(code)
	if !ok || got != id || id.Check() != nil || len(secret) != 26 || len(code) != 42 {
		t.Errorf("%s of %s: %s, %d characters of a secret, %t", id, code, got, len(secret), ok)
	}
	if _, other := NewPairingCode(rand.Reader); other == code {
		t.Error("two codes are the same")
	}
	for _, wrong := range []string{"", code[1:], code + "0", strings.ToUpper(code), "par_" + code, code[:41] + "z", code[:41] + "é"} {
		if _, secret, ok := SplitPairingCode(wrong); ok || secret != "" {
			t.Errorf("%q passes for a code", wrong)
		}
	}
}

func TestPendingCannotBeGiven(t *testing.T) {
	if GrantPending.Check() == nil {
		t.Error("pending passes for a grant")
	}
}
