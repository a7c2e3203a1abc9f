package protocol

// Hello is how a client introduces itself. Interactive says that it can put a
// question to a person. Nonce is 32 random bytes. A client that proves its own key
// instead of the token sends PublicKey and an Ephemeral one, both X25519; one that the
// host does not know yet, and that has a code, also sends the code's Pairing.
type Hello struct {
	ProtocolVersion int      `json:"protocolVersion"`
	ClientID        ClientID `json:"clientId"`
	ClientName      string   `json:"clientName"`
	Interactive     bool     `json:"interactive"`
	Nonce           []byte   `json:"nonce,omitempty"`
	PublicKey       []byte   `json:"publicKey,omitempty"`
	Ephemeral       []byte   `json:"ephemeral,omitempty"`

	Pairing PairingID `json:"pairing,omitempty"`
}

// Challenge is the host's answer to [Hello]: it proves first that it is the one
// that was meant. PublicKey and Ephemeral are there when the client sent its own.
type Challenge struct {
	DeviceID  DeviceID `json:"deviceId"`
	Nonce     []byte   `json:"nonce"`
	PublicKey []byte   `json:"publicKey,omitempty"`
	Ephemeral []byte   `json:"ephemeral,omitempty"`
	Proof     []byte   `json:"proof"`
}

// Prove is the client's proof; on the wire its type is connect.
type Prove struct {
	Proof []byte `json:"proof"`
}

// Connected lets the client in.
type Connected struct {
	DeviceID DeviceID `json:"deviceId"`
	Grant    Grant    `json:"grant"`
	Version  string   `json:"version"` // of the host's program
}

// Anchors are where a client is in a session, from its newest [Live] and the
// events after it.
type Anchors struct {
	DeviceID          DeviceID `json:"deviceId"`
	StreamEpoch       Epoch    `json:"streamEpoch"`
	StreamLastSeq     Seq      `json:"streamLastSeq"`
	PersistentLastSeq Seq      `json:"persistentLastSeq"`
	PersistentLastID  EventID  `json:"persistentLastId,omitempty"`
}

// Anchors returns where a client is that holds this state.
func (l *Live) Anchors() Anchors {
	return Anchors{DeviceID: l.DeviceID, StreamEpoch: l.StreamEpoch, StreamLastSeq: l.ThroughSeq,
		PersistentLastSeq: l.PersistentLastSeq, PersistentLastID: l.PersistentLastID}
}
