package admin_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"scorel/client"
	"scorel/internal/dev/modeltest"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
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
	// a model that is there keeps its name, and another server gets another name and no key of it
	add.Model, add.Sonnet, add.Haiku, add.Key = "small", "", "", ""
	if got = hosttest.Call[*protocol.EndpointAdded](t, c, "", add); got.Ref != "local-haiku" || got.Problem != "" {
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

func TestASecondModelOfAServerIsKeptBesideTheFirst(t *testing.T) {
	const key = "zq-endpoint-5d4c3b2a"
	base, server := endpoint(t, key, "qwen3:14b", "team/Gemma 3:4b")
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	c := w.Connect(false)
	add := func(id, key string) *protocol.EndpointAdded {
		t.Helper()
		got := hosttest.Call[*protocol.EndpointAdded](t, c, "", &protocol.AddEndpoint{BaseURL: base, API: "openai-completions", Key: key, Model: id})
		if got.Problem != "" {
			t.Fatalf("%s: %+v", id, got)
		}
		return got
	}
	for _, x := range []struct{ id, key, want string }{
		{"qwen3:14b", key, "local"},
		{"team/Gemma 3:4b", "", "local-gemma-3-4b"}, // with the key of the first
		{"other/gemma-3-4b", "", "local-gemma-3-4b-2"},
		{"qwen3:14b", "", "local"},
		{"team/Gemma 3:4b", "", "local-gemma-3-4b"},
	} {
		if got := add(x.id, x.key); got.Ref != x.want {
			t.Errorf("%s is called %s, not %s", x.id, got.Ref, x.want)
		}
	}
	for ref, id := range map[string]string{"local": "qwen3:14b", "local-gemma-3-4b": "team/Gemma 3:4b", "local-gemma-3-4b-2": "other/gemma-3-4b"} {
		if got := hosttest.Call[*protocol.ModelTest](t, c, "", &protocol.TestModel{Model: ref}); got.Problem != "" {
			t.Errorf("%s: %+v", ref, got)
		}
		sent := server.Requests()
		if last := string(sent[len(sent)-1].Body); !strings.Contains(last, id) {
			t.Errorf("%s asks for %s", ref, last)
		}
	}
}

func TestTheContextWindowOfALocalModelIsTheServers(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string]string // by method and path
		want    int
		assumed bool
	}{
		"Ollama":                {map[string]string{"POST /api/show": `{"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"clip.vision.context_length":77}}`}, 40_960, false},
		"Ollama with num_ctx":   {map[string]string{"POST /api/show": `{"parameters":"stop \"x\"\nnum_ctx    16384\n","model_info":{"qwen3.context_length":40960}}`}, 16_384, false},
		"Ollama, loaded":        {map[string]string{"GET /api/ps": `{"models":[{"model":"m","context_length":8192}]}`, "POST /api/show": `{"model_info":{"qwen3.context_length":40960}}`}, 8192, false},
		"llama.cpp":             {map[string]string{"GET /props": `{"default_generation_settings":{"n_ctx":4096}}`}, 4096, false},
		"LM Studio":             {map[string]string{"GET /api/v0/models": `{"data":[{"id":"other","max_context_length":1234},{"id":"m","max_context_length":131072}]}`}, 131_072, false},
		"LM Studio, loaded":     {map[string]string{"GET /api/v0/models": `{"data":[{"id":"m","max_context_length":131072,"loaded_context_length":32768}]}`}, 32_768, false},
		"vLLM":                  {map[string]string{"GET /v1/models": `{"object":"list","data":[{"id":"m","max_model_len":65536}]}`}, 65_536, false},
		"a server that is mute": {nil, 128_000, true},
		"nonsense":              {map[string]string{"POST /api/show": `{"model_info":[]}`, "GET /props": `{"n_ctx":-5}`, "GET /api/ps": `<html>`, "GET /api/v0/models": `{"data":[{"id":"m","max_context_length":7}]}`}, 128_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("POST /v1/", http.StripPrefix("/v1", modeltest.OpenAI(modeltest.Config{Script: modeltest.Script(t, `{"script":1}`+"\n"+`{"again":true,"do":[{"text":"ok"}]}`)})))
			for at, body := range c.answers {
				mux.HandleFunc(at, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
			}
			s := httptest.NewServer(mux)
			t.Cleanup(s.Close)
			w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
			conn := w.Connect(false)
			got := hosttest.Call[*protocol.EndpointAdded](t, conn, "", &protocol.AddEndpoint{BaseURL: s.URL + "/v1", API: "openai-completions", Model: "m"})
			if got.Problem != "" || got.ContextWindow != c.want || got.WindowAssumed != c.assumed {
				t.Errorf("%+v", got)
			}
			list := hosttest.Call[*protocol.ModelList](t, conn, "", &protocol.ListModels{Query: "local"})
			if len(list.Models) == 0 || list.Models[0].Ref != "local" || list.Models[0].ContextWindow != c.want {
				t.Errorf("%+v", list.Models)
			}
		})
	}
}

func TestAFormSaysWhetherAKeyIsMissingOrRefused(t *testing.T) {
	base, _ := endpoint(t, "zq-endpoint-0f9e8d7c", "m")
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	c := w.Connect(false)
	for key, want := range map[string]string{"": " asks for an API key (401: ", "zq-wrong-key": " refuses this API key (401: "} {
		got := hosttest.Call[*protocol.EndpointAdded](t, c, "", &protocol.AddEndpoint{BaseURL: base, API: "openai-completions", Key: key, Model: "m"})
		if got.Code != protocol.CodeAuthFailed || !strings.HasPrefix(got.Problem, "The server at 127.0.0.1:") || !strings.Contains(got.Problem, want) || strings.Contains(got.Problem, "/login") {
			t.Errorf("with %q: %+v", key, got)
		}
	}
}

// fullDisk lets no config.toml be replaced once it is full.
type fullDisk struct {
	disk.FS
	full atomic.Bool
}

func (d *fullDisk) Rename(from, to string) error {
	if d.full.Load() && filepath.Base(to) == "config.toml" {
		return errors.New("no space left on device")
	}
	return d.FS.Rename(from, to)
}

func TestAKeyThatWasThereStaysWhenTheConfigurationCannotBeWritten(t *testing.T) {
	const before, after = "zq-endpoint-before-1", "zq-endpoint-after-2"
	base, _ := endpoint(t, "", "large", "small")
	full := &fullDisk{FS: disk.OS()}
	w := hosttest.New(t, hosttest.Setting{Fs: full}, `{"again":true,"do":[{"text":"ok"}]}`)
	c := w.Connect(false)
	hosttest.Call[*protocol.EndpointAdded](t, c, "", &protocol.AddEndpoint{BaseURL: base, API: "openai-completions", Key: before, Model: "large"})
	full.full.Store(true)
	_, err := client.Call[*protocol.EndpointAdded](t.Context(), c, "", &protocol.AddEndpoint{BaseURL: base, API: "openai-completions", Key: after, Model: "small"})
	if err == nil {
		t.Fatal("the configuration was written to a full disk")
	}
	kept, err := os.ReadFile(filepath.Join(w.Home, ".scorel", "credentials.json"))
	if err != nil || !strings.Contains(string(kept), before) || strings.Contains(string(kept), after) {
		t.Errorf("the key from before is kept: %t, the new one: %t, %v", strings.Contains(string(kept), before), strings.Contains(string(kept), after), err)
	}
}
