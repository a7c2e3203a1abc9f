package openai

import (
	"cmp"
	"encoding/json"

	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// chunk is a piece of an answer, or an error, with the fields that are read
// (https://developers.openai.com/api/reference/resources/chat).
type chunk struct {
	ID      httpx.Text      `json:"id"`
	Choices []choice        `json:"choices"`
	Usage   *counts         `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Delta        delta      `json:"delta"`
	FinishReason httpx.Text `json:"finish_reason"`
}

type delta struct {
	Content   httpx.Text `json:"content"`
	Refusal   httpx.Text `json:"refusal"`
	ToolCalls []piece    `json:"tool_calls"`
	// Thinking has several names, and stands for something else where it is not text.
	ReasoningContent string `json:"reasoning_content"` // DeepSeek and most
	Reasoning        string `json:"reasoning"`         // OpenRouter, vLLM, Ollama
	ReasoningText    string `json:"reasoning_text"`    // Copilot
}

// piece is what a chunk adds to a call.
type piece struct {
	Index    httpx.Int  `json:"index"`
	ID       httpx.Text `json:"id"`
	Function struct {
		Name      httpx.Text `json:"name"`
		Arguments httpx.Text `json:"arguments"`
	} `json:"function"`
}

func (d *delta) thinking() string { return cmp.Or(d.ReasoningContent, d.Reasoning, d.ReasoningText) }

// counts of tokens. Prompt includes what was read from the cache and written to it.
type counts struct {
	Prompt        httpx.Int `json:"prompt_tokens"`
	Output        httpx.Int `json:"completion_tokens"`
	CacheHit      httpx.Int `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptDetails struct {
		Cached  httpx.Int `json:"cached_tokens"`
		Written httpx.Int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	OutputDetails struct {
		Reasoning httpx.Int `json:"reasoning_tokens"`
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
