package modeltest

import (
	"encoding/json"
	"strings"
	"testing"
)

// The requests below are the messages (and further fields) of a whole request.

func anthropicBody(messages, more string) string {
	return `{"model":"m","max_tokens":9000,"stream":true,"messages":[` + messages + `]` + more + `}`
}

func openaiBody(messages, more string) string {
	return `{"model":"m","stream":true,"messages":[` + messages + `]` + more + `}`
}

const (
	aUser   = `{"role":"user","content":[{"type":"text","text":"a"}]}`
	aSays   = `{"role":"assistant","content":[{"type":"text","text":"b"}]}`
	aCall   = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"R","input":{}}]}`
	aResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}`
	oUser   = `{"role":"user","content":"a"}`
	oSays   = `{"role":"assistant","content":"b"}`
	oCall   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"R","arguments":"{}"}}]}`
	oResult = `{"role":"tool","tool_call_id":"c1","content":"x"}`
)

func signed(text string) string {
	return `{"type":"thinking","thinking":"` + text + `","signature":"` + Sign("m", text) + `"}`
}

func TestAnthropicJudgeRefusesWhatTheVendorRefuses(t *testing.T) {
	marked := `{"type":"text","text":"t","cache_control":{"type":"ephemeral"}}`
	tests := []struct{ name, body, want string }{
		{"a plain request", anthropicBody(aUser, ""), ""},
		{"content as a string", anthropicBody(`{"role":"user","content":"a"}`, `,"system":"s"`), ""},
		{"a call with its result", anthropicBody(aUser+","+aCall+","+aResult, ""), ""},
		{"text behind the results", anthropicBody(aUser+","+aCall+`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"},{"type":"text","text":"t"}]}`, ""), ""},
		{"signed thinking", anthropicBody(aUser+`,{"role":"assistant","content":[`+signed("hm")+`,{"type":"text","text":"b"}]},`+aUser, ""), ""},
		{"four marks", anthropicBody(`{"role":"user","content":[`+marked+","+marked+","+marked+","+marked+`]}`, ""), ""},

		{"no model", `{"max_tokens":1,"messages":[` + aUser + `]}`, "model: Field required"},
		{"no limit", `{"model":"m","messages":[` + aUser + `]}`, "max_tokens"},
		{"no messages", anthropicBody("", ""), "at least one message"},
		{"an unknown role", anthropicBody(aUser+`,{"role":"system","content":"x"}`, ""), "Input tag 'system'"},
		{"the role of another vendor", anthropicBody(aUser+`,{"role":"tool","content":"x"}`, ""), "Input tag 'tool'"},
		{"an assistant first", anthropicBody(aSays+","+aUser, ""), "first message"},
		{"two users in a row", anthropicBody(aUser+","+aUser, ""), "roles must alternate"},
		{"two assistants in a row", anthropicBody(aUser+","+aSays+","+aSays+","+aUser, ""), "roles must alternate"},
		{"an assistant last", anthropicBody(aUser+","+aSays, ""), "prefill"},
		{"an empty message", anthropicBody(`{"role":"user","content":[]}`, ""), "non-empty content"},
		{"empty text", anthropicBody(`{"role":"user","content":[{"type":"text","text":""}]}`, ""), "must be non-empty"},
		{"white space", anthropicBody(`{"role":"user","content":[{"type":"text","text":" \n"}]}`, ""), "non-whitespace"},
		{"an empty system prompt", anthropicBody(aUser, `,"system":[{"type":"text","text":""}]`), "must be non-empty"},
		{"a call without its result", anthropicBody(aUser+","+aCall+","+aUser, ""), "without `tool_result` blocks immediately after: c1"},
		{"a call at the end", anthropicBody(aUser+","+aCall, ""), "without `tool_result` blocks"},
		{"a result one message late", anthropicBody(aUser+","+aCall+","+aUser+","+aSays+","+aResult, ""), "without `tool_result` blocks"},
		{"a result without its call", anthropicBody(aUser+","+aSays+","+aResult, ""), "unexpected `tool_use_id`"},
		{"a result twice", anthropicBody(aUser+","+aCall+`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"},{"type":"tool_result","tool_use_id":"c1"}]}`, ""), "unexpected `tool_use_id`"},
		{"text before the results", anthropicBody(aUser+","+aCall+`,{"role":"user","content":[{"type":"text","text":"t"},{"type":"tool_result","tool_use_id":"c1"}]}`, ""), "must come before"},
		{"an id with other characters", anthropicBody(aUser+","+strings.ReplaceAll(aCall+","+aResult, "c1", "c|1"), ""), "should match pattern"},
		{"an id that is too long", anthropicBody(aUser+","+strings.ReplaceAll(aCall+","+aResult, "c1", strings.Repeat("c", 65)), ""), "should match pattern"},
		{"an id twice", anthropicBody(aUser+","+aCall+","+aResult+","+aCall+","+aResult, ""), "ids must be unique"},
		{"input that is no object", anthropicBody(aUser+","+strings.Replace(aCall, `{}`, `"x"`, 1)+","+aResult, ""), "valid dictionary"},
		{"unsigned thinking", anthropicBody(aUser+`,{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"b"}]},`+aUser, ""), "signature: Field required"},
		{"foreign thinking", anthropicBody(aUser+`,{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"b"}]},`+aUser, ""), "Invalid `signature`"},
		{"changed thinking", anthropicBody(aUser+`,{"role":"assistant","content":[`+strings.Replace(signed("hm"), `"thinking":"hm"`, `"thinking":"hmm"`, 1)+`,{"type":"text","text":"b"}]},`+aUser, ""), "Invalid `signature`"},
		{"thinking last", anthropicBody(aUser+`,{"role":"assistant","content":[{"type":"text","text":"b"},`+signed("hm")+`]},`+aUser, ""), "cannot be `thinking`"},
		{"no thinking before an open call", anthropicBody(aUser+","+aCall+","+aResult, `,"thinking":{"type":"enabled","budget_tokens":2000}`), "Expected `thinking`"},
		{"a small budget", anthropicBody(aUser, `,"thinking":{"type":"enabled","budget_tokens":10}`), "1024"},
		{"a budget above the limit", anthropicBody(aUser, `,"thinking":{"type":"enabled","budget_tokens":9000}`), "must be greater than"},
		{"five marks", anthropicBody(`{"role":"user","content":[`+marked+","+marked+","+marked+","+marked+`]}`, `,"system":[`+marked+`]`), "Found 5"},
		{"a mark on thinking", anthropicBody(aUser+`,{"role":"assistant","content":[`+strings.Replace(signed("hm"), `{`, `{"cache_control":{"type":"ephemeral"},`, 1)+`,{"type":"text","text":"b"}]},`+aUser, ""), "cache_control"},
		{"an unknown block", anthropicBody(`{"role":"user","content":[{"type":"image_url"}]}`, ""), "Input tag 'image_url'"},
		{"an unknown image", anthropicBody(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":"AAAA"}}]}`, ""), "media_type"},
		{"broken base64", anthropicBody(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"?"}}]}`, ""), "base64"},
		{"an image in an error result", anthropicBody(aUser+","+aCall+`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`, ""), `must be type "text"`},
		{"a bad tool name", anthropicBody(aUser, `,"tools":[{"name":"a b","input_schema":{"type":"object"}}]`), "tools.0.custom.name"},
		{"a tool twice", anthropicBody(aUser, `,"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}]`), "unique"},
		{"a schema that is no object", anthropicBody(aUser, `,"tools":[{"name":"a","input_schema":{}}]`), "input_schema"},
		{"no JSON", `{`, "not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := anthropicAPI{}.read([]byte(tt.body), Config{})
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("said %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOpenAIJudgeRefusesWhatTheVendorRefuses(t *testing.T) {
	reasons := strings.Replace(oSays, `{`, `{"reasoning_content":"hm",`, 1)
	tests := []struct {
		name, body string
		config     Config
		want       string
	}{
		{"a plain request", openaiBody(`{"role":"system","content":"s"},`+oUser, ""), Config{}, ""},
		{"a call with its result", openaiBody(oUser+","+oCall+","+oResult, ""), Config{}, ""},
		{"two users in a row", openaiBody(oUser+","+oUser, ""), Config{}, ""},
		{"an image", openaiBody(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`, ""), Config{}, ""},
		{"reasoning where it is wanted", openaiBody(oUser+","+reasons+","+oUser, ""), Config{ReasoningContent: true}, ""},

		{"no model", `{"messages":[` + oUser + `]}`, Config{}, "model"},
		{"no messages", openaiBody("", ""), Config{}, "empty array"},
		{"an unknown role", openaiBody(`{"role":"tool_result","content":"a"}`, ""), Config{}, "Supported values are: 'system'"},
		{"a call without its result", openaiBody(oUser+","+oCall+","+oUser, ""), Config{}, "did not have response messages: c1"},
		{"a call at the end", openaiBody(oUser+","+oCall, ""), Config{}, "did not have response messages: c1"},
		{"a result one message late", openaiBody(oUser+","+oCall+","+oUser+","+oResult, ""), Config{}, "did not have response messages"},
		{"a result without its call", openaiBody(oUser+","+oResult, ""), Config{}, "must be a response to a preceding message"},
		{"a result twice", openaiBody(oUser+","+oCall+","+oResult+","+oResult, ""), Config{}, "must be a response"},
		{"an id that is too long", openaiBody(oUser+","+strings.ReplaceAll(oCall+","+oResult, "c1", strings.Repeat("c", 41)), ""), Config{}, "maximum length 40"},
		{"no id", openaiBody(oUser+","+strings.ReplaceAll(oCall+","+oResult, "c1", ""), ""), Config{}, ".id'"},
		{"arguments that are no object", openaiBody(oUser+","+strings.Replace(oCall, `"{}"`, `"{"`, 1)+","+oResult, ""), Config{}, "arguments"},
		{"an assistant that says nothing", openaiBody(oUser+`,{"role":"assistant","content":null}`, ""), Config{}, "got null"},
		{"a user that says nothing", openaiBody(`{"role":"user"}`, ""), Config{}, "got null"},
		{"empty text", openaiBody(`{"role":"user","content":""}`, ""), Config{}, "non-empty"},
		{"an image in a result", openaiBody(oUser+","+oCall+`,{"role":"tool","tool_call_id":"c1","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`, ""), Config{}, "Supported values are: 'text'"},
		{"foreign thinking", openaiBody(oUser+`,{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}`, ""), Config{}, "Supported values are: 'text'"},
		{"reasoning where it is unknown", openaiBody(oUser+","+reasons, ""), Config{}, "reasoning_content"},
		{"no reasoning where it is wanted", openaiBody(oUser+","+oSays, ""), Config{ReasoningContent: true}, "reasoning_content"},
		{"a cache mark", openaiBody(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{}}]}`, ""), Config{}, "cache_control"},
		{"an unknown image", openaiBody(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/tiff;base64,AAAA"}}]}`, ""), Config{}, "unsupported image"},
		{"a file that is no PDF", openaiBody(`{"role":"user","content":[{"type":"file","file":{"file_data":"data:text/plain;base64,AAAA"}}]}`, ""), Config{}, "application/pdf"},
		{"two users where roles take turns", openaiBody(oUser+","+oUser, ""), Config{Alternate: true}, "must alternate"},
		{"both limits", openaiBody(oUser, `,"max_tokens":1,"max_completion_tokens":1`), Config{}, "at the same time"},
		{"stream options without a stream", `{"model":"m","messages":[` + oUser + `],"stream_options":{}}`, Config{}, "stream_options"},
		{"tools with effort", openaiBody(oUser, `,"reasoning_effort":"low","tools":[{"type":"function","function":{"name":"a"}}]`), Config{NoEffortWithTools: true}, "reasoning_effort"},
		{"a bad tool name", openaiBody(oUser, `,"tools":[{"type":"function","function":{"name":"a b"}}]`), Config{}, "tools[0].function.name"},
		{"a tool twice", openaiBody(oUser, `,"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}]`), Config{}, "unique"},
		{"a tool that is no function", openaiBody(oUser, `,"tools":[{"name":"a","input_schema":{}}]`), Config{}, "'function'"},
		{"no JSON", `{`, Config{}, "could not parse"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := openaiAPI{}.read([]byte(tt.body), tt.config)
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("said %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzJudges: no request makes a judge fail.
func FuzzJudges(f *testing.F) {
	f.Add(anthropicBody(aUser+","+aCall+","+aResult, ""))
	f.Add(openaiBody(oUser+","+oCall+","+oResult, ""))
	f.Fuzz(func(t *testing.T, body string) {
		anthropicAPI{}.read([]byte(body), Config{})
		_, said := openaiAPI{}.read([]byte(body), Config{Alternate: true, ReasoningContent: true})
		if said == "" && !json.Valid([]byte(body)) {
			t.Fatal("took what is no JSON")
		}
	})
}
