package tui_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/dev/modeltest"
)

// modelServer serves a list of models and their answers, as OpenAI's Chat Completions. With
// a listener it serves there.
func modelServer(t *testing.T, at net.Listener, key string, ids ...string) (base string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"` + strings.Join(ids, `"},{"id":"`) + `"}]}`))
	})
	mux.Handle("/v1/", http.StripPrefix("/v1", modeltest.OpenAI(modeltest.Config{
		Script: modeltest.Script(t, `{"script":1}`+"\n"+`{"again":true,"do":[{"text":"I come from the server."}]}`), Key: key})))
	s := httptest.NewUnstartedServer(mux)
	if at != nil {
		_ = s.Listener.Close()
		s.Listener = at
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func TestAnEndpointIsAddedWithItsKeyAndItsTiers(t *testing.T) {
	const key, wrong = "zq-endpoint-1f2e3d4c", "zq-wrong-9a8b7c6d"
	h := newHarness(t)
	base := modelServer(t, nil, key, "large", "small")
	s := h.Start()
	s.WaitFor("How would you like to start?", "❯ Enter an API key")
	s.Keys("Enter")
	s.WaitFor("Which provider?", "Another endpoint…")
	s.Until("❯ Another endpoint…", "Down")
	s.Keys("Enter")
	s.WaitFor("Address of the endpoint")
	s.Type("no address")
	s.Keys("Enter")
	s.WaitFor("begins with http:// or https://")
	s.Keys("C-u")
	s.Type(base)
	s.Keys("Enter")
	s.WaitFor("Which wire format?", "❯ OpenAI Chat Completions")
	s.Keys("Escape") // one step back
	s.WaitFor("Address of the endpoint", base)
	s.Keys("Enter")
	s.WaitFor("Which wire format?")
	s.Keys("Enter")
	s.WaitFor("API key of the endpoint", "Leave it empty")
	s.Type(wrong)
	s.WaitFor(strings.Repeat("*", len(wrong)))
	s.Keys("Enter")
	s.WaitFor("API key of the endpoint", "refuses this key (401). Enter another key")
	s.Type(key)
	s.WaitFor(strings.Repeat("*", len(key)))
	s.Keys("Enter")
	s.WaitFor("❯ large", "small", "Another model…")
	s.Keys("Enter")
	s.WaitFor("haiku, sonnet or opus", "❯ large for all three", "Choose one for each")
	s.Until("❯ Choose one for each", "Down")
	s.Keys("Enter")
	s.WaitFor("Model for haiku")
	s.Until("❯ small", "Down")
	s.Keys("Enter")
	s.WaitFor("Model for sonnet", "❯ large")
	s.Keys("Enter")
	s.WaitFor("Model for opus", "❯ large")
	s.Keys("Enter")
	s.WaitFor("local answers (", "128,000 tokens are assumed", "Models", "❯ local", "128k")
	s.Keys("Enter")
	s.WaitFor("local is the model of new sessions from now on")
	s.Say("hello")
	s.WaitFor("I come from the server.")
	cfg := h.Read(filepath.Join(h.Home, ".scorel", "config.toml"))
	for _, want := range []string{`baseUrl = "` + base + `"`, `id = "large"`, `id = "small"`, `haiku = "local-haiku"`, `sonnet = "local"`, `opus = "local"`} {
		if !strings.Contains(cfg, want) {
			t.Errorf("config.toml lacks %s:\n%s", want, cfg)
		}
	}
	wantNowhere(t, h, key, "credentials.json")
	wantNowhere(t, h, wrong, "")
}

func TestALocalServerIsFoundWhenTheStepIsOpened(t *testing.T) {
	var at net.Listener
	for _, port := range []string{"1234", "8000", "8080", "11434"} { // one that is free on this machine
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			at = l
			break
		}
	}
	if at == nil {
		t.Skip("all ports of local servers are in use on this machine")
	}
	h := newHarness(t)
	base := modelServer(t, at, "", "qwen-of-the-test")
	s := h.Start()
	s.WaitFor("How would you like to start?")
	s.Until("❯ Use a local server", "Down")
	s.Keys("Enter")
	s.WaitFor("Models of servers on this device", "qwen-of-the-test", base, "Another address…")
	s.Keys("Escape")
	s.WaitFor("How would you like to start?")
	s.Until("❯ Use a local server", "Down")
	s.Keys("Enter")
	s.WaitFor("qwen-of-the-test")
	s.Type("qwen-of-the-test")
	s.WaitFor("❯ qwen-of-the-test")
	s.Keys("Enter")
	s.WaitFor(" answers (", "Models", "128k")
	s.Keys("Enter")
	s.WaitFor("is the model of new sessions from now on")
	s.Say("hello")
	s.WaitFor("I come from the server.")
	if cfg := h.Read(filepath.Join(h.Home, ".scorel", "config.toml")); !strings.Contains(cfg, `baseUrl = "`+base+`"`) || !strings.Contains(cfg, `id = "qwen-of-the-test"`) {
		t.Errorf("config.toml:\n%s", cfg)
	}
}
