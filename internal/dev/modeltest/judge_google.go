package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

type googleRequest struct {
	System     *googleContent  `json:"systemInstruction"`
	Contents   []googleContent `json:"contents"`
	Tools      []googleTools   `json:"tools"`
	ToolConfig *struct {
		Calling struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	Generation struct {
		MaxOutputTokens *int     `json:"maxOutputTokens"`
		Temperature     *float64 `json:"temperature"`
		Thinking        *struct {
			Include bool    `json:"includeThoughts"`
			Budget  *int    `json:"thinkingBudget"`
			Level   *string `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type googleTools struct {
	Functions []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
	} `json:"functionDeclarations"`
}

type googleContent struct {
	Role  string       `json:"role"`
	Parts []googlePart `json:"parts"`
}

type googlePart struct {
	Text      *string       `json:"text,omitempty"`
	Thought   bool          `json:"thought,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
	Inline    *googleBlob   `json:"inlineData,omitempty"`
	Call      *googleCall   `json:"functionCall,omitempty"`
	Result    *googleResult `json:"functionResponse,omitempty"`
}

type googleBlob struct {
	MediaType string `json:"mimeType"`
	Data      string `json:"data"`
}

type googleCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type googleResult struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response,omitempty"`
	Parts    []struct {
		Inline *googleBlob `json:"inlineData"`
	} `json:"parts,omitempty"`
}

// text is what the model reads of a result.
func (r googleResult) text() string {
	var o struct{ Output, Error string }
	_ = json.Unmarshal(r.Response, &o) // others are not text
	return o.Output + o.Error
}

// parseGoogle reads a request. Fields that the vendor does not have are refused, and
// so are those that it has and the adapter should not send.
func parseGoogle(body []byte) (*googleRequest, string) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	var r googleRequest
	err := d.Decode(&r)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			return nil, "Invalid JSON payload received. Expected end of file."
		}
		return &r, ""
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return nil, "Invalid JSON payload received. Unknown name " + name + ": Cannot find field."
	}
	return nil, "Invalid JSON payload received. " + err.Error()
}

// judgeGoogle returns what the API would refuse about a request to a model; empty when
// it takes it. The texts begin as the vendor's do where those are known.
//
// Rules and their sources: fields, roles and limits: https://ai.google.dev/api/generate-content
// and /api/caching#Content. Order and number of calls and results: the vendor's own
// refusals, as reported in github.com/google-gemini/gemini-cli issues 4504, 16135 and
// github.com/microsoft/vscode issue 299295. Signatures:
// https://ai.google.dev/gemini-api/docs/thought-signatures. Media in results:
// https://ai.google.dev/gemini-api/docs/function-calling#multimodal and
// gemini-cli issue 19436. The end: github.com/vellum-ai/vellum-assistant pull 39495.
// Ids of calls: github.com/JetBrains/koog issue 735. Thinking: https://ai.google.dev/gemini-api/docs/thinking.
//
// Where models and servers differ the judge keeps the stricter rule: empty texts, a
// conversation that begins or ends with the model, other parts beside results, and ids
// of an older model are taken by some; calls without ids by some of the newer.
func judgeGoogle(id string, r *googleRequest) string {
	switch {
	case id == "":
		return "* GenerateContentRequest.model: unexpected model name format"
	case len(r.Contents) == 0:
		return "* GenerateContentRequest.contents: contents is not specified"
	}
	if n := r.Generation.MaxOutputTokens; n != nil && *n < 1 {
		return "Unable to submit request because it has a maxOutputTokens value of " + fmt.Sprint(*n) + " but the supported range is from 1 (inclusive) to 65537 (exclusive)."
	}
	if bad := judgeGoogleThinking(id, r); bad != "" {
		return bad
	}
	if r.System != nil {
		for _, p := range r.System.Parts {
			if p.Text == nil || strings.TrimSpace(*p.Text) == "" {
				return "* GenerateContentRequest.system_instruction.parts[0].data: required oneof field 'data' must have one initialized field"
			}
		}
	}
	if bad := judgeGoogleTools(r); bad != "" {
		return bad
	}
	j := googleJudge{id: id, contents: r.Contents, turn: turnStart(r.Contents)}
	for i := range r.Contents {
		if bad := j.content(i); bad != "" {
			return bad
		}
	}
	if len(j.open) > 0 {
		return googleCounts
	}
	if r.Contents[len(r.Contents)-1].Role == "model" {
		return "Requests ending with a model turn are not supported."
	}
	return ""
}

func judgeGoogleThinking(id string, r *googleRequest) string {
	t := r.Generation.Thinking
	switch {
	case t == nil:
		return ""
	case t.Budget != nil && t.Level != nil:
		return "You can only set only one of thinking budget and thinking level."
	case t.Level != nil && olderGemini(id):
		return "Thinking level is not supported for this model."
	case t.Level != nil && !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, *t.Level):
		return "Invalid value at 'generation_config.thinking_config.thinking_level', \"" + *t.Level + "\""
	case t.Budget != nil && *t.Budget == 0 && (!olderGemini(id) || strings.Contains(id, "-pro")):
		return "Budget 0 is invalid. This model only works in thinking mode."
	case t.Budget != nil && (*t.Budget < -1 || *t.Budget > 32_768):
		return fmt.Sprintf("The thinking budget %d is invalid.", *t.Budget)
	}
	return ""
}

func judgeGoogleTools(r *googleRequest) string {
	name := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)
	seen := map[string]bool{}
	for i, t := range r.Tools {
		for k, f := range t.Functions {
			at := fmt.Sprintf("tools[%d].function_declarations[%d]", i, k)
			switch {
			case !name.MatchString(f.Name):
				return "* GenerateContentRequest." + at + ".name: Invalid function name. Must start with a letter or an underscore."
			case seen[f.Name]:
				return "Duplicate function declaration found: " + f.Name
			case len(f.Parameters) > 0 && len(f.Schema) > 0:
				return "* GenerateContentRequest." + at + ": parameters and parameters_json_schema are mutually exclusive"
			}
			seen[f.Name] = true
			if bad := judgeOpenAPI(at+".parameters", f.Parameters); bad != "" {
				return bad
			}
			if len(f.Schema) == 0 {
				continue
			}
			var s map[string]json.RawMessage
			if json.Unmarshal(f.Schema, &s) != nil || string(s["type"]) != `"object"` {
				return "* GenerateContentRequest." + at + ".parameters_json_schema: must describe an object"
			}
			if _, ok := s["$schema"]; ok {
				return "* GenerateContentRequest." + at + ".parameters_json_schema: Unknown name \"$schema\""
			}
		}
	}
	if c := r.ToolConfig; c != nil && !slices.Contains([]string{"AUTO", "ANY", "NONE", "VALIDATED"}, c.Calling.Mode) {
		return "Invalid value at 'tool_config.function_calling_config.mode', \"" + c.Calling.Mode + "\""
	}
	return ""
}

// judgeOpenAPI refuses what the Schema of "parameters" has no field for
// (https://ai.google.dev/api/caching#Schema).
func judgeOpenAPI(at string, raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s map[string]json.RawMessage
	if json.Unmarshal(raw, &s) != nil {
		return "Invalid value at '" + at + "'"
	}
	for key, value := range s {
		switch key {
		case "type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "required", "minProperties",
			"maxProperties", "minLength", "maxLength", "pattern", "example", "propertyOrdering", "default", "minimum", "maximum":
		case "items":
			if bad := judgeOpenAPI(at+".items", value); bad != "" {
				return bad
			}
		case "anyOf":
			var list []json.RawMessage
			if json.Unmarshal(value, &list) != nil {
				return "Invalid value at '" + at + ".any_of'"
			}
			for _, one := range list {
				if bad := judgeOpenAPI(at+".any_of", one); bad != "" {
					return bad
				}
			}
		case "properties":
			var list map[string]json.RawMessage
			if json.Unmarshal(value, &list) != nil {
				return "Invalid value at '" + at + ".properties'"
			}
			for name, one := range list {
				if bad := judgeOpenAPI(at+".properties["+name+"]", one); bad != "" {
					return bad
				}
			}
		default:
			return "Invalid JSON payload received. Unknown name \"" + key + "\" at '" + at + "': Cannot find field."
		}
	}
	return ""
}

// turnStart is the content that the current turn begins with: the newest of the user
// with something else than results.
func turnStart(contents []googleContent) int {
	for i := len(contents) - 1; i >= 0; i-- {
		if contents[i].Role != "user" {
			continue
		}
		for _, p := range contents[i].Parts {
			if p.Result == nil {
				return i
			}
		}
	}
	return 0
}

const (
	googleCounts = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
	// googleSkip is taken in place of any signature.
	googleSkip = "skip_thought_signature_validator"
)

// googleJudge walks the contents.
type googleJudge struct {
	id       string
	contents []googleContent
	turn     int
	open     []*googleCall // calls of the content before
	last     string        // what the content before was: "user", "model", "results"
}

func (j *googleJudge) content(i int) string {
	c := j.contents[i]
	at := fmt.Sprintf("contents[%d]", i)
	switch {
	case c.Role != "user" && c.Role != "model":
		return "Please use a valid role: user, model."
	case len(c.Parts) == 0:
		return "* GenerateContentRequest." + at + ".parts: contents.parts must not be empty."
	case i == 0 && c.Role != "user":
		return "Please ensure that multiturn requests begin with a user role."
	}
	kind, results := c.Role, 0
	for k, p := range c.Parts {
		if bad := j.part(fmt.Sprintf("%s.parts[%d]", at, k), c.Role, p); bad != "" {
			return bad
		}
		if p.Result != nil {
			results++
			kind = "results"
		}
	}
	if results != len(j.open) || results > 0 && results != len(c.Parts) {
		if results > 0 && len(j.open) == 0 {
			return "Please ensure that function response turn comes immediately after a function call turn."
		}
		return googleCounts
	}
	for k, call := range j.open {
		switch r := c.Parts[k].Result; {
		case r.Name != call.Name:
			return fmt.Sprintf("* GenerateContentRequest.%s.parts[%d].function_response.name: %s does not match the function call %s", at, k, r.Name, call.Name)
		case r.ID != call.ID:
			return fmt.Sprintf("* GenerateContentRequest.%s.parts[%d].function_response.id: %s does not match the function call %s", at, k, r.ID, call.ID)
		}
	}
	j.open = nil
	defer func() { j.last = kind }()
	if c.Role == "user" {
		return ""
	}
	return j.calls(i, c.Parts)
}

// calls judges the calls of a content of the model.
func (j *googleJudge) calls(i int, parts []googlePart) string {
	for k, p := range parts {
		if p.Call == nil {
			continue
		}
		if j.last == "model" {
			return "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
		}
		if len(j.open) == 0 && i > j.turn && p.Signature == "" && !PlainCalls(j.id) {
			return fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "+
				"and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d.", p.Call.Name, k)
		}
		j.open = append(j.open, p.Call)
	}
	return ""
}

func (j *googleJudge) part(at, role string, p googlePart) string {
	at = "* GenerateContentRequest." + at
	n := 0
	for _, set := range []bool{p.Text != nil, p.Inline != nil, p.Call != nil, p.Result != nil} {
		if set {
			n++
		}
	}
	switch {
	case n == 0:
		return at + ".data: required oneof field 'data' must have one initialized field"
	case n > 1:
		return at + ".data: oneof field 'data' is already set. Cannot set another value"
	case p.Text != nil && strings.TrimSpace(*p.Text) == "" && p.Signature == "":
		return "Unable to submit request because it must have a text parameter. (" + at + ")"
	case (p.Call != nil || p.Thought) && role != "model", (p.Result != nil || p.Inline != nil) && role != "user":
		return at + ": this part does not belong to the role " + role
	case p.Thought && p.Text == nil:
		return at + ".thought: only a text is a thought"
	}
	if bad := j.signature(at, role, p); bad != "" {
		return bad
	}
	switch {
	case p.Inline != nil:
		return judgeGoogleBlob(at+".inline_data", p.Inline, "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf")
	case p.Call != nil && p.Call.ID == "" && !PlainCalls(j.id):
		return at + ".function_call.id: ID cannot be empty."
	case p.Call != nil && p.Call.ID != "" && PlainCalls(j.id), p.Result != nil && p.Result.ID != "" && PlainCalls(j.id):
		return "Invalid JSON payload received. Unknown name \"id\" at '" + at + "': Cannot find field."
	case p.Call != nil && p.Call.Name == "":
		return at + ".function_call.name: Name cannot be empty."
	case p.Call != nil && len(p.Call.Args) > 0 && !isJSONObject(string(p.Call.Args)):
		return "Invalid value at '" + at + ".function_call.args' (type.googleapis.com/google.protobuf.Struct)"
	case p.Result != nil:
		return j.result(at+".function_response", p.Result)
	}
	return ""
}

// signature judges that a signature is one that the server gave the model for this
// very part.
func (j *googleJudge) signature(at, role string, p googlePart) string {
	if p.Signature == "" || p.Signature == googleSkip && p.Call != nil {
		return ""
	}
	want := ""
	switch {
	case role != "model":
	case p.Call != nil:
		want = SignCall(j.id, p.Call.Name, p.Call.Args)
	case p.Text != nil:
		want = Sign(j.id, *p.Text)
	}
	if p.Signature != want {
		return at + ".thought_signature: Corrupted thought signature."
	}
	return ""
}

func (j *googleJudge) result(at string, r *googleResult) string {
	switch {
	case r.Name == "":
		return at + ".name: Name cannot be empty."
	case !isJSONObject(string(r.Response)):
		return "Invalid value at '" + at + ".response' (type.googleapis.com/google.protobuf.Struct)"
	case len(r.Parts) > 0 && PlainCalls(j.id):
		return "Unable to submit request because `function_response.parts` is not supported for this model."
	}
	for _, p := range r.Parts {
		if p.Inline == nil {
			return at + ".parts.data: required oneof field 'data' must have one initialized field"
		}
		if bad := judgeGoogleBlob(at+".parts.inline_data", p.Inline, "image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"); bad != "" {
			return bad
		}
	}
	return ""
}

func judgeGoogleBlob(at string, b *googleBlob, types ...string) string {
	if !slices.Contains(types, b.MediaType) {
		return "Unsupported MIME type: " + b.MediaType
	}
	if _, err := base64.StdEncoding.DecodeString(b.Data); err != nil || b.Data == "" {
		return "Invalid value at '" + at + ".data' (TYPE_BYTES), Base64 decoding failed"
	}
	return ""
}
