// Package listing asks a server which models it has, and how large their context windows
// are. It follows no redirect and reads bounded answers. Any goroutine may call it. No error
// of it holds a key.
package listing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// Why a server did not list its models.
var (
	ErrRefused  = errors.New("refuses this key")    // it was sent one
	ErrNeedsKey = errors.New("asks for an API key") // it was sent none
)

// Bounds of a list.
const (
	MaxModels = 500     // of a server; the others are left out
	maxID     = 400     // bytes of a name; longer ones are left out
	maxBody   = 4 << 20 // of the answer
)

// Server is whom [Models] asks. Key is "" for a server without keys.
type Server struct {
	BaseURL string
	API     model.API
	Key     string
	HTTP    *http.Client // nil: a client of its own over http.DefaultTransport
}

// Models returns the ids of the models that a server lists, in its order, at most
// [MaxModels]. The error is a sentence without an end: the address is unusable, the server
// did not answer, or its answer is not a list of models.
func Models(ctx context.Context, s Server) ([]string, error) {
	if err := (httpx.Peer{Name: "the endpoint", BaseURL: s.BaseURL}).Check(); err != nil {
		return nil, err
	}
	path := []string{"models"}
	header := http.Header{"Accept": {"application/json"}}
	switch s.API {
	case model.APIAnthropic:
		path = []string{"v1", "models"}
		header.Set("anthropic-version", "2023-06-01")
		if s.Key != "" {
			header.Set("x-api-key", s.Key)
		}
	case model.APIGoogle:
		if !strings.Contains(s.BaseURL, "/v1") {
			path = []string{"v1beta", "models"}
		}
		if s.Key != "" {
			header.Set("x-goog-api-key", s.Key)
		}
	default:
		if s.Key != "" {
			header.Set("Authorization", "Bearer "+s.Key)
		}
	}
	address, err := url.JoinPath(s.BaseURL, path...)
	if err != nil {
		return nil, errors.New("the address is not a URL")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address is not a URL")
	}
	req.Header = header
	client := s.client()
	resp, err := client.Do(req)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("nothing listens on %s; is the server running?", req.URL.Host)
		}
		return nil, fmt.Errorf("%s does not answer: %w", req.URL.Host, cause(err))
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		if s.Key == "" {
			return nil, fmt.Errorf("%s %w (%d)", req.URL.Host, ErrNeedsKey, resp.StatusCode)
		}
		return nil, fmt.Errorf("%s %w (%d)", req.URL.Host, ErrRefused, resp.StatusCode)
	default:
		return nil, fmt.Errorf("%s answers %s with status %d", req.URL.Host, req.URL.Path, resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer of %s was cut off: %w", req.URL.Host, err)
	case len(body) > maxBody:
		return nil, fmt.Errorf("the list of models of %s has more than %d bytes", req.URL.Host, maxBody)
	}
	ids, ok := parse(body)
	if !ok {
		return nil, fmt.Errorf("what %s answers at %s is not a list of models", req.URL.Host, req.URL.Path)
	}
	return ids, nil
}

// client returns what sends requests: it follows no redirect and keeps no cookies.
func (s Server) client() *http.Client {
	var client http.Client
	if s.HTTP != nil {
		client = *s.HTTP
	}
	client.Jar = nil
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// cause returns an error without the address that was asked for.
func cause(err error) error {
	if wrapped := new(url.Error); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// parse reads {"data":[{"id":…}]}, as OpenAI, Anthropic and local servers answer, or Google's
// {"models":[{"name":"models/…"}]}.
func parse(body []byte) ([]string, bool) {
	type entry struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	var list struct {
		Data   []entry `json:"data"`
		Models []entry `json:"models"`
		Object string  `json:"object"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Data == nil && list.Models == nil && list.Object != "list" {
		return nil, false
	}
	if list.Data == nil {
		for _, e := range list.Models {
			list.Data = append(list.Data, entry{ID: strings.TrimPrefix(e.Name, "models/")})
		}
	}
	ids := []string{}
	for _, e := range list.Data {
		if e.ID != "" && len(e.ID) <= maxID && len(ids) < MaxModels && !strings.ContainsFunc(e.ID, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) {
			ids = append(ids, e.ID)
		}
	}
	return ids, true
}
