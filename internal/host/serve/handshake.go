package serve

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"scorel/internal/host/pairing"
	"scorel/protocol"
	"scorel/protocol/handshake"
)

// maxHandshake bounds each of the first two messages of a client, in bytes.
const maxHandshake = 8 << 10

// dialled is how a client has come: address is what it dialled, for the proofs, and from
// where it is, "" for this machine.
type dialled struct{ address, from string }

// acceptHandshake reads the hello of a client and has it prove who it is, unless its upgrade
// request has brought the right token: that is enough. What fails is a refusal; every
// other error is that of the line.
func (s *Server) acceptHandshake(ws *websocket.Conn, at dialled, token string) (hello protocol.Hello, p *proof, err error) {
	data, err := readFirst(ws)
	if err != nil {
		return hello, nil, err
	}
	check := handshake.CheckHello
	if token != "" {
		check = handshake.CheckTokenHello
	}
	if hello, err = parseHello(data, check); err != nil {
		return hello, nil, err
	}
	if token != "" {
		return hello, &proof{grant: protocol.GrantControl, token: token}, nil
	}
	return s.prove(ws, at, hello)
}

// prove lets both sides prove who they are, the host first: with the token, with their
// keys, or with their keys and a code.
func (s *Server) prove(ws *websocket.Conn, at dialled, hello protocol.Hello) (_ protocol.Hello, p *proof, err error) {
	if p, err = s.challenge(&hello, at); err != nil {
		return hello, nil, err
	}
	transcript := &handshake.Transcript{Address: at.address, Hello: hello, Challenge: p.challenge}
	p.challenge.Proof = handshake.Host(p.hostKey, transcript)
	if err := writeMessage(ws, "challenge", p.challenge); err != nil {
		return hello, nil, err
	}
	data, err := readFirst(ws)
	if err != nil {
		return hello, nil, err
	}
	said, err := parseProve(data)
	if err != nil {
		return hello, nil, err
	}
	right := handshake.Equal(said, handshake.Client(p.clientKey, transcript))
	switch {
	case hello.Pairing == "" && !right:
		return hello, nil, refuse(reasonProof, "The client's proof is wrong: it has another token or key than the host, or dialled another address than %s.", shown(at.address))
	case hello.Pairing == "":
		return hello, p, nil
	case !right:
		s.cfg.Host.Pairings().Fail(hello.Pairing)
		return hello, nil, refuse(reasonProof, "The client's proof is wrong: it has another code than the host, or dialled another address than %s. The code counts no longer; ask for a new one.", shown(at.address))
	}
	if p.grant, err = s.cfg.Host.Pairings().Redeem(hello.Pairing, hello.PublicKey, hello.ClientName, at.from); err != nil {
		return hello, nil, refusedCode(err)
	}
	return hello, p, nil
}

// refusedCode is the refusal of a client whose code does not let it in.
func refusedCode(err error) error {
	var why *pairing.RefusedError
	if errors.As(err, &why) {
		return refuse(reasonPairing, "%s", why.Text)
	}
	return &refusal{reasonPairing, protocol.AsError(err)}
}

// proof is what the host needs to prove itself and to check the client; of one that has
// sent its token, grant and token alone.
type proof struct {
	challenge          protocol.Challenge
	hostKey, clientKey []byte
	grant              protocol.Grant
	token              string // that counts, "" for a client with a key
}

// challenge answers a hello. A client whose key is not on the list costs no DH, unless it
// names a code that counts.
func (s *Server) challenge(hello *protocol.Hello, at dialled) (*proof, error) {
	nonce, err := handshake.Nonce(s.cfg.Rand)
	if err != nil {
		return nil, err
	}
	device, key := s.cfg.Host.Device()
	p := &proof{challenge: protocol.Challenge{DeviceID: device, Nonce: nonce}}
	if hello.PublicKey == nil {
		token := s.cfg.Token()
		if token == "" {
			return nil, refuse(reasonProof, "The host takes no token; connect with a paired key.")
		}
		p.hostKey, p.clientKey, p.grant, p.token = []byte(token), []byte(token), protocol.GrantControl, token
		return p, nil
	}
	var secret string
	known, grant := hello.PublicKey, protocol.Grant("")
	if hello.Pairing != "" {
		if secret, err = s.cfg.Host.Pairings().Secret(hello.Pairing, at.from == ""); err != nil {
			return nil, refusedCode(err)
		}
	} else {
		var ok bool
		if known, grant, ok, err = s.lookup(hello.ClientID); err != nil {
			return nil, s.errList(err)
		} else if !ok || !bytes.Equal(known, hello.PublicKey) {
			return nil, refuse(reasonEntry, "The host does not know this entry; pair it with the host first.")
		}
	}
	ephemeral, err := ecdh.X25519().GenerateKey(s.cfg.Rand)
	if err != nil {
		return nil, err
	}
	p.challenge.PublicKey, p.challenge.Ephemeral, p.grant = key.PublicKey().Bytes(), ephemeral.PublicKey().Bytes(), grant
	if p.hostKey, err = handshake.Shared(key, hello.Ephemeral); err != nil {
		return nil, refuse(reasonMessage, "The ephemeral key of the hello is not valid.")
	}
	if p.clientKey, err = handshake.Shared(ephemeral, known); err != nil {
		return nil, refuse(reasonEntry, "The key of this entry is not valid; pair it with the host again.")
	}
	if secret != "" {
		p.hostKey, p.clientKey = handshake.Paired(secret, p.hostKey), handshake.Paired(secret, p.clientKey)
	}
	return p, nil
}

func (s *Server) lookup(id protocol.ClientID) ([]byte, protocol.Grant, bool, error) {
	if s.cfg.Entries == nil {
		return nil, "", false, nil
	}
	return s.cfg.Entries.Lookup(id)
}

// errList is the refusal of a client while nobody knows whether it is on the list: it is not
// told to pair again, and comes again by itself. Why is for the log alone.
func (s *Server) errList(err error) error {
	s.reporter.report(reasonList, "the list of clients cannot be read: "+err.Error())
	return refuse(reasonList, "The host cannot read its list of clients now; try again, and see scorel doctor on its machine if that goes on.")
}

// parseHello reads the first message of a client; check looks at what it says.
func parseHello(data []byte, check func(*protocol.Hello) error) (protocol.Hello, error) {
	var m struct {
		Type string `json:"type"`
		protocol.Hello
	}
	switch err := json.Unmarshal(data, &m); {
	case err != nil:
		return m.Hello, misfit(protocol.NotJSON(err, "hello", data, &m))
	case m.Type == "":
		return m.Hello, misfit(wrong("type", "The first message of a client is an object with the type hello; this one has no type."))
	case m.Type != "hello":
		return m.Hello, misfit(wrong("type", "The first message of a client is a hello, not %s.", shown(m.Type)))
	}
	missing := protocol.LacksMember("hello", data, &m.Hello)
	if missing != nil && (m.ProtocolVersion == 0 || m.ProtocolVersion == protocol.Version) { // another version may have other fields
		return m.Hello, misfit(missing.Err())
	}
	if m.ProtocolVersion != protocol.Version {
		return m.Hello, refuse(reasonVersion, "The client speaks protocol %d and the host %d; use the same version of Scorel for both.", m.ProtocolVersion, protocol.Version)
	}
	if err := check(&m.Hello); err != nil {
		var about *handshake.FieldError
		if errors.As(err, &about) {
			return m.Hello, misfit(wrong(about.Field, "The hello does not fit: %v.", err))
		}
		return m.Hello, misfit(invalid("The hello does not fit: %v.", err))
	}
	return m.Hello, nil
}

// misfit makes the refusal of a handshake message that does not fit.
func misfit(e *protocol.Error) *refusal {
	e.Message = hideTokens(e.Message)
	return &refusal{reasonMessage, e}
}

// parseProve reads the second message of a client.
func parseProve(data []byte) ([]byte, error) {
	var m struct {
		Type string `json:"type"`
		protocol.Prove
	}
	switch err := json.Unmarshal(data, &m); {
	case err != nil:
		return nil, misfit(protocol.NotJSON(err, "connect", data, &m))
	case m.Type != "connect":
		return nil, misfit(wrong("type", "The second message of a client is connect with its proof, not %s.", shown(m.Type)))
	case len(m.Proof) == 0:
		return nil, misfit(wrong("proof", "The field proof is missing or empty; it is the client's proof."))
	}
	return m.Proof, nil
}

// readFirst reads one of the first messages.
func readFirst(ws *websocket.Conn) ([]byte, error) {
	typ, r, err := ws.Reader(context.Background()) // the stream is closed when it takes too long
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxHandshake+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxHandshake:
		return nil, refuse(reasonMessage, "The first messages of a client have at most %d bytes.", maxHandshake)
	case typ != websocket.MessageText:
		return nil, refuse(reasonMessage, "Messages are text.")
	case !utf8.Valid(data):
		return nil, refuse(reasonUTF8, "Messages are UTF-8.")
	}
	return data, nil
}

// writeMessage writes one of the host's first messages.
func writeMessage(ws *websocket.Conn, typ string, body any) error {
	head, err := json.Marshal(struct {
		Type string `json:"type"`
	}{typ})
	if err != nil {
		return err
	}
	fields, err := json.Marshal(body)
	if err != nil {
		return err
	}
	data := append(append(head[:len(head)-1], ','), fields[1:]...)
	return ws.Write(context.Background(), websocket.MessageText, data)
}

// turnAway ends a connection whose handshake failed. A wrong proof waits first, so
// that trying again and again is slow; the wait counts as unproven, whose number is
// bounded, and ends with the connection.
func (s *Server) turnAway(ws *websocket.Conn, st *stream, err error) {
	var why *refusal
	if !errors.As(err, &why) {
		_ = ws.CloseNow() // the line is gone
		return
	}
	s.refused(why, peerName(st.l.kind, st.Conn))
	if why.reason == reasonProof || why.reason == reasonEntry || why.reason == reasonPairing {
		wait := time.NewTimer(s.times.penalty)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-st.gone:
		case <-s.stopping:
		}
	}
	if data, err := (protocol.Reply{Err: why.err}).MarshalJSON(); err == nil {
		_ = ws.Write(context.Background(), websocket.MessageText, data) // it is being closed
	}
	status := websocket.StatusPolicyViolation
	if why.reason == reasonUTF8 {
		status = websocket.StatusInvalidFramePayloadData // RFC 6455, section 8.1
	}
	closeWebSocket(ws, st, status, string(why.err.Code))
}
