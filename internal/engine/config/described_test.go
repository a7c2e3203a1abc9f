package config

import (
	"strings"
	"testing"
)

// The two examples of the table [model] that describe a model without an alias.
const (
	describedBuiltin = `[model]
type = "builtin"
provider = "openai"
id = "gpt-5.4-mini"
apiKeyEnv = "SCOREL_API_KEY"
`
	describedCustom = `[model]
type = "custom"
api = "openai-completions"
provider = "chanleramp"
id = "gpt-5.4-mini"
baseUrl = "https://amp.example/v1"
apiKeyEnv = "SCOREL_API_KEY"
contextWindow = 400000
maxTokens = 128000
reasoning = true
`
)

func TestATableModelThatDescribesAModelIsTheAliasDefault(t *testing.T) {
	c, _, err := Parse(user(describedCustom+"thinking = \"low\"\n"), File{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := c.Models["default"]
	if c.Model.Name != "default" || c.Model.Thinking != "low" || a.Type != "custom" || a.API != "openai-completions" || a.Provider != "chanleramp" ||
		a.ID != "gpt-5.4-mini" || a.BaseURL != "https://amp.example/v1" || a.APIKeyEnv != "SCOREL_API_KEY" ||
		a.ContextWindow != 400_000 || a.MaxTokens != 128_000 || a.Reasoning == nil || !*a.Reasoning {
		t.Errorf("%+v %+v", c.Model, a)
	}
	for _, s := range c.Settings(nil) {
		switch s.Key {
		case "model.name":
			if s.Value != `"default"` || s.Source.String() != "/u/config.toml:2" {
				t.Errorf("model.name is shown as %s from %s", s.Value, s.Source)
			}
		case "model.baseUrl":
			if s.Value != `"https://amp.example/v1"` || s.Source.String() != "/u/config.toml:6" {
				t.Errorf("model.baseUrl is shown as %s from %s", s.Value, s.Source)
			}
		}
	}
}

func TestATableModelOfTypeBuiltinTakesTheCataloguesModel(t *testing.T) {
	for _, text := range []string{describedBuiltin, strings.Replace(describedBuiltin, "type = \"builtin\"\n", "", 1), describedBuiltin + "name = \"default\"\n", describedBuiltin + "name = \"\"\n"} {
		c, _, err := Parse(user(text), File{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := c.Models["default"]; c.Model.Name != "default" || a.Type != "builtin" || a.Provider != "openai" || a.ID != "gpt-5.4-mini" || a.APIKeyEnv != "SCOREL_API_KEY" {
			t.Errorf("%s\n%+v %+v", text, c.Model, a)
		}
	}
}

func TestWhatContradictsADescribedModelIsRefusedInOneSentence(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"another name", describedBuiltin + "name = \"anthropic/claude-sonnet-4-5\"\n",
			"the table [model] describes a model itself (/u/config.toml:2) and names another one with name (/u/config.toml:6); take name out, or move the description to [models.<alias>]"},
		{"a second description", describedBuiltin + "[models.default]\nid = \"x\"\nprovider = \"openai\"\n",
			`the model "default" is described twice, in [model] (/u/config.toml:2) and in [models.default] (/u/config.toml:7); keep one of them`},
		{"custom without an address", "[model]\ntype = \"custom\"\nid = \"x\"\n",
			"the model of the table model of type custom lacks api and baseUrl (/u/config.toml:2)"},
		{"builtin without an id", "[model]\ntype = \"builtin\"\nprovider = \"openai\"\n",
			"the model of the table model of type builtin lacks id (/u/config.toml:2)"},
		{"no such type", "[model]\ntype = \"other\"\nid = \"x\"\nprovider = \"openai\"\n",
			"the config key model.type must be builtin or custom (/u/config.toml:2)"},
		{"a key that only aliases have", describedBuiltin + "images = true\n",
			"Unsupported config key: model.images (/u/config.toml:6)"},
		{"a key itself", describedBuiltin + "apiKey = \"sk-1\"\n",
			"Unsupported config key: model.apiKey (/u/config.toml:6): keys do not belong into this file; put the key into an environment variable and set apiKeyEnv to its name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Parse(user(c.text), File{}, nil)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAProjectDescribesNoModelButATrustedOneMayNameAnother(t *testing.T) {
	usable := func(Config, string) bool { return true }
	p := project("[model]\nname = \"big\"\nid = \"evil\"\nbaseUrl = \"https://evil.example\"\n")
	p.Trusted = true
	c, notices, err := Parse(user(describedBuiltin), p, usable)
	if err != nil {
		t.Fatal(err)
	}
	if c.Model.Name != "big" || c.Models["default"].ID != "gpt-5.4-mini" || c.Models["default"].BaseURL != "" || len(notices) != 2 {
		t.Errorf("%+v %+v %v", c.Model, c.Models["default"], notices)
	}
}

func TestWhereADescribedModelsKeyIsSentIsSetByHandOnly(t *testing.T) {
	for _, name := range []string{"model.baseUrl", "model.apiKeyEnv", "model.provider"} {
		if _, err := Edit(user(describedBuiltin), name, "\"https://evil.example\""); err == nil || !strings.Contains(err.Error(), "says where keys are sent") {
			t.Errorf("%s: %v", name, err)
		}
	}
	data, err := Edit(user(describedBuiltin), "model.id", "gpt-5.4")
	if err != nil || !strings.Contains(string(data), "id = \"gpt-5.4\"") {
		t.Errorf("%s %v", data, err)
	}
	if _, err := Edit(user(describedBuiltin), "model.name", "big"); err == nil || !strings.Contains(err.Error(), "describes a model itself") {
		t.Errorf("%v", err)
	}
}
