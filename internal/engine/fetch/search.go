package fetch

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
)

const (
	searchTime   = 15 * time.Second
	maxSearch    = 2 << 20 // bytes of an answer, decompressed
	maxHits      = 10
	maxAsked     = 20  // results asked for when some are sorted out here
	maxQuery     = 400 // characters, Brave's limit
	maxHitTitle  = 200 // characters
	maxSnippet   = 600 // characters
	maxDate      = 40  // characters
	maxFilter    = 20  // domains
	maxKeyLength = 1000
)

// Provider is a search service.
type Provider string

// The services.
const (
	Brave   Provider = "brave"
	Tavily  Provider = "tavily"
	SearXNG Provider = "searxng"
)

// KeyVariables returns the environment variables that usually hold the key of a
// service, the first to look at first; none for one that needs no key.
func KeyVariables(p Provider) []string {
	switch p {
	case Brave:
		return []string{"BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"}
	case Tavily:
		return []string{"TAVILY_API_KEY"}
	}
	return nil
}

// Query is what is searched for.
type Query struct {
	Text  string
	Count int // results, 1 to 10
	// Allowed keeps only results of these domains and those below them, Blocked
	// none of them.
	Allowed, Blocked []string
}

// Hit is a result, cleaned of markup, each field in one line and bounded. URL is
// http or https; Snippet and Date may be "".
type Hit struct{ Title, URL, Snippet, Date string }

// SearchConfig is what a searcher is made from.
type SearchConfig struct {
	Provider Provider
	Key      string // "" for none; sent only in a header
	KeyName  string // the variable that holds the key, for error texts
	// BaseURL is where the service is, "" for its own address. It comes from the
	// user, so any address is taken; it is dialled without the proxy.
	BaseURL string
}

// Searcher asks one search service.
type Searcher struct {
	cfg     SearchConfig
	base    *url.URL
	target  Target // of a service without BaseURL
	client  *Client
	adapter adapter
}

// adapter speaks the format of one service.
type adapter interface {
	name() string
	request(base *url.URL, key string, q Query) (*http.Request, error)
	parse(data []byte) ([]Hit, error)
	status(code int, keyName string) string // a sentence, "" for the usual one
}

// NewSearcher makes a searcher that connects as the client does. It fails for a
// service that does not exist, a key that is missing or would travel unprotected,
// and an address that is missing.
func NewSearcher(cfg SearchConfig, client *Client) (*Searcher, error) {
	s := &Searcher{cfg: cfg, client: client}
	home := ""
	switch cfg.Provider {
	case Brave:
		s.adapter, home = brave{}, "https://api.search.brave.com"
	case Tavily:
		s.adapter, home = tavily{}, "https://api.tavily.com"
	case SearXNG:
		s.adapter = searxng{}
	default:
		return nil, errors.New("the search provider must be brave, tavily or searxng")
	}
	s.cfg.Key = strings.TrimSpace(cfg.Key)
	if names := KeyVariables(cfg.Provider); s.cfg.Key == "" && len(names) > 0 {
		if cfg.KeyName != "" {
			names = []string{cfg.KeyName}
		}
		return nil, fmt.Errorf("%s needs a key: put it into the environment variable %s", s.adapter.name(), names[0])
	}
	if len(s.cfg.Key) > maxKeyLength || strings.ContainsFunc(s.cfg.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("the key in %s holds characters that no key has", cfg.KeyName)
	}
	if cfg.BaseURL == "" {
		if home == "" {
			return nil, errors.New("SearXNG needs search.baseUrl, the address of an instance")
		}
		var err error
		if s.target, err = ParseTarget(home); err != nil {
			return nil, err
		}
		s.base, _ = url.Parse(home)
		return s, nil
	}
	base, err := url.Parse(strings.TrimRight(cfg.BaseURL, "/"))
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" || base.User != nil {
		return nil, errors.New("search.baseUrl must be a URL that begins with http:// or https:// and holds no user")
	}
	if s.cfg.Key != "" && base.Scheme == "http" && !thisMachine(base.Hostname()) {
		return nil, errors.New("search.baseUrl must begin with https://, because a key is sent there")
	}
	s.base = base
	return s, nil
}

func thisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Host returns the host of the service, as permission rules compare it.
func (s *Searcher) Host() string {
	host := strings.ToLower(s.base.Hostname())
	if port := s.base.Port(); port != "" && port != "80" && port != "443" {
		return net.JoinHostPort(host, port)
	}
	return host
}

// Search returns the results for a query, the best first. Errors are one sentence
// without the query and the key; the context's own error is returned as it is.
func (s *Searcher) Search(ctx context.Context, q Query) ([]Hit, error) {
	q.Count = min(max(q.Count, 1), maxHits)
	q.Allowed, q.Blocked = domains(q.Allowed), domains(q.Blocked)
	asked := q
	if len(q.Allowed)+len(q.Blocked) > 0 {
		asked.Count = maxAsked
	}
	limited, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	data, err := s.ask(limited, asked)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	found, err := s.adapter.parse(data)
	if err != nil {
		return nil, fmt.Errorf("the answer of %s is not in the expected form", s.adapter.name())
	}
	var hits []Hit
	for _, h := range found {
		if len(hits) == q.Count {
			break
		}
		u, err := url.Parse(strings.TrimSpace(h.URL))
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || len(h.URL) > maxLink || !wanted(u.Hostname(), q) {
			continue
		}
		h = Hit{Title: oneLine(untagged(h.Title), maxHitTitle), URL: escapeLink(u.String()),
			Snippet: oneLine(untagged(h.Snippet), maxSnippet), Date: date(h.Date)}
		if h.Title == "" {
			h.Title = oneLine(u.Hostname(), maxHitTitle)
		}
		hits = append(hits, h)
	}
	return hits, nil
}

func (s *Searcher) ask(ctx context.Context, q Query) ([]byte, error) {
	name := s.adapter.name()
	req, err := s.adapter.request(s.base, s.cfg.Key, q)
	if err != nil {
		return nil, fmt.Errorf("the request to %s cannot be made", name)
	}
	req.Header.Set("User-Agent", s.client.agent)
	req.Header.Set("Accept", "application/json")
	tr := s.transport()
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, s.late()
		}
		return nil, fmt.Errorf("%s cannot be reached at %s: is the address right, and the network up?", name, s.Host())
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, s.refused(resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxSearch+1))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, s.late()
	case err != nil:
		return nil, fmt.Errorf("the answer of %s was cut off", name)
	case len(data) > maxSearch:
		return nil, fmt.Errorf("the answer of %s is larger than %d MiB", name, maxSearch>>20)
	}
	return data, nil
}

func (s *Searcher) late() error {
	return fmt.Errorf("%s did not answer completely within %d seconds", s.adapter.name(), int(searchTime.Seconds()))
}

// transport is the client's, but for an address that the user configured.
func (s *Searcher) transport() *http.Transport {
	if s.cfg.BaseURL == "" {
		return s.client.transport(s.target)
	}
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: connectTime}).DialContext,
		DisableKeepAlives:      true,
		TLSClientConfig:        &tls.Config{RootCAs: s.client.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTime,
		ResponseHeaderTimeout:  searchTime,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// refused returns what an error status means.
func (s *Searcher) refused(resp *http.Response) error {
	name, code := s.adapter.name(), resp.StatusCode
	if text := s.adapter.status(code, s.cfg.KeyName); text != "" {
		return errors.New(text)
	}
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		if s.cfg.KeyName == "" {
			return fmt.Errorf("%s refuses the request (status %d)", name, code)
		}
		return fmt.Errorf("%s refuses the key in %s (status %d): check it, the user has to", name, s.cfg.KeyName, code)
	case code == http.StatusTooManyRequests:
		if wait := retryAfter(resp.Header); wait > 0 {
			return fmt.Errorf("%s has had too many requests: wait %d seconds", name, int(wait.Seconds()))
		}
		return fmt.Errorf("%s has had too many requests: wait, or the user's plan there is used up", name)
	case code >= 300 && code < 400:
		return fmt.Errorf("%s redirects elsewhere (status %d), which is not followed: search.baseUrl is to be the final address", name, code)
	case code >= 500:
		return fmt.Errorf("%s does not work at the moment (status %d): try again later", name, code)
	}
	return fmt.Errorf("%s does not take the request (status %d)", name, code)
}

// domains returns domains as hosts are compared; what is none is left out.
func domains(list []string) []string {
	var out []string
	for _, d := range list {
		d = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(d)), "*."), ".")
		if plainName(d) && len(out) < maxFilter {
			out = append(out, d)
		}
	}
	return out
}

func wanted(host string, q Query) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	in := func(list []string) bool {
		for _, d := range list {
			if host == d || strings.HasSuffix(host, "."+d) {
				return true
			}
		}
		return false
	}
	return (len(q.Allowed) == 0 || in(q.Allowed)) && !in(q.Blocked)
}

// operators adds the domains to the text of a query, for services that have no
// field for them. What would be too long is left out: results are sorted here
// anyway.
func operators(q Query) string {
	var parts []string
	for _, d := range q.Allowed {
		parts = append(parts, "site:"+d)
	}
	text := q.Text
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, " OR ") + ")"
	}
	for _, d := range q.Blocked {
		text += " -site:" + d
	}
	if len(text) > maxQuery {
		return q.Text
	}
	return text
}

// untagged returns the text of a piece of HTML.
func untagged(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(cutBytes(s, 64<<10)))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		}
	}
}

// date returns the day of a date, or what is there when it has another form.
func date(s string) string {
	if len(s) >= 10 {
		if _, err := time.Parse(time.DateOnly, s[:10]); err == nil {
			return s[:10]
		}
	}
	return oneLine(untagged(s), maxDate)
}

// getJSON makes a GET request with a query.
func getJSON(base *url.URL, path string, query url.Values) (*http.Request, error) {
	u := base.JoinPath(path)
	u.RawQuery = query.Encode()
	return http.NewRequest(http.MethodGet, u.String(), nil)
}

// parseJSON reads an answer that must be an object.
func parseJSON(data []byte, into any) error {
	if trimmed := strings.TrimSpace(string(data[:min(len(data), 64)])); !strings.HasPrefix(trimmed, "{") {
		return errors.New("no object")
	}
	return json.Unmarshal(data, into)
}
