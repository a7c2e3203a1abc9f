package admin_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// endpoint serves a list of models, and answers of the models as OpenAI's Chat Completions.
func endpoint(t *testing.T, key string, ids ...string) (base string, server *modeltest.Server) {
	t.Helper()
	server = modeltest.OpenAI(modeltest.Config{Script: modeltest.Script(t, `{"script":1}`+"\n"+`{"again":true,"do":[{"text":"ok"}]}`), Key: key, Keep: -1})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"` + strings.Join(ids, `"},{"id":"`) + `"}]}`))
	})
	mux.Handle("/v1/", http.StripPrefix("/v1", server))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/v1", server
}

func TestAnEndpointIsTriedBeforeItIsKept(t *testing.T) {
	const key = "zq-endpoint-7a6b5c4d"
	base, server := endpoint(t, key, "large", "small")
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	c := w.Connect(false)
	file := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(w.Home, ".scorel", name))
		return string(text)
	}
	before := file("config.toml")
	list := hosttest.Call[*protocol.ServerList](t, c, "", &protocol.ListServerModels{BaseURL: base, API: "openai-completions", Key: key})
	if list.Problem != "" || len(list.Servers) != 1 || !slices.Equal(list.Servers[0].Models, []string{"large", "small"}) {
		t.Errorf("%+v", list)
	}
	got := hosttest.Call[*protocol.EndpointAdded](t, c, "", &protocol.AddEndpoint{BaseURL: base, API: "openai-completions", Key: "wrong", Model: "large"})
	if got.Code != protocol.CodeAuthFailed || got.Problem == "" {
		t.Errorf("a wrong key: %+v", got)
	}
	if file("config.toml") != before || file("credentials.json") != "" {
		t.Error("an endpoint that does not answer is kept")
	}
	add := &protocol.AddEndpoint{BaseURL: base + "/", API: "openai-completions", Key: key, Model: "large", Sonnet: "large", Haiku: "small"}
	got = hosttest.Call[*protocol.EndpointAdded](t, c, "", add)
	if got.Problem != "" || got.Ref != "local" {
		t.Fatalf("%+v", got)
	}
	cfg := file("config.toml")
	if !strings.HasPrefix(cfg, before) || strings.Contains(cfg, key) || !strings.Contains(file("credentials.json"), key) {
		t.Errorf("config.toml:\n%s", cfg)
	}
	for _, want := range []string{"[models.local]", `id = "large"`, "[models.local-haiku]", `id = "small"`, `haiku = "local-haiku"`, `sonnet = "local"`} {
		if !strings.Contains(cfg, want) {
			t.Errorf("config.toml lacks %s:\n%s", want, cfg)
		}
	}
	if strings.Contains(cfg, "opus") {
		t.Error("a tier without a model is set")
	}
	if n := len(server.Requests()); n < 2 {
		t.Errorf("%d models were tried", n)
	}
	if got := hosttest.Call[*protocol.ModelTest](t, c, "", &protocol.TestModel{Model: "local-haiku"}); got.Problem != "" {
		t.Errorf("%+v", got)
	}
	// the same again replaces it, and another server gets another name and no key of it
	add.Model, add.Sonnet, add.Haiku, add.Key = "small", "", "", ""
	if got = hosttest.Call[*protocol.EndpointAdded](t, c, "", add); got.Ref != "local" || got.Problem != "" {
		t.Errorf("again: %+v", got)
	}
	other, otherServer := endpoint(t, "", "large")
	add.BaseURL, add.Model = other, "large"
	if got = hosttest.Call[*protocol.EndpointAdded](t, c, "", add); got.Ref != "local-2" || got.Problem != "" {
		t.Errorf("another: %+v", got)
	}
	for _, r := range otherServer.Requests() {
		if r.Header.Get("Authorization") != "" {
			t.Error("a key was sent to another server")
		}
	}
}

func TestAnEndpointThatCannotBeIsRefusedInASentence(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	c := w.Connect(false)
	for _, r := range []protocol.Request{
		&protocol.AddEndpoint{BaseURL: "http://127.0.0.1:1/v1", API: "smoke-signals", Model: "x"},
		&protocol.AddEndpoint{BaseURL: "http://127.0.0.1:1/v1", API: "openai-completions", Model: "x", Key: "not a key"},
		&protocol.ListServerModels{BaseURL: "http://127.0.0.1:1/v1", API: "smoke-signals"},
	} {
		hosttest.Refused(t, c, "", r, protocol.CodeInvalidRequest)
	}
	for base, says := range map[string]string{"http://127.0.0.1:1/v1": "connection", "ftp://x": "not an http address", "http://me:secret@127.0.0.1/v1": "password"} {
		got := hosttest.Call[*protocol.EndpointAdded](t, c, "", &protocol.AddEndpoint{BaseURL: base, API: "openai-completions", Model: "x"})
		if !strings.Contains(got.Problem, says) && got.Code != protocol.CodeAuthFailed {
			t.Errorf("%s: %+v", base, got)
		}
	}
	if got := hosttest.Call[*protocol.ServerList](t, c, "", &protocol.ListServerModels{BaseURL: "http://127.0.0.1:1/v1", API: "openai-completions"}); got.Problem == "" || len(got.Servers) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestServersOfThisDeviceAreFoundWithoutAKey(t *testing.T) {
	base, _ := endpoint(t, "", "qwen3:14b")
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	at := map[string]string{"127.0.0.1:11434": strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/v1"), "127.0.0.1:8000": strings.TrimPrefix(silent.URL, "http://")}
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	w.Config.HTTP = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		to, ok := at[address]
		if !ok {
			return nil, net.ErrClosed
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}}}
	w.Restart()
	got := hosttest.Call[*protocol.ServerList](t, w.Connect(false), "", &protocol.ListServerModels{})
	if len(got.Servers) != 1 || got.Servers[0].Name != "Ollama" || got.Servers[0].BaseURL != "http://127.0.0.1:11434/v1" || !slices.Equal(got.Servers[0].Models, []string{"qwen3:14b"}) {
		t.Errorf("%+v", got)
	}
}
