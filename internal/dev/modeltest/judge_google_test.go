package modeltest

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

func googleBody(contents, more string) string { return `{"contents":[` + contents + `]` + more + `}` }

const (
	gUser    = `{"role":"user","parts":[{"text":"a"}]}`
	gSays    = `{"role":"model","parts":[{"text":"b"}]}`
	gCall    = `{"role":"model","parts":[{"functionCall":{"id":"c1","name":"R","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]}`
	gResult  = `{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"R","response":{"output":"x"}}}]}`
	gImage   = `{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`
	gTwo     = `{"role":"model","parts":[{"functionCall":{"id":"c1","name":"R"},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"c2","name":"S"}}]}`
	gTwoDone = `{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"R","response":{}}},{"functionResponse":{"id":"c2","name":"S","response":{}}}]}`
)

func TestGoogleJudgeRefusesWhatTheVendorRefuses(t *testing.T) {
	const older = "gemini-2.5-flash"
	unsigned := strings.Replace(gCall, `,"thoughtSignature":"skip_thought_signature_validator"`, "", 1)
	signed := func(sign string) string { return strings.Replace(gCall, googleSkip, sign, 1) }
	withoutID := func(s string) string { return strings.ReplaceAll(s, `"id":"c1",`, "") }
	part := func(p string) string { return googleBody(`{"role":"user","parts":[`+p+`]}`, "") }
	says := func(p string) string { return googleBody(gUser+`,{"role":"model","parts":[`+p+`]},`+gUser, "") }
	tool := func(f string) string { return googleBody(gUser, `,"tools":[{"functionDeclarations":[`+f+`]}]`) }
	think := func(c string) string {
		return googleBody(gUser, `,"generationConfig":{"thinkingConfig":{`+c+`}}`)
	}
	returned := func(p string) string {
		return googleBody(gUser+","+gCall+","+strings.Replace(gResult, `"response":{"output":"x"}`, p, 1), "")
	}
	tests := []struct{ name, model, body, want string }{
		{"a plain request", "m", googleBody(gUser, `,"systemInstruction":{"parts":[{"text":"s"}]},"generationConfig":{"maxOutputTokens":1}`), ""},
		{"a call with its result", "m", googleBody(gUser+","+gCall+","+gResult, ""), ""},
		{"two calls with their results", "m", googleBody(gUser+","+gTwo+","+gTwoDone+","+gUser, ""), ""},
		{"two users in a row", "m", googleBody(gUser+","+gUser, ""), ""},
		{"a call behind a result", "m", googleBody(gUser+","+gCall+","+gResult+","+gCall+","+gResult, ""), ""},
		{"media", "m", part(gImage + `,{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}`), ""},
		{"media in a result", "m", returned(`"response":{},"parts":[` + gImage + `]`), ""},
		{"a signature that it gave", "m", googleBody(gUser+","+signed(SignCall("m", "R", json.RawMessage("{}")))+","+gResult, ""), ""},
		{"a signed text", "m", says(`{"text":"b","thoughtSignature":"` + Sign("m", "b") + `"}`), ""},
		{"a thought", "m", says(`{"text":"b","thought":true,"thoughtSignature":"` + Sign("m", "b") + `"}`), ""},
		{"an unsigned call of a turn that is over", "m", googleBody(gUser+","+unsigned+","+gResult+","+gUser, ""), ""},
		{"an unsigned call of an older model", older, withoutID(googleBody(gUser+","+unsigned+","+gResult, "")), ""},
		{"a tool with a JSON schema", "m", tool(`{"name":"a","parametersJsonSchema":{"type":"object","$defs":{},"additionalProperties":false}}`), ""},
		{"a tool with the vendor's schema", "m", tool(`{"name":"a","parameters":{"type":"OBJECT","properties":{"additionalProperties":{"anyOf":[{"type":"STRING"}],"items":{"type":"STRING"}}}}}`), ""},

		{"no model", "", googleBody(gUser, ""), "model name"},
		{"no JSON", "m", `{`, "Invalid JSON payload"},
		{"two documents", "m", googleBody(gUser, "") + "{}", "end of file"},
		{"no contents", "m", `{}`, "contents is not specified"},
		{"an unknown field", "m", googleBody(gUser, `,"max_tokens":1`), `Unknown name "max_tokens"`},
		{"an unknown field of a part", "m", part(`{"type":"text","text":"a"}`), `Unknown name "type"`},
		{"the content of another vendor", "m", `{"contents":[{"role":"user","content":"a"}]}`, `Unknown name "content"`},
		{"the role of another vendor", "m", googleBody(strings.Replace(gUser, "user", "assistant", 1), ""), "valid role: user, model"},
		{"no role", "m", googleBody(`{"parts":[{"text":"a"}]}`, ""), "valid role"},
		{"no parts", "m", googleBody(`{"role":"user","parts":[]}`, ""), "parts must not be empty"},
		{"an empty part", "m", part(`{}`), "must have one initialized field"},
		{"a part that is two", "m", part(`{"text":"a","inlineData":{"mimeType":"image/png","data":"AAAA"}}`), "already set"},
		{"empty text", "m", part(`{"text":" "}`), "text parameter"},
		{"an empty system prompt", "m", googleBody(gUser, `,"systemInstruction":{"parts":[{"text":""}]}`), "system_instruction"},
		{"a model first", "m", googleBody(gSays+","+gUser, ""), "begin with a user"},
		{"a model last", "m", googleBody(gUser+","+gSays, ""), "ending with a model turn"},
		{"a call behind a model", "m", googleBody(gUser+","+gSays+","+gCall+","+gResult, ""), "call turn comes immediately after a user turn"},
		{"a call at the end", "m", googleBody(gUser+","+gCall, ""), "equal to the number of function call parts"},
		{"a call without its result", "m", googleBody(gUser+","+gCall+","+gUser, ""), "equal to the number of function call parts"},
		{"a result too few", "m", googleBody(gUser+","+gTwo+","+gResult, ""), "equal to the number of function call parts"},
		{"a result too many", "m", googleBody(gUser+","+gCall+","+gTwoDone, ""), "equal to the number of function call parts"},
		{"results in two contents", "m", googleBody(gUser+","+gTwo+","+gResult+","+gResult, ""), "equal to the number of function call parts"},
		{"a result without a call", "m", googleBody(gUser+","+gSays+","+gResult, ""), "response turn comes immediately after a function call turn"},
		{"a result one content late", "m", googleBody(gUser+","+gCall+","+gUser+","+gResult, ""), "equal to the number"},
		{"a text beside a result", "m", googleBody(gUser+","+gCall+","+strings.Replace(gResult, `]}`, `,{"text":"t"}]}`, 1), ""), "equal to the number"},
		{"results in another order", "m", googleBody(gUser+","+gTwo+`,{"role":"user","parts":[{"functionResponse":{"id":"c2","name":"S","response":{}}},{"functionResponse":{"id":"c1","name":"R","response":{}}}]}`, ""), "does not match the function call"},
		{"another name", "m", googleBody(gUser+","+gCall+","+strings.Replace(gResult, `"R"`, `"S"`, 1), ""), "does not match the function call"},
		{"another id", "m", googleBody(gUser+","+gCall+","+strings.Replace(gResult, `"c1"`, `"c2"`, 1), ""), "function_response.id"},
		{"no name of a call", "m", googleBody(gUser+","+strings.Replace(gCall, `"R"`, `""`, 1)+","+gResult, ""), "Name cannot be empty"},
		{"no name of a result", "m", googleBody(gUser+","+gCall+","+strings.Replace(gResult, `"R"`, `""`, 1), ""), "Name cannot be empty"},
		{"arguments that are no object", "m", googleBody(gUser+","+strings.Replace(gCall, `"args":{}`, `"args":"x"`, 1)+","+gResult, ""), "function_call.args"},
		{"a result that is not an object", "m", returned(`"response":"x"`), "function_response.response"},
		{"no result in a result", "m", returned(`"parts":[]`), "function_response.response"},
		{"a call of the user", "m", part(`{"functionCall":{"name":"R"}}`), "does not belong to the role user"},
		{"a thought of the user", "m", part(`{"text":"a","thought":true}`), "does not belong to the role user"},
		{"an image of the model", "m", says(gImage), "does not belong to the role model"},
		{"a result of the model", "m", says(`{"functionResponse":{"id":"c1","name":"R","response":{}}}`), "does not belong to the role model"},
		{"a thought that is a call", "m", googleBody(gUser+","+strings.Replace(gCall, `[{`, `[{"thought":true,`, 1)+","+gResult, ""), "only a text is a thought"},
		{"no id of a call", "m", withoutID(googleBody(gUser+","+gCall+","+gResult, "")), "ID cannot be empty"},
		{"an id of an older model's call", older, googleBody(gUser+","+unsigned+","+withoutID(gResult), ""), `Unknown name "id"`},
		{"an id of an older model's result", older, googleBody(gUser+","+withoutID(unsigned)+","+gResult, ""), `Unknown name "id"`},
		{"media in a result of an older model", older, withoutID(googleBody(gUser+","+unsigned+","+strings.Replace(gResult, `"response":`, `"parts":[`+gImage+`],"response":`, 1), "")), "is not supported for this model"},
		{"a kind of media that no result has", "m", returned(`"response":{},"parts":[{"inlineData":{"mimeType":"image/gif","data":"AAAA"}}]`), "Unsupported MIME type"},
		{"an empty part of a result", "m", returned(`"response":{},"parts":[{}]`), "must have one initialized field"},
		{"an unknown image", "m", part(`{"inlineData":{"mimeType":"image/gif","data":"AAAA"}}`), "Unsupported MIME type: image/gif"},
		{"broken base64", "m", part(`{"inlineData":{"mimeType":"image/png","data":"?"}}`), "Base64"},
		{"no bytes", "m", part(`{"inlineData":{"mimeType":"image/png","data":""}}`), "Base64"},
		{"an unsigned call of the turn", "m", googleBody(gUser+","+unsigned+","+gResult, ""), "missing a thought_signature"},
		{"an unsigned call of the turn's second step", "m", googleBody(gUser+","+gCall+","+gResult+","+unsigned+","+gResult, ""), "missing a thought_signature"},
		{"a foreign signature", "m", googleBody(gUser+","+signed("sig_x")+","+gResult, ""), "Corrupted thought signature"},
		{"the signature of another model", "m", googleBody(gUser+","+signed(SignCall("n", "R", json.RawMessage("{}")))+","+gResult, ""), "Corrupted thought signature"},
		{"the signature of other arguments", "m", googleBody(gUser+","+signed(SignCall("m", "R", json.RawMessage(`{"a":1}`)))+","+gResult, ""), "Corrupted thought signature"},
		{"a signature on another text", "m", says(`{"text":"c","thoughtSignature":"` + Sign("m", "b") + `"}`), "Corrupted thought signature"},
		{"the stand-in on a text", "m", says(`{"text":"b","thoughtSignature":"` + googleSkip + `"}`), "Corrupted thought signature"},
		{"a signature of the user", "m", part(`{"text":"a","thoughtSignature":"` + Sign("m", "a") + `"}`), "Corrupted thought signature"},
		{"no output", "m", googleBody(gUser, `,"generationConfig":{"maxOutputTokens":0}`), "maxOutputTokens value of 0"},
		{"budget and level", "m", think(`"thinkingBudget":1024,"thinkingLevel":"LOW"`), "only one of thinking budget and thinking level"},
		{"a level of an older model", older, think(`"thinkingLevel":"LOW"`), "not supported"},
		{"a level that is none", "m", think(`"thinkingLevel":"xhigh"`), "thinking_level"},
		{"a budget of 0 where thinking is all", "gemini-2.5-pro", think(`"thinkingBudget":0`), "only works in thinking mode"},
		{"a budget that is too large", older, think(`"thinkingBudget":99999`), "invalid"},
		{"a bad tool name", "m", tool(`{"name":"a b"}`), "Invalid function name"},
		{"a tool twice", "m", tool(`{"name":"a"},{"name":"a"}`), "Duplicate function declaration"},
		{"two schemas", "m", tool(`{"name":"a","parameters":{"type":"OBJECT"},"parametersJsonSchema":{"type":"object"}}`), "mutually exclusive"},
		{"a schema that is not an object", "m", tool(`{"name":"a","parametersJsonSchema":{}}`), "must describe an object"},
		{"the name of a dialect", "m", tool(`{"name":"a","parametersJsonSchema":{"$schema":"x","type":"object"}}`), `$schema`},
		{"a keyword that the vendor's schema lacks", "m", tool(`{"name":"a","parameters":{"type":"OBJECT","additionalProperties":false}}`), `Unknown name "additionalProperties"`},
		{"one deep inside", "m", tool(`{"name":"a","parameters":{"type":"OBJECT","properties":{"x":{"items":{"anyOf":[{"const":1}]}}}}}`), `Unknown name "const"`},
		{"a schema that is none", "m", tool(`{"name":"a","parameters":{"properties":[]}}`), "Invalid value"},
		{"a mode that is none", "m", googleBody(gUser, `,"toolConfig":{"functionCallingConfig":{"mode":"any"}}`), "function_calling_config.mode"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := judgedAt(tt.model, tt.body)
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("said %q, want %q", got, tt.want)
			}
		})
	}
}

func judgedAt(id, body string) string {
	u := &url.URL{Path: "/v1beta/models/" + id + ":streamGenerateContent", RawQuery: "alt=sse"}
	_, said := googleAPI{}.at(u).read([]byte(body), Config{})
	return said
}

// FuzzGoogleJudge: no request makes the judge fail.
func FuzzGoogleJudge(f *testing.F) {
	f.Add(googleBody(gUser+","+gTwo+","+gTwoDone, `,"tools":[{"functionDeclarations":[{"name":"a","parameters":{"properties":{}}}]}]`))
	f.Add(googleBody(gUser+","+gCall+","+gResult, ""))
	f.Fuzz(func(t *testing.T, body string) {
		judgedAt("gemini-2.5-pro", body)
		if judgedAt("m", body) == "" && !json.Valid([]byte(body)) {
			t.Fatal("took what is not JSON")
		}
	})
}
