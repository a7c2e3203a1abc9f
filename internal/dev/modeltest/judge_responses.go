package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

type responsesRequest struct {
	Model           string            `json:"model"`
	Instructions    string            `json:"instructions"`
	Input           responsesInput    `json:"input"`
	Tools           []json.RawMessage `json:"tools"`
	Store           *bool             `json:"store"`
	Include         []string          `json:"include"`
	MaxOutputTokens *int              `json:"max_output_tokens"`
	PromptCacheKey  string            `json:"prompt_cache_key"`
	PreviousID      string            `json:"previous_response_id"`
	Reasoning       *struct {
		Effort  *string `json:"effort"`
		Summary *string `json:"summary"`
	} `json:"reasoning"`
}

// responsesInput is a string or a list of items.
type responsesInput struct{ items []responsesItem }

func (in *responsesInput) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		content := responsesContent{set: true, parts: []responsesPart{{Type: "input_text", Text: s}}}
		in.items = []responsesItem{{Type: "message", Role: "user", Content: content, raw: data}}
		return nil
	}
	return json.Unmarshal(data, &in.items)
}

type responsesItem struct {
	Type      string           `json:"type"`
	ID        *string          `json:"id"`
	Role      string           `json:"role"`
	Phase     *string          `json:"phase"`
	Content   responsesContent `json:"content"`
	Summary   *[]responsesPart `json:"summary"`
	Sealed    string           `json:"encrypted_content"`
	CallID    string           `json:"call_id"`
	Name      string           `json:"name"`
	Arguments *string          `json:"arguments"`
	Output    responsesContent `json:"output"`

	raw    json.RawMessage
	fields []string
}

func (it *responsesItem) UnmarshalJSON(data []byte) error {
	type plain responsesItem
	if err := json.Unmarshal(data, (*plain)(it)); err != nil {
		return err
	}
	it.raw, it.fields = bytes.Clone(data), fieldsOf(data)
	return nil
}

// kind is the type, which a message may leave out.
func (it *responsesItem) kind() string {
	if it.Type == "" && it.Role != "" {
		return "message"
	}
	return it.Type
}

func (it *responsesItem) id() string {
	if it.ID == nil {
		return ""
	}
	return *it.ID
}

// responsesContent is a string or a list of parts.
type responsesContent struct {
	set   bool
	parts []responsesPart
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Refusal  string `json:"refusal"`
	ImageURL string `json:"image_url"`
	FileData string `json:"file_data"`
	FileID   string `json:"file_id"`
	FileURL  string `json:"file_url"`

	fields []string
}

func (p *responsesPart) UnmarshalJSON(data []byte) error {
	type plain responsesPart
	if err := json.Unmarshal(data, (*plain)(p)); err != nil {
		return err
	}
	p.fields = fieldsOf(data)
	return nil
}

func (c *responsesContent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	c.set = true
	var s string
	if json.Unmarshal(data, &s) == nil {
		c.parts = []responsesPart{{Type: "input_text", Text: s}}
		return nil
	}
	return json.Unmarshal(data, &c.parts)
}

func (c responsesContent) text() string {
	var list []string
	for _, p := range c.parts {
		if p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}

// fieldsOf returns the names of the fields of an object, sorted.
func fieldsOf(data []byte) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return nil
	}
	out := make([]string, 0, len(fields))
	for name := range fields {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Limits of the API, from its refusals: "string too long. Expected a string with
// maximum length 64", "integer below minimum value. Expected a value >= 16".
const (
	responsesIDLen     = 64
	responsesMinOutput = 16
)

// judgeResponses returns what the API would refuse about a request; empty when it
// takes it. The texts begin as the vendor's do; fields and values are those of the
// vendor's published specification (openai-go v3.94.0, ResponseNewParams).
//
// The judge is harder than the API in two ways. Empty text is refused, as servers
// do that pass it on to others. And it plays an API to which each request is the
// first: what is not in the request, and items without their content, are not
// found, whatever store says of the answer to come.
func judgeResponses(body []byte, r *responsesRequest, c Config) string {
	for _, name := range fieldsOf(body) {
		if !responsesParameter(name) {
			return "Unknown parameter: '" + name + "'."
		}
	}
	switch {
	case r.Model == "":
		return "Missing required parameter: 'model'."
	case r.PreviousID != "":
		return "Previous response with id '" + r.PreviousID + "' not found."
	case len(r.Input.items) == 0:
		return "Missing required parameter: 'input'."
	case r.MaxOutputTokens != nil && *r.MaxOutputTokens < responsesMinOutput:
		return fmt.Sprintf("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", *r.MaxOutputTokens)
	case len(r.PromptCacheKey) > responsesIDLen:
		return tooLong("prompt_cache_key", r.PromptCacheKey)
	}
	for i, v := range r.Include {
		if !responsesIncludable(v) {
			return fmt.Sprintf("Invalid value: '%s'. - 'include[%d]'", v, i)
		}
	}
	if t := r.Reasoning; t != nil {
		if t.Effort != nil && !slices.Contains([]string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}, *t.Effort) {
			return "Invalid value: '" + *t.Effort + "'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'. - 'reasoning.effort'"
		}
		if t.Summary != nil && !slices.Contains([]string{"auto", "concise", "detailed"}, *t.Summary) {
			return "Invalid value: '" + *t.Summary + "'. Supported values are: 'concise', 'detailed', and 'auto'. - 'reasoning.summary'"
		}
		if t.Summary != nil && c.NoSummaries {
			return "Your organization must be verified to generate reasoning summaries. " +
				"Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization."
		}
	}
	if bad := judgeResponsesTools(r.Tools); bad != "" {
		return bad
	}
	j := responsesJudge{model: r.Model, items: r.Input.items, called: map[string]bool{}, ids: map[string]bool{}}
	for i := range j.items {
		if bad := j.item(i); bad != "" {
			return bad
		}
	}
	if len(j.open) > 0 {
		return "No tool output found for function call " + j.open[0] + "."
	}
	return ""
}

// responsesParameter knows the parameters of a request.
func responsesParameter(name string) bool {
	switch name {
	case "background", "context_management", "conversation", "include", "input", "instructions", "max_output_tokens",
		"max_tool_calls", "metadata", "model", "moderation", "parallel_tool_calls", "previous_response_id", "prompt",
		"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier",
		"service_tier", "store", "stream", "stream_options", "temperature", "text", "tool_choice", "tools",
		"top_logprobs", "top_p", "truncation", "user":
		return true
	}
	return false
}

func responsesIncludable(v string) bool {
	switch v {
	case "web_search_call.action.sources", "code_interpreter_call.outputs", "computer_call_output.output.image_url",
		"file_search_call.results", "message.input_image.image_url", "message.output_text.logprobs", "reasoning.encrypted_content":
		return true
	}
	return false
}

func tooLong(at, value string) string {
	return fmt.Sprintf("Invalid '%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", at, len(value))
}

func judgeResponsesTools(tools []json.RawMessage) string {
	seen := map[string]bool{}
	for i, raw := range tools {
		var t struct {
			Type       string          `json:"type"`
			Name       string          `json:"name"`
			Strict     json.RawMessage `json:"strict"`
			Parameters json.RawMessage `json:"parameters"`
		}
		var schema struct {
			Type any `json:"type"`
		}
		err := errors.Join(json.Unmarshal(raw, &t), json.Unmarshal(t.Parameters, &schema))
		for _, f := range fieldsOf(raw) {
			if t.Type == "function" && !slices.Contains([]string{"type", "name", "description", "parameters", "strict"}, f) {
				return fmt.Sprintf("Unknown parameter: 'tools[%d].%s'.", i, f)
			}
		}
		switch {
		case t.Type != "function":
			return fmt.Sprintf("Invalid value: '%s'. - 'tools[%d].type'", t.Type, i)
		case t.Name == "":
			return fmt.Sprintf("Missing required parameter: 'tools[%d].name'.", i)
		case !toolName(t.Name, openaiName):
			return fmt.Sprintf("Invalid 'tools[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		case seen[t.Name]:
			return "Tool names must be unique."
		case err != nil || schema.Type != "object":
			return fmt.Sprintf("Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'.", t.Name)
		}
		seen[t.Name] = true
	}
	return ""
}

// responsesJudge walks the items.
type responsesJudge struct {
	model  string
	items  []responsesItem
	ids    map[string]bool // of items
	called map[string]bool // by call_id
	open   []string        // calls without an output yet
}

func (j *responsesJudge) item(i int) string {
	it := &j.items[i]
	at := fmt.Sprintf("input[%d]", i)
	allowed, prefix := responsesFields(it.kind())
	if it.kind() == "item_reference" {
		return "Item with id '" + it.id() + "' not found. Items are not persisted when `store` is set to false."
	}
	if allowed == nil {
		return "Invalid value: '" + it.Type + "'. Supported values are: 'function_call', 'function_call_output', 'message', 'reasoning', and others. - '" + at + ".type'"
	}
	for _, f := range it.fields {
		if !slices.Contains(allowed, f) {
			return "Unknown parameter: '" + at + "." + f + "'."
		}
	}
	if bad := j.id(at, it, prefix); bad != "" {
		return bad
	}
	switch it.kind() {
	case "message":
		return j.message(at, it)
	case "reasoning":
		return j.reasoning(i, at, it)
	case "function_call":
		return j.call(at, it)
	}
	return j.output(at, it)
}

// responsesFields returns the fields of an item and how its id begins.
func responsesFields(kind string) (fields []string, prefix string) {
	switch kind {
	case "message":
		return []string{"content", "id", "phase", "role", "status", "type"}, "msg"
	case "reasoning":
		return []string{"content", "encrypted_content", "id", "status", "summary", "type"}, "rs"
	case "function_call":
		return []string{"arguments", "call_id", "id", "name", "namespace", "status", "type"}, "fc"
	case "function_call_output":
		return []string{"call_id", "id", "name", "output", "status", "type"}, "fc"
	}
	return nil, ""
}

// id judges the id of an item. Where the item stood directly after reasoning that
// is known by the id, it must be there again.
func (j *responsesJudge) id(at string, it *responsesItem, prefix string) string {
	id := it.id()
	switch {
	case it.ID == nil:
		return ""
	case len(id) > responsesIDLen:
		return tooLong(at+".id", id)
	case !strings.HasPrefix(id, prefix):
		return "Invalid '" + at + ".id': '" + id + "'. Expected an ID that begins with '" + prefix + "'."
	case j.ids[id]:
		return "Duplicate item found with id " + id + ". Remove duplicate items from your input and try again."
	}
	j.ids[id] = true
	if needs := reasoningOf(id); needs != "" && !j.ids[needs] {
		return "Item '" + id + "' of type '" + it.kind() + "' was provided without its required 'reasoning' item: '" + needs + "'."
	}
	return ""
}

// reasoningOf returns the id of the reasoning that the item stood directly after,
// when the server gave the id: fc_000001_2_r1 stood after rs_000001_1.
func reasoningOf(id string) string {
	parts := strings.Split(id, "_")
	if len(parts) != 4 || !strings.HasPrefix(parts[3], "r") {
		return ""
	}
	return "rs_" + parts[1] + "_" + parts[3][1:]
}

// reasoning judges reasoning. The next item must be what followed it: under its id
// where the reasoning has one (https://github.com/langchain-ai/langchainjs/pull/9082:
// a call without id does not count).
func (j *responsesJudge) reasoning(i int, at string, it *responsesItem) string {
	if it.Summary == nil {
		return "Missing required parameter: '" + at + ".summary'."
	}
	for k, p := range *it.Summary {
		if p.Type != "summary_text" {
			return fmt.Sprintf("Invalid value: '%s'. Supported values are: 'summary_text'. - '%s.summary[%d].type'", p.Type, at, k)
		}
	}
	if it.Sealed == "" {
		return "Item with id '" + it.id() + "' not found. Items are not persisted when `store` is set to false."
	}
	if !sealed(j.model, it.id(), it.Sealed) {
		return "The encrypted content " + it.Sealed[:min(len(it.Sealed), 4)] + "... could not be verified."
	}
	missing := "Item '" + it.id() + "' of type 'reasoning' was provided without its required following item."
	if i+1 == len(j.items) {
		return missing
	}
	next := &j.items[i+1]
	switch k := next.kind(); {
	case k == "reasoning":
		return ""
	case k != "function_call" && (k != "message" || next.Role != "assistant"):
		return missing
	case it.ID != nil && reasoningOf(next.id()) != it.id():
		return missing
	}
	return ""
}

func (j *responsesJudge) call(at string, it *responsesItem) string {
	switch {
	case it.CallID == "":
		return "Missing required parameter: '" + at + ".call_id'."
	case len(it.CallID) > responsesIDLen:
		return tooLong(at+".call_id", it.CallID)
	case it.Name == "":
		return "Missing required parameter: '" + at + ".name'."
	case !toolName(it.Name, openaiName):
		return "Invalid '" + at + ".name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
	case it.Arguments == nil:
		return "Missing required parameter: '" + at + ".arguments'."
	case !json.Valid([]byte(*it.Arguments)) || !strings.HasPrefix(*it.Arguments, "{"):
		return "Invalid '" + at + ".arguments': expected a JSON object"
	case j.called[it.CallID]:
		return "Duplicate call_id '" + it.CallID + "' found. - '" + at + "'"
	}
	j.called[it.CallID] = true
	j.open = append(j.open, it.CallID)
	return ""
}

func (j *responsesJudge) output(at string, it *responsesItem) string {
	k := slices.Index(j.open, it.CallID)
	switch {
	case it.CallID == "":
		return "Missing required parameter: '" + at + ".call_id'."
	case k < 0:
		return "No tool call found for function call output with call_id " + it.CallID + "."
	case !it.Output.set:
		return "Missing required parameter: '" + at + ".output'."
	}
	j.open = slices.Delete(j.open, k, k+1)
	return judgeResponsesParts(at+".output", it.Output.parts, "user")
}

func (j *responsesJudge) message(at string, it *responsesItem) string {
	switch it.Role {
	case "user", "assistant", "system", "developer":
	default:
		return "Invalid value: '" + it.Role + "'. Supported values are: 'assistant', 'system', 'developer', and 'user'. - '" + at + ".role'"
	}
	switch {
	case it.Phase != nil && it.Role != "assistant":
		return "Unknown parameter: '" + at + ".phase'."
	case it.Phase != nil && *it.Phase != "commentary" && *it.Phase != "final_answer":
		return "Invalid value: '" + *it.Phase + "'. Supported values are: 'commentary' and 'final_answer'. - '" + at + ".phase'"
	case !it.Content.set || len(it.Content.parts) == 0:
		return "Missing required parameter: '" + at + ".content'."
	}
	return judgeResponsesParts(at+".content", it.Content.parts, it.Role)
}

// judgeResponsesParts judges content. Only the user's and that of outputs may hold
// more than text.
func judgeResponsesParts(at string, parts []responsesPart, role string) string {
	for k, p := range parts {
		here := fmt.Sprintf("%s[%d]", at, k)
		var fields []string
		switch {
		case role == "assistant" && p.Type == "output_text":
			fields = []string{"annotations", "logprobs", "text", "type"}
		case role == "assistant" && p.Type == "refusal":
			fields = []string{"refusal", "type"}
		case role == "assistant" && p.fields != nil: // a string has no part
			return "Invalid value: '" + p.Type + "'. Supported values are: 'output_text' and 'refusal'. - '" + here + ".type'"
		case p.Type == "input_text":
			fields = []string{"prompt_cache_breakpoint", "text", "type"}
		case role == "user" && p.Type == "input_image":
			fields = []string{"detail", "file_id", "image_url", "prompt_cache_breakpoint", "type"}
		case role == "user" && p.Type == "input_file":
			fields = []string{"detail", "file_data", "file_id", "file_url", "filename", "prompt_cache_breakpoint", "type"}
		default:
			return "Invalid value: '" + p.Type + "'. Supported values are: 'input_text', 'input_image', and 'input_file'. - '" + here + ".type'"
		}
		for _, f := range p.fields {
			if !slices.Contains(fields, f) {
				return "Unknown parameter: '" + here + "." + f + "'."
			}
		}
		if bad := judgeResponsesPart(here, p); bad != "" {
			return bad
		}
	}
	return ""
}

func judgeResponsesPart(at string, p responsesPart) string {
	switch p.Type {
	case "input_text", "output_text":
		if strings.TrimSpace(p.Text) == "" {
			return at + ": text content must be non-empty"
		}
	case "refusal":
		if strings.TrimSpace(p.Refusal) == "" {
			return at + ": refusal must be non-empty"
		}
	case "input_image":
		if strings.HasPrefix(p.ImageURL, "data:") && !base64Data(p.ImageURL) {
			return "Invalid '" + at + ".image_url'. Expected a base64-encoded data URL."
		}
		if !imageURL(p.ImageURL) {
			return "Invalid '" + at + ".image_url'. Expected a valid URL, or an image of one of the formats 'png', 'jpeg', 'gif' and 'webp'."
		}
	case "input_file":
		switch {
		case p.FileID != "" || p.FileURL != "":
		case !strings.HasPrefix(p.FileData, "data:application/pdf;base64,") || !base64Data(p.FileData):
			return "Invalid '" + at + ".file_data'. Expected a base64-encoded data URL with an application/pdf MIME type."
		case !slices.Contains(p.fields, "filename"):
			return "Missing required parameter: '" + at + ".filename'."
		}
	}
	return ""
}

// base64Data reports whether a data URL holds base64 of something.
func base64Data(url string) bool {
	_, data, ok := strings.Cut(url, ";base64,")
	_, err := base64.StdEncoding.DecodeString(data)
	return ok && data != "" && err == nil
}
