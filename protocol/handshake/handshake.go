// Package handshake makes and checks the proofs with which a client and a host
// begin a direct connection: the host first, so that a stranger who holds the port
// of a dead host learns nothing, and neither side ever sends the token.
//
// Both sides prove the same transcript: everything that was said before, and the
// address that the client dialled. With the token the key of both proofs is the
// token; with keys the host's proof is keyed by DH of its own key with the
// client's ephemeral one, and the client's by DH of its own key with the host's
// ephemeral one. A client that redeems a code of a pairing has a key that the host does
// not know: both keys are then mixed with the secret of the code ([Paired]), so that who
// knows it not can prove nothing, and the secret is not sent. The functions are pure and may be called concurrently.
package handshake

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"scorel/protocol"
)

// label separates these proofs from all others; docs/protocol.md names it.
const label = "scorel-direct-v1"

// pairingLabel is that of the proofs of a pairing.
const pairingLabel = "scorel-pair-v1"

// NonceSize is the length of a nonce in bytes.
const NonceSize = 32

// MaxName bounds a client's name, in bytes.
const MaxName = 128

// maxAddress bounds the address that was dialled, in bytes: what a socket path or
// a host name with its port needs.
const maxAddress = 512

// Transcript is what was said before the proofs. Address is what the client
// dialled: host:port in lower case for TCP, after tls: ([TLS]) where the line is one
// of TLS, unix: and the path for a socket.
// Challenge is the host's message; its proof does not count.
type Transcript struct {
	Address   string
	Hello     protocol.Hello
	Challenge protocol.Challenge
}

// TLS returns the address of a transcript for a host:port that is dialled with TLS. The
// two differ, so that a stranger on a plain port cannot pass a proof on to a host that
// speaks TLS elsewhere.
func TLS(hostPort string) string { return "tls:" + hostPort }

// role says whose proof it is: one cannot be sent back as the other's.
type role string

const (
	roleHost   role = "host"
	roleClient role = "client"
)

// Nonce draws a nonce.
func Nonce(rand io.Reader) ([]byte, error) {
	n := make([]byte, NonceSize)
	if _, err := io.ReadFull(rand, n); err != nil {
		return nil, fmt.Errorf("generate a nonce: %w", err)
	}
	return n, nil
}

// FieldError is what is wrong with a field of a hello.
type FieldError struct {
	Field string // as it is on the wire
	Err   error
}

// Error returns what is wrong, with the name of the field.
func (e *FieldError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}

// CheckHello fails for a hello that cannot begin a connection: what it says must be
// of the right size, for the right version is what the host checks. The error is a
// [*FieldError].
func CheckHello(h *protocol.Hello) error {
	if len(h.Nonce) != NonceSize {
		return wrong("nonce", "a nonce has %d bytes, not %d", NonceSize, len(h.Nonce))
	}
	if err := checkIdentity(h); err != nil {
		return err
	}
	if (h.PublicKey == nil) != (h.Ephemeral == nil) {
		missing := "publicKey"
		if h.Ephemeral == nil {
			missing = "ephemeral"
		}
		return wrong(missing, "a client that proves a key sends publicKey and ephemeral")
	}
	if h.Pairing != "" {
		if err := h.Pairing.Check(); err != nil {
			return wrong("pairing", "pairing: %w", err)
		}
		if h.PublicKey == nil {
			return wrong("publicKey", "a client that redeems a code sends publicKey and ephemeral")
		}
	}
	if h.PublicKey == nil {
		return nil
	}
	if _, err := ecdh.X25519().NewPublicKey(h.Ephemeral); err != nil {
		return wrong("ephemeral", "ephemeral: %w", err)
	}
	if _, err := ecdh.X25519().NewPublicKey(h.PublicKey); err != nil {
		return wrong("publicKey", "publicKey: %w", err)
	}
	if h.ClientID != protocol.ClientIDOf(h.PublicKey) {
		return wrong("clientId", "the clientId is not that of the publicKey")
	}
	return nil
}

// CheckTokenHello fails for a hello that cannot begin a connection whose upgrade request
// has brought the host's token. Nothing is proved there: a nonce does not count, and a
// key cannot be claimed. The error is a [*FieldError].
func CheckTokenHello(h *protocol.Hello) error {
	if h.PublicKey != nil || h.Ephemeral != nil {
		field := "publicKey"
		if h.PublicKey == nil {
			field = "ephemeral"
		}
		return wrong(field, "a client that sends the token proves no key; leave publicKey and ephemeral out")
	}
	if h.Pairing != "" {
		return wrong("pairing", "a client that sends the token is let in already; leave pairing out")
	}
	return checkIdentity(h)
}

// checkIdentity fails for what a client cannot call itself.
func checkIdentity(h *protocol.Hello) error {
	switch {
	case len(h.ClientName) > MaxName:
		return wrong("clientName", "a client's name has at most %d bytes", MaxName)
	case h.ClientID == protocol.HostClient:
		return wrong("clientId", "no client may call itself the host")
	}
	if err := h.ClientID.Check(); err != nil {
		return wrong("clientId", "clientId: %w", err)
	}
	return nil
}

// CheckChallenge fails for a challenge that does not answer the hello, or is of
// another device than the one that was meant ("" is any).
func CheckChallenge(h *protocol.Hello, c *protocol.Challenge, meant protocol.DeviceID) error {
	switch {
	case len(c.Nonce) != NonceSize:
		return fmt.Errorf("a nonce has %d bytes, not %d", NonceSize, len(c.Nonce))
	case c.DeviceID == "":
		return errors.New("the host names no device")
	case meant != "" && c.DeviceID != meant:
		return fmt.Errorf("the host is the device %s, not %s", c.DeviceID, meant)
	case h.PublicKey == nil:
		return nil
	}
	if _, err := ecdh.X25519().NewPublicKey(c.Ephemeral); err != nil {
		return fmt.Errorf("ephemeral: %w", err)
	}
	if c.DeviceID != protocol.DeviceIDOf(c.PublicKey) {
		return errors.New("the deviceId is not that of the publicKey")
	}
	return nil
}

// Host returns the host's proof under a key.
func Host(key []byte, t *Transcript) []byte { return t.proof(key, roleHost) }

// Client returns the client's proof under a key.
func Client(key []byte, t *Transcript) []byte { return t.proof(key, roleClient) }

// Equal compares proofs in constant time.
func Equal(a, b []byte) bool { return len(a) == sha256.Size && hmac.Equal(a, b) }

// Shared returns the key of a proof by DH of a private and a public key. It fails for
// a public key of low order.
func Shared(private *ecdh.PrivateKey, public []byte) ([]byte, error) {
	p, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	return private.ECDH(p)
}

// Paired returns the key of a proof of a client that redeems a code: HMAC-SHA-256 of a
// shared secret (see [Shared]) under the text of the secret part of the code.
func Paired(secret string, shared []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(pairingLabel))
	mac.Write(shared)
	return mac.Sum(nil)
}

func (t *Transcript) proof(key []byte, r role) []byte {
	mac := hmac.New(sha256.New, key)
	field := func(b []byte) {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(b)))
		mac.Write(n[:])
		mac.Write(b)
	}
	h, c, label := &t.Hello, &t.Challenge, label
	if h.Pairing != "" {
		label = pairingLabel
	}
	for _, s := range []string{label, string(r), t.Address, strconv.Itoa(h.ProtocolVersion), string(h.ClientID), h.ClientName,
		strconv.FormatBool(h.Interactive), string(c.DeviceID)} {
		field([]byte(s))
	}
	for _, b := range [][]byte{h.Nonce, h.PublicKey, h.Ephemeral, c.Nonce, c.PublicKey, c.Ephemeral} {
		field(b)
	}
	if h.Pairing != "" {
		field([]byte(h.Pairing))
	}
	return mac.Sum(nil)
}

// CheckAddress fails for an address that is too long to be one.
func CheckAddress(address string) error {
	if address == "" || len(address) > maxAddress {
		return fmt.Errorf("the address has %d bytes; it has 1 to %d", len(address), maxAddress)
	}
	return nil
}
