package handshake

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/hex"
	"testing"

	"scorel/protocol"
)

func pair(t *testing.T) (client, host *ecdh.PrivateKey) {
	t.Helper()
	client, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if host, err = ecdh.X25519().GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	return client, host
}

func fixed(b byte) []byte { return bytes.Repeat([]byte{b}, NonceSize) }

// transcript is one in which every field differs.
func transcript() *Transcript {
	return &Transcript{Address: "localhost:7777",
		Hello: protocol.Hello{ProtocolVersion: 1, ClientID: protocol.ClientIDOf(fixed(1)), ClientName: "test", Interactive: true, Nonce: fixed(2),
			PublicKey: fixed(3), Ephemeral: fixed(4)},
		Challenge: protocol.Challenge{DeviceID: protocol.DeviceIDOf(fixed(5)), Nonce: fixed(6), PublicKey: fixed(7), Ephemeral: fixed(8)}}
}

func TestAProofDependsOnEverythingThatWasSaid(t *testing.T) {
	key := []byte("a token")
	want := Client(key, transcript())
	if Equal(want, Host(key, transcript())) {
		t.Error("the host's proof passes as the client's")
	}
	if Equal(want, Client([]byte("another"), transcript())) {
		t.Error("another key gives the same proof")
	}
	for name, change := range map[string]func(*Transcript){
		"address":        func(t *Transcript) { t.Address = "localhost:7778" },
		"version":        func(t *Transcript) { t.Hello.ProtocolVersion++ },
		"client":         func(t *Transcript) { t.Hello.ClientID = protocol.ClientIDOf(fixed(9)) },
		"name":           func(t *Transcript) { t.Hello.ClientName = "tset" },
		"interactive":    func(t *Transcript) { t.Hello.Interactive = false },
		"nonce":          func(t *Transcript) { t.Hello.Nonce = fixed(9) },
		"public key":     func(t *Transcript) { t.Hello.PublicKey = fixed(9) },
		"ephemeral":      func(t *Transcript) { t.Hello.Ephemeral = fixed(9) },
		"device":         func(t *Transcript) { t.Challenge.DeviceID = protocol.DeviceIDOf(fixed(9)) },
		"host nonce":     func(t *Transcript) { t.Challenge.Nonce = fixed(9) },
		"host key":       func(t *Transcript) { t.Challenge.PublicKey = fixed(9) },
		"host ephemeral": func(t *Transcript) { t.Challenge.Ephemeral = fixed(9) },
	} {
		other := transcript()
		change(other)
		if Equal(want, Client(key, other)) {
			t.Errorf("another %s gives the same proof", name)
		}
	}
	moved := transcript() // a byte that moves from one field to the next
	moved.Address, moved.Hello.ClientName = "localhost:777", "7test"
	if Equal(want, Client(key, moved)) {
		t.Error("fields run into each other")
	}
}

func TestTheProofHasAFixedForm(t *testing.T) {
	const want = "4ffdd2a28361aee453820b7627eece8b1105f6e61ae8fa6af41a0a76775e41dd"
	if got := hex.EncodeToString(Host([]byte("a token"), transcript())); got != want {
		t.Errorf("the host's proof is %s: clients of another version would be refused", got)
	}
}

func TestBothSidesComeToTheSameKey(t *testing.T) {
	client, host := pair(t)
	a, err := Shared(client, host.PublicKey().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Shared(host, client.PublicKey().Bytes())
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("%x and %x, %v", a, b, err)
	}
	if _, err := Shared(client, make([]byte, 32)); err == nil {
		t.Error("a public key of low order is taken")
	}
}

func TestAHelloIsOfTheRightForm(t *testing.T) {
	client, host := pair(t)
	public := client.PublicKey().Bytes()
	good := func() *protocol.Hello {
		return &protocol.Hello{ClientID: protocol.ClientIDOf(public), Nonce: fixed(1), PublicKey: public, Ephemeral: host.PublicKey().Bytes()}
	}
	if err := CheckHello(good()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*protocol.Hello){
		"short nonce":        func(h *protocol.Hello) { h.Nonce = h.Nonce[1:] },
		"no nonce":           func(h *protocol.Hello) { h.Nonce = nil },
		"host":               func(h *protocol.Hello) { h.ClientID = protocol.HostClient },
		"no id":              func(h *protocol.Hello) { h.ClientID = "" },
		"id of another key":  func(h *protocol.Hello) { h.ClientID = protocol.ClientIDOf(fixed(9)) },
		"no ephemeral":       func(h *protocol.Hello) { h.Ephemeral = nil },
		"ephemeral only":     func(h *protocol.Hello) { h.PublicKey = nil },
		"short key":          func(h *protocol.Hello) { h.PublicKey = h.PublicKey[1:] },
		"long name":          func(h *protocol.Hello) { h.ClientName = string(make([]byte, MaxName+1)) },
		"short ephemeral":    func(h *protocol.Hello) { h.Ephemeral = h.Ephemeral[1:] },
		"empty not nil keys": func(h *protocol.Hello) { h.PublicKey, h.Ephemeral = []byte{}, []byte{} },
	} {
		h := good()
		change(h)
		if CheckHello(h) == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestAChallengeIsOfTheDeviceThatWasMeant(t *testing.T) {
	client, host := pair(t)
	public := host.PublicKey().Bytes()
	h := &protocol.Hello{PublicKey: client.PublicKey().Bytes()}
	c := protocol.Challenge{DeviceID: protocol.DeviceIDOf(public), Nonce: fixed(1), PublicKey: public, Ephemeral: public}
	if err := CheckChallenge(h, &c, c.DeviceID); err != nil {
		t.Fatal(err)
	}
	if CheckChallenge(h, &c, protocol.DeviceIDOf(fixed(1))) == nil {
		t.Error("another device is taken")
	}
	other := c
	other.PublicKey = client.PublicKey().Bytes()
	if CheckChallenge(h, &other, "") == nil {
		t.Error("a key that is not the device's is taken")
	}
	other = c
	other.Nonce = nil
	if CheckChallenge(h, &other, "") == nil {
		t.Error("no nonce is taken")
	}
}
