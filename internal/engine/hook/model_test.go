package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/protocol"
)

func TestAReplacedPayloadIsSentAsItIsAndItsErrorNamesWhoReplacedIt(t *testing.T) {
	for _, api := range []model.API{"anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"} {
		t.Run(string(api), func(t *testing.T) {
			var got []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = append(got, string(body))
				w.Header().Set("X-Request-Id", "r1")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","message":"no such field"}}`)
			}))
			defer srv.Close()
			m, err := resolve.Resolve("mock", resolve.Config{HTTP: srv.Client(), Env: func(string) (string, bool) { return "key", true },
				Aliases: map[string]resolve.Alias{"mock": {Type: "custom", API: api, BaseURL: srv.URL, ID: "m", APIKeyEnv: "KEY", ContextWindow: 100000, MaxTokens: 1000}}})
			if err != nil {
				t.Fatal(err)
			}
			var seen json.RawMessage
			var status int
			var id string
			c := New(nil, Subscriber{Scope: ScopeUser, Name: "extension x",
				BeforeRequest: func(_ context.Context, payload json.RawMessage) (json.RawMessage, error) {
					seen = payload
					return json.RawMessage(`{"mine":true}`), nil
				},
				AfterResponse: func(_ context.Context, s int, h map[string]string) { status, id = s, h["x-request-id"] }})
			request := model.Request{Kind: model.KindStep, System: "Help.", Messages: []protocol.Message{protocol.UserText("hello")}, MaxTokens: 100}
			var failed error
			for _, err := range Model(m, c).Stream(t.Context(), request) {
				failed = err
			}
			var me *model.Error
			if !errors.As(failed, &me) || !strings.HasPrefix(me.Message, "The request was changed by extension x. ") {
				t.Errorf("error: %v", failed)
			}
			if len(got) != 1 || got[0] != `{"mine":true}` || !strings.Contains(string(seen), "hello") {
				t.Errorf("sent %q, seen %s", got, seen)
			}
			if status != http.StatusBadRequest || id != "r1" {
				t.Errorf("told of status %d, header %q", status, id)
			}

			if Model(m, New(nil, Subscriber{Name: "y"})) != m {
				t.Error("a model is wrapped for nobody")
			}
		})
	}
}
