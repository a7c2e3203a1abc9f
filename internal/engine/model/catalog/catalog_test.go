package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/model"
)

func TestDataHasItsShape(t *testing.T) {
	var doc struct {
		Version   int        `json:"version"`
		Source    Origin     `json:"source"`
		Providers []Provider `json:"providers"`
		Models    []Model    `json:"models"`
	}
	d := json.NewDecoder(strings.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if doc.Version != 1 || doc.Source != Source() || doc.Source.License != "MIT" || len(data) > 1<<20 {
		t.Errorf("head %d %+v, %d bytes", doc.Version, doc.Source, len(data))
	}
	if _, err := time.Parse(time.DateOnly, doc.Source.Date); err != nil {
		t.Error(err)
	}
	if lines := strings.Count(data, "\n"); lines != 1+1+len(doc.Providers)+1+1+len(doc.Models)+1 {
		t.Errorf("%d lines: not one for each model", lines)
	}
	known := map[string]bool{}
	for _, p := range doc.Providers {
		known[p.ID] = true
		if p.Name == "" || len(p.KeyEnv) == 0 || !strings.HasPrefix(p.BaseURL, "https://") {
			t.Errorf("%+v", p)
		}
	}
	for _, m := range doc.Models {
		if !known[m.Provider] || m.ContextWindow <= 0 || m.MaxTokens < 0 ||
			!slices.Contains([]model.API{model.APIAnthropic, model.APIOpenAI, model.APIResponses, model.APIGoogle}, m.API) ||
			!slices.Contains(m.Input, "text") || m.Price.Input < 0 || m.Price.Output < 0 {
			t.Errorf("%+v", m)
		}
	}
}

func TestEveryModelAndProviderIsFound(t *testing.T) {
	n := 0
	for m := range Models() {
		n++
		got, ok := Find(m.Provider, m.ID)
		if !ok || got.ContextWindow != m.ContextWindow || got.ID != m.ID {
			t.Errorf("%s/%s: %+v", m.Provider, m.ID, got)
		}
		if info := m.Info(); info.BaseURL == "" || info.Ref != m.Provider+"/"+m.ID {
			t.Errorf("%+v", info)
		}
	}
	refs := 0
	for provider, id := range Refs() {
		refs++
		if provider == "" || id == "" {
			t.Errorf("%q %q", provider, id)
		}
	}
	all, some := 0, 0
	for m := range Matching(func(ref string) bool { all++; return strings.HasPrefix(ref, "anthropic/") }) {
		if some++; m.Provider != "anthropic" || m.ContextWindow == 0 {
			t.Errorf("%+v", m)
		}
	}
	if n < 500 || refs != n || all != n || some == 0 || some == n {
		t.Errorf("%d models, %d refs, of %d %d fit", n, refs, all, some)
	}
	for p := range Providers() {
		if got, ok := FindProvider(p.ID); !ok || got.Name != p.Name {
			t.Errorf("%s: %+v", p.ID, got)
		}
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	for _, id := range []string{"", "claude", `"`, "\n", "x/y"} {
		if m, ok := Find("anthropic", id); ok {
			t.Errorf("%q: %+v", id, m)
		}
		if list := FindID(id); len(list) > 0 {
			t.Errorf("%q: %+v", id, list)
		}
		if p, ok := FindProvider(id); ok {
			t.Errorf("%q: %+v", id, p)
		}
	}
}

func TestInfoOfKnownModels(t *testing.T) {
	opus, ok := Find("anthropic", "claude-opus-4-6")
	if !ok {
		t.Fatal("no claude-opus-4-6")
	}
	i := opus.Info()
	if i.API != model.APIAnthropic || i.BaseURL != "https://api.anthropic.com" || !i.Images || !i.PDF || !i.Cache || !i.Compat.Adaptive ||
		i.Level(model.ThinkingHigh) != model.ThinkingHigh || i.Price.Output <= i.Price.Input || i.MaxImageBytes == 0 {
		t.Errorf("%+v", i)
	}
	deep, ok := FindProvider("deepseek")
	if !ok || !slices.Equal(deep.KeyEnv, []string{"DEEPSEEK_API_KEY"}) {
		t.Errorf("%+v", deep)
	}
	google, ok := FindProvider("google")
	if !ok || google.API != model.APIGoogle || !slices.Equal(google.KeyEnv, []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}) {
		t.Errorf("%+v", google)
	}
	gemini, ok := Find("google", "gemini-3.1-pro-preview")
	if i := gemini.Info(); !ok || i.API != model.APIGoogle || i.BaseURL != "https://generativelanguage.googleapis.com/v1beta" || !i.Images || !i.PDF || i.Cache ||
		i.Level(model.ThinkingMinimal) != model.ThinkingLow || i.Level(model.ThinkingMax) != model.ThinkingHigh {
		t.Errorf("%+v", i)
	}
	for m := range Models() {
		i := m.Info()
		if m.Provider == "deepseek" && (!i.Compat.ReasoningContent || i.Compat.MaxTokensField != "max_tokens" || i.Compat.ThinkingFormat != "deepseek") {
			t.Errorf("%+v", i)
		}
		if m.API == model.APIOpenAI && i.Compat.NoEffortWithTools && i.Compat.Levels[model.ThinkingOff] != "none" {
			t.Errorf("%s cannot be used with tools", i.Ref)
		}
		if m.Provider == "openai" && m.API != model.APIResponses {
			t.Errorf("%s goes through %s", i.Ref, m.API)
		}
	}
	pro, ok := Find("openai", "gpt-5.5-pro")
	if i := pro.Info(); !ok || i.BaseURL != "https://api.openai.com/v1" || !i.PDF || i.Level(model.ThinkingLow) != model.ThinkingMedium ||
		i.Compat.Levels[model.ThinkingOff] != "" || !i.Compat.NoEffortWithTools {
		t.Errorf("%+v", pro)
	}
}

func BenchmarkFind(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Find("zai", "glm-4.7"); !ok {
			b.Fatal("not found")
		}
	}
}
