package modeltest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/dev/modeltest"
)

const (
	googlePath    = "/v1beta/models/m:streamGenerateContent?alt=sse"
	googleRequest = `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
)

// TestGooglesStreamsAreTheVendors compares whole streams with files.
func TestGooglesStreamsAreTheVendors(t *testing.T) {
	for name, path := range map[string]string{
		"google.sse":     googlePath,
		"google-2.5.sse": "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
	} {
		server := modeltest.Google(modeltest.Config{Script: parse(t, answers+"\n"+`{"do":[{"text":"done"}],"stop":"max_tokens"}`)})
		status, got := post(t, server, path, googleRequest)
		_, second := post(t, server, path, googleRequest)
		got += second
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if status != http.StatusOK || got != string(want) {
			t.Errorf("status %d:\n%s", status, got)
		}
	}
}

func TestGooglesFailuresAreTheVendors(t *testing.T) {
	for name, tt := range map[string]struct {
		line   string
		key    string
		status int
		says   []string
	}{
		"a wrong key":  {`{"do":[{"text":"x"}]}`, "other", 400, []string{`"status":"INVALID_ARGUMENT"`, `"reason":"API_KEY_INVALID"`, "API key not valid"}},
		"overload":     {`{"do":[{"error":{"status":529}}]}`, "k", 503, []string{`"status":"UNAVAILABLE"`, `"code":503`}},
		"a rate limit": {`{"do":[{"error":{"status":429,"retryAfter":2.5}}]}`, "k", 429, []string{`"status":"RESOURCE_EXHAUSTED"`, `"retryDelay":"2.5s"`}},
		"too long":     {`{"do":[{"error":{"tooLong":true}}]}`, "k", 400, []string{"input token count", "exceeds the maximum"}},
		"in a stream":  {`{"do":[{"text":"x"},{"error":{"status":529}}]}`, "k", 200, []string{"data: {\"error\":", `"code":503`}},
		"a safety end": {`{"do":[{"text":"x"}],"stop":"refusal"}`, "k", 200, []string{`"finishReason":"SAFETY"`}},
		"broken input": {`{"do":[{"call":"Read","id":"c","raw":"{"}]}`, "k", 200, []string{`"finishReason":"MALFORMED_FUNCTION_CALL"`}},
	} {
		server := modeltest.Google(modeltest.Config{Script: parse(t, "{\"script\":1}\n"+tt.line), Key: "k"})
		status, got := post(t, server, googlePath, googleRequest, "X-Goog-Api-Key", tt.key)
		if status != tt.status {
			t.Errorf("%s: %d", name, status)
		}
		for _, s := range tt.says {
			if !strings.Contains(got, s) {
				t.Errorf("%s: no %s in %s", name, s, got)
			}
		}
	}
}

func TestGoogleStreamsOnlyWhereItIsAskedTo(t *testing.T) {
	server := modeltest.Google(modeltest.Config{Script: parse(t, answers)})
	if status, text := post(t, server, "/v1beta/models/m:streamGenerateContent", googleRequest); status != 400 || !strings.Contains(text, "alt=sse") {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := post(t, server, "/v1beta/models/m:generateContent", googleRequest); status != 404 {
		t.Error(status)
	}
}
