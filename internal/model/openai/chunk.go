package openai

import (
	"cmp"
	"encoding/json"

	"scorel/internal/model/wire"
	"scorel/protocol"
)

// chunk is a piece of an answer, or an error, with the fields that are read
// (https://developers.openai.com/api/reference/resources/chat).
type chunk struct {
	ID      wire.Text       `json:"id"`
	Choices []choice        `json:"choices"`
	Usage   *counts         `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Delta        delta     `json:"delta"`
	FinishReason wire.Text `json:"finish_reason"`
}

type delta struct {
	Content   wire.Text `json:"content"`
	Refusal   wire.Text `json:"refusal"`
	ToolCalls []piece   `json:"tool_calls"`
	// Thinking has several names, and stands for something else where it is no text.
	ReasoningContent string `json:"reasoning_content"` // DeepSeek and most
	Reasoning        string `json:"reasoning"`         // OpenRouter, vLLM, Ollama
	ReasoningText    string `json:"reasoning_text"`    // Copilot
}

// piece is what a chunk adds to a call.
type piece struct {
	Index    wire.Int  `json:"index"`
	ID       wire.Text `json:"id"`
	Function struct {
		Name      wire.Text `json:"name"`
		Arguments wire.Text `json:"arguments"`
	} `json:"function"`
}

func (d *delta) thinking() string { return cmp.Or(d.ReasoningContent, d.Reasoning, d.ReasoningText) }

// counts of tokens. Prompt includes what was read from the cache and written to it.
type counts struct {
	Prompt        wire.Int `json:"prompt_tokens"`
	Output        wire.Int `json:"completion_tokens"`
	CacheHit      wire.Int `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptDetails struct {
		Cached  wire.Int `json:"cached_tokens"`
		Written wire.Int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	OutputDetails struct {
		Reasoning wire.Int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// usage splits the prompt into what was cached and what was not.
func (c *counts) usage() *protocol.Usage {
	cached, written := int(cmp.Or(c.PromptDetails.Cached, c.CacheHit)), int(c.PromptDetails.Written)
	return &protocol.Usage{
		InputTokens:      max(0, int(c.Prompt)-cached-written),
		OutputTokens:     int(c.Output),
		CacheReadTokens:  cached,
		CacheWriteTokens: written,
		ReasoningTokens:  int(c.OutputDetails.Reasoning),
	}
}
