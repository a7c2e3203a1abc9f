package protocol

import (
	"io"
	"strings"
)

// Requests about how a browser, or another client with a key of its own, comes in.
type (
	// OpenWeb has the host listen where a browser reaches it: on this machine, or, with
	// LAN, with TLS on the network that this machine is in. An address that is open
	// stays as it is, and the host opens it again when it is started the next time. The
	// answer is a [WebOpened].
	OpenWeb struct {
		LAN bool `json:"lan,omitempty"`
	}
	// CloseWeb closes the addresses that [OpenWeb] has opened, and ends the connections
	// over them. The next host does not open them.
	CloseWeb struct{}
	// CreatePairing makes a code with which one client comes in that the host does not
	// know yet; the answer is a [Pairing]. The client gets Grant, control where it is
	// empty. With LAN the code is for a client that comes over the network: it waits
	// until a person confirms it, and then has answer, or view where Grant says so.
	CreatePairing struct {
		Grant Grant `json:"grant,omitempty" check:"oneof=|view|answer|control"`
		LAN   bool  `json:"lan,omitempty"`
	}
	// AwaitPairing waits until a code has been redeemed or counts no longer; the answer is
	// a [PairingEnd].
	AwaitPairing struct {
		PairingID PairingID `json:"pairingId" check:"required,max=MaxWord"`
	}
	// CancelPairing has a code count no longer. One that counts no longer already is no
	// error.
	CancelPairing struct {
		PairingID PairingID `json:"pairingId" check:"required,max=MaxWord"`
	}
)

// What they are answered with.
type (
	// WebOpened is where a browser reaches the host. Addresses are URLs without a path, the
	// likeliest first. Fingerprint is the SHA-256 of the certificate in hex, with LAN
	// alone; OwnCertificate says that the host made it itself, so that browsers warn of
	// it. Notice is a sentence that a person should read, "" for none.
	WebOpened struct {
		Addresses      []string `json:"addresses"`
		Fingerprint    string   `json:"fingerprint,omitempty"`
		OwnCertificate bool     `json:"ownCertificate,omitempty"`
		Notice         string   `json:"notice,omitempty"`
	}
	// Pairing is a code that one client can redeem until ExpiresAt, in Unix milliseconds of
	// the host's clock. Code is secret: whoever has it comes in. Addresses are where a
	// page can redeem it, as in [WebOpened].
	Pairing struct {
		PairingID PairingID `json:"pairingId"`
		Code      string    `json:"code"`
		ExpiresAt int64     `json:"expiresAt"`
		Addresses []string  `json:"addresses"`
	}
	// PairingEnd is what became of a code. Entry is who redeemed it.
	PairingEnd struct {
		Outcome PairingOutcome `json:"outcome"`
		Entry   *Entry         `json:"entry,omitempty"`
	}
)

// PairingOutcome is what became of a code.
type PairingOutcome string

// The outcomes.
const (
	// PairingRedeemed: a client has come in by it.
	PairingRedeemed PairingOutcome = "redeemed"
	// PairingExpired: nobody has come within its time.
	PairingExpired PairingOutcome = "expired"
	// PairingCancelled: a client with control has cancelled it.
	PairingCancelled PairingOutcome = "cancelled"
	// PairingFailed: somebody has tried it with a wrong proof.
	PairingFailed PairingOutcome = "failed"
)

// pairingSecret is how many characters of a code are secret.
const pairingSecret = longID

// NewPairingCode draws a code: the characters of the pairing's id after its prefix, and
// the secret, 128 random bits as 26 characters.
func NewPairingCode(rand io.Reader) (id PairingID, code string) {
	id = PairingID(randomID("par_", rand, 10))
	return id, strings.TrimPrefix(string(id), "par_") + randomID("", rand, 16)
}

// SplitPairingCode returns the id and the secret of a code; false for what is none.
func SplitPairingCode(code string) (id PairingID, secret string, ok bool) {
	if checkID(code, "", shortID+pairingSecret) != nil {
		return "", "", false
	}
	return PairingID("par_" + code[:shortID]), code[shortID:], true
}

var (
	openWebSpec = Spec{
		Name: "open_web", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(OpenWeb) }, Reply: func() Response { return new(WebOpened) },
	}
	closeWebSpec = Spec{
		Name: "close_web", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(CloseWeb) }, Reply: func() Response { return new(Done) },
	}
	// A code that got lost with its answer is useless and soon gone: a repeat makes
	// another, so that no answer with a secret is kept.
	createPairingSpec = Spec{
		Name: "create_pairing", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(CreatePairing) }, Reply: func() Response { return new(Pairing) },
	}
	awaitPairingSpec = Spec{
		Name: "await_pairing", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(AwaitPairing) }, Reply: func() Response { return new(PairingEnd) },
	}
	cancelPairingSpec = Spec{
		Name: "cancel_pairing", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(CancelPairing) }, Reply: func() Response { return new(Done) },
	}
)
