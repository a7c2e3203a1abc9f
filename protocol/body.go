package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// bodyHash is how many bytes of the hash of a request's body are kept.
const bodyHash = 16

// BodyHash names what a client asks for, so that two requests of the same name can be
// told apart: a hash of the JSON object in data with its keys sorted, without what is
// another each time (requestId) or only says that it is sent again (repeat). It is ""
// for what is not an object.
func BodyHash(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // as they are written
	var body map[string]any
	if dec.Decode(&body) != nil {
		return ""
	}
	delete(body, "requestId")
	delete(body, "repeat")
	plain, err := marshal(body) // sorts keys
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(plain)
	return hex.EncodeToString(sum[:bodyHash])
}

// BodyOf is the hash of the body of a call.
func (c Call) BodyOf() string {
	if c.Body != "" || c.Request == nil {
		return c.Body
	}
	data, err := c.MarshalJSON()
	if err != nil {
		return ""
	}
	return BodyHash(data)
}
