package anthropic

import (
	"encoding/json"

	"scorel/internal/model/wire"
)

// event is one of a stream, with the fields that are read
// (https://platform.claude.com/docs/en/build-with-claude/streaming).
type event struct {
	Type    wire.Text `json:"type"`
	Index   wire.Int  `json:"index"`
	Delta   delta     `json:"delta"`         // of content_block_delta and message_delta
	Block   opening   `json:"content_block"` // of content_block_start
	Usage   counts    `json:"usage"`         // of message_delta
	Message struct {
		Usage counts `json:"usage"`
	} `json:"message"` // of message_start
}

// delta is what an event adds to its block, or says of the end of the answer.
type delta struct {
	Type        wire.Text `json:"type"`
	Text        wire.Text `json:"text"`
	Thinking    wire.Text `json:"thinking"`
	PartialJSON wire.Text `json:"partial_json"`
	Signature   wire.Text `json:"signature"`
	StopReason  wire.Text `json:"stop_reason"`
}

// opening is a block as it begins.
type opening struct {
	Type      wire.Text       `json:"type"`
	Text      wire.Text       `json:"text"`
	Thinking  wire.Text       `json:"thinking"`
	Signature wire.Text       `json:"signature"`
	Data      wire.Text       `json:"data"`
	ID        wire.Text       `json:"id"`
	Name      wire.Text       `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// counts of tokens; nil is not given.
type counts struct {
	Input         *wire.Int `json:"input_tokens"`
	CacheRead     *wire.Int `json:"cache_read_input_tokens"`
	CacheWrite    *wire.Int `json:"cache_creation_input_tokens"`
	Output        *wire.Int `json:"output_tokens"`
	OutputDetails struct {
		Thinking *wire.Int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}
