package responses_test

import (
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/dev/modeltest/conformance"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/responses"
)

func adapter() conformance.Adapter {
	return conformance.Adapter{Info: gpt(), New: conformance.Of(responses.New), Server: modeltest.Responses, Base: "/v1", Header: "Authorization", Failures: []conformance.Failure{
		{Name: "no credit", Line: `{"do":[{"error":{"status":429,"type":"insufficient_quota","message":"You exceeded your current quota"}}]}`, Class: model.ClassInvalid, Says: "no credit"},
		{Name: "no credit inside the stream", Line: `{"do":[{"text":"I beg"},{"error":{"status":429,"type":"insufficient_quota","message":"You exceeded your current quota"}}]}`, Class: model.ClassInvalid, Says: "no credit"},
		{Name: "bad gateway", Line: `{"do":[{"error":{"status":502}}]}`, Class: model.ClassTransient, Says: "502"},
		{Name: "conflict", Line: `{"do":[{"error":{"status":409}}]}`, Class: model.ClassTransient, Says: "409"},
		{Name: "overloaded", Line: `{"do":[{"error":{"status":503}}]}`, Class: model.ClassOverloaded, Says: "overloaded"},
		{Name: "overloaded inside the stream", Line: `{"do":[{"text":"I beg"},{"error":{"status":503}}]}`, Class: model.ClassOverloaded, Says: "overloaded"},
		{Name: "too long inside the stream", Line: `{"do":[{"text":"I beg"},{"error":{"status":400,"tooLong":true}}]}`, Class: model.ClassTooLong, Says: "too long"},
		{Name: "request too large", Line: `{"do":[{"error":{"status":413}}]}`, Class: model.ClassTooLong, Says: "too long"},
		{Name: "cut in the middle of a call that is alone", Line: `{"do":[{"call":"Read","id":"c1","input":{"path":"abcdef"},"cut":true}]}`, Class: model.ClassTransient, Says: "connection"},
	}}
}

func TestConformance(t *testing.T) { conformance.Test(t, adapter()) }

func TestJudgeOfAServerThatReadsTextAloneTakesWhatFitMakesOfAnyConversation(t *testing.T) {
	a := adapter()
	a.Info.Images, a.Info.PDF, a.Info.Thinking = false, false, nil
	conformance.Judge(t, a)
}

func BenchmarkRequest(b *testing.B) { conformance.BenchmarkRequest(b, adapter()) }
