package fetch

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
)

// tavily is the Tavily Search API
// (https://docs.tavily.com/documentation/api-reference/endpoint/search).
type tavily struct{}

func (tavily) name() string { return "Tavily" }

func (tavily) request(base *url.URL, key string, q Query) (*http.Request, error) {
	body, err := json.Marshal(struct {
		Query      string   `json:"query"`
		MaxResults int      `json:"max_results"`
		Depth      string   `json:"search_depth"`
		Include    []string `json:"include_domains,omitempty"`
		Exclude    []string `json:"exclude_domains,omitempty"`
	}{q.Text, q.Count, "basic", q.Allowed, q.Blocked})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, base.JoinPath("/search").String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	return req, nil
}

func (tavily) parse(data []byte) ([]Hit, error) {
	var a struct {
		Results []struct {
			Title, URL, Content string
			Published           string `json:"published_date"`
		}
	}
	if err := parseJSON(data, &a); err != nil {
		return nil, err
	}
	var hits []Hit
	for _, r := range a.Results {
		hits = append(hits, Hit{r.Title, r.URL, r.Content, r.Published})
	}
	return hits, nil
}

func (t tavily) status(code int, _ string) string {
	if code == 432 || code == 433 { // limits of the plan, and of pay-as-you-go
		return t.name() + " says that the user's plan there is used up: the user has to raise it or wait"
	}
	return ""
}
