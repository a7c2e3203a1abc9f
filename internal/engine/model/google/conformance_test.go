package google_test

import (
	"testing"
	"time"

	"scorel/internal/dev/modeltest"
	"scorel/internal/dev/modeltest/conformance"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/google"
)

func adapter() conformance.Adapter {
	return conformance.Adapter{Info: gemini(), New: conformance.Of(google.New), Server: modeltest.Google, Header: "X-Goog-Api-Key", Failures: []conformance.Failure{
		{Name: "deadline", Line: `{"do":[{"error":{"status":504}}]}`, Class: model.ClassTransient, Says: "504"},
		{Name: "overloaded", Line: `{"do":[{"error":{"status":529}}]}`, Class: model.ClassOverloaded, Says: "overloaded"},
		{Name: "overloaded inside the stream", Line: `{"do":[{"text":"I beg"},{"error":{"status":503}}]}`, Class: model.ClassOverloaded, Says: "overloaded"},
		{Name: "rate limit inside the stream with a time to wait", Line: `{"do":[{"text":"I beg"},{"error":{"status":429,"retryAfter":3}}]}`, Class: model.ClassTransient, Retry: 3 * time.Second, Says: "429"},
		{Name: "refused key, a 400", Line: `{"do":[{"error":{"status":401}}]}`, Class: model.ClassAuth, Says: " (400"},
		{Name: "too long inside the stream", Line: `{"do":[{"text":"I beg"},{"error":{"status":400,"tooLong":true}}]}`, Class: model.ClassTooLong, Says: "too long"},
		{Name: "a call that is not JSON", Line: `{"do":[{"text":"half"},{"call":"Read","id":"c1","raw":"{\"path"}]}`, Class: model.ClassTransient, Says: "a call that makes no sense"},
	}}
}

func TestConformance(t *testing.T) { conformance.Test(t, adapter()) }

func TestJudgeTakesWhatFitMakesOfAnyConversationForOtherFamilies(t *testing.T) {
	blind := named("gemini-2.5-pro")
	blind.Images, blind.PDF = false, false
	for name, info := range map[string]model.Info{"Gemini 2.5": named("gemini-2.5-flash"), "without media": blind, "Gemma": named("gemma-4-test")} {
		t.Run(name, func(t *testing.T) {
			a := adapter()
			a.Info = info
			conformance.Judge(t, a)
		})
	}
}

func BenchmarkRequest(b *testing.B) { conformance.BenchmarkRequest(b, adapter()) }
