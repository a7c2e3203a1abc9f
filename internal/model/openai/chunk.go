package openai

import (
	"cmp"
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
)

// chunk is a piece of an answer, with the fields that are read. The SDK's decoder takes
// many times as long, because it keeps the JSON of each field; it reads the chunks in
// which some field has an odd form, which it passes over.
type chunk struct {
	ID      string          `json:"id"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type choice struct {
	Delta        delta  `json:"delta"`
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content   string  `json:"content"`
	Refusal   string  `json:"refusal"`
	ToolCalls []piece `json:"tool_calls"`
	// Thinking has several names.
	ReasoningContent string `json:"reasoning_content"` // DeepSeek and most
	Reasoning        string `json:"reasoning"`         // OpenRouter, vLLM, Ollama
	ReasoningText    string `json:"reasoning_text"`    // Copilot
}

// piece is what a chunk adds to a call.
type piece struct {
	Index    int64  `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (d *delta) thinking() string { return cmp.Or(d.ReasoningContent, d.Reasoning, d.ReasoningText) }

// UnmarshalJSON decodes one chunk.
func (c *chunk) UnmarshalJSON(data []byte) error {
	type plain chunk
	if json.Unmarshal(data, (*plain)(c)) == nil {
		return nil
	}
	return c.bySDK(data)
}

func (c *chunk) bySDK(data []byte) error {
	var theirs sdk.ChatCompletionChunk
	if err := theirs.UnmarshalJSON(data); err != nil {
		return err
	}
	*c = chunk{ID: theirs.ID}
	if theirs.JSON.Usage.Valid() {
		c.Usage = json.RawMessage(theirs.JSON.Usage.Raw())
	}
	for _, t := range theirs.Choices {
		d := delta{Content: t.Delta.Content, Refusal: t.Delta.Refusal}
		for name, to := range map[string]*string{"reasoning_content": &d.ReasoningContent, "reasoning": &d.Reasoning, "reasoning_text": &d.ReasoningText} {
			if f, ok := t.Delta.JSON.ExtraFields[name]; ok && json.Unmarshal([]byte(f.Raw()), to) != nil {
				*to = ""
			}
		}
		for _, call := range t.Delta.ToolCalls {
			p := piece{Index: call.Index, ID: call.ID}
			p.Function.Name, p.Function.Arguments = call.Function.Name, call.Function.Arguments
			d.ToolCalls = append(d.ToolCalls, p)
		}
		c.Choices = append(c.Choices, choice{Delta: d, FinishReason: t.FinishReason})
	}
	return nil
}
