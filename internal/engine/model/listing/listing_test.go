package listing_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/listing"
)

func TestModelsAreListedInEveryWireFormatWithTheKeyWhereItBelongs(t *testing.T) {
	const key = "zq-4f5e6d7c"
	for _, c := range []struct {
		api          model.API
		path, header string
		value, body  string
		baseSuffix   string
	}{
		{model.APIOpenAI, "/v1/models", "Authorization", "Bearer " + key, `{"object":"list","data":[{"id":"b"},{"id":"a"}]}`, "/v1"},
		{model.APIResponses, "/v1/models", "Authorization", "Bearer " + key, `{"data":[{"id":"b"},{"id":"a"}]}`, "/v1"},
		{model.APIAnthropic, "/v1/models", "X-Api-Key", key, `{"data":[{"id":"b","type":"model"},{"id":"a"}]}`, ""},
		{model.APIGoogle, "/v1beta/models", "X-Goog-Api-Key", key, `{"models":[{"name":"models/b"},{"name":"models/a"}]}`, ""},
	} {
		var path, value string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path, value = r.Method+" "+r.URL.String(), r.Header.Get(c.header)
			_, _ = w.Write([]byte(c.body))
		}))
		got, err := listing.Models(t.Context(), listing.Server{BaseURL: s.URL + c.baseSuffix, API: c.api, Key: key, HTTP: s.Client()})
		s.Close()
		if err != nil || !slices.Equal(got, []string{"b", "a"}) || path != "GET "+c.path || value != c.value {
			t.Errorf("%s: %q, %v; %s with %q", c.api, got, err, path, value)
		}
	}
}

func TestWhatIsNoListOfModelsIsAnErrorWithoutTheKey(t *testing.T) {
	const key = "zq-4f5e6d7c"
	for body, says := range map[string]string{
		"<html>":                          "is not a list of models",
		"{}":                              "is not a list of models",
		`{"data":"x"}`:                    "is not a list of models",
		"redirect":                        "status 302",
		"closed":                          "nothing listens on 127.0.0.1:",
		"refuse":                          "refuses this key (401)",
		strings.Repeat(" ", 5<<20) + `{}`: "more than",
		`{"data":[` + strings.Repeat(`{"id":"x"},`, 600) + `{"id":"y"}]}`: "",
		`{"object":"list","data":null}`:                                   "",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch body {
			case "redirect":
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
			case "refuse":
				w.WriteHeader(http.StatusUnauthorized)
			default:
				_, _ = w.Write([]byte(body))
			}
		}))
		if body == "closed" {
			s.Close()
		}
		got, err := listing.Models(t.Context(), listing.Server{BaseURL: s.URL, API: model.APIOpenAI, Key: key, HTTP: s.Client()})
		s.Close()
		switch {
		case says == "" && (err != nil || len(got) > listing.MaxModels):
			t.Errorf("%.40q: %d models, %v", body, len(got), err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), key)):
			t.Errorf("%.40q: %v", body, err)
		}
	}
	for _, address := range []string{"", "not a url", "ftp://x", "http://user:pass@x/", "file:///etc"} {
		if _, err := listing.Models(t.Context(), listing.Server{BaseURL: address, API: model.APIOpenAI}); err == nil {
			t.Errorf("%q is asked", address)
		}
	}
}
