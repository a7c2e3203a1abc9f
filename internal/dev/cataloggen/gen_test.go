package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"scorel/internal/engine/model"
)

// tarball writes a package with the given data files.
func tarball(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	files["package/package.json"] = `{"name":"@x/y","version":"1.2.3","license":"MIT"}`
	files["package/dist/providers/data/.manifest.json"] = `{"generatedAt":"2026-11-10T12:05:37.628Z"}`
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "p.tgz")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCatalogueHoldsWhatTheAdaptersCanCall(t *testing.T) {
	entry := func(id, api, provider, more string) string {
		return `"chat:` + id + `":{"type":"chat","id":"` + id + `","api":"` + api + `","provider":"` + provider +
			`","baseUrl":"https://` + provider + `.example/v1","input":["text","image"],"contextWindow":1000,"maxTokens":100` + more + `}`
	}
	file := tarball(t, map[string]string{
		"package/dist/providers/data/openai.json": `{"openai-responses":{` +
			entry("gpt-4o", "openai-responses", "openai", `,"cost":{"input":2.5,"output":10}`) + "," +
			entry("gpt-6", "openai-responses", "openai", `,"reasoning":true,"thinkingLevelMap":{"off":"none","minimal":null,"xhigh":"xhigh"}`) + "," +
			entry("gpt-6-always", "openai-responses", "openai", `,"reasoning":true,"thinkingLevelMap":{"off":null}`) + "," +
			entry("gpt-5-pro", "openai-responses", "openai", "") + `}}`,
		"package/dist/providers/data/deepseek.json":     `{"openai-completions":{` + entry("deep", "openai-completions", "deepseek", `,"reasoning":true`) + `}}`,
		"package/dist/providers/data/opencode.json":     `{"openai-responses":{` + entry("build", "openai-responses", "opencode", `,"reasoning":true,"compat":{"supportsReasoningEffort":false}`) + `}}`,
		"package/dist/providers/data/azure.json":        `{"azure-openai-responses":{` + entry("gpt-6", "azure-openai-responses", "azure", "") + `}}`,
		"package/dist/providers/data/openai-codex.json": `{"openai-codex-responses":{` + entry("gpt-6", "openai-codex-responses", "openai", "") + `}}`,
		"package/dist/providers/data/google.json": `{"google-generative-ai":{` + entry("gem", "google-generative-ai", "google", `,"reasoning":true,"thinkingLevelMap":{"off":null,"minimal":null}`) + "," +
			entry("deep-research-x", "google-generative-ai", "google", "") + "," + entry("gemini-computer-use-x", "google-generative-ai", "google", "") + `}}`,
		"package/dist/providers/data/github-copilot.json": `{"openai-completions":{` + entry("cop", "openai-completions", "github-copilot", "") + `}}`,
	})
	out := filepath.Join(t.TempDir(), "catalog.json")
	if err := run(file, out); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Source struct{ Version, Date string }
		Models []struct {
			ID       string
			API      model.API
			Thinking map[string]*string
			Compat   model.Compat
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Source.Version != "1.2.3" || doc.Source.Date != "2026-11-10" || len(doc.Models) != 7 {
		t.Fatalf("%s", raw)
	}
	deep, gem, gpt4, pro, gpt6, always, build := doc.Models[0], doc.Models[1], doc.Models[2], doc.Models[3], doc.Models[4], doc.Models[5], doc.Models[6]
	if deep.ID != "deep" || !deep.Compat.ReasoningContent || deep.Compat.MaxTokensField != "max_tokens" || len(deep.Thinking) != 4 {
		t.Errorf("%+v", deep)
	}
	if off, ok := gem.Thinking["off"]; gem.ID != "gem" || gem.API != model.APIGoogle || !ok || off != nil || gem.Thinking["minimal"] != nil || *gem.Thinking["low"] != "low" {
		t.Errorf("%+v", gem)
	}
	if gpt4.ID != "gpt-4o" || gpt4.Thinking != nil || gpt4.API != model.APIResponses {
		t.Errorf("%+v", gpt4)
	}
	if pro.ID != "gpt-5-pro" || always.ID != "gpt-6-always" || always.API != model.APIResponses {
		t.Errorf("%+v %+v", pro, always)
	}
	if build.ID != "build" || !build.Compat.NoEffort || build.Compat.NoEffortWithTools {
		t.Errorf("%+v", build)
	}
	if gpt6.ID != "gpt-6" || !gpt6.Compat.NoEffortWithTools || *gpt6.Thinking["off"] != "none" || *gpt6.Thinking["xhigh"] != "xhigh" || gpt6.Thinking["minimal"] != nil {
		t.Errorf("%+v", gpt6)
	}
	again := filepath.Join(t.TempDir(), "catalog.json")
	if err := run(file, again); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(again); err != nil || !bytes.Equal(raw, second) {
		t.Error("the same package gave another catalogue")
	}
}
