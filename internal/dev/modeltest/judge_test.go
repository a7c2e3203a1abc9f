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
		{"input that is not an object", anthropicBody(aUser+","+strings.Replace(aCall, `{}`, `"x"`, 1)+","+aResult, ""), "valid dictionary"},
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
		{"a schema that is not an object", anthropicBody(aUser, `,"tools":[{"name":"a","input_schema":{}}]`), "input_schema"},
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
		{"a file that is not PDF", openaiBody(`{"role":"user","content":[{"type":"file","file":{"file_data":"data:text/plain;base64,AAAA"}}]}`, ""), Config{}, "application/pdf"},
		{"two users where roles take turns", openaiBody(oUser+","+oUser, ""), Config{Alternate: true}, "must alternate"},
		{"both limits", openaiBody(oUser, `,"max_tokens":1,"max_completion_tokens":1`), Config{}, "at the same time"},
		{"stream options without a stream", `{"model":"m","messages":[` + oUser + `],"stream_options":{}}`, Config{}, "stream_options"},
		{"tools with effort", openaiBody(oUser, `,"reasoning_effort":"low","tools":[{"type":"function","function":{"name":"a"}}]`), Config{NoEffortWithTools: true}, "reasoning_effort"},
		{"a bad tool name", openaiBody(oUser, `,"tools":[{"type":"function","function":{"name":"a b"}}]`), Config{}, "tools[0].function.name"},
		{"a tool twice", openaiBody(oUser, `,"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}]`), Config{}, "unique"},
		{"a tool that is not a function", openaiBody(oUser, `,"tools":[{"name":"a","input_schema":{}}]`), Config{}, "'function'"},
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

// The items below are those of the input (and further fields) of a whole request.

func responsesBody(items, more string) string {
	return `{"model":"m","stream":true,"store":false,"input":[` + items + `]` + more + `}`
}

const (
	rUser   = `{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}`
	rSays   = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b","annotations":[]}]}`
	rCall   = `{"type":"function_call","call_id":"c1","name":"R","arguments":"{}"}`
	rResult = `{"type":"function_call_output","call_id":"c1","output":"x"}`
)

// reasoned is the reasoning item id of model m, and one that followed it.
func reasoned(id, next string) string {
	return `{"type":"reasoning","id":"` + id + `","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"` + Seal("m", id) + `"},` +
		strings.Replace(rSays, `{`, `{"id":"`+next+`","status":"completed",`, 1)
}

func TestResponsesJudgeRefusesWhatTheVendorRefuses(t *testing.T) {
	own := reasoned("rs_1_0", "msg_1_1_r0")
	user := func(part string) string { return `{"type":"message","role":"user","content":[` + part + `]}` }
	result := func(part string) string {
		return rUser + "," + rCall + `,{"type":"function_call_output","call_id":"c1","output":[` + part + `]}`
	}
	image := `{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AAAA"}`
	pdf := `{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}`
	tool := func(fields string) string { return `,"tools":[{` + fields + `}]` }
	tests := []struct{ name, body, want string }{
		{"a plain request", responsesBody(rUser, `,"instructions":"s","max_output_tokens":16,"prompt_cache_key":"k"`), ""},
		{"input as a string", `{"model":"m","input":"a"}`, ""},
		{"a message without its type and with a string", responsesBody(`{"role":"user","content":"a"},{"role":"assistant","content":"b"}`, ""), ""},
		{"two users in a row", responsesBody(rUser+","+rUser, ""), ""},
		{"a call with its output", responsesBody(rUser+","+rCall+","+rResult, ""), ""},
		{"text between call and output", responsesBody(rUser+","+rCall+","+rSays+","+rResult, ""), ""},
		{"reasoning with what followed it", responsesBody(rUser+","+own, `,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","summary":"auto"}`), ""},
		{"reasoning twice in a row", responsesBody(rUser+`,{"type":"reasoning","id":"rs_1_9","summary":[],"encrypted_content":"`+Seal("m", "rs_1_9")+`"},`+own, ""), ""},
		{"reasoning without ids", responsesBody(rUser+","+strings.Replace(strings.Replace(own, `"id":"rs_1_0",`, "", 1), `"id":"msg_1_1_r0",`, "", 1), ""), ""},
		{"images and files of users and outputs", responsesBody(user(image+","+pdf)+","+result(image+","+pdf), ""), ""},
		{"a tool", responsesBody(rUser, tool(`"type":"function","name":"a","parameters":{"type":"object"},"strict":false`)), ""},

		{"no model", `{"input":"a"}`, "'model'"},
		{"no input", responsesBody("", ""), "'input'"},
		{"an unknown parameter", responsesBody(rUser, `,"max_tokens":100`), "Unknown parameter: 'max_tokens'"},
		{"messages of another API", responsesBody(rUser, `,"messages":[]`), "Unknown parameter: 'messages'"},
		{"an earlier answer", responsesBody(rUser, `,"previous_response_id":"resp_1"`), "not found"},
		{"a small limit", responsesBody(rUser, `,"max_output_tokens":15`), ">= 16"},
		{"a long cache key", responsesBody(rUser, `,"prompt_cache_key":"`+strings.Repeat("k", 65)+`"`), "'prompt_cache_key': string too long"},
		{"an unknown include", responsesBody(rUser, `,"include":["reasoning"]`), "'include[0]'"},
		{"an unknown effort", responsesBody(rUser, `,"reasoning":{"effort":"huge"}`), "Invalid value: 'huge'"},
		{"an unknown summary", responsesBody(rUser, `,"reasoning":{"summary":"long"}`), "Invalid value: 'long'"},
		{"an unknown item", responsesBody(`{"type":"thinking"}`, ""), "Invalid value: 'thinking'"},
		{"an unknown role", responsesBody(strings.Replace(rUser, `"user"`, `"tool"`, 1), ""), "Invalid value: 'tool'"},
		{"a field that messages lack", responsesBody(strings.Replace(rUser, `{`, `{"name":"x",`, 1), ""), "Unknown parameter: 'input[0].name'"},
		{"a field that parts lack", responsesBody(user(`{"type":"input_text","text":"a","cache_control":{}}`), ""), "Unknown parameter: 'input[0].content[0].cache_control'"},
		{"a field of an error result", responsesBody(rUser+","+rCall+","+strings.Replace(rResult, `{`, `{"is_error":true,`, 1), ""), "is_error"},
		{"a reference to an item", responsesBody(rUser+`,{"type":"item_reference","id":"msg_1"}`, ""), "not persisted"},
		{"no content", responsesBody(`{"type":"message","role":"user"}`, ""), "'input[0].content'"},
		{"empty content", responsesBody(user(""), ""), "'input[0].content'"},
		{"empty text", responsesBody(user(`{"type":"input_text","text":" "}`), ""), "non-empty"},
		{"an assistant's empty text", responsesBody(strings.Replace(rSays, `"b"`, `""`, 1), ""), "non-empty"},
		{"an empty refusal", responsesBody(`{"role":"assistant","content":[{"type":"refusal"}]}`, ""), "non-empty"},
		{"text of another API", responsesBody(user(`{"type":"text","text":"a"}`), ""), "Supported values are: 'input_text'"},
		{"the user's text by an assistant", responsesBody(strings.Replace(rSays, "output_text", "input_text", 1), ""), "'output_text' and 'refusal'"},
		{"an assistant's image", responsesBody(`{"role":"assistant","content":[`+image+`]}`, ""), "'output_text' and 'refusal'"},
		{"the system's image", responsesBody(`{"role":"system","content":[`+image+`]}`, ""), "Supported values"},
		{"an image of another kind", responsesBody(user(strings.Replace(image, "png", "tiff", 1)), ""), "image_url'"},
		{"an image that is not a URL", responsesBody(user(`{"type":"input_image","image_url":"AAAA"}`), ""), "valid URL"},
		{"an image as an object", responsesBody(user(`{"type":"input_image","image_url":{"url":"x"}}`), ""), "could not parse"},
		{"an image of broken base64", responsesBody(user(strings.Replace(image, "AAAA", "?", 1)), ""), "base64-encoded data URL"},
		{"an empty image", responsesBody(user(strings.Replace(image, "AAAA", "", 1)), ""), "base64-encoded data URL"},
		{"an unknown image in an output", responsesBody(result(strings.Replace(image, "png", "tiff", 1)), ""), "image_url'"},
		{"a file that is not PDF", responsesBody(user(strings.Replace(pdf, "application/pdf", "text/plain", 1)), ""), "application/pdf"},
		{"a file without its name", responsesBody(user(strings.Replace(pdf, `"filename":"a.pdf",`, "", 1)), ""), "filename"},
		{"a user's phase", responsesBody(strings.Replace(rUser, `{`, `{"phase":"commentary",`, 1), ""), "phase"},
		{"an unknown phase", responsesBody(strings.Replace(rSays, `{`, `{"phase":"last",`, 1), ""), "Invalid value: 'last'"},

		{"a call without its output", responsesBody(rUser+","+rCall, ""), "No tool output found for function call c1"},
		{"an output without its call", responsesBody(rUser+","+rResult, ""), "No tool call found for function call output with call_id c1"},
		{"an output before its call", responsesBody(rUser+","+rResult+","+rCall, ""), "No tool call found"},
		{"an output twice", responsesBody(rUser+","+rCall+","+rResult+","+rResult, ""), "No tool call found"},
		{"no output", responsesBody(rUser+","+rCall+`,{"type":"function_call_output","call_id":"c1"}`, ""), "'input[2].output'"},
		{"an output without id", responsesBody(rUser+","+rCall+`,{"type":"function_call_output","output":"x"}`, ""), "'input[2].call_id'"},
		{"a call twice", responsesBody(rUser+","+rCall+","+rResult+","+rCall+","+rResult, ""), "Duplicate call_id"},
		{"a call without id", responsesBody(rUser+","+strings.Replace(rCall, `"c1"`, `""`, 1), ""), "'input[1].call_id'"},
		{"a call id that is too long", responsesBody(rUser+","+strings.ReplaceAll(rCall+","+rResult, "c1", strings.Repeat("c", 65)), ""), "'input[1].call_id': string too long"},
		{"a call without name", responsesBody(rUser+","+strings.Replace(rCall, `"R"`, `""`, 1)+","+rResult, ""), "'input[1].name'"},
		{"a call without arguments", responsesBody(rUser+`,{"type":"function_call","call_id":"c1","name":"R"},`+rResult, ""), "'input[1].arguments'"},
		{"arguments that are no object", responsesBody(rUser+","+strings.Replace(rCall, `"{}"`, `"{"`, 1)+","+rResult, ""), "arguments"},
		{"arguments as an object", responsesBody(rUser+","+strings.Replace(rCall, `"{}"`, `{}`, 1)+","+rResult, ""), "could not parse"},
		{"a call's id in place of its item's", responsesBody(rUser+","+strings.Replace(rCall, `{`, `{"id":"call_1",`, 1)+","+rResult, ""), "begins with 'fc'"},
		{"a message's id of another kind", responsesBody(strings.Replace(rSays, `{`, `{"id":"fc_1",`, 1), ""), "begins with 'msg'"},
		{"reasoning's id of another kind", responsesBody(rUser+","+strings.ReplaceAll(own, "rs_1_0", "msg_0"), ""), "begins with 'rs'"},
		{"an item id that is too long", responsesBody(strings.Replace(rSays, `{`, `{"id":"msg_`+strings.Repeat("x", 64)+`",`, 1), ""), "'input[0].id': string too long"},
		{"an item id twice", responsesBody(strings.Repeat(strings.Replace(rSays, `{`, `{"id":"msg_1",`, 1)+",", 2)+rUser, ""), "Duplicate item"},

		{"reasoning last", responsesBody(rUser+","+strings.Split(own, `,{"id"`)[0], ""), "without its required following item"},
		{"reasoning before a user", responsesBody(rUser+","+strings.Split(own, `,{"id"`)[0]+","+rUser, ""), "without its required following item"},
		{"reasoning before an output", responsesBody(rUser+","+rCall+","+strings.Split(own, `,{"id"`)[0]+","+rResult, ""), "without its required following item"},
		{"reasoning before an item without its id", responsesBody(rUser+","+strings.Replace(own, `"id":"msg_1_1_r0",`, "", 1), ""), "without its required following item"},
		{"reasoning before what followed another", responsesBody(rUser+","+reasoned("rs_1_0", "msg_2_1_r0"), ""), "without its required"},
		{"an item without its reasoning", responsesBody(rUser+","+strings.Replace(rSays, `{`, `{"id":"msg_1_1_r0",`, 1), ""), "without its required 'reasoning' item: 'rs_1_0'"},
		{"a call without its reasoning", responsesBody(rUser+","+strings.Replace(rCall, `{`, `{"id":"fc_1_1_r0",`, 1)+","+rResult, ""), "without its required 'reasoning' item"},
		{"bare reasoning", responsesBody(rUser+`,{"type":"reasoning","id":"rs_1_0","summary":[]},`+rSays, ""), "not persisted"},
		{"reasoning without a summary", responsesBody(rUser+","+strings.Replace(own, `"summary":[{"type":"summary_text","text":"hm"}],`, "", 1), ""), "summary'"},
		{"a summary of another kind", responsesBody(rUser+","+strings.Replace(own, "summary_text", "text", 1), ""), "'summary_text'"},
		{"foreign reasoning", responsesBody(rUser+","+strings.Replace(own, Seal("m", "rs_1_0"), Seal("other", "rs_1_0"), 1), ""), "could not be verified"},
		{"altered reasoning", responsesBody(rUser+","+strings.Replace(own, "gAAAAA", "gAAAAB", 1), ""), "could not be verified"},
		{"reasoning under another id", responsesBody(rUser+","+strings.ReplaceAll(strings.Replace(own, `"id":"rs_1_0"`, `"id":"rs_1_5"`, 1), "msg_1_1_r0", "msg_1_1_r5"), ""), "could not be verified"},

		{"a tool of Chat Completions", responsesBody(rUser, tool(`"type":"function","function":{"name":"a","parameters":{"type":"object"}}`)), "tools[0].function"},
		{"a tool without name", responsesBody(rUser, tool(`"type":"function","parameters":{"type":"object"}`)), "'tools[0].name'"},
		{"a bad tool name", responsesBody(rUser, tool(`"type":"function","name":"a b","parameters":{"type":"object"}`)), "does not match pattern"},
		{"a tool twice", responsesBody(rUser, strings.Replace(tool(`"type":"function","name":"a","parameters":{"type":"object"}`), `{"type":"function"`, `{"type":"function","name":"a","parameters":{"type":"object"}},{"type":"function"`, 1)), "unique"},
		{"a tool of another API", responsesBody(rUser, tool(`"name":"a","input_schema":{"type":"object"}`)), "'tools[0].type'"},
		{"a schema that is not an object", responsesBody(rUser, tool(`"type":"function","name":"a","parameters":{"type":"string"}`)), "Invalid schema for function 'a'"},
		{"no schema", responsesBody(rUser, tool(`"type":"function","name":"a"`)), "Invalid schema"},
		{"no JSON", `{`, "could not parse"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := responsesAPI{}.read([]byte(tt.body), Config{})
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("said %q, want %q", got, tt.want)
			}
		})
	}
	unverified := Config{NoSummaries: true}
	for fields, want := range map[string]string{`"effort":"low","summary":"auto"`: "must be verified", `"effort":"low"`: ""} {
		_, got := responsesAPI{}.read([]byte(responsesBody(rUser, `,"reasoning":{`+fields+`}`)), unverified)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: said %q, want %q", fields, got, want)
		}
	}
}

// FuzzJudges: no request makes a judge fail.
func FuzzJudges(f *testing.F) {
	f.Add(responsesBody(rUser+","+reasoned("rs_1_0", "msg_1_1_r0")+","+rCall+","+rResult, ""))
	f.Add(anthropicBody(aUser+","+aCall+","+aResult, ""))
	f.Add(openaiBody(oUser+","+oCall+","+oResult, ""))
	f.Fuzz(func(t *testing.T, body string) {
		anthropicAPI{}.read([]byte(body), Config{})
		_, said := openaiAPI{}.read([]byte(body), Config{Alternate: true, ReasoningContent: true})
		_, saidToo := responsesAPI{}.read([]byte(body), Config{})
		if (said == "" || saidToo == "") && !json.Valid([]byte(body)) {
			t.Fatal("took what is not JSON")
		}
	})
}

func TestHalvesOfCharactersAreRefused(t *testing.T) {
	for body, fine := range map[string]bool{
		`{"a":"\ud83d\ude00 \\ud83d \u00e9 \\\\"}`: true,
		`{"a":"\ud83d"}`:       false,
		`{"a":"\ude00"}`:       false,
		`{"a":"\\\ud83d"}`:     false,
		`{"a":"\uD83D\u0041"}`: false,
		"{\"a\":\"\xff\"}":     false,
	} {
		if got := judgeBytes([]byte(body)); (got == "") != fine {
			t.Errorf("%s: %q", body, got)
		}
	}
}
