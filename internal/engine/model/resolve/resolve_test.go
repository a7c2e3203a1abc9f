package resolve_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/catalog"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type demo struct{}

func (demo) Info() model.Info { return model.Info{Ref: "demo", API: model.APIDemo} }

func (demo) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] { return nil }

func env(kv ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(kv); i += 2 {
			if kv[i] == name {
				return kv[i+1], true
			}
		}
		return "", false
	}
}

func base() resolve.Config {
	return resolve.Config{Env: env(), Demo: func() (model.Model, error) { return demo{}, nil }}
}

func yes() *bool { b := true; return &b }

func TestRefs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(file, []byte("{\"script\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := base()
	c.Env = env("ANTHROPIC_API_KEY", "k1", "OPENROUTER_API_KEY", "k2", "MINE", "k3")
	c.Aliases = map[string]resolve.Alias{
		"fast":    {Provider: "anthropic", ID: "claude-haiku-4-5", MaxTokens: 5000},
		"local":   {Type: "custom", API: model.APIOpenAI, BaseURL: "http://127.0.0.1:8080/v1", ID: "qwen", ContextWindow: 32_000, Reasoning: yes()},
		"proxy":   {Provider: "anthropic", ID: "claude-opus-4-6", BaseURL: "https://proxy.example/a", APIKeyEnv: "MINE"},
		"newest":  {Type: "custom", Provider: "anthropic", ID: "claude-of-tomorrow"},
		"team":    {Type: "custom", API: model.APIAnthropic, BaseURL: "https://team.example", ID: "x", Headers: map[string]string{"Authorization": "Bearer t"}},
		"answers": {Type: "custom", API: model.APIResponses, BaseURL: "http://127.0.0.1:8080/v1", ID: "gpt-oss", Reasoning: yes()},
		"demo2":   {Provider: "anthropic", ID: "claude-opus-4-6"},
	}
	tests := []struct {
		ref  string
		want model.Info
	}{
		{"demo", model.Info{Ref: "demo", API: model.APIDemo}},
		{"", model.Info{Ref: "demo", API: model.APIDemo}},
		{"script:" + file, model.Info{Ref: "script:" + file, Provider: "script", ID: "a.jsonl", API: model.APIScript}},
		{"anthropic/claude-opus-4-6", model.Info{Ref: "anthropic/claude-opus-4-6", Provider: "anthropic", ID: "claude-opus-4-6", API: model.APIAnthropic, BaseURL: "https://api.anthropic.com"}},
		{" openrouter/anthropic/claude-opus-4.6 ", model.Info{Ref: "openrouter/anthropic/claude-opus-4.6", Provider: "openrouter", ID: "anthropic/claude-opus-4.6"}},
		{"claude-opus-4-6", model.Info{Ref: "anthropic/claude-opus-4-6", Provider: "anthropic", ID: "claude-opus-4-6"}},
		{"fast", model.Info{Ref: "fast", Provider: "anthropic", ID: "claude-haiku-4-5", MaxTokens: 5000}},
		{"local", model.Info{Ref: "local", Provider: "local", ID: "qwen", API: model.APIOpenAI, BaseURL: "http://127.0.0.1:8080/v1", ContextWindow: 32_000}},
		{"proxy", model.Info{Ref: "proxy", Provider: "anthropic", ID: "claude-opus-4-6", BaseURL: "https://proxy.example/a"}},
		{"newest", model.Info{Ref: "newest", Provider: "anthropic", ID: "claude-of-tomorrow", API: model.APIAnthropic, BaseURL: "https://api.anthropic.com"}},
		{"answers", model.Info{Ref: "answers", Provider: "answers", ID: "gpt-oss", API: model.APIResponses, BaseURL: "http://127.0.0.1:8080/v1"}},
		{"team", model.Info{Ref: "team", Provider: "team", ID: "x", API: model.APIAnthropic}},
	}
	for _, tt := range tests {
		t.Run(tt.ref, func(t *testing.T) {
			m, err := resolve.Resolve(tt.ref, c)
			if err != nil {
				t.Fatal(err)
			}
			got, w := m.Info(), tt.want
			if got.Ref != w.Ref || got.Provider != w.Provider || got.ID != w.ID || w.API != "" && got.API != w.API ||
				w.BaseURL != "" && got.BaseURL != w.BaseURL || w.MaxTokens != 0 && got.MaxTokens != w.MaxTokens ||
				w.ContextWindow != 0 && got.ContextWindow != w.ContextWindow {
				t.Errorf("got %+v, want %+v", got, w)
			}
			if got.API != model.APIDemo && (got.ContextWindow == 0 || got.MaxTokens == 0) {
				t.Errorf("no limits: %+v", got)
			}
		})
	}
	local, err := resolve.Resolve("local", c)
	if err != nil || len(local.Info().Thinking) == 0 || local.Info().Compat.MaxTokensField != "max_tokens" {
		t.Errorf("%+v %v", local.Info(), err)
	}
}

func TestAProxyServesTheModelThatItNames(t *testing.T) {
	c := base()
	c.Env = env("MINE", "k", "ANTHROPIC_API_KEY", "vendor")
	c.Aliases = map[string]resolve.Alias{
		"gw": {Type: "custom", API: model.APIAnthropic, BaseURL: "https://gw.example", ID: "claude-opus-4-6", APIKeyEnv: "MINE"},
	}
	m, err := resolve.Resolve("gw", c)
	if err != nil {
		t.Fatal(err)
	}
	if i := m.Info(); i.Provider != "gw" || i.BaseURL != "https://gw.example" || i.ContextWindow < 200_000 || !i.Compat.Adaptive {
		t.Errorf("%+v", i)
	}
	if got := caught(t, "gw", c); got != "k" {
		t.Errorf("sent the key %q", got)
	}
}

func TestAnAliasMayAskForTheOtherAPIOfItsVendor(t *testing.T) {
	c := base()
	c.Env = env("OPENAI_API_KEY", "k")
	c.Aliases = map[string]resolve.Alias{"chat": {Provider: "openai", ID: "gpt-5.5", API: model.APIOpenAI}}
	for ref, api := range map[string]model.API{"openai/gpt-5.5": model.APIResponses, "chat": model.APIOpenAI} {
		m, err := resolve.Resolve(ref, c)
		if err != nil {
			t.Fatal(err)
		}
		if i := m.Info(); i.API != api || !i.Compat.NoEffortWithTools || i.BaseURL != "https://api.openai.com/v1" || len(i.Thinking) == 0 {
			t.Errorf("%s: %+v", ref, i)
		}
	}
}

func TestMistakesSayWhatToDo(t *testing.T) {
	c := base()
	c.Aliases = map[string]resolve.Alias{
		"noid":    {Provider: "anthropic"},
		"nourl":   {Type: "custom", ID: "x"},
		"badtype": {Type: "remote", ID: "x"},
		"badapi":  {Type: "custom", ID: "x", API: "grpc", BaseURL: "http://localhost/"},
		"badurl":  {Type: "custom", ID: "x", API: model.APIOpenAI, BaseURL: "localhost", Headers: map[string]string{"Authorization": "x"}},
		"typo":    {Provider: "anthropic", ID: "claude-opus-46"},
		"keyed":   {Type: "custom", ID: "x", API: model.APIOpenAI, BaseURL: "https://h.example/v1", APIKeyEnv: "MINE"},
		"keyless": {Type: "custom", ID: "x", API: model.APIOpenAI, BaseURL: "https://h.example/v1"},
	}
	tests := []struct {
		ref   string
		class model.Class
		says  []string
	}{
		{"anthropic/claude-opus-4-6", model.ClassAuth, []string{"anthropic/claude-opus-4-6 needs a key", "set ANTHROPIC_API_KEY"}},
		{"openai/gpt-4o", model.ClassAuth, []string{"OPENAI_API_KEY"}},
		{"anthropic/claude-opus-46", model.ClassInvalid, []string{"did you mean", "anthropic/claude-opus-4-6"}},
		{"claude-opus-46", model.ClassInvalid, []string{"did you mean", "claude-opus-4-6"}},
		{"gpt-4", model.ClassAuth, []string{"OPENAI_API_KEY"}},
		{"claude-opus-4-6", model.ClassInvalid, []string{"several providers", "anthropic/claude-opus-4-6"}},
		{"zzzzzzzzzzzzzzzz", model.ClassInvalid, []string{"there is no model zzzzzzzzzzzzzzzz"}},
		{"script:", model.ClassInvalid, []string{"needs a file"}},
		{"script:/none.jsonl", model.ClassInvalid, []string{"/none.jsonl"}},
		{"noid", model.ClassInvalid, []string{"models.noid: id"}},
		{"nourl", model.ClassInvalid, []string{"models.nourl", "baseUrl"}},
		{"badtype", model.ClassInvalid, []string{"models.badtype", "remote"}},
		{"badapi", model.ClassInvalid, []string{"models.badapi", "grpc", "openai-completions, openai-responses, anthropic-messages or google-generative-ai"}},
		{"badurl", model.ClassInvalid, []string{"badurl", "http address"}},
		{"typo", model.ClassInvalid, []string{"claude-opus-4-6"}},
		{"keyed", model.ClassAuth, []string{"set MINE"}},
		{"keyless", model.ClassAuth, []string{"apiKeyEnv of the model keyless"}},
	}
	for _, tt := range tests {
		t.Run(tt.ref, func(t *testing.T) {
			_, err := resolve.Resolve(tt.ref, c)
			var e *model.Error
			if !errors.As(err, &e) || e.Class != tt.class {
				t.Fatalf("got %v", err)
			}
			for _, s := range tt.says {
				if !strings.Contains(e.Message, s) {
					t.Errorf("%q does not say %q", e.Message, s)
				}
			}
		})
	}
}

// caught returns the key that a call of the model sends.
func caught(t *testing.T, ref string, c resolve.Config) string {
	t.Helper()
	s, err := script.Parse(strings.NewReader("{\"script\":1}\n{\"again\":true,\"do\":[{\"text\":\"x\"}]}"), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Anthropic(modeltest.Config{Script: s, Keep: -1})
	c.HTTP = modeltest.Transport(server)
	m, err := resolve.Resolve(ref, c)
	if err != nil {
		return err.Error()
	}
	if _, err := modeltest.Collect(m.Stream(t.Context(), model.Request{Messages: []protocol.Message{protocol.UserText("x")}})); err != nil {
		t.Fatal(err)
	}
	return server.Requests()[0].Header.Get("X-Api-Key")
}

func TestGeminiBehindAnAddressOfTheUsers(t *testing.T) {
	s, err := script.Parse(strings.NewReader("{\"script\":1}\n{\"again\":true,\"do\":[{\"text\":\"x\"}]}"), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Google(modeltest.Config{Script: s, Keep: -1})
	c := base()
	c.HTTP = modeltest.Transport(server)
	c.Env = env("MINE", "k", "GEMINI_API_KEY", "vendor")
	c.Aliases = map[string]resolve.Alias{
		"gem":   {API: model.APIGoogle, BaseURL: "https://gem.example", ID: "my-gemini", APIKeyEnv: "MINE", Reasoning: yes()},
		"other": {API: model.APIGoogle, BaseURL: "https://gem.example", ID: "my-gemini"},
		"head":  {API: model.APIGoogle, BaseURL: "https://gem.example", ID: "my-gemini", Headers: map[string]string{"X-Goog-Api-Key": "h"}},
	}
	for ref, want := range map[string]string{"gem": "k", "head": "h"} {
		m, err := resolve.Resolve(ref, c)
		if err != nil {
			t.Fatal(err)
		}
		if i := m.Info(); i.API != model.APIGoogle || !i.Images || i.Cache {
			t.Errorf("%+v", i)
		}
		if _, err := modeltest.Collect(m.Stream(t.Context(), model.Request{Messages: []protocol.Message{protocol.UserText("x")}})); err != nil {
			t.Fatal(err)
		}
		list := server.Requests()
		if got := list[len(list)-1].Header.Get("X-Goog-Api-Key"); got != want {
			t.Errorf("%s sent the key %q", ref, got)
		}
	}
	var e *model.Error
	if _, err := resolve.Resolve("other", c); !errors.As(err, &e) || e.Class != model.ClassAuth {
		t.Errorf("the vendor's key for another server: %v", err)
	}
}

func TestKeysAreTakenInOrder(t *testing.T) {
	c := base()
	c.Aliases = map[string]resolve.Alias{"a": {Provider: "anthropic", ID: "claude-opus-4-6", APIKeyEnv: "MINE"}}
	c.Env = env("MINE", "mine", "ANTHROPIC_API_KEY", "vendor")
	c.Credentials = func(p string) (string, error) { return "entered for " + p, nil }
	if got := caught(t, "a", c); got != "mine" {
		t.Errorf("first %q", got)
	}
	c.Env = env("MINE", " ", "ANTHROPIC_API_KEY", "vendor")
	if got := caught(t, "a", c); got != "vendor" {
		t.Errorf("second %q", got)
	}
	c.Env = env("MINE", " ", "ANTHROPIC_API_KEY", "")
	if got := caught(t, "a", c); got != "entered for anthropic" {
		t.Errorf("third %q", got)
	}
}

func TestKeysThatCannotBeReadAreNamedWhereOneIsMissing(t *testing.T) {
	c := base()
	c.Credentials = func(string) (string, error) { return "", errors.New("the file of keys x is damaged") }
	_, err := resolve.Resolve("anthropic/claude-opus-4-6", c)
	if err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY, or enter the key with /login; the file of keys x is damaged") {
		t.Errorf("without a variable: %v", err)
	}
	c.Env = env("ANTHROPIC_API_KEY", "vendor")
	if got := caught(t, "anthropic/claude-opus-4-6", c); got != "vendor" {
		t.Errorf("with one: %q", got)
	}
}

func TestAKeyIsForAProviderThatThereIs(t *testing.T) {
	c := base()
	c.Aliases = map[string]resolve.Alias{"local": {Type: "custom", Provider: "ours", API: model.APIOpenAI, BaseURL: "https://h.example/v1", ID: "x"}}
	for _, name := range []string{"anthropic", "openai", "local", "ours"} {
		if err := resolve.CheckProvider(name, c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, says := range map[string]string{"antropic": "did you mean anthropic?", "": "no provider", "zzzzzzzzzz": "list of models", strings.Repeat("a", 5000): "aaa…"} {
		if err := resolve.CheckProvider(name, c); err == nil || !strings.Contains(err.Error(), says) || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

func TestAVendorsKeyNeverGoesToAnotherServer(t *testing.T) {
	c := base()
	c.Env = env("ANTHROPIC_API_KEY", "vendor")
	c.Credentials = func(p string) (string, error) {
		if p == "anthropic" {
			return "entered", nil
		}
		return "", nil
	}
	c.Aliases = map[string]resolve.Alias{
		"proxy": {Provider: "anthropic", ID: "claude-opus-4-6", BaseURL: "https://evil.example"},
		"plain": {Provider: "anthropic", ID: "claude-opus-4-6", BaseURL: "http://api.anthropic.com"},
		"here":  {Provider: "anthropic", ID: "claude-opus-4-6", BaseURL: "http://127.0.0.1:9"},
	}
	for _, ref := range []string{"proxy", "plain"} {
		if got := caught(t, ref, c); !strings.Contains(got, "needs a key") {
			t.Errorf("%s: %q", ref, got)
		}
	}
	if got := caught(t, "here", c); got != "" {
		t.Errorf("here: %q", got)
	}
}

func TestServersOnThisMachineNeedNoKey(t *testing.T) {
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	for api, serve := range map[model.API]func(modeltest.Config) *modeltest.Server{
		model.APIOpenAI: modeltest.OpenAI, model.APIResponses: modeltest.Responses,
	} {
		s, err := script.Parse(strings.NewReader("{\"script\":1}\n{\"do\":[{\"text\":\"hi\"}]}"), "s.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(serve(modeltest.Config{Script: s}))
		defer web.Close()
		c := base()
		c.HTTP = &http.Client{Transport: tr}
		c.Default = "local"
		c.Aliases = map[string]resolve.Alias{"local": {API: api, BaseURL: web.URL + "/v1", ID: "x"}}
		m, err := resolve.Resolve("", c)
		if err != nil {
			t.Fatal(err)
		}
		a, err := modeltest.Collect(m.Stream(t.Context(), model.Request{Messages: []protocol.Message{protocol.UserText("x")}}))
		if err != nil || a.Text != "hi" {
			t.Fatalf("%s: %+v %v", api, a, err)
		}
	}
}

func TestListPutsAliasesFirstThenWhatHasAKey(t *testing.T) {
	c := base()
	c.Env = env("OPENROUTER_API_KEY", "k")
	c.Aliases = map[string]resolve.Alias{"myopus": {Provider: "anthropic", ID: "claude-opus-4-6"}, "broken": {}}
	list := resolve.List("opus 4", c)
	if len(list) < 3 || list[0].Ref != "myopus" || list[0].HasKey || !list[1].HasKey || list[len(list)-1].HasKey {
		t.Fatalf("%+v", list)
	}
	for _, e := range list {
		if !strings.Contains(strings.ToLower(e.Ref+e.Info.ID), "opus") {
			t.Errorf("%s does not fit", e.Ref)
		}
	}
	all := resolve.List("", c)
	if len(all) < 500 {
		t.Errorf("%d models", len(all))
	}
	c.Aliases["ready"] = resolve.Alias{Provider: "openrouter", ID: "anthropic/claude-opus-4.6"}
	var ready []resolve.Entry
	for _, e := range resolve.List("", c) {
		if e.HasKey {
			ready = append(ready, e)
		}
	}
	if got := resolve.Ready(c); len(ready) < 50 || ready[0].Ref != "ready" || !reflect.DeepEqual(got, ready) {
		t.Errorf("%d models are ready of %d that have a key, the first %.200v", len(got), len(ready), got)
	}
}

func TestKeyVariablesNameAllThatChildrenMustNotSee(t *testing.T) {
	c := base()
	c.Aliases = map[string]resolve.Alias{"a": {APIKeyEnv: "MINE"}}
	got := resolve.KeyVariables(c)
	for _, want := range []string{"MINE", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing from %v", want, got)
		}
	}
	if !slices.IsSorted(got) {
		t.Error("not sorted")
	}
}

func TestEveryWireFormatHasAnAdapter(t *testing.T) {
	for _, api := range model.APIs() {
		m, err := resolve.Resolve("x", resolve.Config{Aliases: map[string]resolve.Alias{"x": {API: api, ID: "m", BaseURL: "http://127.0.0.1:1"}}})
		if err != nil || m.Info().API != api {
			t.Errorf("%s: %v", api, err)
		}
		if _, ok := catalog.FindProvider(api.Vendor()); !ok {
			t.Errorf("the catalogue does not know the vendor of %s", api)
		}
	}
}
