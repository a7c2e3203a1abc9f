package client

import (
	"context"
	"crypto/ecdh"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/coder/websocket"

	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/handshake"
)

// maxRefusal bounds what a refusal says to a person, in bytes: it may come from a
// stranger.
const maxRefusal = 500

// The messages of the handshake, as they are on the wire.
type (
	helloMessage struct {
		Type string `json:"type"`
		protocol.Hello
	}
	proveMessage struct {
		Type string `json:"type"`
		protocol.Prove
	}
)

// handshake goes through the handshake: this side proves nothing before the host has
// proved itself.
func (w *WebSocket) handshake(ctx context.Context, conn *websocket.Conn, t *target, random io.Reader) (protocol.Connected, error) {
	var none protocol.Connected
	hello := protocol.Hello{ProtocolVersion: protocol.Version, ClientID: w.ClientID, ClientName: w.ClientName, Interactive: w.Interactive}
	var err error
	if hello.Nonce, err = handshake.Nonce(random); err != nil {
		return none, err
	}
	var ephemeral *ecdh.PrivateKey
	if w.Key != nil {
		if ephemeral, err = ecdh.X25519().GenerateKey(random); err != nil {
			return none, fmt.Errorf("generate a key: %w", err)
		}
		hello.PublicKey, hello.Ephemeral = w.Key.PublicKey().Bytes(), ephemeral.PublicKey().Bytes()
		if hello.ClientID == "" {
			hello.ClientID = protocol.ClientIDOf(hello.PublicKey)
		}
	}
	secret := ""
	if w.Code != "" {
		if hello.Pairing, secret, _ = protocol.SplitPairingCode(w.Code); secret == "" {
			return none, &PermanentError{errors.New("this is not a code of a host: it has 42 characters")}
		}
	}
	if err := handshake.CheckHello(&hello); err != nil {
		return none, &PermanentError{fmt.Errorf("this client cannot introduce itself: %w", err)}
	}
	if err := send(ctx, conn, helloMessage{"hello", hello}); err != nil {
		return none, err
	}
	var challenge protocol.Challenge
	if err := receive(ctx, conn, "challenge", &challenge); err != nil {
		return none, err
	}
	if err := handshake.CheckChallenge(&hello, &challenge, w.Device); err != nil {
		return none, &PermanentError{protocol.Errorf(protocol.CodeAuthFailed, "What listens on %s is not the host that was meant: %v. Nothing secret was sent to it.", t.address, err)}
	}
	said := &handshake.Transcript{Address: t.proved(), Hello: hello, Challenge: challenge}
	of, mine := []byte(w.Token), []byte(w.Token)
	if w.Key != nil {
		if of, err = handshake.Shared(ephemeral, challenge.PublicKey); err == nil {
			mine, err = handshake.Shared(w.Key, challenge.Ephemeral)
		}
	}
	if secret != "" {
		of, mine = handshake.Paired(secret, of), handshake.Paired(secret, mine)
	}
	if err != nil || !handshake.Equal(challenge.Proof, handshake.Host(of, said)) {
		if secret != "" {
			return none, &PermanentError{protocol.Errorf(protocol.CodeAuthFailed, "What listens on %s could not prove that it has made this code: it is another host, or a stranger holds the address. The code was not sent to it.", t.address)}
		}
		return none, &PermanentError{protocol.Errorf(protocol.CodeAuthFailed, "What listens on %s could not prove that it is the host: the token is wrong or was changed there, or a stranger holds the address. Nothing secret was sent to it; scorel host token prints there which token counts.", t.address)}
	}
	if err := send(ctx, conn, proveMessage{"connect", protocol.Prove{Proof: handshake.Client(mine, said)}}); err != nil {
		return none, err
	}
	var connected protocol.Connected
	if err := receive(ctx, conn, "connected", &connected); err != nil {
		return none, err
	}
	if connected.DeviceID != challenge.DeviceID {
		return none, errors.New("the host changed its name within the handshake")
	}
	return connected, nil
}

func send(ctx context.Context, conn *websocket.Conn, m any) error {
	data, err := json.Marshal(m)
	if err == nil {
		err = conn.Write(ctx, websocket.MessageText, data)
	}
	if err != nil {
		return fmt.Errorf("the handshake with the host broke off: %w", err)
	}
	return nil
}

// receive takes the next message of the handshake, which is of one type or a
// refusal.
func receive(ctx context.Context, conn *websocket.Conn, want string, into any) error {
	kind, data, err := conn.Read(ctx)
	if err != nil {
		return fmt.Errorf("the handshake with the host broke off: %w", err)
	}
	var head struct {
		Type    string        `json:"type"`
		Code    protocol.Code `json:"code"`
		Message string        `json:"message"`
	}
	if err := json.Unmarshal(data, &head); err != nil || kind != websocket.MessageText {
		return errors.New("what answers there does not speak the language of a host")
	}
	switch head.Type {
	case want:
		if err := json.Unmarshal(data, into); err != nil {
			return fmt.Errorf("the host's %s cannot be read: %w", want, err)
		}
		return nil
	case "error":
		e := &protocol.Error{Code: head.Code, Message: display.Line(head.Message[:min(len(head.Message), maxRefusal)])}
		switch e.Code {
		case protocol.CodeAuthFailed, protocol.CodeUnsupportedProtocol, protocol.CodeForbidden, protocol.CodeInvalidRequest:
			return &PermanentError{e}
		}
		return e
	}
	return fmt.Errorf("the host sent a message of another type than %s", want)
}
