package handshake

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"scorel/protocol"
)

// documented returns the lines of a block of docs/protocol.md.
func documented(t *testing.T, name string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(page), "<!-- test: "+name+" -->\n```")
	_, block, _ = strings.Cut(block, "\n")
	block, _, ended := strings.Cut(block, "\n```")
	if !ok || !ended {
		t.Fatalf("docs/protocol.md has no block %s", name)
	}
	return strings.Split(block, "\n")
}

// vector is a documented handshake: what was said, and both proofs.
type vector struct {
	Transcript
	host, client []byte
}

func documentedVector(t *testing.T, name, address string) vector {
	t.Helper()
	lines := documented(t, name)
	if len(lines) != 3 {
		t.Fatalf("the block %s has %d lines, not hello, challenge and connect", name, len(lines))
	}
	v := vector{Transcript: Transcript{Address: address}}
	var connect protocol.Prove
	for i, into := range []any{&v.Hello, &v.Challenge, &connect} {
		if err := json.Unmarshal([]byte(lines[i]), into); err != nil {
			t.Fatalf("%s: %v", lines[i], err)
		}
	}
	if err := CheckHello(&v.Hello); err != nil {
		t.Error(err)
	}
	if err := CheckChallenge(&v.Hello, &v.Challenge, ""); err != nil {
		t.Error(err)
	}
	v.host, v.client = v.Challenge.Proof, connect.Proof
	return v
}

// check compares the documented proofs with those that are computed.
func (v *vector) check(t *testing.T, hostKey, clientKey []byte) {
	t.Helper()
	if got := Host(hostKey, &v.Transcript); !Equal(got, v.host) {
		t.Errorf("the host's proof is %s", base64.StdEncoding.EncodeToString(got))
	}
	if got := Client(clientKey, &v.Transcript); !Equal(got, v.client) {
		t.Errorf("the client's proof is %s", base64.StdEncoding.EncodeToString(got))
	}
}

const documentedToken = "Zm9yIHRlc3RzIG9ubHksIDMyIGJ5dGVzIGxvbmcuLi4"

func TestTheDocumentedProofsOfATokenAreThoseThatAreComputed(t *testing.T) {
	v := documentedVector(t, "token", "unix:/home/me/.scorel/host.sock")
	v.check(t, []byte(documentedToken), []byte(documentedToken))
}

func TestTheDocumentedInputGivesTheDocumentedProof(t *testing.T) {
	v := documentedVector(t, "token", "unix:/home/me/.scorel/host.sock")
	input, err := hex.DecodeString(strings.Join(strings.Fields(strings.Join(documented(t, "input"), "\n")), ""))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(documentedToken))
	mac.Write(input)
	if len(input) != 243 || !Equal(mac.Sum(nil), v.host) {
		t.Errorf("the input of %d bytes gives %x", len(input), mac.Sum(nil))
	}
}

// private returns the X25519 key of 32 bytes that count up.
func private(t *testing.T, from byte) *ecdh.PrivateKey {
	t.Helper()
	raw := make([]byte, 32)
	for i := range raw {
		raw[i] = from + byte(i)
	}
	key, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestTheDocumentedProofsOfKeysAreThoseThatAreComputed(t *testing.T) {
	v := documentedVector(t, "keys", "tls:desk.example:4444")
	shared := func(key *ecdh.PrivateKey, public []byte) []byte {
		s, err := Shared(key, public)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	client, ofClient, host, ofHost := private(t, 0x40), private(t, 0x60), private(t, 0x80), private(t, 0xa0)
	for name, pair := range map[string][2][]byte{
		"the client's key":           {client.PublicKey().Bytes(), v.Hello.PublicKey},
		"the client's ephemeral key": {ofClient.PublicKey().Bytes(), v.Hello.Ephemeral},
		"the host's key":             {host.PublicKey().Bytes(), v.Challenge.PublicKey},
		"the host's ephemeral key":   {ofHost.PublicKey().Bytes(), v.Challenge.Ephemeral},
	} {
		if !bytes.Equal(pair[0], pair[1]) {
			t.Errorf("%s is %s", name, base64.StdEncoding.EncodeToString(pair[0]))
		}
	}
	hostKey, clientKey := shared(host, v.Hello.Ephemeral), shared(client, v.Challenge.Ephemeral)
	v.check(t, hostKey, clientKey)
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range [][]byte{hostKey, clientKey} {
		if text := base64.StdEncoding.EncodeToString(secret); !strings.Contains(string(page), "`"+text+"`") {
			t.Errorf("the shared secret %s is not in the document", text)
		}
	}
}

func TestTheDocumentedProofsOfACodeAreThoseThatAreComputed(t *testing.T) {
	v := documentedVector(t, "pairing", "tls:desk.example:4444")
	id, secret, ok := protocol.SplitPairingCode("0123456789abcdefghijklmnopqrstuv0123456780")
	if !ok || id != v.Hello.Pairing {
		t.Fatalf("the code is one of %s, %v", id, ok)
	}
	var keys [2][]byte
	for i, pair := range []struct {
		private *ecdh.PrivateKey
		public  []byte
	}{{private(t, 0x80), v.Hello.Ephemeral}, {private(t, 0x40), v.Challenge.Ephemeral}} {
		shared, err := Shared(pair.private, pair.public)
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = Paired(secret, shared)
	}
	v.check(t, keys[0], keys[1])
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if text := base64.StdEncoding.EncodeToString(key); !strings.Contains(string(page), "`"+text+"`") {
			t.Errorf("the key %s is not in the document", text)
		}
	}
	// Without the secret, or as a client that has no code, the proofs are others.
	plain := v.Transcript
	plain.Hello.Pairing = ""
	if Equal(Host(keys[0], &plain), v.host) {
		t.Error("the proof of a client without a code is the same")
	}
}
