package anthropic

import (
	"encoding/json"

	"scorel/internal/engine/model/httpx"
)

// event is one of a stream, with the fields that are read
// (https://platform.claude.com/docs/en/build-with-claude/streaming).
type event struct {
	Type    httpx.Text `json:"type"`
	Index   httpx.Int  `json:"index"`
	Delta   delta      `json:"delta"`         // of content_block_delta and message_delta
	Block   opening    `json:"content_block"` // of content_block_start
	Usage   counts     `json:"usage"`         // of message_delta
	Message struct {
		Usage counts `json:"usage"`
	} `json:"message"` // of message_start
}

// delta is what an event adds to its block, or says of the end of the answer.
type delta struct {
	Type        httpx.Text `json:"type"`
	Text        httpx.Text `json:"text"`
	Thinking    httpx.Text `json:"thinking"`
	PartialJSON httpx.Text `json:"partial_json"`
	Signature   httpx.Text `json:"signature"`
	StopReason  httpx.Text `json:"stop_reason"`
}

// opening is a block as it begins.
type opening struct {
	Type      httpx.Text      `json:"type"`
	Text      httpx.Text      `json:"text"`
	Thinking  httpx.Text      `json:"thinking"`
	Signature httpx.Text      `json:"signature"`
	Data      httpx.Text      `json:"data"`
	ID        httpx.Text      `json:"id"`
	Name      httpx.Text      `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// counts of tokens; nil is not given.
type counts struct {
	Input         *httpx.Int `json:"input_tokens"`
	CacheRead     *httpx.Int `json:"cache_read_input_tokens"`
	CacheWrite    *httpx.Int `json:"cache_creation_input_tokens"`
	Output        *httpx.Int `json:"output_tokens"`
	OutputDetails struct {
		Thinking *httpx.Int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}
