package webpush

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds of one push; see docs/limits.md.
const (
	// pushTTL is how long the push service keeps a push for a browser that is not there.
	pushTTL = 4 * time.Hour
	// tokenTime is how long a token counts; RFC 8292 allows 24 hours.
	tokenTime = 12 * time.Hour
)

// topic has a push replace the one before that was not delivered (RFC 8030, section 5.4).
const topic = "scorel-waits"

// noContact is the contact of a host whose pages have no https origin: push services want one.
const noContact = "https://scorel.invalid"

// publicKey returns the public half as browsers take it: the point, as base64url.
func publicKey(key *ecdsa.PrivateKey) string {
	point, err := key.PublicKey.Bytes()
	if err != nil {
		panic(err) // only of another curve
	}
	return base64.RawURLEncoding.EncodeToString(point)
}

// newPush makes the request of one push to an endpoint.
func newPush(key *ecdsa.PrivateKey, rand io.Reader, endpoint, contact string, now time.Time) (*http.Request, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, errEndpoint
	}
	token, err := sign(key, rand, claims{Audience: strings.ToLower(u.Scheme + "://" + u.Host), Expires: now.Add(tokenTime).Unix(), Subject: contact})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, endpoint, http.NoBody)
	if err != nil {
		return nil, errEndpoint
	}
	req.Header = http.Header{
		"Authorization": {"vapid t=" + token + ", k=" + publicKey(key)},
		"Ttl":           {fmt.Sprint(int(pushTTL.Seconds()))},
		"Topic":         {topic},
		"Urgency":       {"high"},
	}
	return req, nil
}

// claims are what a token says (RFC 8292, section 2).
type claims struct {
	Audience string `json:"aud"` // the origin of the push service
	Expires  int64  `json:"exp"` // in Unix seconds
	Subject  string `json:"sub"`
}

// sign makes a token: a JWT with ES256 (RFC 7518, section 3.4). A library would be more code
// than these lines.
func sign(key *ecdsa.PrivateKey, rand io.Reader, c claims) (string, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + enc.EncodeToString(body)
	digest := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand, key, digest[:])
	if err != nil {
		return "", fmt.Errorf("sign a push: %w", err)
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + enc.EncodeToString(signature[:]), nil
}
