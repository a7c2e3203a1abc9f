package anthropic_test

import (
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/dev/modeltest/conformance"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/anthropic"
)

func adapter() conformance.Adapter {
	return conformance.Adapter{Info: claude(), New: conformance.Of(anthropic.New), Server: modeltest.Anthropic, Header: "X-Api-Key", Failures: []conformance.Failure{
		{Name: "conflict", Line: `{"do":[{"error":{"status":409}}]}`, Class: model.ClassTransient, Says: "409"},
		{Name: "overloaded", Line: `{"do":[{"error":{"status":529}}]}`, Class: model.ClassOverloaded, Says: "overloaded"},
		{Name: "overloaded inside the stream", Line: `{"do":[{"text":"I beg"},{"error":{"status":529}}]}`, Class: model.ClassOverloaded, Says: "overloaded"},
		{Name: "request too large", Line: `{"do":[{"error":{"status":413}}]}`, Class: model.ClassTooLong, Says: "too long"},
		{Name: "input and limit exceed the window", Line: `{"do":[{"error":{"status":400,"message":"input length and max_tokens exceed context limit: 190000 + 32000 > 200000"}}]}`, Class: model.ClassTooLong, Says: "too long"},
		{Name: "cut in the middle of a call that is alone", Line: `{"do":[{"call":"Read","id":"c1","input":{"path":"abcdef"},"cut":true}]}`, Class: model.ClassTransient, Says: "connection"},
	}}
}

func TestConformance(t *testing.T) { conformance.Test(t, adapter()) }

func BenchmarkRequest(b *testing.B) { conformance.BenchmarkRequest(b, adapter()) }
