package fetch

import (
	"net/http"
	"net/url"
	"strconv"
)

// brave is the Brave Search API
// (https://api-dashboard.search.brave.com/api-reference/web/search/get).
type brave struct{}

func (brave) name() string { return "Brave Search" }

func (brave) request(base *url.URL, key string, q Query) (*http.Request, error) {
	req, err := getJSON(base, "/res/v1/web/search", url.Values{
		"q": {operators(q)}, "count": {strconv.Itoa(q.Count)}, "text_decorations": {"false"}, "result_filter": {"web"}})
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Subscription-Token", key)
	return req, nil
}

func (brave) parse(data []byte) ([]Hit, error) {
	var a struct {
		Web struct {
			Results []struct {
				Title, URL, Description string
				PageAge                 string `json:"page_age"`
				Age                     string
			}
		}
	}
	if err := parseJSON(data, &a); err != nil {
		return nil, err
	}
	var hits []Hit
	for _, r := range a.Web.Results {
		age := r.PageAge
		if age == "" {
			age = r.Age
		}
		hits = append(hits, Hit{r.Title, r.URL, r.Description, age})
	}
	return hits, nil
}

func (b brave) status(code int, keyName string) string {
	if code == http.StatusUnprocessableEntity { // also the answer to a key in a wrong form
		return b.name() + " does not take the request (status 422): the key in " + keyName + " may be wrong, or the query"
	}
	return ""
}
