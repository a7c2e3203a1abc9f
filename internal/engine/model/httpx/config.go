package httpx

import (
	"net/http"

	"scorel/internal/engine/model"
)

// Config returns which model an adapter calls and how.
type Config struct {
	Info    model.Info
	BaseURL string // as the vendor writes it, with or without a version; empty: Info.BaseURL, else the vendor's own
	Key     string // empty: no key is sent
	KeyName string // where the key comes from or belongs, for error texts
	// Headers are sent in addition and win over the adapter's own.
	Headers map[string]string
	// HTTP is used for its transport and timeout; nil is http.DefaultTransport.
	HTTP *http.Client
}

// Peer completes a configuration for a wire format, with the vendor's address and name
// where it has none, and returns the peer that it means. It fails when the address is none.
func (c *Config) Peer(api model.API, address string) (Peer, error) {
	for _, base := range [...]string{c.Info.BaseURL, address} {
		if c.BaseURL == "" {
			c.BaseURL = base
		}
	}
	c.Info.BaseURL, c.Info.API = c.BaseURL, api
	p := Peer{Name: c.Info.Provider, BaseURL: c.BaseURL, Key: c.Key, KeyName: c.KeyName, Headers: c.Headers, HTTP: c.HTTP}
	if p.Name == "" {
		p.Name = api.Vendor()
	}
	return p, p.Check()
}

// MaxTokens is the output limit to send for a request; 0 sends none, which is the
// model's own.
func MaxTokens(info model.Info, req model.Request) int {
	if req.MaxTokens > 0 && info.MaxTokens > 0 {
		return min(req.MaxTokens, info.MaxTokens)
	}
	return max(0, req.MaxTokens)
}
