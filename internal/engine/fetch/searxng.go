package fetch

import (
	"net/http"
	"net/url"
)

// searxng is the API of SearXNG instances
// (https://docs.searxng.org/dev/search_api.html).
type searxng struct{}

func (searxng) name() string { return "SearXNG" }

func (searxng) request(base *url.URL, key string, q Query) (*http.Request, error) {
	req, err := getJSON(base, "/search", url.Values{"q": {operators(q)}, "format": {"json"}})
	if err == nil && key != "" {
		req.Header.Set("Authorization", "Bearer "+key) // for a gateway in front of it
	}
	return req, err
}

func (searxng) parse(data []byte) ([]Hit, error) {
	var a struct {
		Results []struct {
			Title, URL, Content string
			Published           string `json:"publishedDate"`
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

func (searxng) status(code int, keyName string) string {
	switch {
	case code == http.StatusForbidden && keyName == "":
		return "SearXNG refuses to answer in JSON (status 403): its administrator has to add json to search.formats in settings.yml"
	case code == http.StatusNotFound:
		return "there is no SearXNG at search.baseUrl (status 404)"
	}
	return ""
}
