package fetch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const testKey = "key-sesame-123"

// service is a search service of one's own that keeps the last request.
type service struct {
	t       *testing.T
	s       *Searcher
	request *http.Request
	body    string
	status  int
	header  http.Header
	answer  string
}

func newService(t *testing.T, p Provider) *service {
	t.Helper()
	v := &service{t: t, status: http.StatusOK, header: http.Header{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		v.request, v.body = r, string(data)
		for k, values := range v.header {
			w.Header()[k] = values
		}
		w.WriteHeader(v.status)
		_, _ = io.WriteString(w, v.answer)
	}))
	t.Cleanup(server.Close)
	client, err := New(Config{Version: "9.9"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := SearchConfig{Provider: p, BaseURL: server.URL + "/"}
	if p != SearXNG {
		cfg.Key, cfg.KeyName = testKey, "MY_KEY"
	}
	if v.s, err = NewSearcher(cfg, client); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *service) search(q Query) []Hit {
	v.t.Helper()
	hits, err := v.s.Search(v.t.Context(), q)
	if err != nil {
		v.t.Fatal(err)
	}
	return hits
}

func TestBraveIsAskedInItsFormat(t *testing.T) {
	v := newService(t, Brave)
	v.answer = `{"type":"search","query":{"original":"go"},"web":{"type":"search","results":[
		{"title":"The <strong>Go</strong> &amp; co","url":"https://go.dev/","description":"Build \u003cb\u003efast\u003c/b\u003e\u001b[31m\n software\u202e.","page_age":"2026-01-15T10:00:00","age":"January 15, 2026","profile":{"name":"Go"}},
		{"title":"No date","url":"https://go.dev/doc","description":"x","age":"3 days ago"}]}}`
	hits := v.search(Query{Text: "go & co", Count: 5})
	want := []Hit{{"The Go & co", "https://go.dev/", "Build fast[31m software.", "2026-01-15"}, {"No date", "https://go.dev/doc", "x", "3 days ago"}}
	if fmt.Sprint(hits) != fmt.Sprint(want) {
		t.Errorf("%+v", hits)
	}
	r := v.request
	if r.Method != "GET" || r.URL.Path != "/res/v1/web/search" || r.URL.Query().Get("q") != "go & co" || r.URL.Query().Get("count") != "5" ||
		r.Header.Get("X-Subscription-Token") != testKey || r.Header.Get("User-Agent") != "scorel/9.9" || strings.Contains(r.URL.String(), "sesame") {
		t.Errorf("asked %s %s %v", r.Method, r.URL, r.Header)
	}
}

func TestTavilyIsAskedInItsFormat(t *testing.T) {
	v := newService(t, Tavily)
	v.answer = `{"query":"go","follow_up_questions":null,"answer":null,"images":[],"results":[
		{"title":"Go","url":"https://go.dev/","content":"Build software.","score":0.9,"raw_content":null,"published_date":"Tue, 13 Jan 2026 01:02:03 GMT"}],"response_time":1.2}`
	hits := v.search(Query{Text: "go", Count: 3, Allowed: []string{"*.Go.dev", "not a domain"}, Blocked: []string{"blog.go.dev."}})
	if len(hits) != 1 || hits[0] != (Hit{"Go", "https://go.dev/", "Build software.", "Tue, 13 Jan 2026 01:02:03 GMT"}) {
		t.Errorf("%+v", hits)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(v.body), &body); err != nil {
		t.Fatal(err)
	}
	if v.request.Method != "POST" || v.request.URL.String() != "/search" || v.request.Header.Get("Authorization") != "Bearer "+testKey ||
		fmt.Sprint(body) != "map[exclude_domains:[blog.go.dev] include_domains:[go.dev] max_results:20 query:go search_depth:basic]" || strings.Contains(v.body, testKey) {
		t.Errorf("asked %s %s %s", v.request.Method, v.request.URL, v.body)
	}
}

func TestSearXNGIsAskedInItsFormat(t *testing.T) {
	v := newService(t, SearXNG)
	v.answer = `{"query":"go","number_of_results":0,"results":[{"url":"https://go.dev/","title":"Go","content":"Build software.","publishedDate":"2026-02-03T00:00:00","engine":"x","score":1.0},
		{"url":"https://evil.test/","title":"Elsewhere","content":null,"publishedDate":null}],"answers":[],"suggestions":[]}`
	hits := v.search(Query{Text: "go", Count: 10, Allowed: []string{"go.dev", "golang.org"}, Blocked: []string{"x.go.dev"}})
	if len(hits) != 1 || hits[0] != (Hit{"Go", "https://go.dev/", "Build software.", "2026-02-03"}) {
		t.Errorf("%+v", hits)
	}
	q := v.request.URL.Query()
	if v.request.URL.Path != "/search" || q.Get("format") != "json" || q.Get("q") != "go (site:go.dev OR site:golang.org) -site:x.go.dev" || len(v.request.Header["Authorization"]) > 0 {
		t.Errorf("asked %s", v.request.URL)
	}
}

func TestResultsAreSortedOutAndBounded(t *testing.T) {
	v := newService(t, SearXNG)
	var results []string
	add := func(url, title, content string) {
		data, _ := json.Marshal(map[string]string{"url": url, "title": title, "content": content})
		results = append(results, string(data))
	}
	add("javascript:alert(1)", "script", "")
	add("https://user:pw@example.com/", "user", "")
	add("https:///nohost", "no host", "")
	add("https://example.com/"+strings.Repeat("x", 5000), "long", "")
	add("https://notgood.test/", "another domain that ends alike", "")
	add("https://sub.good.test/(x)\"><b>", strings.Repeat("T", 1000), strings.Repeat("ä", 5000))
	add("https://bad.good.test/", "blocked", "")
	for i := range 15 {
		add(fmt.Sprintf("https://good.test/%d", i), "", "")
	}
	v.answer = `{"results":[` + strings.Join(results, ",") + `]}`
	hits := v.search(Query{Text: "x", Count: 4, Allowed: []string{"good.test"}, Blocked: []string{"bad.good.test"}})
	if len(hits) != 4 || hits[0].URL != "https://sub.good.test/%28x%29%22%3E%3Cb%3E" || len([]rune(hits[0].Title)) != maxHitTitle+1 || len([]rune(hits[0].Snippet)) != maxSnippet+1 || hits[1].Title != "good.test" {
		t.Errorf("%+v", hits)
	}
	if hits := v.search(Query{Text: "x", Count: 99}); len(hits) != maxHits {
		t.Errorf("%d results", len(hits))
	}
	v.search(Query{Text: strings.Repeat("w", maxQuery-5), Count: 1, Allowed: []string{"good.test"}})
	if got := v.request.URL.Query().Get("q"); len(got) > maxQuery {
		t.Errorf("a query of %d characters", len(got))
	}
	v.answer = `{"results":[]}`
	if hits := v.search(Query{Text: "x"}); len(hits) != 0 {
		t.Errorf("%+v", hits)
	}
}

func TestFailuresOfASearchAreOneSentence(t *testing.T) {
	for _, c := range []struct {
		p      Provider
		status int
		answer string
		want   string
	}{
		{Brave, 401, "", "Brave Search refuses the key in MY_KEY (status 401)"},
		{Brave, 422, "", "the key in MY_KEY may be wrong"},
		{Brave, 429, "", "Brave Search has had too many requests: wait 9 seconds"},
		{Tavily, 403, "", "Tavily refuses the key in MY_KEY"},
		{Tavily, 432, "", "plan there is used up"},
		{Tavily, 503, "", "Tavily does not work at the moment (status 503)"},
		{Tavily, 400, "", "Tavily does not take the request (status 400)"},
		{SearXNG, 403, "", "add json to search.formats"},
		{SearXNG, 404, "", "no SearXNG at search.baseUrl"},
		{SearXNG, 302, "", "redirects elsewhere"},
		{SearXNG, 200, "<html>", "not in the expected form"},
		{Brave, 200, `{"web":{"results":"x"}}`, "not in the expected form"},
		{Brave, 200, `[]`, "not in the expected form"},
		{Brave, 200, strings.Repeat(" ", maxSearch+1), "larger than 2 MiB"},
	} {
		v := newService(t, c.p)
		v.status, v.answer = c.status, c.answer
		v.header.Set("Retry-After", "9")
		v.header.Set("Location", "http://127.0.0.1:1/")
		hits, err := v.s.Search(t.Context(), Query{Text: "query-sesame", Count: 1})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %d: %v, %v; want %q", c.p, c.status, hits, err, c.want)
		}
	}
	v := newService(t, SearXNG)
	v.s.base.Host = "127.0.0.1:1"
	if _, err := v.s.Search(t.Context(), Query{Text: "x"}); err == nil || !strings.Contains(err.Error(), "SearXNG cannot be reached at 127.0.0.1:1") {
		t.Error(err)
	}
}

func TestASearcherIsMadeOnlyOfWhatCanWork(t *testing.T) {
	client, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cfg  SearchConfig
		want string
	}{
		{SearchConfig{Provider: "bing"}, "must be brave, tavily or searxng"},
		{SearchConfig{Provider: Brave}, "put it into the environment variable BRAVE_API_KEY"},
		{SearchConfig{Provider: Tavily, KeyName: "T"}, "put it into the environment variable T"},
		{SearchConfig{Provider: Brave, Key: "a\nb", KeyName: "B"}, "the key in B holds characters"},
		{SearchConfig{Provider: SearXNG}, "needs search.baseUrl"},
		{SearchConfig{Provider: SearXNG, BaseURL: "ftp://x"}, "must be a URL"},
		{SearchConfig{Provider: Brave, Key: "k", BaseURL: "http://example.com"}, "must begin with https://"},
	} {
		if _, err := NewSearcher(c.cfg, client); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
	for want, cfg := range map[string]SearchConfig{
		"api.search.brave.com": {Provider: Brave, Key: " k "}, "api.tavily.com": {Provider: Tavily, Key: "k"},
		"10.0.0.1:8888": {Provider: SearXNG, BaseURL: "http://10.0.0.1:8888/searx/"}, "localhost:1": {Provider: Tavily, Key: "k", BaseURL: "http://localhost:1"},
	} {
		s, err := NewSearcher(cfg, client)
		if err != nil || s.Host() != want {
			t.Errorf("%s: %v, %v", want, s, err)
		}
	}
}

func TestAServiceOfItsOwnAddressIsDialledThroughTheGuard(t *testing.T) {
	in := newInternet(t)
	in.names["api.tavily.com"] = [][]string{{"10.0.0.1"}}
	s, err := NewSearcher(SearchConfig{Provider: Tavily, Key: "k"}, in.client)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Search(t.Context(), Query{Text: "x"}); err == nil || in.dials() != "" {
		t.Errorf("%v, dialled %q", err, in.dials())
	}
}

func TestASearchEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := New(Config{network: silent()})
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSearcher(SearchConfig{Provider: Tavily, Key: "k"}, client)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, err = s.Search(t.Context(), Query{Text: "x"})
		if took := time.Since(begin); err == nil || took > searchTime {
			t.Errorf("after %v: %v", took, err)
		}
	})
}
