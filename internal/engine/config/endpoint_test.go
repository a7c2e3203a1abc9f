package config

import (
	"strings"
	"testing"
)

func TestAnEndpointIsAddedToAFileWhoseOtherLinesStay(t *testing.T) {
	e := Endpoint{API: "openai-completions", BaseURL: "http://127.0.0.1:11434/v1", Provider: "ollama",
		Models: []EndpointModel{{"ollama", "qwen3:14b", 40_960}, {"ollama-haiku", "qwen3:4b", 0}}, Tiers: Tiers{Haiku: "ollama-haiku", Opus: "ollama"}}
	for _, before := range []string{"", "# mine\n[model] # m\nname = \"big\"\n\n[models.big]\nprovider = \"openai\"\nid = \"gpt-5.4\" # the large one", "[tiers]\nsonnet = \"big\"\n"} {
		file := File{Name: "config.toml", Data: []byte(before)}
		got, err := AddEndpoint(file, e)
		if err != nil {
			t.Errorf("%q: %v", before, err)
			continue
		}
		c, _, err := Parse(File{Name: "config.toml", Data: got}, File{}, nil)
		if err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		a := c.Models["ollama-haiku"]
		if a.BaseURL != e.BaseURL || a.ID != "qwen3:4b" || a.Provider != "ollama" || a.API != e.API || c.Models["ollama"].ID != "qwen3:14b" || c.Models["ollama"].ContextWindow != 40_960 || a.ContextWindow != 0 || c.Tiers.Haiku != "ollama-haiku" || c.Tiers.Opus != "ollama" {
			t.Errorf("%q became %q", before, got)
		}
		for line := range strings.Lines(before) {
			if !strings.Contains(string(got), line) {
				t.Errorf("%q is gone: %q", line, got)
			}
		}
		if again, err := AddEndpoint(File{Name: "config.toml", Data: got}, e); err != nil || string(again) != string(got) {
			t.Errorf("a second time: %q, %v", again, err)
		}
	}
}

func TestAnEndpointReplacesNoOtherModel(t *testing.T) {
	e := Endpoint{API: "openai-completions", BaseURL: "http://127.0.0.1:8000/v1", Provider: "big", Models: []EndpointModel{{"big", "x", 0}}}
	for before, want := range map[string]string{
		"[models.big]\nprovider = \"openai\"\nid = \"gpt-5.4\"\n":                                                              "already describes another model big",
		"[models.big]\nprovider = \"big\"\napi = \"openai-completions\"\nbaseUrl = \"http://127.0.0.1:8000/v1\"\nid = \"y\"\n": "already describes another model big",
		"models = { small = { provider = \"openai\", id = \"gpt-5.4\" } }\n":                                                   "config.toml",
		"[model\n": "not valid TOML",
	} {
		if got, err := AddEndpoint(File{Name: "config.toml", Data: []byte(before)}, e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q became %q, %v", before, got, err)
		}
	}
}
