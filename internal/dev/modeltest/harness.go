package modeltest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

// Serve serves a handler until the test ends, and returns its URL.
func Serve(t testing.TB, h http.Handler) string {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return web.URL
}

// Client returns an HTTP client whose connections end with the test.
func Client(t testing.TB) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// Script reads a script.
func Script(t testing.TB, text string) *script.Script {
	t.Helper()
	s, err := script.Parse(strings.NewReader(text), "test.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Ask returns a request with one message of a user and two tools.
func Ask(text string) model.Request {
	return model.Request{
		Kind: model.KindStep, System: "You help.", Messages: []protocol.Message{protocol.UserText(text)},
		Tools: []model.ToolSpec{
			{Name: "Bash", Description: "runs", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"a":{}}}`)},
			{Name: "Read", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		},
	}
}
